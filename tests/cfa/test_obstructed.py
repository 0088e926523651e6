"""What declarations say beyond types obstructs the functions that depend on it, and no others.

Class: attributes, sections, pragmas, assembler names and definitions that may not count (programs: `fixtures/misread`).
"""

from __future__ import annotations

from pathlib import Path
from weakref import ref

import pytest

from analysis.c.attributes import Attribute
from analysis.cfa.building.unit import Unit
from analysis.cfa.linking.link import link
from analysis.cfa.linking.obstacle_words import described
from analysis.cfa.linking.obstructed import obstacle_before, without_obstacles
from analysis.cli.certifying import read_program
from analysis.frontend.declarations.attribute_reading import attributes, pragma_of
from analysis.model import ir
from analysis.model.options import Options
from tests.support.lowered import unit_of

_MAIN = "int other(void) { return 2; } int main(void) { return other(); }"


def obstructed(*texts: str) -> dict[str, str]:
    """Why functions of a program are not understood."""
    units = [unit_of(text, f"{number}.c") for number, text in enumerate(texts)]
    return _reasons(units)


def _reasons(units: list[Unit]) -> dict[str, str]:
    functions = link(units).program.functions
    return {
        name: edge.effect.reason
        for name, cfa in functions.items()
        for edge in cfa.outgoing.get(cfa.entry, ())
        if isinstance(edge.effect, ir.Unsupported)
    }


@pytest.mark.parametrize(
    "declared",
    [
        "__attribute__((strange(1, (2)))) extern int x;",
        "extern int x __attribute__((weak)), y;",
        'extern int x __asm__("x2");',
        'int x __attribute__((section("own")));',
        "#pragma weak x\nextern int x;",
        "#pragma redefine_extname x x2\nextern int x;",
        'extern int x __attribute__((alias("y"), unused));',
        "[[strange::attribute]] extern int x;",
        "extern int x; __attribute__((strange)) extern int x;",
        "typedef int strange __attribute__((may_alias)); extern strange x;",
    ],
)
def test_functions_that_mention_a_name_are_obstructed_and_no_others(declared: str) -> None:
    if "section" not in declared:  # code may be in it
        assert obstructed(f"{declared}\n{_MAIN}") == {}
    found = link([unit_of(f"{declared}\nint g(void) {{ return x; }} {_MAIN}")]).program.functions
    without = {name for name, cfa in found.items() if not any(isinstance(e.effect, ir.Unsupported) for e in cfa.edges)}
    assert without == ({"other"} if "section" in declared else {"other", "main"})


@pytest.mark.parametrize(
    "text",
    [
        "__attribute__((noinline, cold, __nothrow__)) int other(void);",
        'int other(void) __attribute__((__warn_unused_result__, deprecated("see (that)")));',
        "[[nodiscard, gnu::always_inline]] int other(void);",
        "#pragma GCC diagnostic push\n#pragma once\n#pragma STDC FP_CONTRACT OFF",
        '_Static_assert(1, "x"); ; __asm__("");',
        'int scanf(const char *, ...) __asm__("" "__isoc99_scanf"); int f(char *p) { return scanf(p); }',
        "extern int x __attribute__((aligned(16))); int f(void) { return x; }",
        "_Noreturn void end(void) { for (;;) ; } void f(void) { end(); }",
        "extern inline int g(void) { return 1; } int f(void) { return g(); }",
        "static inline int g(void) { return 1; } int f(void) { return g(); }",
        "inline int g(void) { return 1; } int g(void); int f(void) { return g(); }",
    ],
)
def test_what_is_understood_obstructs_nothing(text: str) -> None:
    assert obstructed(f"{text}\n{_MAIN}") == {}


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (
            ("__attribute__((weak)) int other(void) { return 1; }", "int other(void); int main(void) { return other(); }"),
            {"other", "main"},
        ),
        (("__attribute__((weak)) int other(void) { return 1; }", _MAIN), set()),
        (("inline int other(void) { return 1; }", _MAIN), {"other", "main"}),
        (("inline int other(void) { return 2; }", _MAIN), set()),
        (("int other(void) { return 1; }", _MAIN), {"other", "main"}),
        (("__attribute__((constructor)) static void f(void) { }", _MAIN), {"main"}),
        (('__asm__("nop");', _MAIN), {"other", "main"}),
        (('#pragma GCC optimize("fast-math")\nint f(void) { return 1; }', _MAIN), {"f"}),
        (
            (
                "extern int weak __attribute__((weak)); int *p = &weak, **q = &p;",
                f"extern int **q; int f(void) {{ return **q; }} {_MAIN}",
            ),
            {"f"},
        ),
        (("extern int weak __attribute__((weak)); int f(void) { return weak; }", f"int weak; {_MAIN}"), set()),
        (
            (
                'int one(void) __asm__("two"); int one(void) { return 1; }',
                f"int two(void); int f(void) {{ return two(); }} {_MAIN}",
            ),
            {"one", "f"},
        ),
    ],
)
def test_all_files_together_decide(texts: tuple[str, ...], names: set[str]) -> None:
    assert set(obstructed(*texts)) == names


