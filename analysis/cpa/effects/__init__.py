"""Says what code can read and change: kinds of accesses (`state_places`), and what edges, calls and functions write (`writes`).

Accesses through pointers are told apart by their types (C11 6.5p7). All of it over-approximates.
"""
