"""Links the units of a program into one `Program` (C11 6.9).

`link` and `separate` reuse all units but the edited one. Some facts need all files together: which
of several definitions counts, which names mean one object, what runs before `main`.

What is not understood becomes an edge `Unsupported`, so that engines, replay and the checker of
certificates all see it: `obstructed` puts one at the entry of each function that mentions such a
name, and at the entry of every function of a file whose text may differ from what the compiler
sees. `open_order` puts one in front of an expression whose result depends on an order of evaluation
that C leaves open; `call_effects` tells what its calls read and write.

The derivation graph of the automaton engine omits the edges at entries (`Cfa.unobstructed`): that
engine ignores them and proves nothing, and a keystroke outside of functions can add them everywhere
and remove them again. Its verdicts and its questions to provers are about the program with them
(`engine.Analysis.program`).
"""
