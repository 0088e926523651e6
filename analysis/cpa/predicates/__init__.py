"""Encodes program steps as formulas for predicate analysis: abstraction, contexts, violations, procedures.

`violations` holds the condition under which each edge violates a property. `error_locations` gives
violations locations of their own. `definedness` adds flags that say which local variables have a
value, for `uninitialized-read`. `eliminated` replaces symbolic identifiers by the cells that hold
them. `reaching` turns a reached set into an annotation.
"""
