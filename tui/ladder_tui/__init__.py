"""The console: what a person sees, and the command line. Importing this package imports no screen."""

__version__ = "0.1.0"
