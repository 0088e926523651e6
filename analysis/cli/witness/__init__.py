"""Writes and validates verification witnesses 2.0.

The format is that of [WITNESS]. `written` makes a witness of a report; `witness_format` reads one,
as data of whoever wrote it. `everproof witness` (`command`) validates one. The invariants of a correctness witness become a
certificate, which the process that checks certificates accepts or refuses; a violation witness is run, and counts if the
interpreter sees the violation.
"""
