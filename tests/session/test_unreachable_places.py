"""The class: a proof that rests on `__builtin_unreachable()` and does not say so (invariant I14)."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.interpreter.outcome import Stuck
from analysis.model.assumptions import UNREACHABLE
from analysis.model.options import Engine
from tests.support.checked import checked
from tests.support.runs import run_of

SAFE = "int main(int c, char **v) { if (!c) __builtin_unreachable(); return 5 / c; }"
IN_A_CALL = "static void no(void) { __builtin_unreachable(); } int main(int c, char **v) { if (!c) no(); return 5 / c; }"
FREED = """#include <stdlib.h>
int main(int c, char **v) { char *p = malloc(4); if (!c) __builtin_unreachable(); free(p); return 0; }"""


@pytest.mark.parametrize("text", [SAFE, IN_A_CALL])
@pytest.mark.parametrize("engine", ["symbolic", "predicate"])
def test_a_proof_names_it(text: str, engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "p.c"
    file.write_text(text)
    report = checked(file, "division-by-zero", 2.0, engine)
    (main,) = (one.verdicts["division-by-zero"] for one in report.functions if one.name == "main")
    assert main.verdict == "safe"
    assert UNREACHABLE.sentence in main.assumptions


def test_a_program_without_it_does_not(tmp_path: Path) -> None:
    file = tmp_path / "p.c"
    file.write_text("int main(int c, char **v) { if (!c) return 0; return 5 / c; }")
    (main,) = (one.verdicts["division-by-zero"] for one in checked(file, "division-by-zero", 2.0).functions)
    assert main.verdict == "safe"
    assert UNREACHABLE.sentence not in main.assumptions


def test_the_program_does_not_end_there(tmp_path: Path) -> None:
    file = tmp_path / "p.c"
    file.write_text(FREED)
    (main,) = (one.verdicts["memory-leak"] for one in checked(file, "memory-leak", 2.0, "symbolic").functions)
    assert main.verdict == "safe"


def test_a_run_ends_there() -> None:
    assert run_of("int main(void) { __builtin_unreachable(); return 1; }").end == Stuck(
        "a place that the program says is never reached"
    )
