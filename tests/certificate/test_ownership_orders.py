"""Operands whose order C leaves open: what is proved of blocks there holds in each order.

The class: an operand ends, or moves, what another one uses, and only the order that is not followed violates the rule. The
programs of `fixtures/orders` say what is proved in a comment, and a compiler's code is run for those whose order it has.
"""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from analysis.api import Checker
from analysis.certificate.ownership.closed_checker import check_closed_sets, refusal, shown
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.closed_sets import ClosedSets
from analysis.cfa.graph import Program
from analysis.cfa.linking.obstacle_words import is_open_order
from analysis.model import ir
from analysis.model.options import Options
from analysis.model.report import IF_KEPT

_FILE = Path(__file__).parents[2] / "fixtures" / "orders" / "blocks.c"
_LINE = re.compile(r"^int (\w+)\((.*?)\) .*// (safe|safe if kept|trap): (.*)$", re.MULTILINE)


class _Expected(NamedTuple):
    function: str
    parameters: str
    what: str
    rules: tuple[str, ...]


_EXPECTED = tuple(_Expected(one[0], one[1], one[2], tuple(one[3].split())) for one in _LINE.findall(_FILE.read_text()))
_TRAPS = [one for one in _EXPECTED if one.what == "trap"]


@cache
def _searched() -> tuple[Program, ClosedSearch]:
    checker = Checker(Options())
    checker.open([str(_FILE)])
    program = checker.inspect().program
    return program, ClosedSearch(program)


@pytest.mark.parametrize("one", _EXPECTED, ids=lambda one: one.function)
def test_it_is_proved_only_where_no_order_violates_it(one: _Expected) -> None:
    program, search = _searched()
    followed = search.follow(one.function)
    assert followed is not None
    for rule in one.rules:
        if rule == "gcc":
            continue
        why = refusal(program, followed.found, one.function, rule)
        if one.what == "safe":
            assert check_closed_sets(program, ClosedSets(one.function, rule, search.sets(one.function))).states, why
        else:
            assert why.startswith(IF_KEPT) == (one.what == "safe if kept")
            assert why


def test_the_sets_of_all_functions_are_closed() -> None:
    program, search = _searched()
    followed = {name: search.follow(name) for name in program.functions}
    names = [name for name, one in followed.items() if one is not None and not one.found.broken]
    assert shown(program, search.sets(*names)).found.keys() >= {"giver", "taker", "again"}


def test_the_order_is_open_in_them() -> None:
    program, _ = _searched()
    found = {one.function for one in _EXPECTED for edge in program.functions[one.function].unsupported if _is_open(edge.effect)}
    assert {one.function for one in _EXPECTED} - found <= {"place", "stored"}  # assigned behind the call in each order


def _is_open(effect: ir.Effect) -> bool:
    return isinstance(effect, ir.Unsupported) and is_open_order(effect.reason)


def test_the_traps_are_traps(tmp_path: Path) -> None:
    chosen = [one for one in _TRAPS if "gcc" in one.rules]
    given = ["0" if one.parameters != "void" else "" for one in chosen]
    calls = "".join(f"case {at}: return {one.function}({given[at]});" for at, one in enumerate(chosen))
    source = tmp_path / "all.c"
    main = f"int main(int argc, char **argv) {{ switch (argc - 1) {{ {calls} }} return 0; }}"
    source.write_text(f"{_FILE.read_text()}\n{main}\n")
    command = ["gcc", "-w", "-fno-builtin", "-fsanitize=address", "-o", str(tmp_path / "all"), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    for at, one in enumerate(chosen):
        done = subprocess.run([str(tmp_path / "all"), *["x"] * at], capture_output=True, text=True, check=False)
        words = {"use-after-free": "heap-use-after-free", "double-free": "attempting double-free"}
        assert words[one.rules[0]] in done.stderr, one.function
    assert len(chosen) >= 10
