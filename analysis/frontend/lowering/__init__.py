"""From syntax to effects on the edges of a control-flow automaton: expressions, statements, initialisers (C11 6.5, 6.7.9,
6.8)."""
