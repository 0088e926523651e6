"""External functions by which programs give verifiers inputs, assumptions and checks.

Names are those of the rules of SV-COMP and of CBMC, ESBMC, CPAchecker, 2LS and SMACK. One that only looks like them is a
function like any other.
"""

from __future__ import annotations

import re

_ASSUMES = "assume"
CHECKS = frozenset({"__VERIFIER_assert", "__ESBMC_assert", "__CPROVER_assert", "assert"})
"""Functions that fail if their first argument is zero, and otherwise do nothing. C has `assert` as a macro (C11 7.2.1.1);
programs for verifiers declare it as a function."""

_TYPES = """
    bool char schar uchar short ushort int uint unsigned long ulong longlong ulonglong ll ull llong ullong float double
    long_double ldouble signed_char unsigned_char unsigned_short unsigned_int unsigned_long long_long
    unsigned_long_long short_int long_int
    unsigned_short_int unsigned_long_int int8 int16 int32 int64 int128 uint8 uint16 uint32 uint64 uint128
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t s8 s16 s32 s64 u8 u16 u32 u64 S8 S16 S32 S64 U8 U16 U32 U64
    size_t ssize_t ptrdiff_t intptr_t uintptr_t loff_t off_t sector_t pthread_t pointer ptr pchar charp
"""
_INPUT = re.compile(rf"(?:__VERIFIER_|__SMACK_|__CPROVER_)?nondet(?:_(?:{'|'.join(_TYPES.split())}))?")


def is_input(name: str) -> bool:
    """Whether the function does nothing but to return any value of its type: `__VERIFIER_nondet_int`, `nondet_uint`."""
    return _INPUT.fullmatch(name) is not None


def is_assumption(name: str) -> bool:
    """Whether the function comes back only if its argument is not zero: `__VERIFIER_assume`, `__ESBMC_assume`, `__SEA_assume`,
    `klee_assume`, `assume`, `assume_abort_if_not`."""
    return name in (_ASSUMES, "assume_abort_if_not") or name.endswith("_" + _ASSUMES)
