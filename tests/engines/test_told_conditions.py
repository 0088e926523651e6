"""What the result of a function tells of its arguments, after an edit of that function alone."""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.model.options import Options

_PROGRAM = Path(__file__).parent.parent.parent / "fixtures" / "programs" / "memory-leak" / "27-asked-before-it-is-made-good.c"


def test_a_function_that_is_asked_is_edited() -> None:
    """The path to the leak leads past the call that excludes it, and not into the function that is called there."""
    text, path = _PROGRAM.read_text(encoding="utf-8"), str(_PROGRAM)
    checker = Checker(Options(engine="automaton"))
    checker.open([path])
    found = [[finding.rule for finding in checker.check().findings]]
    for mask in ("CONTROL", "ATTACHED", "ATTACHED ^ CONTROL"):
        checker.change(path, text.replace("(ATTACHED | CONTROL)", f"({mask})"))
        found.append([finding.rule for finding in checker.check().findings])
    assert found == [[], ["memory-leak"], [], []]
