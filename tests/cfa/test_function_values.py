"""What calls through pointers reach by the values that flow. Classes: a function that flows to a call is not among its targets;
one that does not flow there is, though it has the same type; what is not understood is taken for nothing instead of anything."""

from __future__ import annotations

import pytest

from analysis.cfa.function_values import with_values
from analysis.model import ir
from analysis.model.spelling import display_name
from tests.support.runs import program_of

HEAD = """
typedef unsigned long size_t;
typedef int (*code)(int);
void *malloc(size_t); void *memcpy(void *, const void *, size_t);
int one(int x) { return x + 1; }
int two(int x) { return x + 2; }
int three(int x) { return x + 3; }
code used[] = { one, two, three };
int keeps_all(int x) { return used[x](x); }
void register_code(code c); code registered(void); void fill(code *to);
"""
MAIN = "int main(void) { return keeps_all(1); }\n"
EVERYTHING = ("one", "three", "two")

FLOWS = {
    "a variable": ("int f(int x) { code c = one; return c(x); }", ("one",)),
    "both branches": ("int f(int x) { code c = x ? one : two; return c(x); }", ("one", "two")),
    "a parameter": ("int f(code c) { return c(1); } int g(void) { return f(two); }", ("two",)),
    "a parameter of a parameter": (
        "int f(code c) { return c(1); } int g(code c) { return f(c); } int h(void) { return g(one) + g(three); }",
        ("one", "three"),
    ),
    "a result": ("code pick(void) { return three; } int f(int x) { return pick()(x); }", ("three",)),
    "a result through a pointer": (
        "code pick(void) { return three; } int f(int x) { code (*p)(void) = pick; return p()(x); }",
        ("pick", "three"),
    ),
    "a global": ("code c = one; void set(void) { c = two; } int f(void) { return c(1); }", ("one", "two")),
    "a global that is null": ("code c; int f(void) { return c ? c(1) : 0; }", ()),
    "a member": (
        "struct s { int n; code c; }; int f(struct s *s) { return s->c(1); } void g(struct s *s) { s->c = one; }",
        ("one",),
    ),
    "members of two names": (
        "struct s { code c, d; }; int f(struct s *s) { return s->c(1); } void g(struct s *s) { s->c = one; s->d = two; }",
        ("one",),
    ),
    "a record that is copied": (
        "struct s { code c; }; int f(struct s s) { return s.c(1); } int g(void) { struct s a = { three }, b = a; return f(b); }",
        ("three",),
    ),
    "a record that memcpy copies": (
        "struct s { code c; }; int f(struct s *s) { return s->c(1); }"
        " int g(void) { struct s a = { three }, b; memcpy(&b, &a, sizeof b); return f(&b); }",
        ("three",),
    ),
    "a table": ("static const code t[2] = { one, two }; int f(int x) { return t[x](x); }", ("one", "two")),
    "a table of records": (
        "static const struct { const char *n; code c; } t[] = { { 0, one }, { 0, two } }; int f(int x) { return t[x].c(x); }",
        ("one", "two"),
    ),
    "a table through a pointer": (
        "static code t[2] = { one, two }; int f(code *p) { return p[1](1); } int g(void) { return f(t); }",
        ("one", "two"),
    ),
    "a local whose address is passed": (
        "void set(code *to) { *to = two; } int f(void) { code c = 0; set(&c); return c(1); }",
        ("two",),
    ),
    "a void pointer": ("int f(void *p) { code c = (code)p; return c(1); } int g(void) { return f((void *)one); }", ("one",)),
    "a constant that is no function": ("int f(int x) { code c = x ? one : (code)1; return c(x); }", ("one",)),
    "a union": (
        "union u { code c; code d; }; int f(union u *u) { return u->c(1); } void g(union u *u) { u->d = one; }",
        ("one",),
    ),
    "a type that does not fit": (
        "void other(char *a, char *b) { } void *v; int f(void) { v = (void *)other; v = (void *)one; return ((code)v)(1); }",
        ("one",),
    ),
}
NOT_UNDERSTOOD = {
    "an integer": "int f(unsigned long n) { return ((code)n)(1); }",
    "an integer and a function": "int f(unsigned long n) { code c = n > 9 ? (code)n : one; return c(1); }",
    "another kind of pointer": "int f(char *p) { return ((code)p)(1); }",
    "an external function's result": "int f(void) { return registered()(1); }",
    "an external function that fills": "int f(void) { code c; fill(&c); return c(1); }",
    "another variable's file": "extern code elsewhere; int f(void) { return elsewhere(1); }",
    "another member of a union": "union u { code c; long n; }; int f(union u *u, long n) { u->n = n; return u->c(1); }",
    "called from outside": "int f(code c) { return c(1); } void g(void) { register_code((code)f); }",
}


