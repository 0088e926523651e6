"""Functions without a body by which programs speak to verifiers: what they take for granted, and what they check."""

from __future__ import annotations

_ASSUMES = "assume"
CHECKS = frozenset({"__VERIFIER_assert", "__ESBMC_assert", "__CPROVER_assert"})
"""Functions that fail if their first argument is zero, and otherwise do nothing."""


def is_assumption(name: str) -> bool:
    """Whether the function comes back only if its argument is not zero: `__VERIFIER_assume`, `__ESBMC_assume`, `__SEA_assume`,
    `klee_assume`, `assume`, `assume_abort_if_not`."""
    return name in (_ASSUMES, "assume_abort_if_not") or name.endswith("_" + _ASSUMES)
