"""Python for gdb's own interpreter; nothing here is imported by the console."""
