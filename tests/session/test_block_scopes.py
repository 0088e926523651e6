"""Variables of inner blocks: what points to them when they are gone must not be proved good, and other pointers must be."""

from __future__ import annotations

import msgspec
import pytest

from analysis.certificate.refusal import RefusedError
from analysis.certificate.unwinding import check_unwinding, unwind
from analysis.certificate.unwinding_tree import Unwinding
from analysis.cfa.graph import Program
from analysis.cfa.revisions.match import match_function
from analysis.cpa.obstacles.lifetimes import outlived
from analysis.engines.symbolic.task import Confirmed, Effort, ProgramTask, Undecided
from analysis.engines.symbolic.whole import decide_program
from analysis.model import ir
from analysis.model.c_types import LP64
from tests.support.explorations import program_of
from tests.support.lowered import unit_of

_DECLARED = """
typedef unsigned long size_t; void *memcpy(void *, const void *, size_t); void *memset(void *, int, size_t);
char *strchr(const char *, int); int printf(const char *, ...); int *pass(int *);
struct node { struct node *next; int value; }; struct pair { int a, b; };
int *kept; static struct pair make(int n) { struct pair p = {n, n}; return p; }
static int get(const int *q) { return *q; } static void keep(int *q) { kept = q; } static int *same(int *q) { return q; }
static void keep_copy(int *q) { int **to = &q; kept = *to; }
static void put(int **into, int *q) { *into = q; }
"""

_GONE = {
    "the end of a block": "int *p; { int x = 1; p = &x; } return *p;",
    "what another block wrote over": "int *p = 0; { int x = 1; p = &x; } { int y = 2; y++; } return *p;",
    "an array": "int *p; { int x[2] = {1, 2}; p = x; } return p[1];",
    "a member": "int *p; { struct pair x = {1, 2}; p = &x.b; } return *p;",
    "a list": "struct node a = {0, 1}; { struct node b = {0, 2}; a.next = &b; } return a.next->value;",
    "the round before": "int *p = 0; for (int i = 0; i < 2; i++) { int x = i; if (p) return *p; p = &x; } return 0;",
    "a loop that is left": "int *p = 0; while (1) { int x = 1; p = &x; if (x) break; } return *p;",
    "a round that is left": """int *p = 0, s = 0; for (int i = 0; i < 2; i++) { int x = 1; if (i) { s = *p; continue; } p = &x; }
        return s;""",
    "a block that is jumped out of": "int *p; { int x = 1; p = &x; goto out; } out: return *p;",
    "a counter": "int *p = 0; for (int i = 0; i < 2; i++) p = &i; return *p;",
    "by way of another": "int *p; { int x = 1, *q = &x; p = q; } return *p;",
    "by way of a number": "int *p; { int x = 1; size_t q = (size_t)&x; p = (int *)q; } return *p;",
    "a global": "{ int x = 1; kept = &x; } return *kept;",
    "a global that a function stores to": "{ int x = 1; keep(&x); } return *kept;",
    "a parameter that is pointed to": "{ int x = 1; keep_copy(&x); } return *kept;",
    "a variable that a function stores to": "int *p; { int x = 1; put(&p, &x); } return *p;",
    "a result": "int *p; { int x = 1; p = same(&x); } return *p;",
    "a result of a library": 'char *p; { char x[2] = "a"; p = strchr(x, 97); } return p ? *p : 0;',
    "passed to a function": "int *p; { int x = 1; p = &x; } return get(p);",
    "passed to a library": 'char *p; { char x[2] = "a"; p = x; } return printf("%s", p);',
    "a compound literal": "struct pair *p; { p = &(struct pair){1, 2}; } return p->a;",
    "a compound literal without braces": "int *p = 0; int n = 1; if (n) p = (int[]){1, 2}; return *p;",
    "a statement expression": "return *({ int x = 1; &x; });",
    "written": "int *p; { int x = 1; p = &x; } *p = 2; return 0;",
    "a copy of what points": "int *p; { int x = 1, *q = &x; memcpy(&p, &q, sizeof p); } return *p;",
    "a static variable": "static int *p; { int x = 1; p = &x; } return *p;",
}

