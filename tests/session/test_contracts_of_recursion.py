"""Functions that call each other, edited one after the other: what is kept is what is found from scratch, and costs less."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from random import Random

import msgspec
import pytest

from analysis.api import Checker
from analysis.certificate.nonzero import followed
from analysis.certificate.nonzero.requirement_search import RequirementSearch
from analysis.cfa.graph import Program
from analysis.model.options import Options
from analysis.session.contracts.program_contracts import ProgramContracts

_FUNCTIONS = 7
_EDITS = 6
_STATEMENTS = (
    "*p = n;",
    "if (p) *p = 2;",
    "if (!q) return 0;",
    "if (n > 0) f{other}(p, q, n - 1);",
    "if (n > 3) return f{other}(q, p, n / 2);",
    "n = f{other}(p, p, 4) ? 1 : 7;",
    "n = *q + 100 / n;",
    "if (n == 5) exit(1);",
    "{{ int *b = malloc(4); if (b) *b = 1; free(b); }}",
    "f{other}(0, q, 2);",
)


class _Recursion:
    """Functions of a file that may all call each other."""

    def __init__(self, random: Random, folder: Path) -> None:
        self._random, self._file, self._versions = random, folder / "a.c", count(1)
        self._bodies = [self._body() for _ in range(_FUNCTIONS)]
        self._file.write_text(self._text())
        self._checker = Checker(Options(engine="automaton"))
        self._checker.open([str(self._file)])

    def _body(self) -> Sequence[str]:
        chosen = self._random.sample(_STATEMENTS, 3)
        return [one.format(other=self._random.randrange(_FUNCTIONS)) for one in chosen]

    def _text(self) -> str:
        declared = "void *malloc(unsigned long); void free(void *); void exit(int);\n" + "".join(
            f"int f{one}(int *p, int *q, int n);\n" for one in range(_FUNCTIONS)
        )
        bodies = (
            f"int f{one}(int *p, int *q, int n)\n{{\n{chr(10).join(body)}\nreturn n;\n}}\n"
            for one, body in enumerate(self._bodies)
        )
        return declared + "".join(bodies)

    def edit(self) -> Program:
        """Another body for one function."""
        self._bodies[self._random.randrange(_FUNCTIONS)] = self._body()
        self._checker.change(str(self._file), self._text(), next(self._versions))
        return self.program

    @property
    def program(self) -> Program:
        return self._checker.inspect().program


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How often a function was followed since this was asked last."""
    walk, counted = followed.walk, [0]

    def counting(*given: object, **named: object) -> object:
        counted[0] += 1
        return walk(*given, **named)  # type: ignore[arg-type]

    def since() -> int:
        so_far, counted[0] = counted[0], 0
        return so_far

    monkeypatch.setattr(followed, "walk", counting)
    return since


def _all(contracts: ProgramContracts) -> object:
    shown = [contracts.of(name) for name in contracts.program.functions]
    return [(msgspec.to_builtins(one.contract), one.basis) for one in shown]


def test_contracts_of_functions_that_call_each_other_are_those_from_scratch(tmp_path: Path, walks: Callable[[], int]) -> None:
    random, kept, scratch = Random(4), 0, 0
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        edited = _Recursion(random, folder)
        before = ProgramContracts(edited.program)
        _all(before)
        for _ in range(_EDITS):
            now = ProgramContracts(edited.edit())
            walks()
            assert now.take_over(before)
            found = _all(now)
            kept += walks()
            assert found == _all(ProgramContracts(now.program))
            scratch += walks()
            before = now
    assert kept < scratch / 2, (kept, scratch)


def test_an_edit_back_and_forth_follows_nothing(tmp_path: Path, walks: Callable[[], int]) -> None:
    edited = _Recursion(Random(2), tmp_path)
    before = ProgramContracts(edited.program)
    _all(before)
    walks()
    now = ProgramContracts(edited.program)
    assert now.take_over(before)
    _all(now)
    assert walks() == 0


def test_what_is_interrupted_again_and_again_comes_to_an_end(tmp_path: Path, walks: Callable[[], int]) -> None:
    program = _Recursion(Random(3), tmp_path).program
    RequirementSearch(program, "null-dereference").follow("f0")
    needed = walks()
    search, rounds = RequirementSearch(program, "null-dereference"), 0
    while True:
        steps = count()
        search.while_(lambda: next(steps) < 60)  # noqa: B023 - asked in this round only
        rounds += 1
        if search.follow("f0") is not None:
            break
        assert rounds <= needed, "what was found before an interruption is lost"
    assert rounds > 2
    whole = RequirementSearch(program, "null-dereference")
    whole.follow("f0")
    assert search.found == whole.found
