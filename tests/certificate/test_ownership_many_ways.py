"""Functions that can return in more ways than contracts about blocks tell apart: callers rely on what all of these ways have in
common. The class: a way that ends, keeps, makes or returns something is forgotten among the others."""

from __future__ import annotations

import pytest

from analysis.certificate.ownership.closed_checker import check_closed_sets, shown
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.closed_sets import ClosedSets
from analysis.certificate.ownership.contracts import NEW, Outcome
from analysis.certificate.ownership.memory_state import block_of
from analysis.cfa.graph import Program
from tests.certificate.test_ownership_refused import FREE, LEAK, USE, program, why

# 24 ways: `a` null or not, `b` kept or not, and six results
_MANY = """static char *h(char *a, char *b, char *c, int n) { if (!a) n++; if (n & 1) kept = b; switch (n) {
case 2: return a; case 3: return b; case 4: return c; case 5: return given(); case 6: return "x"; default: return 0; } }
"""
# the same, and some free `c`
_FREES = """static char *h(char *a, char *b, char *c, int n) { if (n & 1) kept = b; if (n & 2) { free(c); c = 0; }
switch (n / 4) { case 2: return a; case 3: return b; case 4: return c; case 5: return given(); case 6: return "x"; default:
return 0; } }
"""
# the same, and some return a new block
_MAKES = """static char *h(char *a, char *b, char *c, int n) { if (!a) n++; if (n & 1) kept = b; switch (n) {
case 2: return a; case 3: return b; case 4: return c; case 5: return malloc(3); case 6: return "x"; default: return 0; } }
"""
_RECURSIVE = """static char *h(char *a, char *b, char *c, int n) { if (n & 1) kept = b; switch (n) { case 2: return a;
case 3: return b; case 4: return c; case 5: return given(); case 6: return "x"; case 7: return 0;
default: return h(b, a, c, n - 8); } }
"""
_OWN = "char *p = malloc(8); if (!p) return;"


def _call(head: str, body: str) -> str:
    return f"{head} void f(int n, char *x, char *y) {{ {_OWN} {body} }}"


PROVED = (
    ("what no way keeps is freed", _call(_MANY, "h(p, x, y, n); free(p);"), FREE),
    ("it is used before", _call(_MANY, "h(x, y, p, n); p[0] = 1; free(p);"), USE + FREE),
    ("no way frees what is passed first", _call(_FREES, "h(p, x, 0, n); p[0] = 1; free(p);"), USE + FREE),
)
REFUSED = (
    ("kept by some ways", _call(_MANY, "h(x, p, y, n); free(p);"), LEAK),
    ("kept by some ways, and used when it may have been freed", _call(_MANY, "h(x, p, y, n); opaque(); p[0] = 1;"), USE),
    ("kept by some ways of a recursion", _call(_RECURSIVE, "h(p, x, y, n); free(p);"), LEAK),
    ("freed by some ways", _call(_FREES, "h(x, y, p, n); free(p);"), FREE),
    ("freed by some ways, and used", _call(_FREES, "h(x, y, p, n); p[0] = 1;"), USE),
    ("freed by no way for certain", _call(_FREES, "h(x, y, p, n);"), LEAK),
    ("a new block is dropped", _call(_MAKES, "h(0, 0, 0, n); free(p);"), LEAK),
    ("a result is freed that may be an argument", _call(_MANY, "char *r = h(p, x, y, n); free(r); free(p);"), FREE),
    ("a result is freed that may be an argument, then used", _call(_MANY, "char *r = h(p, x, y, n); free(r); p[0] = 1;"), USE),
    ("a result is kept that may be an argument, then freed", _call(_MANY, "kept = h(p, x, y, n); opaque(); free(p);"), FREE),
    ("a result is kept that may be an argument, then used", _call(_MANY, "kept = h(p, x, y, n); opaque(); p[0] = 1;"), USE),
    ("a result is used after what it may be was freed", _call(_MANY, "char *r = h(p, x, y, n); free(p); if (r) *r = 1;"), USE),
)  # fmt: skip


def _outcomes(of: Program) -> frozenset[Outcome]:
    search = ClosedSearch(of)
    followed = search.follow(next(name for name in of.functions if name.endswith("::h")))
    assert followed is not None
    assert followed.contract is not None, "nothing is known of it"
    return followed.contract.outcomes


@pytest.mark.parametrize(("text", "rules"), [case[1:] for case in PROVED], ids=[case[0] for case in PROVED])
def test_what_all_ways_have_in_common_is_proved(text: str, rules: tuple[str, ...]) -> None:
    of = program(text)
    search = ClosedSearch(of)
    search.follow("f")
    for rule in rules:
        assert why(of, rule) == ""
        assert check_closed_sets(of, ClosedSets("f", rule, search.sets("f"))).states


@pytest.mark.parametrize(("text", "rules"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_what_one_way_may_do_is_not_proved(text: str, rules: tuple[str, ...]) -> None:
    of = program(text)
    for rule in rules:
        assert why(of, rule), f"{rule} is proved"


@pytest.mark.parametrize("head", [_MANY, _FREES, _MAKES], ids=["many", "frees", "makes"])
def test_ways_that_differ_in_what_they_end_make_or_return_stay_apart(head: str) -> None:
    found = _outcomes(program(_call(head, "free(p);")))
    apart = {(one.ended, one.result if one.result.startswith(NEW) or block_of(one.result) else "") for one in found}
    assert len(apart) == len(found)
    assert any(one.result.startswith(NEW) for one in found) == (head == _MAKES)
    assert len({one.ended for one in found}) == (2 if head == _FREES else 1)
    assert {int(block) for one in found if (block := block_of(one.result))} == {0, 1, 2}
    assert any(one.given for one in found)


def test_functions_with_as_many_ways_that_call_themselves_are_not_followed() -> None:
    """What follows from saying less of them could be more, and from that less again. Of others in the program, what is found is
    accepted."""
    of = program(_call(_RECURSIVE, "h(x, y, p, n); free(p);") + " void other(void) { free(malloc(1)); }")
    search = ClosedSearch(of)
    followed = {name: one for name in of.functions if (one := search.follow(name)) is not None}
    assert [name for name, one in followed.items() if one.found.broken] == ["t.c::h"]
    assert "h() is called, which is not followed" in why(of, "memory-leak")
    claims = search.sets(*(name for name, one in followed.items() if not one.found.broken))
    assert "memory-leak" in shown(of, claims).found["other"].met


@pytest.mark.parametrize("first_is_recursive", [True, False])
def test_a_call_that_makes_a_function_recursive_changes_its_contract(first_is_recursive: bool) -> None:
    """The edit is in another function; what is taken over is what is found from scratch."""
    texts = [
        _call("static void back(void); " + _MANY.replace("if (!a)", "back(); if (!a)"), "h(x, y, p, n); free(p);")
        + f" static void back(void) {{ {call} }}"
        for call in ("if (opaque()) h(0, 0, 0, 1);", "if (opaque()) opaque();")
    ]
    before, now = (program(text) for text in (texts if first_is_recursive else reversed(texts)))
    name = next(one for one in now.functions if one.endswith("::h"))
    after, scratch = ClosedSearch(now), ClosedSearch(now)
    earlier = ClosedSearch(before)
    earlier.follow("f")
    after.take_over(earlier, ())
    for search in (after, scratch):
        search.follow("f")
    assert after.sets("f") == scratch.sets("f")
    assert after.found((name,))[name].first == scratch.found((name,))[name].first
