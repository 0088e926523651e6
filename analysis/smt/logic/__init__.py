"""Builds, simplifies, writes and reads terms of many-sorted first-order logic, without any solver.

Terms are hash-consed. They can be pickled and have a digest. `term_building`, `linear` and
`bitvectors` simplify while they build.
"""
