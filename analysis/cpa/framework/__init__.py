"""Configurable program analysis without any domain: interfaces, the algorithm, reached sets, composition, refinement
([SYMCEGAR] section 3.1)."""
