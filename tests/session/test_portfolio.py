"""The engines in turn: what one cannot tell, another one does."""

from __future__ import annotations

import pytest

from analysis.engines.symbolic import Effort, ProgramTask
from analysis.session.portfolio import Answer, Engine, answer
from tests.support.explorations import program_of

HEAD = "void reach_error(void); int __VERIFIER_nondet_int(void);\n"
LOOP = """int main(void) { int i = 0, n = __VERIFIER_nondet_int(); if (n < 0) return 0;
    while (i < n) i++; if (i != n) reach_error(); return 0; }"""
DEFECT = "int main(void) { int n = __VERIFIER_nondet_int(); if (n == 77777) reach_error(); return 0; }"
PLAIN = "int main(void) { int n = 1; if (n != 1) reach_error(); return 0; }"


def said(text: str, engine: Engine, rules: tuple[str, ...] = ("assertion",)) -> Answer:
    return answer(ProgramTask(program_of(HEAD + text), frozenset(rules), Effort(seconds=8.0, runs=8, states=400)), engine)


def test_a_loop_is_proved_by_predicate_analysis() -> None:
    assert said(LOOP, "symbolic").verdict == "unknown"
    assert said(LOOP, "value").verdict == "unknown"
    for engine in ("predicate", "auto"):
        found = said(LOOP, engine)  # type: ignore[arg-type]  # one of them
        assert found.verdict == "safe"
        assert len(found.certificates) == 1


def test_a_defect_is_confirmed_by_a_run() -> None:
    assert said(DEFECT, "predicate").verdict == "unknown"
    found = said(DEFECT, "auto")
    assert found.verdict == "violated"
    assert found.confirmed is not None


def test_few_values_prove_a_protocol() -> None:
    protocol = """int lock; void acquire(void) { if (lock) reach_error(); lock = 1; }
        int main(void) { int n = __VERIFIER_nondet_int(); while (n > 0) { acquire(); n--; lock = 0; } return 0; }"""
    found = said(protocol, "value")
    assert found.verdict == "safe"
    assert len(found.certificates) == 1


def test_what_symbolic_execution_refutes_gets_a_certificate() -> None:
    assert said(PLAIN, "symbolic").certificates == ()
    assert len(said(PLAIN, "auto").certificates) == 1


@pytest.mark.parametrize("rules", [("memory-leak",), ("assertion", "use-after-free"), ()])
def test_rules_without_a_condition_are_not_proved(rules: tuple[str, ...]) -> None:
    found = said(PLAIN, "predicate", rules)
    assert found.verdict == "unknown"
    assert found.reason
