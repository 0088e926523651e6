"""Computes and repairs the derivation graph, without knowing C ([ORION]).

`full` is Fig. 3 over any `Delta`. `incr_fwd` (Fig. 4) and `incr_back` (Fig. 5) repair the graph in
place after an edit. `retrace` tells which entry states are still reached. `packed` writes the graph
as bytes for the store.
"""
