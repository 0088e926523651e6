"""ORION's algorithms over any `Delta`: Full, IncrFwd, IncrBack, and the derivation graph that they make and repair. Nothing
here knows C."""
