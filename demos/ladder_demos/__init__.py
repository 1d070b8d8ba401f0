"""Broken programs to try the console on, and shipped cases of real failures on a GPU."""
