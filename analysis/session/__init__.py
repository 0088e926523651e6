"""Revisions of a program, from files to reports."""
