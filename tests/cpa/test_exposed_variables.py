"""Which variables with static storage pointers from outside may lead to, and that proofs rest on it.

Class: pointers that come from functions or files that a proof does not look at.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.model.limits import Limits
from analysis.model.options import Engine, Options
from tests.support.explorations import program_of

_MAIN = "int main(void) { return 0; }"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"int open; static int closed; {_MAIN}", set()),
        ("int open; static int closed; int f(void) { return 0; }", {"open"}),
        ("int open; static int closed; int *other(void); int main(void) { return *other(); }", {"open"}),
        ("int open; static int closed; int main(void) { int (*f)(void) = 0; return f(); }", {"open"}),
        ("int open; static int closed; int main(void) { int *p = &closed; return *p; }", {"t.c::closed"}),
        (f"int open; static int closed; int *kept = &closed; {_MAIN}", {"t.c::closed"}),
        ("int open; int rand(void); int main(void) { return rand(); }", set()),
    ],
)
def test_what_pointers_from_outside_lead_to(text: str, names: set[str]) -> None:
    assert exposed(program_of(text)) == names


_FROM_MAIN = """
static int g;
int f(int *p) { g = 1; *p = 2; if (g != 1) reach_error(); return 0; }
int main(int c, char **v) { int x; for (int i = 0; i < c; i++) f(&x); if (c > 70) f(&g); return 0; }
"""
_FROM_FILES = "int g; int f(int *p) { g = 1; *p = 2; if (g != 1) reach_error(); return 0; }"
_FROM_CALLS = "int *other(void); int g; int main(void) { int *p = other(); g = 1; *p = 2; if (g != 1) reach_error(); return 0; }"
_FROM_MEMBERS = """
struct s { int v; } t; struct s *other(void);
int f(void) { struct s *p = other(); t.v = 1; p->v = 2; if (t.v != 1) reach_error(); return 0; }
"""


@pytest.mark.parametrize("engine", ["value", "predicate", "symbolic", "auto"])
@pytest.mark.parametrize(("text", "name"), [(_FROM_MAIN, "f"), (_FROM_FILES, "f"), (_FROM_CALLS, "main"), (_FROM_MEMBERS, "f")])
def test_nothing_is_proved_of_what_a_pointer_from_outside_changes(tmp_path: Path, text: str, name: str, engine: Engine) -> None:
    source = tmp_path / "t.c"
    source.write_text("void reach_error(void);" + text)
    given = Options(
        rules=("assertion",), engine=engine, proofs=True, everywhere=True, limits=Limits(proof_seconds=0.5, program_seconds=0.5)
    )
    checker = Checker(given, jobs=1)
    checker.open([str(source)])
    checker.check()
    (function,) = (one for one in checker.prove().functions if one.name == name)
    assert function.verdicts["assertion"].verdict != "safe"