def test_what_puts_a_program_in_doubt_is_said_of_the_file_that_has_it() -> None:
    reasons = obstructed("int f(void) { return 1; }", 'asm(".globl x"); int g(void) { return 2; }', _MAIN)
    assert reasons.keys() == {"f", "g", "other", "main"}
    why = reasons["g"]
    assert described(why) == f"contains {why}, which is not supported"
    assert {described(reasons[name]) for name in ("f", "other", "main")} == {f"is in a program with 1.c, which has {why}"}


def test_a_function_that_is_declared_not_to_return_does_not() -> None:
    text = "_Noreturn void end(int n) { if (n) return; for (;;) ; } void f(void) { end(1); }"
    (cfa,) = (cfa for name, cfa in link([unit_of(text)]).program.functions.items() if name == "end")
    ends = cfa.incoming[cfa.exit]
    before = [edge.effect for end in ends for edge in cfa.incoming[end.source]]
    assert [type(effect) for effect in before] == [ir.Unsupported] * len(ends)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("int other(void) { return 1; }", "__attribute__((weak)) int other(void) { return 1; }"),
        ("#pragma weak other\nint other(void) { return 1; }", "int other(void) { return 1; }"),
        ("int other(void) { return 1; }", "int other(void) { return 3; } extern int x __attribute__((strange));"),
        ("int f(void) { return 1; }", "__attribute__((constructor)) int f(void) { return 1; }"),
        ('__asm__("nop"); int f(void) { return 1; }', 'int f(void) { return 1; } __asm__("");'),
        ("int f(void) { return 1; }", "int f(void) {\n#pragma omp parallel\nreturn 1; }"),
    ],
)
def test_an_edit_is_linked_as_from_nothing(before: str, after: str) -> None:
    one, main = unit_of(before, "a.c"), unit_of(_MAIN.replace("return 2", "return 1"), "b.c")
    for old, new in ((before, after), (after, before)):
        one = unit_of(old, "a.c")
        linked = link([one, main])
        found, scratch = link([unit_of(new, "a.c", previous=one), main], before=linked), link([unit_of(new, "a.c"), main])
        assert {n: c.digest for n, c in found.program.functions.items()} == {
            n: c.digest for n, c in scratch.program.functions.items()
        }
        assert found.sources.keys() == scratch.sources.keys()
        assert all(set(cfa.by_id) == set(found.sources[name].sites) for name, cfa in found.program.functions.items())


def test_an_obstructed_function_stays_the_same_object() -> None:
    one, main = unit_of("__attribute__((weak)) int f(void) { return 1; }", "a.c"), unit_of(_MAIN, "b.c")
    before = link([one, main])
    moved = link([unit_of("\n__attribute__((weak)) int f(void) { return 1; }", "a.c", previous=one), main], before=before)
    assert moved.program is before.program


