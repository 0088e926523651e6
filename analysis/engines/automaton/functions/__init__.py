"""Computes what is known of each function before any fact enters it.

`matching` finds, once per edge, where the rules' patterns match. `known_conditions` holds what
every path to a location establishes; infeasible edges are dropped. `cases` finds what a call with
known arguments returns. `footprint` and `returning` find what a function and its callees read and
write, and whether it returns; a value that a callee cannot touch does not enter it. `beliefs`
says at which calls a null result counts. `lending` says which locals a call cannot change that is not
passed their address. `reference_counts` and `chosen_numbers` recognise objects that
others hold, and descriptors that are to stay open. `world` holds what the program has as a whole:
names, types, globals, declarations. Where `world` differs after an edit, the affected calls count
as changed.
"""
