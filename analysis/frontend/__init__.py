"""Reads C text: preprocesses, parses, resolves types and lowers expressions to effects.

What is not understood becomes an obstacle. Attributes, sections, pragmas and assembler names are on
allow lists (`analysis.c.attributes`, `analysis.c.pragmas`).
"""
