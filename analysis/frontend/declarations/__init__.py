"""Resolves declarations: types, scopes, linkage, attributes (C11 6.2, 6.7).

A read of a `volatile` object is an assignment of any value (`volatile`); types have no qualifiers,
so declarations carry them by level. `linkage` holds what a file says about names that only all
files together resolve.
"""
