"""Compares two revisions of a program: finds the locations and edges that are the same (invariant I4), and those that changed."""
