"""Files of several programs. The class of defects: a definition that is not checked, a call that binds to another program's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from analysis.cfa.graph import Program
from analysis.cfa.linking.link import LinkedProgram, link
from analysis.cfa.linking.programs import IN_DOUBT, Meant, meanings, mentioned_in, names_of, several
from analysis.cfa.linking.renamed_unit import as_linked
from analysis.cfa.open_functions import called_from_outside, entered_elsewhere, open_functions, with_outside_calls
from analysis.model import ir
from analysis.model.c_types import spell
from tests.support.lowered import unit_of

Files = dict[str, str]


def meant_by(files: Files) -> dict[str, Meant]:
    """What each of these files means by its names."""
    units = [unit_of(text, path) for path, text in files.items()]
    names = [names_of(unit) for unit in units]
    found = meanings(list(files), names, [mentioned_in(unit) for unit in units], several(names))
    return dict(zip(files, found, strict=True))


def linked(files: Files) -> LinkedProgram:
    """The program that all these files make together."""
    return link(as_linked([unit_of(text, path) for path, text in files.items()]))


def called(program: Program, name: str) -> set[str]:
    """What a function calls by name."""
    return set(_called(program, name))


def _called(program: Program, name: str) -> Iterator[str]:
    for edge in program.functions[name].calls:
        if isinstance(edge.effect, ir.Call) and (callee := ir.direct_callee(edge.effect)) is not None:
            yield callee


TWO = {
    "a.c": "int debug = 0; void usage(void) { debug++; } int main(void) { usage(); return 0; }",
    "b.c": "int debug = 1; void usage(void) { } int only_b(void); int main(void) { usage(); debug++; return only_b(); }",
}


def test_each_program_keeps_its_own_definitions() -> None:
    found = linked(TWO)
    assert found.messages == ()
    assert sorted(found.program.functions) == ["main", "main~b.c", "usage", "usage~b.c"]
    assert called(found.program, "main") == {"usage"}
    assert called(found.program, "main~b.c") == {"usage~b.c", "only_b"}
    assert {name: found.program.globals[name].initial for name in ("debug", "debug~b.c")} == {
        "debug": ir.IntConst(0, found.program.globals["debug"].var.type),
        "debug~b.c": ir.IntConst(1, found.program.globals["debug"].var.type),
    }
    assert not any(cfa.unsupported for cfa in found.program.functions.values())


def test_files_of_one_program_mean_what_they_say() -> None:
    files = {"a.c": "int f(void); int main(void) { return f(); }", "b.c": "int f(void) { return 0; }"}
    assert all(one == Meant() for one in meant_by(files).values())


def test_equal_definitions_are_one() -> None:
    same = "int max(int a, int b) { return a > b ? a : b; }"
    assert all(one == Meant() for one in meant_by({"a.c": same, "b.c": same}).values())


def test_what_a_file_needs_tells_of_which_program_it_is() -> None:
    helper = "void usage(void); int only_b(void) { usage(); return 0; } int from_c(void);"
    found = linked({**TWO, "help.c": helper, "main_c.c": "int only_b(void); int main(void) { return 0; }"})
    assert called(found.program, "only_b") == {"usage"}
    assert found.program.functions["only_b"].unsupported, "it may go with a.c as well: nothing there says no"
    needs_b = {**TWO, "b.c": TWO["b.c"] + "void more(void) { }", "help.c": helper + "void more(void); void g(void) { more(); }"}
    found = linked(needs_b)
    assert called(found.program, "only_b") == {"usage~b.c"}
    assert not found.program.functions["only_b"].unsupported


def test_needs_are_followed_over_files() -> None:
    files = {
        **TWO,
        "b.c": TWO["b.c"] + "void more(void) { }",
        "middle.c": "void more(void); void middle(void) { more(); }",
        "help.c": "void usage(void); void middle(void); int only_b(void) { usage(); middle(); return 0; }",
    }
    assert meant_by(files)["help.c"] == Meant({"usage": "usage~b.c"})


def test_of_several_that_are_possible_the_nearest_is_taken_and_the_name_is_in_doubt() -> None:
    files = {f"one/{path}": text for path, text in TWO.items() if path == "a.c"}
    files |= {"two/b.c": TWO["b.c"], "two/help.c": "void usage(void); int only_b(void) { usage(); return 0; }"}
    assert meant_by(files)["two/help.c"] == Meant({"usage": "usage~two/b.c"}, {"usage~two/b.c": "two/b.c"})
    effects = [edge.effect for edge in linked(files).program.functions["only_b"].unsupported]
    assert effects == [ir.Unsupported(f"usage, which has {IN_DOUBT}")]


@pytest.mark.parametrize("other", ["int debug;", "int debug; int f(void) { return debug; }"])
def test_a_tentative_definition_may_be_of_each_program(other: str) -> None:
    meant = meant_by({**TWO, "lib.c": other})["lib.c"]
    assert meant == Meant({}, {"debug": "a.c"})


def test_a_tentative_definition_of_another_program_is_another_variable() -> None:
    files = {"a.c": "int debug; int main(void) { return debug; }", "b.c": "int debug = 3; int main(void) { return debug; }"}
    program = linked(files).program
    assert program.globals["debug"].initial == ir.IntConst(0, program.globals["debug"].var.type)
    assert program.globals["debug~b.c"].initial == ir.IntConst(3, program.globals["debug"].var.type)


def test_a_library_beside_a_demo_is_open() -> None:
    text = """
    static int dead(void) { return 0; } int shared(void) { return 1; } int called_back(void) { return 2; }
    int api(void) { return shared() + below(); } int below(void) { return 3; } int even(int n) { return n ? odd(n - 1) : 1; }
    int odd(int n) { return n ? even(n - 1) : 0; } int (*callback)(void) = called_back; int main(void) { return shared(); }
    """
    program = linked({"a.c": text, "b.c": "int main(void) { return 0; }"}).program
    assert open_functions(program) == {"api", "even", "odd", "main~b.c"}
    assert entered_elsewhere(program) == {"api", "even", "odd", "main~b.c", "shared", "below"}


def test_a_program_without_main_has_no_open_functions() -> None:
    assert open_functions(link([unit_of("int api(void) { return 0; }")]).program) == set()


def test_what_only_code_outside_calls_begins_where_main_does() -> None:
    text = """
    int outside(int (*f)(void)); int away(void) { return 1; } int by_name(void) { return 2; } int by_pointer(int a) { return a; }
    static int dead(void) { return 3; }
    int main(void) { int (*f)(int) = by_pointer; outside(away); outside(by_name); return by_name() + f(1); }
    """
    program = linked({"a.c": text}).program
    assert called_from_outside(program) == {"away"}
    assert with_outside_calls(("main",), program) == ("main", "away")
    assert with_outside_calls(("main", "away"), program) == ("main", "away")
    assert with_outside_calls(("by_name",), program) == ("by_name",)


def test_tentative_definitions_of_different_types_are_of_different_programs() -> None:
    found = linked(
        {
            "a.c": "char *name; int count; int main(void) { return name != 0; }",
            "b.c": "char name[20]; int count; int main(void) { name[9] = 1; return 0; }",
        }
    ).program
    assert {name: spell(one.var.type) for name, one in found.globals.items()} == {
        "name": "char *",
        "name~b.c": "char [20]",
        "count": "int",
    }
    assert not any(cfa.unsupported for cfa in found.functions.values())


def test_arrays_whose_length_one_file_leaves_out_are_one() -> None:
    found = linked({"a.c": "int table[]; int main(void) { return table[0]; }", "b.c": "int table[7];"}).program
    assert [name for name in found.globals if name.startswith("table")] == ["table"]
