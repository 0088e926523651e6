"""The random inputs of a program do not depend on the folder that it lies in: what is found must not either."""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.engines.symbolic.random_inputs import mentioned_inputs
from analysis.interpreter.inputs import Question
from analysis.model.c_types import INT, LP64
from analysis.model.options import Options

_TEXT = "int g(void); static int f(int n) { return n == 700; } int main(void) { return f(g()) ? 31 : 45; }\n"


def test_they_are_the_same(tmp_path: Path) -> None:
    answers = []
    for folder in ("a", "another"):
        file = tmp_path / folder / "program.c"
        file.parent.mkdir()
        file.write_text(_TEXT)
        checker = Checker(Options())
        checker.open([str(file)])
        program = checker.explore()[0].program
        questions = [Question("result", INT, "g", 0, "main", 0, step, 0) for step in range(4)]
        made = [make() for make in mentioned_inputs(program, LP64, 8)]
        answers.append([[inputs.answer(one) for one in questions] for inputs in made])
    assert answers[0] == answers[1]
    assert len({tuple(one) for one in answers[0]}) > 4
