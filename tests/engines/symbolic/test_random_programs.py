"""Random programs: what is confirmed happens when the compiled program gets the inputs, and what is refuted happens in no run."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

from analysis.engines.symbolic import Confirmed, Effort, Refuted, Target, Task, decide
from analysis.model import ir
from tests.support.explorations import errs, program_of, runs
from tests.support.random_c import program

_COUNT = 100
_EFFORT = Effort(seconds=3, states=3_000, runs=1)  # nothing at random: paths are to be found
_HARNESS = """
#include <stdlib.h>
static const int inputs[] = {%s};
static unsigned asked;
int nondet(void) { if (asked >= sizeof inputs / sizeof *inputs - 1) exit(3); return inputs[asked++]; }
void reach_error(void) { exit(42); }
"""


def test_random_programs(tmp_path: Path) -> None:
    source = Random(20)
    confirmed = refuted = 0
    for _ in range(_COUNT):
        text = program(source)
        linked = program_of(text)
        for name, cfa in linked.functions.items():
            for edge in cfa.calls:
                if not isinstance(edge.effect, ir.Call) or ir.direct_callee(edge.effect) != "reach_error":
                    continue
                decision = decide(Task(linked, Target(name, edge.id, "assertion"), ("main",), (), _EFFORT))
                if isinstance(decision, Confirmed):
                    confirmed += 1
                    inputs = [value for question, value in decision.inputs if question.kind == "result"]
                    assert _exit_status(tmp_path, text, [value for value in inputs if isinstance(value, int)]) == 42, text
                elif isinstance(decision, Refuted):
                    refuted += 1
                    assert not any(errs(linked, run) and run.way[-1] == (name, edge.id) for run in runs(linked, 300)), text
    assert confirmed > 20
    assert refuted > 5


def _exit_status(folder: Path, text: str, inputs: list[int]) -> int:
    """How the compiled program ends on these inputs; 42 is the error."""
    source, binary = folder / "p.c", folder / "p"
    source.write_text(_HARNESS % "".join(f"{value}, " for value in [*inputs, 0]) + text)
    flags = ["-w", "-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["gcc", *flags, "-o", str(binary), str(source)], check=True)
    return subprocess.run([str(binary)], check=False, timeout=20).returncode