def test_the_obstacle_at_an_entry_comes_before_the_function_as_it_is() -> None:
    unit = unit_of(f"int g(int n) {{ while (n) n--; return n; }} {_MAIN}")
    plain, closed = (
        link([unit]).program,
        link([unit_of(f'asm("nop"); int g(int n) {{ while (n) n--; return n; }} {_MAIN}')]).program,
    )
    assert without_obstacles(plain) is plain
    within = without_obstacles(closed)
    for name, cfa in closed.functions.items():
        assert within.functions[name] is cfa.unobstructed
        assert [str(edge) for edge in within.functions[name].edges] == [str(edge) for edge in plain.functions[name].edges]
        obstacle = next(edge for edge in cfa.edges if isinstance(edge.effect, ir.Unsupported))
        behind = {edge.id for edge in cfa.outgoing[obstacle.target]}
        assert (obstacle.source, behind) == (cfa.entry, {edge.id for edge in plain.functions[name].outgoing[cfa.entry]})
        assert {edge.id for edge in cfa.edges if obstacle_before(cfa, edge.id) == obstacle.id} == behind


def test_an_obstructed_function_is_gone_when_nobody_has_it() -> None:
    unit = unit_of(f'asm("nop"); {_MAIN}')
    closed = ref(link([unit]).program.functions["main"])
    assert closed() is None


def test_headers_of_the_system_are_understood(tmp_path: Path) -> None:
    names = (
        "assert ctype errno fcntl inttypes limits locale math pthread setjmp signal stdarg stdatomic stdio stdlib string strings"
    )
    names += " sys/stat sys/types sys/wait sys/socket time unistd wchar"
    includes = "".join(f"#include <{name}.h>\n" for name in names.split())
    path = tmp_path / "a.c"
    path.write_text(
        f"#define _GNU_SOURCE\n{includes}int main(int argc, char **argv) {{ int n = 0; char b[8] = {{0}};"
        ' if (argc > 1) sscanf(argv[1], "%d", &n); strncpy(b, "x", 7);'
        ' printf("%d %s %d", n, b, isdigit(b[0])); return abs(n) > 0; }\n'
    )
    program = read_program((str(path),), Options())
    assert not [edge for cfa in program.functions.values() for edge in cfa.unsupported]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"__attribute__((__unused__, aligned(4)))", [Attribute("unused"), Attribute("aligned", "4")]),
        (b'__attribute__((section(".a(b)"), cold))', [Attribute("section", '".a(b)"'), Attribute("cold")]),
        (b'[[gnu::weak, nodiscard("x")]]', [Attribute("weak"), Attribute("nodiscard", '"x"')]),
        (b"__declspec(dllexport)", [Attribute("declspec dllexport")]),
        (b"__declspec(noreturn)", [Attribute("noreturn")]),
        (b"_Alignas(16)", [Attribute("aligned", "16")]),
        (b"#pragma pack(1)", []),
        (b"something", [Attribute("")]),
    ],
)
def test_attributes_are_read(text: bytes, expected: list[Attribute]) -> None:
    assert list(attributes((text,))) == expected


def test_pragmas_are_read() -> None:
    assert pragma_of(b"#pragma weak f").weak == "f"
    assert pragma_of(b"# pragma weak f = g").renamed == ("f", "g")
    assert pragma_of(b"#pragma redefine_extname a b").renamed == ("a", "b")
    assert pragma_of(b"#pragma omp parallel for").strange == "pragma omp parallel"
    assert pragma_of(b"#pragma STDC FENV_ACCESS ON").strange == "pragma STDC FENV_ACCESS"
    assert pragma_of(b'#pragma push_macro("x")') == pragma_of(b"#pragma GCC diagnostic pop") == pragma_of(b"#pragma")


def test_of_several_names_the_same_one_is_told_in_each_process() -> None:
    """Sets of names are in another order in each."""
    names = [f"x{number}" for number in range(9)]
    declared = "".join(f'extern int {name} __asm__("of_{name}");' for name in reversed(names))
    reason = obstructed(f"{declared} int f(void) {{ return {' + '.join(reversed(names))}; }}")["f"]
    assert "x0, " in reason
