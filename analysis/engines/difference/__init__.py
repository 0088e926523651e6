"""Verifies the difference of two versions ([DIFFDP]).

This is difference verification with conditions, and what follows from it for functions.

Which functions a change concerns:

- `unchanged_functions`: those that nothing they are made of makes do anything else.
- `equal_functions`: those of the others that were proved to do what they did.

Which paths of the new version can violate a property where the old one does not for the same inputs:

```
ProgramPair ──> Detection ──> ProgramGraph ──> Condition        (`extraction` puts them together)
(function_pairs)  │ syntax_detector: diffCond   (Algorithm 1, difference_condition)
                  │ data_detector:   diffDP, Algorithm 2
                  │   alignment, dependencies
```

- `function_pairs`: functions in both versions, with effects that can be compared.
- `dependencies`: which objects may hold other values, and what edges make of that.
- `alignment`: what both versions have in common at a pair of locations.
- `detection`: explores functions and what they call, for any detector.
- `syntax_detector`, `data_detector`: say what one edge does to the alignment.
- `difference_graph`, `difference_condition`: what comes of it (Definitions 2 to 4), and Algorithm 1.
- `unset_reads`: where a variable without a value may be read.
- `extraction`: from two versions to the condition.

Verifying only what a condition leaves:

- `left_edges`: the edges that paths take which are not covered.
- `restricted_program`: the program with these edges alone, for all engines (native conditional verification).
- `residual_program`: the same as C, for other verifiers.

The paper inlines calls. Here each function has a graph for each set of affected objects that it is entered with, and conditions
have a stack. Inputs are what external functions return, in their order, and what objects hold that were never written: both
versions get the same, until one of them asks for more or tells the outside something else; from then on, what comes from there is
affected. That holds for addresses, too: a program that looks at their numbers is taken to see the same.

What is not understood leaves no witness path: edges that are not supported, and functions that use what is declared otherwise.
What `ir.Unknown` stands for, such as the value of a volatile variable, is affected. Writes to a volatile variable are taken for
writes to any other. Where control is not only where CFAs have it (jumps out of functions, threads, handlers of signals), nothing
is covered, unless `main` does not reach that (`ProgramPair.is_followed`). A function is proved to do the same if that concerns
neither it nor what it calls.

Theorems 2.1 and 3.1 are tests (`tests/engines/test_difference_conditions.py`): programs in two versions are run on all small
inputs, and no path with a regression bug is covered.
"""
