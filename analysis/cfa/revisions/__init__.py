"""Two revisions of a program: which locations and edges are the same (invariant I4), and what changed."""
