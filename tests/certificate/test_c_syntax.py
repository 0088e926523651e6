"""Formulas as C: what is written is true exactly where the formula is, as gcc compiles it, and computes nothing undefined."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.certificate.c_syntax import Conditions, joined
from analysis.certificate.c_values import InexpressibleError, Name
from analysis.model.c_types import BOOL, CHAR, INT, UNSIGNED_CHAR, UNSIGNED_INT, Integer, Pointer, Void
from analysis.smt.logic import linear
from analysis.smt.logic.bitvectors import euclidean, multiply
from analysis.smt.logic.term_building import and_, eq, integer, ite, not_, or_, select, symbol
from analysis.smt.logic.terms import INT as INTEGERS
from analysis.smt.logic.terms import Term, array

LONG, UNSIGNED_LONG = Integer(64, True, "long"), Integer(64, False, "unsigned long")
TYPES: dict[str, Integer] = {
    "c": CHAR, "b": UNSIGNED_CHAR, "t": BOOL, "i": INT, "j": INT, "u": UNSIGNED_INT, "l": LONG, "w": UNSIGNED_LONG,
}  # fmt: skip
NAMES = {symbol(f"0:{name}", INTEGERS): Name(name, type_) for name, type_ in TYPES.items()}
ARRAY = symbol("0:a", array(INTEGERS, INTEGERS))
ALL_NAMES = {**NAMES, ARRAY: Name("a", INT, is_array=True), symbol("0:p", INTEGERS): Name("p", Pointer(Void()))}
ARRAY_LENGTH = 256

_constants = st.one_of(st.integers(-3, 3), st.sampled_from([255, -(1 << 31), (1 << 31) - 1, 1 << 32, -(1 << 63), (1 << 64) - 1]))
_leaves = st.one_of(st.sampled_from(sorted(NAMES, key=str)), _constants.map(integer))


def _numbers(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    """Terms made of others, `conditions` among them."""
    compared = st.builds(linear.at_most, inner, inner)
    by = st.sampled_from([1, 2, 3, 8, 1 << 32])
    return st.one_of(
        st.builds(linear.add, inner, inner),
        st.builds(linear.subtract, inner, inner),
        st.builds(multiply, inner, inner),
        st.builds(lambda one, divisor: euclidean("div", one, integer(divisor)), inner, by),
        st.builds(lambda one, divisor: euclidean("mod", one, integer(divisor)), inner, by),
        st.builds(ite, compared, inner, inner),
        st.just(select(ARRAY, symbol("0:b", INTEGERS))),
    )


numbers = st.recursive(_leaves, _numbers, max_leaves=6)
_atoms = st.one_of(
    st.builds(linear.at_most, numbers, numbers),
    st.builds(linear.less, numbers, numbers),
    st.builds(lambda one, other: Term(">=", (one, other), eq(one, other).sort), numbers, numbers),
    st.builds(eq, numbers, numbers),
)
conditions = st.recursive(
    _atoms,
    lambda inner: st.one_of(
        st.builds(not_, inner), st.builds(and_, inner, inner), st.builds(or_, inner, inner), st.builds(ite, inner, inner, inner)
    ),
    max_leaves=4,
)


def _bounds(type_: Integer) -> tuple[int, int]:
    if type_ == BOOL:
        return 0, 1
    return (-(1 << (type_.bits - 1)), (1 << (type_.bits - 1)) - 1) if type_.signed else (0, (1 << type_.bits) - 1)


def _values(type_: Integer) -> st.SearchStrategy[int]:
    low, high = _bounds(type_)
    return st.one_of(st.sampled_from([low, high, 0, 1]), st.integers(low, high), st.integers(max(low, -4), min(high, 4)))


states = st.fixed_dictionaries({name: _values(type_) for name, type_ in TYPES.items()})


def evaluated(term: Term, state: dict[str, int]) -> int:
    """The value of a term over mathematical integers; element k of the array is k - 7."""
    match term.op:
        case "value":
            assert isinstance(term.data, int)
            return term.data
        case "symbol":
            return state[str(term.data).removeprefix("0:")]
        case "select":
            return evaluated(term.args[1], state) - 7
        case "ite":
            return evaluated(term.args[1 if evaluated(term.args[0], state) else 2], state)
    values = [evaluated(argument, state) for argument in term.args]
    match term.op:
        case "and":
            return int(all(values))
        case "or":
            return int(any(values))
        case "not":
            return int(not values[0])
        case "+":
            return sum(values)
        case "*":
            return values[0] * values[1]
        case "div":
            return values[0] // values[1]
        case "mod":
            return values[0] % values[1]
        case "<=":
            return int(values[0] <= values[1])
        case ">=":
            return int(values[0] >= values[1])
        case "=":
            return int(values[0] == values[1])
    raise AssertionError(term.op)


def _literal(value: int) -> str:
    return f"({value + 1}LL - 1)" if value < 0 else f"{value}ULL"


def _program(texts: list[str], given_: list[dict[str, int]]) -> str:
    """Prints one line for each state: a digit for each condition."""
    types = {**TYPES, "t": Integer(8, False, "_Bool")}
    parameters = ", ".join(f"{type_.name} {name}" for name, type_ in types.items())
    body = "".join(f"    putchar('0' + ({text}));\n" for text in texts)
    calls = "".join(f"    say({', '.join(_literal(state[name]) for name in types)});\n" for state in given_)
    fill = f"static int a[{ARRAY_LENGTH}];\n"
    start = f"    for (int k = 0; k < {ARRAY_LENGTH}; k++) a[k] = k - 7;\n"
    said = f"static void say({parameters})\n{{\n{body}    putchar('\\n');\n}}\n"
    return f"#include <stdio.h>\n{fill}{said}int main(void)\n{{\n{start}{calls}}}\n"


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.lists(conditions, min_size=8, max_size=24), st.lists(states, min_size=4, max_size=4))
def test_c_says_what_the_formula_says(tmp_path: Path, formulas: list[Term], given_: list[dict[str, int]]) -> None:
    said: list[tuple[Term, str]] = []
    writer = Conditions(ALL_NAMES)
    for formula in formulas:
        try:
            said.append((formula, writer.condition(formula)[0]))
        except InexpressibleError:
            continue
    source, program = tmp_path / "said.c", tmp_path / "said"
    source.write_text(_program([text for _, text in said], given_))
    options = ["-std=gnu11", "-w", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["gcc", *options, "-o", program, source], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    for state, line in zip(given_, printed, strict=True):
        for (formula, text), digit in zip(said, line, strict=True):
            assert evaluated(formula, state) == int(digit), f"{formula} as {text} in {state}"


@settings(max_examples=200, deadline=None)
@given(st.lists(conditions, min_size=1, max_size=4), states)
def test_what_is_said_of_a_conjunction_follows_from_it(parts: list[Term], state: dict[str, int]) -> None:
    conjunction = and_(*parts)
    texts = set(Conditions(ALL_NAMES).said(conjunction))
    kept = [part for part in (conjunction.args if conjunction.op == "and" else (conjunction,)) if _said(part) in texts]
    assert not evaluated(conjunction, state) or all(evaluated(part, state) for part in kept)
    assert len({_said(part) for part in kept}) == len(texts)


def _said(term: Term) -> str | None:
    try:
        return Conditions(ALL_NAMES).condition(term)[0]
    except InexpressibleError:
        return None


X, Y, U, P = (symbol(f"0:{name}", INTEGERS) for name in "ijup")


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (linear.less(X, Y), "i < j"),
        (not_(linear.at_most(X, Y)), "j < i"),
        (linear.at_most(integer(0), X), "i >= 0"),
        (linear.less(integer(0), linear.add(X, Y)), "(long long)i + j > 0"),
        (linear.at_most(X, U), "i <= (long long)u"),
        (eq(linear.scale(2, X), Y), "j == 2 * (long long)i"),
        (not_(eq(X, integer(7))), "i != 7"),
        (not_(eq(P, integer(0))), "p != 0"),
        (linear.at_most(integer(1), P), "p != 0"),
        (or_(eq(X, integer(0)), and_(eq(Y, integer(1)), eq(U, integer(2)))), "i == 0 || (j == 1 && u == 2)"),
        (and_(linear.at_most(integer(0), X), linear.at_most(X, integer(1 << 40))), "i >= 0"),
        (and_(eq(symbol("old:x", INTEGERS), X), eq(Y, integer(3))), "j == 3"),
        (eq(P, integer(4096)), ""),
    ],
)
def test_it_reads_like_a_programmer_wrote_it(formula: Term, text: str) -> None:
    assert " && ".join(Conditions(ALL_NAMES).said(formula)) == text


def test_alternatives_of_which_one_says_nothing_say_nothing() -> None:
    assert joined([["i == 0"], ["i == 1", "j == 2"], ["i == 0"]]) == "i == 0 || (i == 1 && j == 2)"
    assert joined([["i == 0"], []]) == ""
