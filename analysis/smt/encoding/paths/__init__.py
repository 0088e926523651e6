"""Encodes paths through CFAs as formulas, with calls, and the conditions under which an edge fails.

`library_failures` encodes the accesses of a library function where sizes determine them. Where the
contents of memory determine them, they are left open, and nothing is refuted.
"""
