"""Lowers syntax to effects on CFA edges: expressions, statements, initialisers (C11 6.5, 6.7.9, 6.8).

`expressions` builds on `sizes`, this on `casts`, and this on `assignments`. Atomic built-in functions
are plain reads and writes (`atomics`); CFAs do not model other threads. `unsequenced` notes the
operands whose order of evaluation C leaves open. `line_numbers` keeps `__LINE__` in assertions out of
CFAs, so that an edit above does not change them.
"""
