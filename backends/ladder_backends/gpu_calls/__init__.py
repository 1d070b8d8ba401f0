"""The calls that tests of GPUs are made of, what memory is filled with, and what a check of it counts."""
