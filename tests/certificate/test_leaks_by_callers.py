"""A function that overwrites what its parameters lead to loses nothing where that leads to nothing that has to be freed, or
closed: its verdict names this. It is safe in runs from main where callers pass null, variables of their own, or blocks that hold
nothing. Each case has a twin in which a block, or a file, is lost there.

The class: what is overwritten, or ended, is an object of the caller's, in which others have put the last pointer to a block."""

from __future__ import annotations

import pytest

from analysis.certificate.ownership.closed_checker import check_closed_sets, refusal
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.closed_sets import ClosedSets
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.cpa.framework.algorithm import Cancellation
from analysis.model.report import IF_KEPT
from analysis.session.portfolio import contract_proofs, ownership_proofs
from analysis.session.portfolio.request import Proved, Request
from analysis.session.portfolio.request_terms import About
from tests.certificate.test_ownership_refused import HEAD
from tests.support.lowered import unit_of

_BOX = "struct box { char *a; struct box *b; FILE *file; int n; }; static struct box G; static struct box *list;\n"
_CLEAR = "static void f(struct box *p) { p->a = 0; p->file = 0; }\n"
_FILL = "static void fill(void) { G.a = malloc(2); list = &G; }\n"
LEAK, FILE = "memory-leak", "resource-leak"

CASES = (
    ("a variable of the caller's", LEAK, f"{_CLEAR}int main(void) {{ struct box x; f(&x); return 0; }}",
     ("f(&x);", "x.a = malloc(2); f(&x);")),
    ("a pointer to a variable", LEAK, f"{_CLEAR}int main(void) {{ struct box x, *q = &x; f(q); return 0; }}",
     ("f(q)", "q->a = malloc(2); f(q)")),
    ("a file", FILE, f"{_CLEAR}int main(void) {{ struct box x; f(&x); return 0; }}",
     ("f(&x);", 'x.file = fopen("a", "r"); f(&x);')),
    ("a new block", LEAK, f"{_CLEAR}int main(void) {{ struct box *x = malloc(sizeof *x); if (x) f(x); free(x); return 0; }}",
     ("f(x)", "{ x->a = malloc(2); f(x); }")),
    ("through a caller", LEAK, f"{_CLEAR}static void h(struct box *q) {{ f(q); }} int main(void) "
     "{ struct box x; h(&x); return 0; }", ("{ f(q)", "{ q->a = malloc(2); f(q)")),
    ("another function fills it", LEAK, f"{_CLEAR}static void fill(struct box *q) {{ q->a = \"a\"; }} int main(void) "
     "{ struct box x; fill(&x); f(&x); return 0; }", ('"a"', "malloc(2)")),
    ("its address is elsewhere", LEAK, f"{_CLEAR}static void fill(void) {{ list->a = \"a\"; }} int main(void) "
     "{ struct box x; list = &x; fill(); f(&x); return 0; }", ('"a"', "malloc(2)")),
    ("a copy of what others hold", LEAK, f"{_CLEAR}int main(void) {{ struct box x, y; y.a = \"a\"; x = y; f(&x); return 0; }}",
     ('"a"', "malloc(2)")),
    ("moved out of memory", LEAK, f"{_CLEAR}{_FILL}static void h(void) {{ struct box x; x.a = G.a; f(&x); }} int main(void) "
     "{ fill(); h(); free(G.a); return 0; }", ("f(&x);", "G.a = 0; f(&x);")),
    ("moved out of memory by a function", LEAK, f"{_CLEAR}{_FILL}static void take(struct box *q) {{ q->a = G.a; }} "
     "static void h(void) { struct box x; take(&x); f(&x); } int main(void) { fill(); h(); free(G.a); return 0; }",
     ("q->a = G.a;", "q->a = G.a; G.a = 0;")),
    ("cleared where it was", LEAK, f"{_CLEAR}{_FILL}static void wipe(struct box *q) {{ q->a = 0; }} static void h(void) "
     "{ struct box x, y; x.a = G.a; wipe(&y); f(&x); } int main(void) { fill(); h(); free(G.a); return 0; }",
     ("wipe(&y)", "wipe(&G)")),
    ("swapped", LEAK, f"{_CLEAR}{_FILL}static void swap(struct box *p, struct box *q) {{ struct box t = *p; *p = *q; *q = t; }} "
     "static void h(void) { struct box x, y; x.a = 0; swap(&x, &y); f(&x); } int main(void) { fill(); h(); return 0; }",
     ("swap(&x, &y)", "swap(&x, &G)")),
    ("a parameter of the caller's", LEAK, f"{_CLEAR}{_FILL}static void h(struct box *q) {{ struct box x = *q; q->a = 0; f(&x); "
     "} static void i(void) { struct box y; h(&y); } int main(void) { fill(); i(); return 0; }", ("h(&y)", "h(&G)")),
    ("two objects", LEAK, f"{_FILL}static void f(struct box *p, struct box *q) {{ p->a = q->a; q->a = 0; }} static void h(void) "
     "{ struct box x, y; f(&x, &y); f(&y, &x); } int main(void) { fill(); h(); return 0; }", ("f(&y, &x)", "f(&y, &G)")),
    ("an element of an array", LEAK, f"{_CLEAR}int main(int n, char **v) {{ struct box x[3]; f(&x[n % 3]); return 0; }}",
     ("struct box x[3]", "static struct box x[3]; x[0].a = malloc(2)")),
    ("a variable that stays", LEAK, f"{_CLEAR}static void h(void) {{ struct box x; f(&x); x.a = \"a\"; }} int main(void) "
     "{ h(); h(); return 0; }", ('struct box x; f(&x); x.a = "a"', "static struct box x; f(&x); x.a = malloc(2)")),
    ("a block is freed", LEAK, "static void f(struct box *p) { free(p); } int main(void) { f(malloc(sizeof(struct box))); "
     "return 0; }", ("f(malloc(sizeof(struct box)));", "struct box *x = malloc(sizeof *x); if (x) x->a = malloc(2); f(x);")),
    ("recursion", LEAK, "static void f(struct box *p, int n) { struct box x; p->a = 0; if (n > 0) f(&x, n - 1); } int main(void) "
     "{ struct box y; f(&y, 3); return 0; }", ("if (n > 0)", "x.a = malloc(2); if (n > 0)")),
    ("one of two calls", LEAK, f"{_CLEAR}{_FILL}static void h(void) {{ struct box x; f(&x); f(0); }} int main(void) "
     "{ fill(); h(); return 0; }", ("f(0)", "f(list)")),
    ("what a caller loses", LEAK, f"{_CLEAR}static char *taken(void) {{ return G.a; }} int main(void) "
     "{ struct box x; x.a = taken(); f(&x); return 0; }",
     ("return G.a;", "char *p = G.a = malloc(2); G.a = 0; return p;")),
    ("a block that a function fills", LEAK, f"{_CLEAR}static struct box *made(void) {{ struct box *q = malloc(sizeof *q); if (q) "
     "q->a = 0; return q; } int main(void) { struct box *x = made(); if (x) f(x); free(x); return 0; }",
     ("q->a = 0", "{ G.a = malloc(2); q->a = G.a; G.a = 0; }")),
    ("a function is called through a pointer", LEAK, f"{_CLEAR}static void none(struct box *q) {{ }} "
     "static void (*fill)(struct box *) = none; int main(void) { struct box x; x.a = 0; fill(&x); f(&x); return 0; }",
     ("q) { }", "q) { q->a = malloc(2); }")),
    ("the function is called through a pointer", LEAK, f"{_CLEAR}int main(void) {{ struct box x; f(&x); return 0; }}",
     ("int main(void) {", "static void (*g)(struct box *) = f; int main(void) { G.a = malloc(2); g(&G);")),
)  # fmt: skip


