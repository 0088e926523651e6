"""What is taken over of contracts from one revision of a program to the next is what is found from scratch."""

from __future__ import annotations

from pathlib import Path
from random import Random

import msgspec
import pytest
from support.program_edits import Edited

from analysis.api import Checker
from analysis.cfa.graph import Program
from analysis.model.options import Options
from analysis.session.contracts.program_contracts import ProgramContracts
from analysis.session.contracts.unaffected import unaffected

_EDITS = 8


@pytest.mark.parametrize("seed", [1, 2])
def test_contracts_after_edits_are_those_from_scratch(seed: int, tmp_path: Path) -> None:
    edited = Edited(Random(seed), 200)
    checker = Checker(Options(engine="automaton"))
    checker.open(edited.write(tmp_path))
    contracts, before, taken_over = None, None, 0
    for step in range(_EDITS):
        said = edited.edit() if step else "the program as it was written"
        for name in sorted(edited.changed):
            checker.change(str(tmp_path / name), edited.text(name), step)
        program: Program = checker.inspect().program
        now = ProgramContracts(program)
        if contracts is not None and before is not None:
            now.take_over(contracts)
            taken_over += len(unaffected(before, program) or ())
        scratch = ProgramContracts(program)
        for name in program.functions:
            assert msgspec.to_builtins(now.of(name).contract) == msgspec.to_builtins(scratch.of(name).contract), (said, name)
            assert now.of(name).basis == scratch.of(name).basis, (said, name)
        contracts, before = now, program
    assert taken_over, "nothing was taken over"


def test_nothing_is_taken_over_of_what_calls_an_edited_function(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    text = "int a(int *p) { return p ? *p : 0; } int b(int *p) { return a(p); } int c(int *p) { return *p; }\n"
    file.write_text(text)
    checker = Checker(Options(engine="automaton"))
    checker.open([str(file)])
    first = checker.inspect().program
    checker.change(str(file), text.replace("p ? *p : 0", "*p"), 1)
    second = checker.inspect().program
    assert unaffected(first, second) == {"c"}
    checker.change(str(file), "\n" + text.replace("p ? *p : 0", "*p"), 2)
    assert unaffected(second, checker.inspect().program) == {"a", "b", "c"}
    checker.change(str(file), "int (*all)(int *);\n" + text + "int d(void) { all = c; return all(0); }\n", 3)
    assert unaffected(first, checker.inspect().program) is None, "a pointer may lead to another function"


def test_a_call_that_is_being_typed_changes_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    text = "int a(int *p) { return *p; } int b(int *p) { return a(p); } int c(int *p) { return *p; }\n"
    file.write_text(text)
    checker = Checker(Options(engine="automaton"))
    checker.open([str(file)])
    first = checker.inspect().program
    checker.change(str(file), text.replace("int c(int *p) {", "int c(int *p) { pri(p);"), 1)
    assert unaffected(first, checker.inspect().program) == {"a", "b"}, "what pri() does matters to c alone"
    checker.change(str(file), text.replace("int a(int *p) { return *p; }", "int a(int *p);"), 2)
    assert unaffected(first, checker.inspect().program) is None, "a is not of the program any more"
    checker.change(str(file), text.replace("int a(int *p)", "int a(int *p, int n)").replace("a(p)", "a(p, 1)"), 3)
    assert unaffected(first, checker.inspect().program) is None, "callers see that a has another type"
