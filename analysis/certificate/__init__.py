"""Checks proofs without trusting the engine that found them (invariant I10).

A proof is an annotation: a formula over named state variables for each of some points of the
program. `checker` accepts or rejects it. `everproof certify` runs the checker in a process that
loads no engine. There is one module for each kind of proof:

- `inlined`: one context for each chain of calls. Calls in other contexts must be unreachable.
  Assertions at loop heads suffice: between them the checker follows the strongest postcondition
  and merges states that meet. It rejects a cycle without an assertion. With an assertion at every
  location this is one Hoare triple for each edge ([IPA] Definitions 3.2 and 3.3).
- `summary_certificate`: function by function, with Hoare's rule for calls, which is sound for
  recursion. `old:v` is `v` at the entry. All activations of a function share the addresses of its
  objects, so a recursive function must have no objects in memory.
- `unwinding`: the tree of all paths of a program that has only finitely many. The tree names the
  branches that cannot be taken. The checker follows the program along the tree, checks that these
  branches are infeasible, and that no edge and no end of a path violates a rule. This covers
  violations that only the state of memory shows. The tree must cover every path.
- `ownership`: closed sets of memory states, for rules about blocks and streams in a function that is
  called in any state. It asks no solver.
- `nonzero`: what each function needs of its callers, so that no pointer that it follows is null, and no
  divisor zero. The checker follows the functions itself, without a solver.

`annotation` and `text` hold proofs and write them as JSON with SMT-LIB formulas. `invariants`,
`c_syntax` and `c_values` show loop invariants as C expressions; conjuncts that C cannot express are
left out. No annotation covers bounds of objects behind pointers, locks, or violations that only the
state of memory shows; trees of paths prove the last, and closed sets those of blocks and streams.
"""
