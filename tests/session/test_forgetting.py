"""What is known of a program is freed as soon as it is let go: the checker process looks for no garbage among so many objects."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

from analysis.api import Checker
from analysis.engines.automaton import Analysis
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.model.options import Options

TEXT = """\
void free(void *);
static void drop(int *p) { *p = 1; }
int main(int c, char **v) { int *p = (int *)v; drop(p); return *p; }
"""


def _alive() -> set[weakref.ref[object]]:
    return {weakref.ref(thing) for thing in gc.get_objects() if isinstance(thing, Analysis | ProgramDelta | FunctionModel)}


def test_what_is_forgotten_leaves_no_cycle(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(TEXT)
    checker = Checker(Options())
    checker.open([str(path)])
    before = _alive()
    checker.check()
    known = _alive() - before
    assert len(known) == 4  # two functions
    gc.disable()
    try:
        checker.forget()
        assert [thing() for thing in known] == [None] * 4
    finally:
        gc.enable()
