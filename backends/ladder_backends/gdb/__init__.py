"""gdb, and what every dialect of it shares."""
