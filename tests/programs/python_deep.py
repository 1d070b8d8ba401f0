"""Calls its extension from the bottom of a deep recursion."""

import sys

import spin_extension

sys.setrecursionlimit(5000)


def dive(depth):
    return dive(depth - 1) if depth else spin_extension.crash()


def main():
    dive(900)


main()
