"""Which static names of two programs are the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.cfa.revisions.counterparts import counterparts
from tests.support.lowered import unit_of

names = st.lists(st.sampled_from("fghk"), unique=True, max_size=4)
programs = st.dictionaries(st.sampled_from(["a.c", "b.c", "x/a.c", "c.c"]), names, max_size=4)


def program(files: dict[str, list[str]]) -> Program:
    """Files with static functions of these names."""
    texts = {
        path: "".join(f"static int {name}(void) {{ static int n; return n; }}" for name in found) for path, found in files.items()
    }
    return link([unit_of(text, path) for path, text in texts.items()]).program


def renamed(new: dict[str, list[str]], old: dict[str, list[str]]) -> dict[str, str]:
    """The functions only; their static locals go with them."""
    found = counterparts(program(new), program(old))
    functions = {mine: theirs for mine, theirs in found.items() if mine.count("::") == 1}
    assert {f"{mine}::n": f"{theirs}::n" for mine, theirs in functions.items()} == {
        mine: theirs for mine, theirs in found.items() if mine not in functions
    }
    return functions


NOTHING = program({"a.c": ["f"]})  # before any test: it raises Python's recursion limit


def test_a_file_is_recognised_by_what_is_in_it() -> None:
    assert renamed({"new/a.c": ["f", "g"]}, {"old/a.c": ["f", "g"]}) == {"new/a.c::f": "old/a.c::f", "new/a.c::g": "old/a.c::g"}
    assert renamed({"b.c": ["f", "g", "k"]}, {"a.c": ["f", "g", "h"]}) == {
        "b.c::f": "a.c::f",
        "b.c::g": "a.c::g",
        "b.c::k": "a.c::k",
    }


def test_of_two_files_with_the_same_names_that_with_the_same_end_of_its_path() -> None:
    assert renamed({"new/a.c": ["f"], "new/b.c": ["f"]}, {"old/b.c": ["f"], "old/a.c": ["f"]}) == {
        "new/a.c::f": "old/a.c::f",
        "new/b.c::f": "old/b.c::f",
    }


def test_a_function_that_moves_to_another_file() -> None:
    assert renamed({"a.c": ["f"], "b.c": ["g", "h"]}, {"a.c": ["f", "g"], "b.c": ["h"]}) == {"b.c::g": "a.c::g"}


def test_what_only_has_the_name_of_something_else_gets_another_one() -> None:
    old = {"a.c": ["f", "g", "h"], "b.c": ["k"]}
    new = {"b.c": ["f", "g", "h"], "a.c": ["k", "f"]}
    assert renamed(new, old) == {
        "a.c::k": "b.c::k",
        "a.c::f": "b.c::f",
        "b.c::f": "a.c::f",
        "b.c::g": "a.c::g",
        "b.c::h": "a.c::h",
    }


@given(programs, programs)
def test_no_two_names_become_the_same_one(new: dict[str, list[str]], old: dict[str, list[str]]) -> None:
    found = renamed(new, old)
    all_names = [f"{path}::{name}" for path, inside in new.items() for name in inside]
    assert len({found.get(name, name) for name in all_names}) == len(all_names)
    assert renamed(old, old) == {}
    assert counterparts(NOTHING, NOTHING) == {}