_THERE = {
    "in the block": "int s = 0; { int x = 1, *p = &x; *p = 2; s = x; } return s;",
    "passed on": "int s = 0; for (int i = 0; i < 3; i++) { int x = i; s += get(&x); } return s;",
    "passed to a library": 'char a[4]; { char x[4] = "ab"; memcpy(a, x, 4); printf("%s", x); } return a[0];',
    "a variable of the function": "int x = 1, *p; { p = &x; } return *p;",
    "an inner pointer": """int s = 0; for (int i = 0; i < 3; i++) { int x[2] = {i, i}; for (int *p = x; p < x + 2; p++) s += *p; }
        return s;""",
    "from hand to hand": "int s = 0; { int x = 1; int *p = same(&x); s = *p; } return s;",
    "a block around": "int s = 0; { int x = 1, *p; { p = &x; } s = *p; } return s;",
    "another pointer": "int x = 1, *p = &x; { int y = 2, *q = &y; *q = 3; } return *p;",
    "another pointer that outlives": "int x = 1, *p = &x; { int y = 2; kept = &y; y = 3; } return *p;",
    "a compound literal of the function": "struct pair *p = &(struct pair){1, 2}; return p->a;",
    "a result": "int s = make(1).a; { struct pair q = make(2); s += q.b; } return s;",
}


def _program(text: str) -> Program:
    return program_of(f"{_DECLARED} int main(void) {{ {text} }}")


def _prove(program: Program, rule: str) -> None:
    left = iter(range(2_000))
    claim = Unwinding("main", (rule,), (), 0)
    check_unwinding(program, unwind(program, claim, LP64, 5_000, lambda: next(left, None) is not None))


@pytest.mark.parametrize("name", _GONE)
def test_what_is_gone_is_not_used_safely(name: str) -> None:
    program = _program(_GONE[name])
    for rule in ("use-after-scope", "uninitialized-read") if name != "written" else ("use-after-scope",):
        with pytest.raises(RefusedError):
            _prove(program, rule)
    assert outlived(program).keys() == {"main"}


@pytest.mark.parametrize("name", _GONE)
def test_what_is_gone_is_seen_to_be_used(name: str) -> None:
    task = ProgramTask(_program(_GONE[name]), frozenset({"use-after-scope"}), Effort(seconds=5.0))
    found = decide_program(task)
    assert isinstance(found, Confirmed), found
    assert found.observation.kind == "use-after-scope"
    assert found.observation.text.endswith("whose block has ended")


@pytest.mark.parametrize("name", _THERE)
def test_what_is_there_is_not_taken_for_gone(name: str) -> None:
    task = ProgramTask(_program(_THERE[name]), frozenset({"use-after-scope"}), Effort(seconds=2.0, runs=8))
    assert not isinstance(decide_program(task), Confirmed)


def test_runs_do_not_prove_it() -> None:
    text = "int *p = 0; int n = 0; for (;;) { int x = n++; if (p) return *p; p = &x; }"  # nothing runs between the rounds
    task = ProgramTask(_program(text), frozenset({"use-after-scope"}), Effort(seconds=5.0))
    assert isinstance(decide_program(task), Undecided)


def test_a_library_stores_what_it_is_given() -> None:
    program = program_of("""long strtol(const char *, char **, int); int main(void) {
    char *e; { char x[3] = "1a"; strtol(x, &e, 10); } { char y[3] = "1a"; strtol(y, 0, 10); } return *e; }""")
    program.externals["strtol"] = msgspec.structs.replace(program.externals["strtol"], system=True)
    assert outlived(program) == {"main": {"x"}}


def test_a_declaration_that_changes_blocks_is_a_change() -> None:
    inside, outside = "int *p; { int x; x = 1; p = &x; } return *p;", "int *p; int x; { x = 1; p = &x; } return *p;"
    before, after = (unit_of(f"int main(void) {{ {text} }}").functions[0] for text in (inside, outside))
    assert [edge.effect for edge in before.cfa.edges] == [edge.effect for edge in after.cfa.edges]
    assert before.cfa.digest != after.cfa.digest
    assert match_function(after, before).cfa.blocks == {}
    matched = match_function(before, after).cfa
    assert matched.blocks == before.cfa.blocks
    assert [matched.inside[edge.id] for edge in matched.edges] == [before.cfa.inside[edge.id] for edge in before.cfa.edges]


def test_blocks_go_with_the_names_of_variables() -> None:
    old = "int *p; { int x = 1; p = &x; } return *p;"
    new = "int *p; { int x = 5; x++; } { int x = 1; p = &x; } return *p;"
    before, after = (unit_of(f"int main(void) {{ {text} }}").functions[0] for text in (old, new))
    matched = match_function(after, before).cfa
    parts = [part for found in matched.parts.values() for part in found]
    assert [part.lvalue.name for part in parts if isinstance(part, ir.AddressOf) and isinstance(part.lvalue, ir.Var)] == ["x"]
    assert matched.blocks["x"] == after.cfa.blocks["x~2"]


@pytest.mark.parametrize("rule", ["use-after-scope", "uninitialized-read"])
@pytest.mark.parametrize("name", _THERE)
def test_what_is_there_is_used_safely(name: str, rule: str) -> None:
    _prove(_program(_THERE[name]), rule)
