"""Which number an address is, and which of two objects comes first, is not known: nothing is confirmed or refuted by it.

The class: pointers that are made numbers, in runs and in formulas of paths.
"""

from __future__ import annotations

import pytest

from analysis.cfa.graph import Program
from analysis.engines.symbolic import Confirmed, Decision, Effort, ProgramTask, Refuted, Target, Task, decide, decide_program
from analysis.interpreter import Script, Start, execute
from analysis.interpreter.outcome import Returned
from analysis.model.c_types import ILP32, LP64, DataModel
from tests.support.explorations import error_locations
from tests.support.runs import program_of

_EFFORT = Effort(seconds=30, states=2_000)
_GLOBALS = "static int g, h; typedef unsigned long number;"

DEPENDING = [
    "(number)p % 16 == 0",
    "(number)p % 4096 == 1024",
    "(number)p >> 40 == 3",
    "((number)&g & 4095) == 1024",
    "(number)p < (number)&g",
    "(number)&g < (number)&h",
    "(int)(number)malloc(4) > 0",
    "(unsigned char)(number)p == 12",
]


def _decided(program: Program, rule: str = "assertion") -> Decision:
    return decide_program(ProgramTask(program, frozenset({rule}), _EFFORT))


@pytest.mark.parametrize("condition", DEPENDING)
def test_it_is_neither_confirmed_nor_refuted(condition: str) -> None:
    for text, wrong in ((condition, Confirmed | Refuted), (f"!({condition})", Refuted)):
        program = program_of(f"{_GLOBALS} int main(void) {{ int x, *p = &x; if ({text}) reach_error(); return 0; }}")
        whole = _decided(program)
        assert not isinstance(whole, wrong), whole
        ((name, locations),) = error_locations(program).items()
        edge = next(e.id for e in program.functions[name].edges if e.source in locations)
        one = decide(Task(program, Target(name, edge, "assertion"), ("main",), effort=_EFFORT))
        assert not isinstance(one, wrong), one


@pytest.mark.parametrize(
    "body",
    [
        "number n = (number)&g; if ((int *)n == &g) reach_error();",
        "number n = (number)&g; int *p = (int *)n; *p = 3; if (g == 3) reach_error();",
        "int *p = &g; if ((number)p) reach_error();",
        "int v[4]; if ((number)&v[1] - (number)&v[0] == 4) reach_error();",
    ],
)
def test_what_holds_everywhere_is_confirmed(body: str) -> None:
    program = program_of(f"{_GLOBALS} int main(void) {{ {body} return 0; }}")
    assert isinstance(_decided(program), Confirmed)


@pytest.mark.parametrize("model", [LP64, ILP32], ids=["LP64", "ILP32"])
def test_programs_run_elsewhere(model: DataModel) -> None:
    text = """static int g = 2; static char text[9000]; static int add(int *p, int n) { return *p + n; }
        int main(void) { int v[3] = {1, 2, 3}, *p = malloc(4); if (!p) return 0; *p = 4; text[8999] = 1; char *s = "abc";
        int (*f)(int *, int) = add; int sum = f(&g, v[2]) + *p + text[8999] + s[1]; free(p); return sum; }"""
    program = program_of(text, model)
    for elsewhere in (False, True):
        assert execute(program, Start("main", data_model=model, elsewhere=elsewhere), Script()).end == Returned(108)


BYTES = {
    "a union": "union { int *p; number n; } u; u.p = p; number n = u.n;",
    "bytes": "unsigned char *c = (unsigned char *)&p; number n = c[0];",
    "another type": "number n = *(number *)&p;",
    "a copy": "number n; memcpy(&n, &p, sizeof n);",
    "a copy in a structure": "struct { int *p; int i; } s = {p, 1}, t = s; number n; memcpy(&n, &t, sizeof n);",
    "a block that was moved": "int **b = malloc(8), **c; if (!b) return 0; *b = p; c = realloc(b, 16); if (!c) return 0;"
    " number n = *(number *)c;",
    "a static object": "static int *s = &g; number n = *(number *)&s;",
    "a string": "number n = strlen((char *)&p);",
}


@pytest.mark.parametrize("test", ["n % 16 == 12", "n % 16 != 12", "n % 16 == 0", "n % 16 == 8"])
@pytest.mark.parametrize("how", BYTES)
def test_bytes_of_pointers_are_numbers_of_addresses(how: str, test: str) -> None:
    program = program_of(f"{_GLOBALS} int main(void) {{ int x, *p = &x; {BYTES[how]} if ({test}) reach_error(); return 0; }}")
    found = _decided(program)
    assert not isinstance(found, Refuted if "!=" in test else Confirmed | Refuted), found


@pytest.mark.parametrize("test", ["memcmp(&p, &q, sizeof p) > 0", "memcmp(&p, &q, sizeof p) < 0"])
def test_bytes_of_pointers_have_no_known_order(test: str) -> None:
    program = program_of(f"{_GLOBALS} int main(void) {{ int *q = &g, *p = &h; if ({test}) reach_error(); return 0; }}")
    found = _decided(program)
    assert not isinstance(found, Confirmed | Refuted), found


@pytest.mark.parametrize(
    "body",
    [
        "int *q, *p = &g; memcpy(&q, &p, sizeof p); if (q == &g) reach_error();",
        "union { int *p; char *c; } u; u.p = &g; *u.c = 1; if (g) reach_error();",
        "struct { int *p; } s = {&g}, t = s; *t.p = 1; if (g) reach_error();",
        "int *p = 0; if (*(number *)&p == 0) reach_error();",
    ],
)
def test_bytes_of_pointers_may_be_copied(body: str) -> None:
    program = program_of(f"{_GLOBALS} int main(void) {{ {body} return 0; }}")
    assert isinstance(_decided(program), Confirmed)
    refuted = program_of(
        f"{_GLOBALS} int main(void) {{ {body.replace('if (', 'if (!(').replace(') reach', ')) reach')} return 0; }}"
    )
    assert isinstance(_decided(refuted), Refuted)


def test_blocks_that_pointers_in_memory_lead_to_do_not_leak() -> None:
    body = "struct { int *p; } *s = malloc(8); if (!s) return 0; s->p = malloc(4); if (s->p) *s->p = 1; keep = s; return 0;"
    program = program_of(f"static void *keep; int main(void) {{ {body} }}")
    found = _decided(program, "memory-leak")
    assert not isinstance(found, Confirmed), found
