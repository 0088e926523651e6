"""The engines in turn: what one cannot tell, another one does; nothing is safe without a certificate."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from analysis.certificate.checker import check
from analysis.certificate.unwinding import check_unwinding
from analysis.certificate.unwinding_tree import Unwinding
from analysis.cpa.framework.algorithm import Cancellation
from analysis.engines.predicate.reuse import earlier_proofs
from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, Refuted, decide_program
from analysis.model import clock
from analysis.session.portfolio import certified_proofs
from analysis.session.portfolio.asking import ask
from analysis.session.portfolio.registry import PROVERS
from analysis.session.portfolio.request import Answer, Proved, Request, Unknown
from analysis.session.portfolio.request_terms import About, Kept, Terms
from analysis.session.portfolio.turns import TURNS
from benchmarks.asked_programs import Engine, ProgramAnswer, answer
from benchmarks.papers import FOLDER, row_of
from benchmarks.verdicts import task_of
from tests.support.explorations import program_of

HEAD = "void reach_error(void); int __VERIFIER_nondet_int(void);\n"
LOOP = """int main(void) { int i = 0, n = __VERIFIER_nondet_int(); if (n < 0) return 0;
    while (i < n) i++; if (i != n) reach_error(); return 0; }"""
DEFECT = "int main(void) { int n = __VERIFIER_nondet_int(); if (n == 77777) reach_error(); return 0; }"
PLAIN = "int main(void) { int n = 1; if (n != 1) reach_error(); return 0; }"


def task(text: str, rules: tuple[str, ...] = ("assertion",)) -> ProgramTask:
    return ProgramTask(program_of(HEAD + text), frozenset(rules), Effort(seconds=8.0, runs=8, states=400))


def said(text: str, engine: Engine, rules: tuple[str, ...] = ("assertion",)) -> ProgramAnswer:
    return answer(task(text, rules), engine)


def test_a_loop_is_proved_by_predicate_analysis() -> None:
    assert said(LOOP, "symbolic").verdict == "unknown"
    assert said(LOOP, "value").verdict == "unknown"
    for engine in ("predicate", "auto"):
        found = said(LOOP, engine)  # type: ignore[arg-type]  # one of them
        assert found.verdict == "safe"
        assert len(found.certificates) == 1


def test_what_proofs_are_said_to_have_taken_does_not_grow_with_revisions() -> None:
    """Each entry has a proof of its own; what is kept of all of them says what the longest took."""
    loops = "".join(
        f"void f{number}(int n) {{ int i = 0; if (n < 0) return; while (i < n) i++; if (i != n) reach_error(); }}\n"
        for number in range(2)
    )
    kept, worked = Kept(), list[float]()
    for number in range(3):
        program = program_of(f"{HEAD}{loops}int g(void) {{ return {number}; }}")
        request = Request(program, ("f0", "f1"), About("program", ("assertion",)), terms=Terms(), kept=kept)
        found = certified_proofs.by_predicates(request, 20.0, Cancellation())
        assert isinstance(found, Proved)
        earlier = earlier_proofs.read(found.kept) if found.kept else None
        assert found.kept
        assert earlier is not None
        kept = Kept(found.kept)
        worked.append(earlier.worked)
    assert worked[0] > 0
    assert worked == [worked[0]] * 3


def test_a_proof_is_tried_before_runs_use_up_the_time() -> None:
    """The runs of the loop, and the tree of its paths, have no end."""
    began = clock.spent()
    request = Request(task(LOOP).program, ("main",), About("runs", ("assertion",)), terms=Terms())
    found = ask(request, 20.0).by_rule["assertion"]
    assert isinstance(found, Proved)
    assert found.engine == "predicate"
    assert clock.spent() - began < 3


def test_where_a_run_violates_one_rule_others_are_not_looked_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TURNS["runs"], "auto", tuple(turn for turn in TURNS["runs"]["auto"] if turn.prover != "tree"))
    text = """int main(void) { int a[2], n = __VERIFIER_nondet_int(); unsigned i = 0;
        if (n == 7) a[n] = 0; while (i < (unsigned)n) i += 2; if (i == 99) reach_error(); return 0; }"""
    began, rules = clock.spent(), ("array-bounds", "assertion")
    found = ask(Request(task(text, rules).program, ("main",), About("runs", rules), terms=Terms()), 16.0).by_rule
    assert isinstance(found["array-bounds"], Confirmed)
    assert clock.spent() - began < 6  # of 10.4 that are for runs


@pytest.mark.parametrize("engine", ["symbolic", "auto"])
def test_a_defect_is_confirmed_by_a_run(engine: Engine) -> None:
    assert said(DEFECT, "predicate").verdict == "unknown"
    found = said(DEFECT, engine)
    assert found.verdict == "violated"
    assert found.confirmed is not None


def test_few_values_prove_a_protocol() -> None:
    protocol = """int lock; void acquire(void) { if (lock) reach_error(); lock = 1; }
        int main(void) { int n = __VERIFIER_nondet_int(); while (n > 0) { acquire(); n--; lock = 0; } return 0; }"""
    found = said(protocol, "value")
    assert found.verdict == "safe"
    assert len(found.certificates) == 1


@pytest.mark.parametrize("engine", get_args(Engine))
def test_what_is_safe_has_a_certificate(engine: Engine) -> None:
    found, program = said(PLAIN, engine), task(PLAIN).program
    assert found.verdict == "safe"
    (certificate,) = found.certificates
    accept = check_unwinding if isinstance(certificate, Unwinding) else check
    assert accept(program, certificate).assumptions  # type: ignore[operator]  # RefusedError otherwise


@pytest.mark.parametrize("engine", get_args(Engine))
def test_what_is_only_refuted_is_unknown(engine: Engine) -> None:
    """Only a run of the program shows which number `atoi` reads."""
    text = 'int atoi(const char *); int main(void) { if (atoi("7") != 7) reach_error(); return 0; }'
    assert isinstance(decide_program(task(text)), Refuted)
    found = said(text, engine)
    assert found.verdict == "unknown"
    assert "following the program's paths from main did not prove it" in found.reason or engine not in ("symbolic", "auto")


def test_the_tree_of_paths_proves_what_the_state_of_memory_shows() -> None:
    text = "void *malloc(unsigned long); void free(void *); int main(void) { void *p = malloc(4); free(p); return 0; }"
    found = said(text, "auto", ("double-free", "memory-leak"))
    assert found.verdict == "safe"
    assert isinstance(found.certificates[0], Unwinding)


LEAVES_ITS_ARRAY = FOLDER / "ipa-fig2-first.c"


@pytest.mark.parametrize("path", sorted(set(FOLDER.glob("*.c")) - {LEAVES_ITS_ARRAY}), ids=lambda path: path.stem)
def test_the_programs_of_the_papers_are_decided(path: Path) -> None:
    """[SYMCEGAR] Fig. 1 and 5, [IPA] Fig. 2, [DIFFDP] Fig. 2, [UPPROVER] Fig. 1 (`benchmarks.papers` has the times)."""
    found = answer(task_of(row_of(path), 120.0), "auto")
    assert found.verdict == "safe", found.reason
    assert found.certificates


def test_a_program_that_leaves_its_array_is_not_proved() -> None:
    """The first program of [IPA] Fig. 2 writes past its array, and only then warns of it. C leaves open what happens from there
    on."""
    found = answer(task_of(row_of(LEAVES_ITS_ARRAY), 20.0), "auto")
    assert found.verdict == "unknown"
    assert "q[i] in main() may be outside of its array" in found.reason
    assert not found.certificates


@pytest.mark.parametrize("rules", [("memory-leak",), ("assertion", "use-after-free"), ()])
def test_rules_without_a_condition_are_not_proved(rules: tuple[str, ...]) -> None:
    found = said(PLAIN, "predicate", rules)
    assert found.verdict == "unknown"
    assert found.reason


def test_an_engine_is_not_asked_again_for_what_more_time_does_not_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """In its first turn, predicate analysis comes to a path that both encodings allow."""
    asked: list[str] = []

    def by_predicates(request: Request, seconds: float, cancellation: Cancellation) -> Answer:
        asked.append(request.about.rules[0])
        return PROVERS["predicate"].prove(request, seconds, cancellation)

    changed = {**PROVERS, "predicate": PROVERS["predicate"]._replace(prove=by_predicates)}
    monkeypatch.setattr("analysis.session.portfolio.asking.PROVERS", changed)
    text = "int f(int *p) { return *p; }"
    request = Request(program_of(text), ("f",), About("values", ("null-dereference",), "f"), whole=False)
    found = ask(request, 4.0).by_rule["null-dereference"]
    assert isinstance(found, Unknown)
    assert asked == ["null-dereference"]
