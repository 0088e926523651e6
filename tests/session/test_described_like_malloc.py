"""Functions of a project that are described like `malloc` and `free` are treated like these, in findings and in proofs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from support.markers import read_markers

from analysis.api import Checker
from analysis.model.assumptions import COPIED_POINTERS
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.session.portfolio.request_terms import NOTHING_TO_PROVE
from tests.support.described_projects import project_checker, safe_ones, verdicts_of, write_project

FIXTURES = Path(__file__).parents[2] / "fixtures"
LIKE = """
functions:
  - {name: own_alloc, arguments: [{}], result: {new: block, may_be_null: true}, complete: true}
  - {name: own_free, arguments: [{frees: true, may_be_null: true}], complete: true}
"""
# what contracts prove takes little; what nothing proves takes all of it
LIMITS = Limits(proof_seconds=60.0, program_seconds=1.0, task_seconds=1.0, total_seconds=4.0)
DECLARED = "void *own_alloc(unsigned long size); void own_free(void *block);\n"
PROGRAMS = sorted(
    path
    for rule in ("double-free", "memory-leak", "null-dereference", "use-after-free")
    for path in (FIXTURES / "programs" / rule).glob("*.c")
    if re.search(r"\b(malloc|free)\(", path.read_text("utf-8"))
)


def _like(path: Path, folder: Path) -> Path:
    """A program with functions of its own in the place of `malloc` and `free`, a line below where they are."""
    text = re.sub(r"\bfree\(", "own_free(", re.sub(r"\bmalloc\(", "own_alloc(", path.read_text("utf-8")))
    return write_project(folder, LIKE, a=DECLARED + text)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_functions_that_are_described_like_malloc_and_free_are_treated_like_them(tmp_path: Path, path: Path) -> None:
    """The class: one of the places that know `free` does not know a function that the project says frees."""
    options = read_markers(path).options
    given = {"rules": options.get("--rule", ()), "entries": options.get("--entry", ()), "engine": "automaton"}
    report = project_checker(_like(path, tmp_path / "p"), **given).check()
    original = Checker(Options(**given))  # type: ignore[arg-type]
    original.open([str(path)])
    wanted = Counter((one.place.range.start.line + 1, one.rule) for one in original.check().findings)
    assert Counter((one.place.range.start.line, one.rule) for one in report.findings) == wanted


@pytest.mark.parametrize("path", PROGRAMS[::16], ids=lambda path: path.stem)
def test_proofs_by_contracts_are_those_that_library_functions_have(tmp_path: Path, path: Path) -> None:
    """The class: a proof by a contract that would not hold of the library function that does the same."""
    own = verdicts_of(_like(path, tmp_path / "own"), limits=LIMITS)
    original = verdicts_of(write_project(tmp_path / "original", None, a=path.read_text("utf-8")), limits=LIMITS)
    assert own.keys() == original.keys()
    none_needed = {key for key, verdict in original.items() if verdict.reason == NOTHING_TO_PROVE}
    assert safe_ones(own) <= safe_ones(original) | none_needed
    owned = {key for key in safe_ones(original) if original[key].engine in ("ownership", "requirements")}
    # what pointers lead to in the whole program is not asked where a contract of the project says what a function does
    whole = {key for key in owned if COPIED_POINTERS.sentence in original[key].assumptions}
    assert owned - whole <= safe_ones(own)
