"""From one file's syntax to control-flow automata, and the same after an edit with as little work as can be."""
