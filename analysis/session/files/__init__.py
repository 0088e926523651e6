"""Resolves which files make a program, and what each holds now."""
