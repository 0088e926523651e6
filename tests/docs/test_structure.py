"""What `benchmarks.structure` counts stays at nothing: cycles, imports that are not at the top, long functions, names alike.

The class: an import in a function or for types only hides that two modules need each other; a function of many cases grows by
one more; a module is named as one beside it.
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

from benchmarks import structure


@cache
def trees() -> dict[str, ast.Module]:
    """The modules of the project, read when the first test asks for them: each process of the tests imports this file."""
    return structure.modules(Path(__file__).parents[2])


DEFERRED: dict[str, str] = {}
"""Modules that may import a module of ours in a function, with why."""


def test_no_modules_import_each_other() -> None:
    assert structure.cycles(trees()) == []


def test_imports_are_at_the_top() -> None:
    assert {place.partition(":")[0] for place in structure.hidden_imports(trees())} == DEFERRED.keys()


def test_no_function_has_too_many_cases() -> None:
    assert structure.complex_functions(trees()) == {}


def test_no_two_modules_in_sight_of_each_other_share_a_name() -> None:
    assert structure.in_sight(trees()) == []


def test_no_two_test_files_share_a_name() -> None:
    """Else pytest leaves out one of them, and says so only where both are in one process."""
    names = [path.name for path in Path(__file__).parents[1].rglob("test_*.py")]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_what_is_counted() -> None:
    one = ast.parse("from analysis.two import x\ndef f(a):\n    return [b for b in a if b and a]")
    two = ast.parse("def g():\n    import analysis.one")
    trees = {"analysis": ast.parse(""), "analysis.one": one, "analysis.two": two, "analysis.room.one": ast.parse("")}
    assert [sorted(cycle) for cycle in structure.cycles(trees)] == [["analysis.one", "analysis.two"]]
    assert structure.hidden_imports(trees) == ["analysis.two:2"]
    assert structure.in_sight(trees) == [("analysis.one", "analysis.room.one")]
    assert structure.complex_functions(trees) == {}
    many = ast.parse("def f(a):\n" + "    if a: pass\n" * structure.MOST_COMPLEX)
    assert structure.complex_functions({"m": many}) == {"m:1 f": structure.MOST_COMPLEX + 1}
