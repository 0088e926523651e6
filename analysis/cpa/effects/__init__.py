"""Says what code can read and change.

`state_places` are kinds of accesses, `writes` is what edges, calls and functions change. Accesses through pointers are told apart
by their types (C11 6.5p7). All of it over-approximates.
"""