def program(text: str) -> Program:
    return link([unit_of(HEAD + _BOX + text)]).program


def _proof(of: Program, rule: str) -> Proved | None:
    """The proof of the rule in function `f`, if there is one."""
    answers = contract_proofs.prove(Request(of, ("main",), About("contracts", (rule,))), 1000.0, Cancellation())
    (found,) = (one.answer for one in answers if one.function.rpartition("::")[2] == "f")
    return found if isinstance(found, Proved) else None


@pytest.mark.parametrize(("rule", "body"), [case[1:3] for case in CASES], ids=[case[0] for case in CASES])
def test_what_callers_keep_is_proved(rule: str, body: str) -> None:
    assert _proof(program(body), rule) is not None


@pytest.mark.parametrize(("rule", "body", "twin"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_a_caller_breaks_is_not(rule: str, body: str, twin: tuple[str, str]) -> None:
    before, after = twin
    assert body.count(before) == 1
    assert _proof(program(body.replace(before, after)), rule) is None


def test_a_parameter_of_the_callers_is_no_variable_of_its_own() -> None:
    """It may hold a pointer that only the argument held, which is gone."""
    made = "static struct box made(void) { struct box b; b.a = malloc(2); b.file = 0; return b; }"
    passed = "static void h(struct box x) { f(&x); } int main(void) { h(made()); return 0; }"
    assert _proof(program(f"{_CLEAR}{made}{passed}"), LEAK) is None


def test_without_callers_the_verdict_names_what_is_required() -> None:
    of = program(f"{_CLEAR}int main(void) {{ return 0; }}")
    (function,) = (one for one in of.functions if one.endswith("f"))
    followed = ClosedSearch(of).follow(function)
    assert followed is not None
    said = {rule: refusal(of, followed.found, function, rule) for rule in (LEAK, FILE)}
    assert said[LEAK].startswith(f"{IF_KEPT}`p` is null, or what it points to leads to nothing that has to be freed (")
    assert said[FILE].startswith(f"{IF_KEPT}`p` is null, or what it points to leads to nothing that has to be closed (")


@pytest.mark.parametrize(
    "text",
    [
        "void f(struct box *p) { free(p->b); free(p); }",
        "static void clear(struct box *p) { free(p->b); } void f(struct box *p) { clear(p); free(p); }",
    ],
)
def test_what_a_function_ends_itself_is_not_required_to_be_missing(text: str) -> None:
    of = program(text)
    followed = ClosedSearch(of).follow("f")
    assert followed is not None
    assert not refusal(of, followed.found, "f", LEAK).startswith(IF_KEPT)


def test_the_certificate_of_a_proof_by_callers_is_checked() -> None:
    of = program(f"{_CLEAR}int main(void) {{ struct box x, y; G.a = malloc(2); free(G.a); f(&x); f(&y); return 0; }}")
    assert _proof(of, FILE) is not None
    (function,) = (one for one in of.functions if one.endswith("f"))
    request = Request(of, ("main",), About("function", (FILE,), function))
    answer = ownership_proofs.prove(request, 1000.0, Cancellation())
    assert isinstance(answer, Proved)
    (claim,) = answer.certificates
    assert isinstance(claim, ClosedSets)
    with pytest.raises(RefusedError, match=IF_KEPT):
        check_closed_sets(of, ClosedSets(claim.entry, claim.rule, claim.functions))