def targets(text: str, function: str = "f") -> tuple[str, ...]:
    program = with_values(program_of(text))
    calls = (edge.effect for edge in program.functions[function].calls)
    pointers = [call for call in calls if isinstance(call, ir.Call) and ir.direct_callee(call) is None]
    assert pointers
    return tuple(sorted({display_name(name) for call in pointers for name in program.targets(call)}))


@pytest.mark.parametrize(("text", "expected"), FLOWS.values(), ids=FLOWS.keys())
def test_what_flows_is_called(text: str, expected: tuple[str, ...]) -> None:
    assert targets(HEAD + text + MAIN) == expected


@pytest.mark.parametrize("text", NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD.keys())
def test_what_is_not_understood_is_any_function_of_the_type(text: str) -> None:
    assert set(targets(HEAD + text + MAIN)) >= set(EVERYTHING)


def test_callers_of_a_library_pass_what_they_want() -> None:
    text = HEAD + "int f(code c) { return c(1); } static int g(code d) { return d(1); } int h(void) { return g(one); }"
    assert targets(text) == EVERYTHING
    assert targets(text, next(name for name in program_of(text).functions if display_name(name) == "g")) == ("one",)


def only(text: str) -> str | None:
    """The only function that is assigned to what `f` calls through."""
    program = with_values(program_of(HEAD + text))
    (call,) = (edge.effect for edge in program.functions["f"].calls)
    assert isinstance(call, ir.Call)
    found = program.only_target(call)
    return None if found is None else display_name(found)


def test_the_only_function_that_the_program_assigns_is_known_beside_others_from_outside() -> None:
    use = "static code p = one; void set(code c) { p = c; } int f(int x) { return p(x); }"
    assert only(use) == "one"
    assert only(use + " void other(void) { set(two); }") is None
    assert only("code p; int f(int x) { return p(x); }") is None  # those of its type are no more likely than others


@pytest.mark.parametrize(
    ("edited", "is_same"),
    [
        ("look(&both); look(&both);", True),  # once more the same
        ("", True),  # what is passed is no function, and look() has a body: it adds nothing
        ("look(&both); fill(&both);", False),  # a function outside of the program may set the pointer
        ("look(&both); give(two);", False),
    ],
)
def test_calls_by_name_count_by_what_they_pass_on(edited: str, is_same: bool) -> None:
    text = (
        HEAD
        + "struct pair { code c; }; static struct pair both; void fill(struct pair *p); static code given;"
        + "static void look(struct pair *p) { both.c = p ? one : 0; } static void give(code c) { given = c; }"
        + "int f(int x) { look(&both); return both.c(x) + (given ? given(x) : 0); }"
        + MAIN
    )
    first = with_values(program_of(text))
    changed = program_of(text.replace("{ look(&both); return", "{ " + edited + " return"))
    after = with_values(changed, first)
    assert (after.called is first.called) == is_same
    assert after.called == with_values(changed).called


def test_targets_are_the_same_object_where_nothing_differs_that_matters() -> None:
    text = HEAD + "int f(int x) { code c = one; return c(x); }" + MAIN
    first = with_values(program_of(text))
    assert with_values(program_of(text.replace("x + 3", "x + 4")), first).called is first.called
    other = with_values(program_of(text.replace("c = one", "c = two")), first)
    assert other.called == with_values(program_of(text.replace("c = one", "c = two"))).called != first.called
