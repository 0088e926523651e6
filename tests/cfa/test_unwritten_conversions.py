"""The class: conversions that C makes without a cast, at places where they are easily forgotten, or made in the other direction.

Each text is the body of a function. What it returns in the interpreter is what it returns where gcc compiled it.
"""

from __future__ import annotations

import subprocess

import pytest

from analysis.interpreter.outcome import Returned
from tests.support.lowered import cfa_of
from tests.support.runs import run_of

GLOBALS = "static int effects; _Alignas(256) static int round_address;\n"
CASES = {
    "case beyond int": "int x = 1; switch (x) { case 0x100000001L: return 1; } return 0;",
    "case of a negative number": "unsigned x = 0xffffffffu; switch (x) { case -1: return 1; } return 0;",
    "case of unsigned long": "int x = -1; switch (x) { case 0xffffffffffffffffUL: return 1; } return 0;",
    "case beyond a promoted char": "unsigned char x = 0; switch (x) { case 256: return 1; default: return 2; }",
    "case of a wide value": "long x = 0x100000001L; switch (x) { case 1: return 1; case 0x100000001L: return 2; } return 0;",
    "range beyond int": "int x = 1; switch (x) { case 0x100000000L ... 0x100000002L: return 1; } return 0;",
    "one end beyond int": "int x = 1; switch (x) { case -1 ... 0x100000002L: return 1; } return 0;",
    "range of negative numbers": "unsigned x = 0xfffffffeu; switch (x) { case -3 ... -1: return 1; } return 0;",
    "range that is empty when converted": "int x = 1; switch (x) { case 0 ... 0xffffffffL: return 1; } return 0;",
    "absolute value beyond int": "return __builtin_abs(0x100000003L);",
    "absolute long value": "return __builtin_labs(-5000000000L) == 5000000000L;",
    "absolute value of a float": "return __builtin_abs(-3.7);",
    "bits beyond int": "return __builtin_popcount(0x100000003L);",
    "zeros of a char": "char c = 1; return __builtin_clz(c) + __builtin_clzl(c);",
    "size of a built-in call": "return 10 * sizeof(__builtin_labs(1)) + sizeof(__builtin_bswap16(1));",
    "bytes as a floating number": "char c[3] = {1, 1, 1}; __builtin_memset(c, 0x105.8p0, 2.5); return c[0] + c[1] + c[2];",
    "size of an old value": "long x = 1; return sizeof(__sync_lock_test_and_set(&x, 1L));",
    "expected floating number": "double d = 0.5; if (__builtin_expect(d, 1)) return 1; return 0;",
    "expected floating number negated": "double d = 0.5; return !__builtin_expect(d, 1);",
    "expected wide number": "__int128 x = (__int128)1 << 64; if (__builtin_expect(x, 1)) return 1; return 0;",
    "expected comparison": "double d = 0.5; if (__builtin_expect(d > 0 && d, 1)) return 1; return 0;",
    "chosen array": "int a[5]; return sizeof(__builtin_choose_expr(1, a, 0));",
    "chosen object": "int a = 1; __builtin_choose_expr(0, 1, a) = 3; return a;",
    "address made narrow": "if ((void *)(long)(char)(long)&round_address) return 1; return 0;",
    "address made narrow and negated": "return !(void *)(long)(char)(long)&round_address;",
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """What each function returns where gcc compiled it."""
    folder = tmp_path_factory.mktemp("compiled")
    functions = [f"static int f{number}(void) {{ {text} }}" for number, text in enumerate(CASES.values())]
    prints = "".join(f' printf("%d ", f{number}());' for number in range(len(CASES)))
    file, program = folder / "p.c", folder / "p"
    file.write_text("#include <stdio.h>\n" + GLOBALS + "\n".join(functions) + f"\nint main(void) {{{prints} return 0; }}\n")
    subprocess.run(["gcc", "-w", str(file), "-o", str(program)], check=True)
    printed = subprocess.run([str(program)], check=True, capture_output=True).stdout
    return dict(zip(CASES, map(int, printed.split()), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_the_value_is_that_of_gcc(name: str, compiled: dict[str, int]) -> None:
    assert run_of(f"{GLOBALS} int main(void) {{ {CASES[name]} }}").end == Returned(compiled[name])


@pytest.mark.parametrize("call", ["__builtin_expect(x, x++)", "__builtin_assume(x++)", "__builtin_expect(x, f(x))"])
def test_effects_that_compilers_leave_out_are_obstacles(call: str) -> None:
    assert cfa_of(f"int f(int x) {{ if (x) {{ {call}; }} return x; }}").unsupported
    assert cfa_of(f"int f(int x) {{ if ({call}) return 0; return x; }}").unsupported
