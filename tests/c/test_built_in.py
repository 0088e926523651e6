"""Undeclared built-in functions take and return what gcc says (`__builtin_types_compatible_p` of them and of their calls).

The class: a built-in function that returns another type than int, taken for one that returns int.
"""

from __future__ import annotations

import platform
import subprocess

import pytest

from analysis.c.built_in import FORMS, X86_TABLE, Signature, read, signature_of
from analysis.c.functions import LIBRARY, all_with
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
    "__builtin_labs(1)": "long",
    "__builtin_llabs(1)": "long long",
    "__builtin_lround(1.0)": "long",
    "__builtin_llrintf(1.0f)": "long long",
    "__builtin_strchr(s, 1)": "char *",
    "__builtin_add_overflow(1, 2, (int *)s)": "_Bool",
    "__builtin_isless(1.0, 2.0)": "int",
    "__sync_val_compare_and_swap((long *)s, 1, 2)": "long",
    "__sync_lock_test_and_set((long *)s, 1)": "long",
    "__sync_lock_test_and_set((char **)s, s)": "char *",
    "__sync_fetch_and_nand((unsigned char *)s, 1)": "unsigned char",
    "__sync_bool_compare_and_swap((long *)s, 1, 2)": "_Bool",
    "__atomic_compare_exchange_n((long *)s, (long *)s, 1, 0, 0, 0)": "_Bool",
    "__atomic_fetch_add((char **)s, 1, 0)": "char *",
    "__atomic_test_and_set(s, 0)": "_Bool",
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
        if not type_.endswith("*")
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


_SPELLED = {"size_t": "__SIZE_TYPE__", "uint64": "__UINT64_TYPE__", "va_list": "__builtin_va_list"}
_ANY_ARGUMENTS = {"fpclassify": "0, 1, 2, 3, 4, 1.0", "isunordered": "1.0, 2.0", "": "1.0"}
_ANY_ARGUMENTS |= {f"{what}_overflow": "1, 2, (int *)s" for what in ("add", "sub", "mul")}
_ANY_ARGUMENTS |= {f"{what}_overflow_p": "1, 2, 3" for what in ("add", "sub", "mul")}
_ANY_ARGUMENTS |= {f"isgreater{more}": "1.0, 2.0" for more in ("", "equal")}
_ANY_ARGUMENTS |= {f"isless{more}": "1.0, 2.0" for more in ("", "equal", "greater")}


def _spelled(words: str) -> str:
    return " ".join(_SPELLED.get(word, word) for word in words.split())


def _said(name: str, signature: Signature) -> str:
    """An assertion that gcc knows the function with these types."""
    if signature.parameters is None:
        called, type_ = f"__builtin_{name}({_ANY_ARGUMENTS.get(name, '1.0')})", signature.result
    else:
        given = [*map(_spelled, signature.parameters), *(["..."] if signature.variadic else [])]
        called, type_ = f"__builtin_{name}", f"{_spelled(signature.result)}({', '.join(given) or 'void'})"
    return f'_Static_assert(__builtin_types_compatible_p(__typeof__({called}), {type_}), "{name}");'


def test_all_rows_are_what_gcc_says() -> None:
    rows = FORMS if platform.machine() == "x86_64" else {name: FORMS[name] for name in FORMS if name not in read(X86_TABLE)}
    text = "void f(char *s) {\n" + "\n".join(_said(name, signature) for name, signature in rows.items()) + "\n}\n"
    subprocess.run(["gcc", "-x", "c", "-w", "-fsyntax-only", "-"], input=text.encode(), check=True)


def test_all_rows_are_what_is_called() -> None:
    wanted = {}
    calls = []
    for name, signature in FORMS.items():
        wanted[name] = signature.result
        given = _ANY_ARGUMENTS.get(name, "1.0") if signature.parameters is None else ", ".join("0" for _ in signature.parameters)
        calls.append(f"if (c == {len(calls)}) __builtin_{name}({given});")
    cfa = cfa_of(f"void f(char *s, int c) {{ {' '.join(calls)} }}")
    assert not cfa.unsupported
    callees = [edge.effect.callee for edge in cfa.edges if isinstance(edge.effect, ir.Call)]
    found = {callee.name.removeprefix("__builtin_"): callee.type.result for callee in callees if isinstance(callee, ir.Var)}
    spellings = {"size_t": "unsigned long", "uint64": "unsigned long", "const char *": "char *"}
    assert {name: spell(type_) for name, type_ in found.items()} == {
        name: spellings.get(result, result) for name, result in wanted.items()
    }


def test_functions_of_tables_have_types() -> None:
    assert [
        name for name in all_with(lambda one: not one.besides.isdisjoint(("builtin", "float"))) if signature_of(name) is None
    ] == []
    assert [name for name in LIBRARY if name.startswith("__builtin_") and signature_of(name) is None] == []


@pytest.mark.parametrize(
    "call",
    ["__builtin_unheard_of(1)", "__sync_unheard_of(&x)", "__atomic_load_8(&x, 0)", "__c11_atomic_load(&x, 0)",
     "__builtin_ia32_crc32di(1, 2)", "__builtin_expect()", "__builtin_choose_expr(1)", "__sync_fetch_and_add(&x)",
     "__builtin_va_start()", "if (__builtin_expect()) return", "__sync_fetch_and_add(x, 1)"],
)  # fmt: skip
def test_what_is_not_known_is_an_obstacle(call: str) -> None:
    assert cfa_of(f"void f(long x) {{ {call}; }}").unsupported


@pytest.mark.parametrize("declaration", ["static int abs(int x) { return 7; }", "void g(void) {}", "int abs(int);"])
def test_a_static_function_is_not_the_built_in_one(declaration: str) -> None:
    effects = [edge.effect for edge in cfa_of(f"{declaration} int f(void) {{ return __builtin_abs(-3); }}").edges]
    (callee,) = (effect.callee for effect in effects if isinstance(effect, ir.Call))
    assert isinstance(callee, ir.Var)
    assert callee.name == "abs"


def test_a_declaration_of_another_type_is_an_obstacle() -> None:
    assert cfa_of("short abs(int); int f(void) { return __builtin_abs(-3); }").unsupported


def test_an_unknown_floating_type_is_an_obstacle() -> None:
    assert cfa_of("void f(void) { __builtin_inff128(); }").unsupported
