"""What linking takes over from the revision before is what it finds out from nothing, after edits of bodies and declarations."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cfa.building.unit import Unit
from analysis.cfa.linking.link import LinkedProgram, link
from tests.support.lowered import unit_of

NAMES = ("f", "g", "h")
DECLARATIONS = (
    "",
    "extern int shared;",
    "int shared = 1;",
    "int *where = &mine;",
    "__attribute__((noreturn)) void ends(int);",
    "__attribute__((pure)) int f(int);",
    "__attribute__((const)) int g(int);",
    "__attribute__((weak)) int h(int);",
    "int strlen(int);",
    'extern int odd __attribute__((section("s"))); int with_odd = sizeof odd; int *to_odd = &odd;',
)
STATEMENTS = (
    "",
    "a++;",
    "shared = a;",
    "int *q = &shared; *q = a;",
    "return f(a) + g(a);",
    "return f(a) + shared;",
    "return h(a) + f(g(a));",
    "a = (shared = 2) + f(a);",
    "ends(a);",
    "while (a) a = outside(a);",
    "return mine + outside(a);",
    "int *q = &mine; *q = a;",
    "return shared + writes(&a);",
    "return shared + writes(&a);",
    "return strlen(a);",
    "static int kept; kept += f(a);",
    "int (*pointer)(int) = f; return pointer(a) + shared;",
    "exit(a);",
)
HEAD = "extern int shared; int f(int); int g(int); int h(int); void ends(int); void exit(int); "
HEAD += "int outside(int); int writes(int *); static int mine;\n"


@st.composite
def texts(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Some revisions of two files; each differs from the one before in one or two places."""
    heads = [draw(st.sampled_from(DECLARATIONS)) for _ in range(2)]
    bodies = {name: draw(st.lists(st.sampled_from(STATEMENTS), max_size=2)) for name in (*NAMES, "main", "ends")}
    found = [_spelled(heads, bodies)]
    for _ in range(draw(st.integers(1, 5))):
        for _ in range(draw(st.integers(1, 2))):
            if draw(st.integers(0, 3)) == 0:
                heads[draw(st.integers(0, 1))] = draw(st.sampled_from(DECLARATIONS))
            else:
                bodies[draw(st.sampled_from(sorted(bodies)))] = draw(st.lists(st.sampled_from(STATEMENTS), max_size=2))
        found.append(_spelled(heads, bodies))
    return found


def _spelled(heads: list[str], bodies: dict[str, list[str]]) -> tuple[str, str]:
    functions = {name: f"int {name}(int a) {{ {' '.join(lines)} return a; }}\n" for name, lines in bodies.items()}
    functions["main"] = functions["main"].replace("return a; }", "ends(a); return f(a) - (g(0) - (h(1) - writes(&a))); }")
    functions["writes"] = "int writes(int *p) { *p = 1; return 2; }\n"
    functions["ends"] = f"void ends(int a) {{ {' '.join(line for line in bodies['ends'] if 'return' not in line)} }}\n"
    first = functions["f"] + functions["g"] + (functions["ends"] if bodies["ends"] else "")
    return HEAD + heads[0] + "\n" + first, HEAD + heads[1] + "\n" + functions["h"] + functions["writes"] + functions["main"]


def _answer(linked: LinkedProgram) -> object:
    functions = {
        name: [(edge.id, edge.source, edge.target, edge.effect) for edge in cfa.edges]
        for name, cfa in linked.program.functions.items()
    }
    found = linked.obstructions
    return functions, found.reasons, found.returning, found.unordered, set(linked.sources), linked.messages


@settings(max_examples=300)
@given(texts())
def test_what_is_taken_over_is_what_is_found_from_nothing(revisions: list[tuple[str, str]]) -> None:
    units: list[Unit | None] = [None, None]
    before: LinkedProgram | None = None
    for revision in revisions:
        units = [unit_of(text, f"{number}.c", units[number]) for number, text in enumerate(revision)]
        built = [unit for unit in units if unit is not None]
        before = link(built, before)
        assert _answer(before) == _answer(link(built))


CALLS = """\
int shared = 1;
int outside(int);
static int writes(int *p) { *p = 1; return 2; }
static int calls(int a) { BODY }
int main(void) { int a = 0; calls(a); return shared + writes(&a); }
"""


def test_code_that_is_not_checked_may_run_only_while_something_calls_it() -> None:
    """Other files know the address of `shared`, and may have told it to what `writes` is passed."""
    unit: Unit | None = None
    linked: LinkedProgram | None = None
    for body, is_open in (("return a;", False), ("return outside(a);", True), ("return a + 1;", False)):
        unit = unit_of(CALLS.replace("BODY", body), "a.c", unit)
        linked = link([unit], linked)
        assert bool(linked.obstructions.unordered) is is_open, body
