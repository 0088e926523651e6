"""Random programs: what is confirmed happens when the compiled program gets the inputs, and what is refuted happens in no run."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from analysis.engines.symbolic import Confirmed, Decision, Effort, Refuted, Target, Task, decide
from analysis.interpreter.outcome import Run
from analysis.model import ir
from tests.support.explorations import program_of, runs
from tests.support.random_c import program

_COUNT = 100
_EFFORT = Effort(seconds=3, states=3_000, runs=1)  # nothing at random: paths are to be found
_MAIN = "int main(void)"
_HARNESS = """
#include <stdlib.h>
static char **inputs;
int nondet(void) { if (!*inputs) exit(3); return atoi(*inputs++); }
void reach_error(void) { exit(42); }
"""
_DRIVER = "int main(int count, char **words) { inputs = words + 2; return programs[atoi(words[1])](); }\n"


class _Case(NamedTuple):
    number: int
    text: str
    target: tuple[str, int]
    decision: Decision
    runs: tuple[Run, ...]


def test_random_programs(tmp_path: Path) -> None:
    texts, cases = [], []
    source = Random(20)
    for number in range(_COUNT):
        texts.append(program(source))
        cases.extend(_cases(number, texts[-1]))
    binary = _compiled(tmp_path, texts)
    confirmed = refuted = 0
    for case in cases:
        if isinstance(case.decision, Confirmed):
            confirmed += 1
            assert _exit_status(binary, case.number, case.decision) == 42, case.text
        elif isinstance(case.decision, Refuted):
            refuted += 1
            assert not any(run.path[-1] == case.target for run in case.runs), case.text
    assert confirmed > 50
    assert refuted > 40


def _cases(number: int, text: str) -> list[_Case]:
    """Each error call of a program, decided; with runs on all inputs where it was refuted."""
    linked, found = program_of(text), []
    for edge in linked.functions["main"].calls:
        if isinstance(edge.effect, ir.Call) and ir.direct_callee(edge.effect) == "reach_error":
            decision = decide(Task(linked, Target("main", edge.id, "assertion"), ("main",), (), _EFFORT))
            all_runs = tuple(runs(linked, 100)) if isinstance(decision, Refuted) else ()
            found.append(_Case(number, text, ("main", edge.id), decision, all_runs))
    return found


def _compiled(folder: Path, texts: Sequence[str]) -> Path:
    """All programs in one binary, which takes a program's number and its inputs."""
    head = texts[0][: texts[0].index(_MAIN)]
    bodies = [text[text.index(_MAIN) :].replace(_MAIN, f"int main_{i}(void)") for i, text in enumerate(texts)]
    names = ", ".join(f"main_{i}" for i in range(len(texts)))
    table = f"static int (*const programs[])(void) = {{{names}}};\n"
    source, binary = folder / "all.c", folder / "all"
    source.write_text(_HARNESS + head + "".join(bodies) + table + _DRIVER)
    flags = ["-w", "-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["gcc", *flags, "-o", str(binary), str(source)], check=True)
    return binary


def _exit_status(binary: Path, number: int, decision: Confirmed) -> int:
    """How the compiled program ends on the inputs of a run; 42 is the error."""
    inputs = [str(value) for question, value in decision.inputs if question.kind == "result"]
    return subprocess.run([str(binary), str(number), *inputs], check=False, timeout=20).returncode
