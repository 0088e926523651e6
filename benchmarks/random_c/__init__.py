"""Random C programs for tests of what C means: deterministic by seed, mostly without undefined behaviour, now and then with it.

No expression depends on the order in which its operands are evaluated, and nothing indeterminate is read: what is undefined is an
overflow, a shift, a division, an access out of bounds, of freed memory or through a null pointer, which sanitizers stop at.
All names begin with a prefix, so that many programs fit into one file. Each statement is on a line of its own.
"""

from benchmarks.random_c.defects import DefectProgram
from benchmarks.random_c.programs import PRELUDE, RandomProgram

__all__ = ["PRELUDE", "DefectProgram", "RandomProgram"]
