"""Steps that repeat are printed once, with how often; no step is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.cli.main import main
from analysis.cli.repeated_steps import repetitions

LOOP = """int f(int n)
{
    int *p = 0;
    for (int i = 0; i < 20; i++)
        if (n == i)
            n++;
    return *p;
}
"""


@given(st.lists(st.sampled_from("ab"), max_size=40))
def test_the_blocks_written_out_are_the_steps(steps: list[str]) -> None:
    written = [step for first, length, times in repetitions(steps) for step in steps[first : first + length] * times]
    assert written == steps


@pytest.mark.parametrize(
    ("steps", "blocks"),
    [
        ("xababababy", [(0, 1, 1), (1, 2, 4), (9, 1, 1)]),
        ("aaaab", [(0, 1, 4), (4, 1, 1)]),
        ("aaab", [(0, 1, 1), (1, 1, 1), (2, 1, 1), (3, 1, 1)]),
        ("", []),
    ],
)
def test_steps_that_repeat_are_one_block(steps: str, blocks: list[tuple[int, int, int]]) -> None:
    assert list(repetitions(steps)) == blocks


def test_a_loop_is_printed_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.c"
    path.write_text(LOOP)
    assert main(["check", "--engine", "automaton", "--store", "none", "--show", "all", "--trace", "whole", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any("... these 2 steps 19 more times" in line for line in lines)
    assert sum("i < 20" in line for line in lines) == 1
