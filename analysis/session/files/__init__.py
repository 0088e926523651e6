"""Resolves which files make a program, what each holds now, and which comments silence findings."""
