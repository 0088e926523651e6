"""A proof that rests on an assumption is taken back where a confirmed finding breaks the assumption.

It concerns the function of the finding, and all that can call it.

The class: a function is `safe` if all accesses stay inside their objects, and a run that leaves one is shown beside it.
"""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.model.assumptions import INSIDE
from analysis.model.options import Options

_FREES = """
void *malloc(unsigned long); void free(void *); int __VERIFIER_nondet_int(void);
static int at(int i) { int a[4] = {1, 2, 3, 4}; return a[i]; }
static int beside(void) { int *p = malloc(4); free(p); return 0; }
static int above(int i) { int *p = malloc(4); free(p); return at(i); }
int main(void) { int i = __VERIFIER_nondet_int(); if (i >= 0 && i <= LAST) { beside(); above(i); } return 0; }
"""


def _verdicts(path: Path, last: str) -> dict[str, tuple[str, str | None, bool]]:
    path.write_text(_FREES.replace("LAST", last))
    checker = Checker(Options(rules=("array-bounds", "double-free"), proofs=True, everywhere=True), jobs=1)
    checker.open([str(path)])
    checker.check()
    report = checker.prove()
    checker.close()
    said = {function.name: function.verdicts["double-free"] for function in report.functions}
    return {name: (one.verdict, one.reason, INSIDE.sentence in one.assumptions) for name, one in said.items()}


def test_all_accesses_stay_inside(tmp_path: Path) -> None:
    said = _verdicts(tmp_path / "a.c", "3")
    assert {said[name][:2] for name in ("beside", "above", "main")} == {("safe", None)}


def test_a_run_leaves_an_array(tmp_path: Path) -> None:
    said = _verdicts(tmp_path / "a.c", "4")
    assert said["beside"] == ("safe", None, True)
    why = f"not proved: at() violates array-bounds in line 3, and a proof needs that {INSIDE.sentence}"
    assert said["above"] == ("unknown", why, False)
    assert said["main"][0] == "unknown"
