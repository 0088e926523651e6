"""Which errors of a derivation graph have a path that its branches allow: a search with values, refined on demand."""
