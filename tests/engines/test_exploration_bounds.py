"""What bounds the derivation graph: facts that do not multiply with the variables that hold a value, and the limit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Report

# A freed line is held by several of the program's globals; each branch copies one to the next or sets it anew.
LOOP = """
#include <stdlib.h>
struct line {{ struct line *next; int count; }};
struct line {globals};
static void drop(struct line *one) {{ free(one); }}
static void edit(int key)
{{
{branches}
}}
int main(int argc, char **argv)
{{
    for (int i = 0; i < argc; i++)
        edit(argv[i][0]);
    return 0;
}}
"""
BRANCH = "    if (key == {number}) {{ g{number} = g{other}; drop(g{number}); g{number} = malloc(sizeof *g{number}); }}\n"
COPY = "    if (key == {other}{number}) g{number} = g{other};\n"


def looping(variables: int) -> str:
    """A program in which so many globals can hold the same freed object, in any combination."""
    pairs = [(number, (number + 1) % variables) for number in range(variables)]
    branches = "".join((COPY + BRANCH).format(number=number, other=other) for number, other in pairs)
    return LOOP.format(globals=", ".join(f"*g{number}" for number in range(variables)), branches=branches)


# In `spread`, each variable may be another one that has the block, or not: a set of variables for each subset.
SPREAD = """
#include <stdlib.h>
void spread(int key)
{{
    char *block = malloc(10);
    char {declared};
{branches}
}}
int deref(int key)
{{
    int *p = 0;
    if (key) p = &key;
    return *p;
}}
"""


def spreading(variables: int) -> str:
    """A program with that function."""
    names = [f"v{number}" for number in range(variables)]
    branches = "".join(f"    if (key & {1 << number}) {name} = block;\n" for number, name in enumerate(names))
    return SPREAD.format(declared=", ".join(f"*{name} = 0" for name in names), branches=branches)


def checked(folder: Path, text: str, limits: Limits, rules: tuple[str, ...] = ()) -> Report:
    path = folder / "a.c"
    path.write_text(text)
    checker = Checker(Options(limits=limits, engine="automaton", rules=rules))
    checker.open([str(path)])
    return checker.check()


def configurations(folder: Path, variables: int) -> int:
    return checked(folder, looping(variables), Limits(), ("double-free",)).work.configurations.recomputed


def test_a_freed_object_is_a_fact_for_each_variable_not_for_each_set_of_variables(tmp_path: Path) -> None:
    few, many = configurations(tmp_path, 3), configurations(tmp_path, 6)
    assert many < 4 * few  # twice the edges and twice the facts; by sets of variables it would be 6 times


@pytest.fixture(scope="module")
def cut_off(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A program that exceeds its limit in one of two functions."""
    return checked(tmp_path_factory.mktemp("cut"), spreading(12), Limits(configurations=600))


def test_one_function_beyond_its_share_leaves_the_others_explored(cut_off: Report) -> None:
    assert [(f.rule, f.function) for f in cut_off.findings] == [("null-dereference", "deref")]


def test_it_is_said_which_functions_were_cut_off(cut_off: Report) -> None:
    (said,) = [m.text for m in cut_off.messages if "checked to the end" in m.text]
    assert said == "spread() was not checked to the end: the limit `configurations` (600) was reached. Findings can be missing."
    reasons = {verdict.reason for one in cut_off.functions for verdict in one.verdicts.values() if one.name == "spread"}
    assert "the check of the program stopped at the limit `configurations`" in reasons


def test_the_program_as_a_whole_has_a_limit(tmp_path: Path) -> None:
    report = checked(tmp_path, looping(5), Limits(configurations=100))
    assert report.work.configurations.recomputed <= 103
    assert any(re.match(r"\w+\(\) (was|and \d other functions? were) not checked to the end", m.text) for m in report.messages)


@pytest.mark.parametrize(("edges", "limit"), [(0, 200_000), (20_000, 1_200_000), (1_000_000, 4_000_000)])
def test_the_limit_goes_by_the_size_of_the_program(edges: int, limit: int) -> None:
    assert Limits().configurations_of(edges) == limit
