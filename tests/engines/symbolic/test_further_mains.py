"""Where a folder holds several programs, each `main` begins with the initial values of its variables, as that of the first does.

The class: what is known of the start of a run, in the `main` of a further program.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options

_FIRST = "int main(void) { return 0; }\n"
_SECOND = (
    "#include <stdio.h>\n#include <stdlib.h>\nstatic int limit = 4;\nstatic void *(*get)(size_t) = malloc;\n"
    "int main(int argc, char **argv) { char *p = malloc(3); if (CONDITION) *p = 1; free(p); return argc; }\n"
)


def confirmed(tmp_path: Path, condition: str) -> list[str]:
    """The rules of the confirmed findings in the second program, of which one is a store that depends on a condition."""
    (tmp_path / "a.c").write_text(_FIRST, "utf-8")
    (tmp_path / "b.c").write_text(_SECOND.replace("CONDITION", condition), "utf-8")
    checker = Checker(Options(rules=("null-dereference",), proofs=True, everywhere=True), jobs=1)
    checker.open([str(tmp_path / "a.c"), str(tmp_path / "b.c")])
    checker.check()
    return [finding.rule for finding in checker.prove().findings if finding.status == "confirmed"]


@pytest.mark.parametrize("condition", ["limit == 4", "get != NULL", "stdin != NULL", "argc == 2 && argv[1][0] == 'x'"])
def test_what_such_a_program_does_is_confirmed(tmp_path: Path, condition: str) -> None:
    assert confirmed(tmp_path, condition) == ["null-dereference"]


@pytest.mark.parametrize("condition", ["limit == 5", "argc > 0 && argv[0] == NULL", "argc < 0"])
def test_what_no_start_of_it_leads_to_is_not(tmp_path: Path, condition: str) -> None:
    assert confirmed(tmp_path, condition) == []
