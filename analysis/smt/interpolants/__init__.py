"""Computes interpolants of a tree of partitions, by theory, each checked ([UPPROVER] section 5.2).

`theories` is the door. It takes a `PartitionTree` whose conjunction is unsatisfiable, and returns one interpolant for
each partition. Before that, `lra_abstraction` and `euf_abstraction` weaken formulas of the encodings to a theory.

A search with clause learning records a resolution proof (`resolution`); Pudlák's rules turn it into interpolants of all
nodes (`proof_interpolants`); a theory gives those of its own lemmas (`linear_lemmas`, `equality_lemmas`). Bit-vectors
need no theory once they are bits (`bit_blasting`). Where one proof does not serve all nodes, nodes are taken one after
the other. Whatever made a candidate, `checking` asks z3 about it before it is returned.
"""
