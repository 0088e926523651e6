"""What is said of the data of several programs in one folder, and of functions that code outside may call.

The class: a fact about the runs of one `main` is taken for one about all runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.api import Checker
from analysis.model.options import Options
from analysis.session.contracts.program_contracts import program_contracts

DATA = "static int x = 1;\nint *shared = &x;\nint f(void) { return *shared; }\n"
CALLS = "int f(void);\nint main(void) { return f(); }\n"
CLEARS = (
    "int f(void);\nextern int *shared;\nint main(int argc, char **argv) { (void)argv; if (argc < 5) shared = 0; return f(); }\n"
)


def said(folder: Path, texts: Sequence[str], entries: Sequence[str] | None = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What `f` relies on, and what is open in it."""
    checker = Checker(Options())
    for number, text in enumerate(texts):
        (folder / f"{number}.c").write_text(text)
    checker.open([str(folder / f"{number}.c") for number in range(len(texts))])
    checker.check()
    view = checker.inspect()
    mains = [name for name in view.program.functions if name.split("~")[0] == "main"]
    (found,) = program_contracts(view.program, view.places, ["f"], view.declarations, entries or mains)
    return tuple(one.text for one in found.relies), found.open


def test_one_program(tmp_path: Path) -> None:
    relies, open_ = said(tmp_path, [CALLS, DATA])
    assert relies == ("`shared` is never NULL (nothing writes it)",)
    assert open_ == ()


def test_two_programs_that_share_a_file(tmp_path: Path) -> None:
    relies, open_ = said(tmp_path, [CALLS, CLEARS, DATA])
    assert relies == ()
    assert open_


def test_functions_that_code_outside_may_call(tmp_path: Path) -> None:
    relies, _ = said(tmp_path, [CALLS, DATA], ["main", "f"])
    assert relies == ("`shared` is never NULL, in runs from main (nothing writes it)",)
