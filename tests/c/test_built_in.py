"""Undeclared built-in functions return what gcc says (`__builtin_types_compatible_p` of their calls)."""

from __future__ import annotations

import subprocess

import pytest

from analysis.model import ir
from analysis.model.c_types import spell
from tests.support.lowered import cfa_of

_CALLS = {
    "__builtin_strlen(s)": "unsigned long",
    "__builtin_strspn(s, s)": "unsigned long",
    "__builtin_memcpy(s, s, 1)": "void *",
    "__builtin_mempcpy(s, s, 1)": "void *",
    "__builtin___memcpy_chk(s, s, 1, 1)": "void *",
    "__builtin_malloc(1)": "void *",
    "__builtin_return_address(0)": "void *",
    "__builtin_frame_address(0)": "void *",
    "__builtin_assume_aligned(s, 8)": "void *",
    "__builtin_bswap16(1)": "unsigned short",
    "__builtin_bswap32(1)": "unsigned int",
    "__builtin_bswap64(1)": "unsigned long",
    "__builtin_abs(1)": "int",
    "__builtin_sin(1.0)": "double",
    "__builtin_sqrtf(1.0f)": "float",
    "__builtin_floorl(1.0L)": "long double",
    "__builtin_inf()": "double",
    "__builtin_inff()": "float",
    "__builtin_huge_vall()": "long double",
    '__builtin_nansf("")': "float",
    "__builtin_powi(2.0, 3)": "double",
    "__builtin_isnan(1.0)": "int",
    "__builtin_memcmp(s, s, 1)": "int",
}


def test_the_types_are_those_of_gcc() -> None:
    lines = [
        f'_Static_assert(__builtin_types_compatible_p(__typeof__({call}), {type_}), "{type_}");'
        for call, type_ in _CALLS.items()
        if type_ != "void *"
    ]
    text = "void f(char *s) {\n" + "\n".join(lines) + "\n}\n"
    subprocess.run(["gcc", "-x", "c", "-fsyntax-only", "-"], input=text.encode(), check=True)


@pytest.mark.parametrize(("call", "type_"), _CALLS.items())
def test_the_types_in_lowered_calls(call: str, type_: str) -> None:
    effects = [edge.effect for edge in cfa_of(f"void f(char *s) {{ __typeof__({call}) r = {call}; }}").edges]
    calls = [effect for effect in effects if isinstance(effect, ir.Call)]
    (made,) = calls
    assert made.result is not None
    assert spell(made.result.type) == type_


def test_an_unknown_floating_type_is_an_obstacle() -> None:
    assert cfa_of("void f(void) { __builtin_inff128(); }").unsupported
