"""What could violate a rule in a function is asked again when a function that it calls is defined, or is no longer.

Class: what is known of a function that did not change, though the program around it did.
"""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.model.options import Options

_CALLS = "void __VERIFIER_assert(int); int f(int n) { __VERIFIER_assert(n); return 0; }"
_DEFINES = "int last; void __VERIFIER_assert(int n) { last = n; }"


def test_a_check_that_the_program_does_not_define_any_more_can_fail(tmp_path: Path) -> None:
    files = {tmp_path / "a.c": _CALLS, tmp_path / "b.c": _DEFINES}
    for file, text in files.items():
        file.write_text(text)
    checker = Checker(Options(rules=("assertion",), engine="predicate", proofs=True, everywhere=True), jobs=1)
    checker.open([str(file) for file in files])
    checker.check()
    assert "f" in {function.name for function in checker.prove().functions if function.verdicts["assertion"].no_place}
    checker.change(str(tmp_path / "b.c"), "int last;", 2)
    checker.check()
    (function,) = (one for one in checker.prove().functions if one.name == "f")
    assert not function.verdicts["assertion"].no_place
    assert "nothing here could violate it" not in function.verdicts["assertion"].reason
