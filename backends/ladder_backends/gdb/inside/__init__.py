"""Files that run inside gdb, in the Python it was built with (3.7 or later); nothing of the console imports them."""
