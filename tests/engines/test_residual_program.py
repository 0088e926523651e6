"""Residual programs: every run with a regression bug is in them, they do nothing else than the new version, and compile."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cfa.graph import Program
from analysis.engines.difference.extraction import Method, difference_condition
from analysis.engines.difference.function_pairs import ProgramPair
from analysis.engines.difference.residual_program import residual_program
from analysis.interpreter.inputs import Script
from analysis.interpreter.interpreter import execute
from analysis.interpreter.outcome import Start
from tests.support.explorations import errs
from tests.support.program_pairs import answers, new_runs, pair_of, revision_of
from tests.support.random_pairs import versions


def residual(programs: ProgramPair, method: Method = "diffDP") -> str:
    condition = difference_condition(programs, "main", method)
    return residual_program(programs.new.program, programs.new.places, [condition]).decode()


def errs_for(program: Program, inputs: tuple[object, ...]) -> bool:
    run = execute(program, Start("main"), Script(inputs, rest=0), record=True)  # type: ignore[arg-type]  # they are numbers
    return errs(program, run)


@pytest.mark.parametrize("method", ["diffCond", "diffDP"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_runs_with_a_regression_bug_are_left_and_none_are_new(method: Method, seed: int) -> None:
    programs = pair_of(*versions(Random(seed)))
    program = revision_of(residual(programs, method)).program
    regressions, others = new_runs(programs, 100)
    assert all(errs_for(program, answers(run)) for run in regressions)
    for run in others:
        assert not errs_for(program, answers(run)) or errs(programs.new.program, run)


def test_many_residual_programs_compile(tmp_path: Path) -> None:
    stops = 0
    for seed in range(40):
        text = residual(pair_of(*versions(Random(seed))))
        stops += text.count("{ abort(); }")
        (tmp_path / f"r{seed}.c").write_text(text)
    subprocess.run(["gcc", "-c", "-w", *sorted(str(path) for path in tmp_path.glob("*.c"))], check=True, cwd=tmp_path)
    assert stops > 40


OLD = """void reach_error(void);
int nondet(void);
static int sum(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += i;
    return s;
}
int main(void)
{
    int kind = nondet(), n = nondet() & 7, x = 0;
    if (kind == 1) {
        for (x = 0; x < n; x++)
            if (x > 7)
                reach_error();
        return 0;
    } else if (kind == 2)
        x = sum(n);
    else
        switch (n) {
        case 1:
            x = 2;
            break;
        default:
            x = 3;
        }
    if (x > 30)
        reach_error();
    return 0;
}
"""


def test_loops_stay_loops_and_what_is_covered_is_gone() -> None:
    new = OLD.replace("s += i", "s += i * 2")
    left = residual(pair_of(OLD, new)).split("\n", 1)[1]
    assert left.count("\n") == new.count("\n")
    head, _, main = left.partition("int main")
    assert head == new.partition("int main")[0]
    assert "if (kind == 1) { abort(); }" in main
    assert "x = sum(n);" in main
    assert "if (x > 30)\n        reach_error();" in main
    assert "x > 7" not in main
