"""Decides which errors of a derivation graph have a feasible path, by a search that tracks values.

`error_paths` starts a search (`path_search`, `search_states`) in the slice of the graph that leads to
the error (`graph_slices`), which it sees as `graph_view` shows it. `walk` moves a store of values
(`path_values`, `known_values`) along the edges; what calls say of values is in `call_values`. The
search tracks more expressions when a contradiction needs them (CEGAR), and enters a call when a
branch depends on what the call changes: `path_judgements` says which. What was found is kept from edit to edit
(`kept_searches`), while the part of the graph that the search read is the same (`slice_outline`).
"""
