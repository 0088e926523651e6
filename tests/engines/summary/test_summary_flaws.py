"""Violations beside code that is not understood: they are found whatever the summaries of the revision before said.

The class: an answer rests on a summary that nobody has validated in this revision.
"""

from __future__ import annotations

import msgspec
import pytest

from analysis.engines.summary.bounded_answer import BoundedAnswer, Level
from analysis.engines.summary.known_calls import KnownCalls
from analysis.engines.summary.level_chain import LEVELS, LevelChain
from analysis.engines.summary.revision_chain import ChainOptions
from analysis.smt.logic.term_building import FALSE
from tests.support.explorations import program_of

HEAD = "void reach_error(void); int nondet(void);\n"
BEFORE = (
    HEAD
    + """int above(int n) { return n + 1; }
int middle(int n) { return above(n); }
void odd(int a) { if (2 * a == 7) reach_error(); }
void check(int n) { int x = 5; if (x != 5) reach_error(); }
int main(void) { int n = nondet(); check(n); odd(nondet() & 15); if (middle(0) <= 0) reach_error(); return 0; }
"""
)
AFTER = (
    HEAD
    + """int above(int n) { return n + 1; }
int middle(int n) { int x = above(n); return x == n + 1 ? x : 0; }
void odd(int a) { if (2 * a == 7) reach_error(); }
void check(int n) { if (n == 7) reach_error(); }
int main(void) {
    int n = nondet();
    if (n == 20) { __asm__("nop"); return 1; }
    check(n); odd(nondet() & 15); if (middle(0) <= 0) reach_error();
    return 0;
}
"""
)


def many(calls: int, *, has_flaw: bool) -> str:
    """A program that calls a function so many times; the last call violates."""
    flaw = 'if (n == 20) { __asm__("nop"); return 1; }' if has_flaw else ""
    called = "".join(f" check({number + 10});" for number in range(calls))
    last = "check(n);" if has_flaw else "check(11);"
    return (
        HEAD
        + "void check(int n) { if (n == 7) reach_error(); }\n"
        + f"int main(void) {{ int n = nondet(); {flaw}{called} {last} return 0; }}\n"
    )


def verified(
    text: str, levels: tuple[Level, ...], known: KnownCalls | None = None, *, are_believed: bool = True
) -> BoundedAnswer:
    chain = LevelChain(ChainOptions(), levels)
    if known is not None:
        chain.resume(known, are_believed=are_believed)
    return chain.verify(program_of(text))


def known_of(text: str, levels: tuple[Level, ...]) -> KnownCalls:
    chain = LevelChain(ChainOptions(), levels)
    assert chain.verify(program_of(text)).status == "holds"
    return chain.known


@pytest.mark.parametrize("levels", [LEVELS, ("int",), ("bv",)])
def test_a_summary_that_waits_for_its_validation_says_nothing(levels: tuple[Level, ...]) -> None:
    assert verified(AFTER, levels).status == "possible"
    assert verified(AFTER, levels, known_of(BEFORE, levels)).status == "possible"


@pytest.mark.parametrize("calls", [2, 9])  # of many, the root is asked about first
@pytest.mark.parametrize("are_forged", [False, True])
def test_a_summary_that_is_not_believed_says_nothing(calls: int, are_forged: bool) -> None:
    levels: tuple[Level, ...] = ("int",)
    known = known_of(many(calls, has_flaw=False), levels)
    if are_forged:
        calls_ = {key: msgspec.structs.replace(call, summary=FALSE) for key, call in known.levels["int"].items()}
        known = KnownCalls({"int": calls_}, known.numbers)
    assert verified(many(calls, has_flaw=True), levels, known, are_believed=False).status == "possible"
