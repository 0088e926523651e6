"""Control-flow automata: building, linking, matching across revisions."""
