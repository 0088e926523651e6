"""Keeps results between runs: records in a file (`database`), its place (`store_location`), values as bytes (`packing`).

`packing` writes equal parts once and decodes into the annotated types only. There is no pickle, and
nothing in the store can be executed (invariant I6).
"""
