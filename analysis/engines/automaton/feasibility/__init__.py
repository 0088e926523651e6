"""Decides which errors of a derivation graph have a feasible path, by a search that tracks values.

`error_paths` starts a breadth-first search (`path_search`) in the slice of the graph that leads to
the error (`graph_slices`). `walk` moves a store of values (`path_values`, `known_values`) along the edges. The
search tracks more expressions when a contradiction needs them (CEGAR), and enters a call when a
branch depends on what the call changes: `path_judgements` says which. What was found is kept from edit to edit
(`kept_searches`), while the part of the graph that the search read is the same (`slice_outline`).
"""
