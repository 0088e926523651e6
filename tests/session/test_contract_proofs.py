"""Proofs about all functions at once: what has a defect has none, and each function has those that it has by itself."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.cfa.graph import Program
from analysis.cfa.program_part import part_below
from analysis.cpa.framework.algorithm import Cancellation
from analysis.model import clock
from analysis.model.options import Options
from analysis.session.portfolio import contract_proofs, ownership_proofs, required_proofs
from analysis.session.portfolio.request import Answer, Proved, Request, Unknown
from analysis.session.portfolio.request_terms import About
from analysis.session.provers.asking.claim import Claim
from analysis.session.provers.asking.claim_parts import ClaimParts
from analysis.session.provers.asking.program_slices import Contents
from benchmarks.traps.programs import Trap, traps

_RULES = tuple(sorted(contract_proofs.OF_BLOCKS | contract_proofs.OF_VALUES))
_TRAPS = [trap for trap in traps() if trap.rule in _RULES and trap.model == "LP64" and not trap.flags]
_SECONDS = 1000.0


def _program(trap: Trap) -> Program:
    checker = Checker(Options())
    checker.open([str(file) for file in trap.files])
    return checker.inspect().program


def _entries(program: Program) -> tuple[str, ...]:
    return ("main",) if "main" in program.functions else ()


def _answers(
    program: Program, rules: tuple[str, ...], seconds: float = _SECONDS
) -> dict[tuple[str, str], contract_proofs.OfFunction]:
    request = Request(program, _entries(program), About("contracts", rules))
    return {(one.function, one.rule): one for one in contract_proofs.prove(request, seconds, Cancellation())}


def _is_open(answer: Answer) -> bool:
    return isinstance(answer, Unknown) and not answer.nothing


@pytest.mark.parametrize("trap", [trap for trap in _TRAPS if trap.is_defect], ids=lambda trap: trap.name)
def test_a_defect_is_open_in_a_function(trap: Trap) -> None:
    answers = _answers(_program(trap), (trap.rule,))
    assert any(_is_open(found.answer) for found in answers.values())


@pytest.mark.parametrize("trap", _TRAPS[::6], ids=lambda trap: trap.name)
def test_each_function_has_the_answers_that_it_has_by_itself(trap: Trap) -> None:
    program = _program(trap)
    answers = _answers(program, _RULES)
    assert answers.keys() == {(name, rule) for name in program.functions for rule in _RULES}
    parts = ClaimParts(program, _entries(program), Contents(), uncut=False, understood=True, however_large=False)
    for (name, rule), found in answers.items():
        answer = found.answer
        if parts.of(Claim("function", name, rule, False), ()) is None:
            assert _is_open(answer)  # nothing is asked of it by itself, for a reason
            continue
        if isinstance(answer, Proved) and answer.engine == contract_proofs.ENGINE_OF_DATA:
            assert found.entries == ("main",)  # it rests on all of the program
            continue
        alone = _alone(program, _entries(program), name, rule)
        assert type(answer) is type(alone), (name, rule, answer, alone)
        if isinstance(answer, Unknown) and isinstance(alone, Unknown):
            assert answer.nothing <= alone.nothing, (name, rule, answer, alone)  # not where something is not supported
        if isinstance(answer, Proved):  # it takes for granted what the part of the program that it follows needs
            in_part = _alone(part_below(program, (*found.entries, name)), found.entries, name, rule)
            assert isinstance(in_part, Proved)
            assert answer.assumptions == in_part.assumptions, (name, rule)


def _alone(program: Program, entries: tuple[str, ...], name: str, rule: str) -> Answer:
    prover = ownership_proofs if rule in contract_proofs.OF_BLOCKS else required_proofs
    return prover.prove(Request(program, entries, About("function", (rule,), name)), _SECONDS, Cancellation())


def test_only_what_runs_from_main_alone_reach_is_proved_by_its_callers(tmp_path: Path) -> None:
    file = tmp_path / "beside.c"
    file.write_text(
        "static int get(int *p) { return *p; }\n"  # open: api() passes it what others pass to api()
        "int api(int *p) { return get(p); }\n"
        "static int own(int *p) { return *p + 1; }\n"
        "int main(void) { int a = 1; return own(&a) + get(&a); }\n"
    )
    checker = Checker(Options())
    checker.open([str(file)])
    program = checker.inspect().program
    request = Request(program, ("main", "api"), About("contracts", ("null-dereference",)))
    found = {one.function.rpartition("::")[2]: one for one in contract_proofs.prove(request, _SECONDS, Cancellation())}
    assert isinstance(found["own"].answer, Proved)
    assert found["own"].entries == ("main",)
    assert _is_open(found["get"].answer)


def test_with_less_work_fewer_functions_are_proved_and_all_are_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "int k; for (k = 0; k < m; k++) if (k % 3) p++; return get(p) + m"
    called = [f"static int f{n}(int *p, int m) {{ {body} + f{n - 1}(p, m); }}\n" for n in range(1, 10)]
    file = tmp_path / "chain.c"
    file.write_text(
        "static int get(int *p) { return *p; }\n"
        "static int f0(int *p, int m) { return get(p) + m; }\n"
        f"{''.join(called)}"
        "int main(void) { int a = 1; return f9(&a, 2); }\n"
    )
    checker = Checker(Options())
    checker.open([str(file)])
    program = checker.inspect().program
    proved = list[set[tuple[str, str]]]()
    for steps in range(0, 2000, 50):  # some of these end between a function and those that call it
        monkeypatch.setattr(contract_proofs, "_last_blocks", None)
        monkeypatch.setattr(contract_proofs, "_last_values", {})
        answers = _answers(program, _RULES, steps * clock.STEP / clock.SECOND)
        assert answers.keys() == {(name, rule) for name in program.functions for rule in _RULES}
        proved.append({key for key, found in answers.items() if isinstance(found.answer, Proved)})
    assert all(fewer <= more for fewer, more in pairwise(proved))
    assert proved[0] < proved[-1]
