"""Parses preprocessed text into a syntax tree."""
