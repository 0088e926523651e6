"""Rules: automata over C patterns, in YAML."""
