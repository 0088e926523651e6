"""Models functions as control-flow automata (CFAs), and a program as linked CFAs.

A CFA holds no positions (invariant I3); `edge_places` computes the place of an edge when a finding
is shown. It moves places by the lines that an edit adds. `marks` lets a prover name an edge in a
sentence; the mark becomes file, line and construct when a person reads it. `unnamed_values` spells
results of calls.
"""
