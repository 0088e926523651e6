"""Resolves declarations: types, scopes, linkage, attributes (C11 6.2, 6.7).

A read of a `volatile` object is an assignment of any value (`volatile`); types have no qualifiers,
so declarations carry them by level. `attribute_reading` reads attributes and pragmas;
`analysis.c` says what they mean, and what `linkage` is. `shared_declarations` reads those of headers once for all files.
"""
