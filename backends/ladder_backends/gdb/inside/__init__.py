"""Files that run inside gdb, in the Python it was built with (3.7 or later); the console imports none of them."""
