"""Finds which locations and edges of two revisions are the same (invariant I4)."""
