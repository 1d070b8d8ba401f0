"""Screens: the workspace of panes, and the dialogs over it."""
