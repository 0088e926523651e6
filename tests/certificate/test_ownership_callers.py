"""A function is safe in runs from main where its callers keep what it requires of its parameters, and not where one does not.

The class: what a function ends or uses comes from its caller, who may have ended it, given it away, passed it twice, or does not
have the start of it."""

from __future__ import annotations

import msgspec
import pytest

from analysis.certificate import text
from analysis.certificate.ownership.closed_checker import check_closed_sets, open_reason, refusal
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.closed_sets import ClosedSets
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.model.report import IF_KEPT
from tests.certificate.test_ownership_refused import CLOSE, FREE, HEAD, USE
from tests.support.lowered import unit_of

RUNS_FROM = ("main",)
FREES = "static void f(char *p) { free(p); }"
USES = "static void f(char *p) { if (p) p[0] = 1; }"
ORDER = "static int c; static int two(int a, int b) { return a + b; } static int f(char *p) { free(p); return 0; }"
CLOSES = "static void f(FILE *p) { fclose(p); }"
_USES_BOTH = "static void f(char *p, char *q) { if (p && q) p[0] = q[0]; }"
_ENDS_ONE = "void exit(int); static void f(char *p, char *q) { free(p); if (q) q[0] = 1; exit(1); }"


def program(body: str) -> Program:
    return link([unit_of(HEAD + body)]).program


def claim(of: Program, rule: str, name: str = "f") -> tuple[str, ClosedSets]:
    """Why a rule is not proved of a function in runs from main, and the claim that it is."""
    (function,) = (one for one in of.functions if one.rpartition("::")[2] == name)
    search = ClosedSearch(of)
    followed = search.follow(function)
    assert followed is not None
    names = search.follow_callers(function, rule)
    assert names is not None
    why = open_reason(of, search.found_below(names, function, rule), function, rule, RUNS_FROM)
    return why, ClosedSets(function, rule, search.sets(*names), RUNS_FROM)


KEPT = (
    ("an own block", f"{FREES} int main(void) {{ f(malloc(2)); return 0; }}", FREE),
    ("null", f"{FREES} int main(void) {{ f(0); return 0; }}", FREE),
    ("on each path", f"{FREES} int main(int n) {{ char *p = malloc(2); if (n) f(p); else f(p); return 0; }}", FREE),
    ("used, and ended later", f"{USES} int main(void) {{ char *p = malloc(2); f(p); free(p); return 0; }}", USE),
    ("used inside", f"{USES} int main(void) {{ char *p = malloc(2); if (p) f(p + 1); free(p); return 0; }}", USE),
    ("a variable is used", f"{USES} int main(void) {{ char b[3]; f(b); f(\"a\"); return 0; }}", USE),
    ("passed twice, and used", f"{_USES_BOTH} int main(void) {{ char *p = malloc(2); f(p, p); free(p); return 0; }}", USE),
    ("passed twice by a caller", f"{_USES_BOTH} static void h(char *p) {{ if (p) f(p + 1, p); }} int main(void) "
     "{ char *p = malloc(2); h(p); free(p); return 0; }", USE),
    ("through a caller", f"{FREES} static void h(char *p) {{ f(p); }} int main(void) {{ h(malloc(2)); return 0; }}", FREE),
    ("through two callers", f"{FREES} static void h(char *p) {{ f(p); }} static void i(char *p) {{ if (p) h(p); }} "
     "int main(void) { i(malloc(2)); h(malloc(3)); return 0; }", FREE),
    ("recursion", "static void f(char *p, int n) { if (n) f(p, n - 1); else free(p); } int main(void) "
     "{ f(malloc(2), 3); return 0; }", FREE),
    ("a new block of a callee", f"{FREES} static char *made(void) {{ return malloc(2); }} int main(void) "
     "{ f(made()); return 0; }", FREE),
    ("a stream", f"{CLOSES} int main(void) {{ FILE *s = fopen(\"a\", \"r\"); if (s) f(s); return 0; }}", CLOSE),
    ("not static", f"{FREES.removeprefix('static ')} int main(void) {{ f(malloc(2)); return 0; }}", FREE),
    ("what main is passed", "static int f(char **p) { return p[0] != 0; } int main(int n, char **v) { return f(v); }", USE),
    ("opaque code runs between", "static void f(char *p) { opaque(); free(p); } int main(void) "
     "{ f(malloc(2)); return 0; }", FREE),
)  # fmt: skip


@pytest.mark.parametrize(("body", "rules"), [case[1:] for case in KEPT], ids=[case[0] for case in KEPT])
def test_what_all_callers_keep_is_proved(body: str, rules: tuple[str, ...]) -> None:
    of = program(body)
    for rule in rules:
        why, proof = claim(of, rule)
        assert why == ""
        assert check_closed_sets(of, proof).assumptions
        with pytest.raises(RefusedError, match=IF_KEPT):
            check_closed_sets(of, msgspec.structs.replace(proof, runs_from=()))


def _main(body: str) -> str:
    return f"int main(int n, char **v) {{ char *p = malloc(2); {body} return 0; }}"


_FRONT = "static void f(char *p) { if (p) free(p - 8); }"

NOT_KEPT = (
    ("the block begins elsewhere", _FRONT + _main("f(p);"), FREE),
    ("the block begins there", _FRONT + _main("f(p + 8);"), FREE),
    ("null, where a start is computed", "static void f(char *p) { free(p - 8); }" + _main("f(0); free(p);"), FREE),
    ("a variable, where a start is computed", _FRONT + _main("char b[9]; f(b + 8); free(p);"), FREE),
    ("ended before", FREES + _main("free(p); f(p);"), FREE),
    ("ended before, on a path", FREES + _main("if (n) free(p); f(p);"), FREE),
    ("ended twice by the function", FREES + _main("f(p); f(p);"), FREE),
    ("inside", FREES + _main("if (p) f(p + 1);"), FREE),
    ("a variable", FREES + _main("char b[2]; f(b);"), FREE),
    ("a literal", FREES + _main('f("a");'), FREE),
    ("a global", FREES + _main("g = p; f(g);"), FREE),
    ("stored before", FREES + _main("g = p; f(p); free(g);"), FREE),
    ("given to opaque code", FREES + _main("ext(p); f(p);"), FREE),
    ("one of two calls", FREES + _main("f(p); f(g);"), FREE),
    ("a caller's own parameter", FREES + "static void h(char *p) { f(p); }" + _main("h(g);"), FREE),
    ("a caller ends it", FREES + "static void h(char *p) { free(p); f(p); }" + _main("h(p);"), FREE),
    ("a caller gives it away", FREES + "static void h(char *p) { g = p; f(p); }" + _main("h(p); free(g);"), FREE),
    ("main is called again", "static int f(char **p) { return p[0] != 0; } static int h(void); int main(int n, char **v) "
     "{ return f(v) + h(); } static int h(void) { char **b = malloc(8); if (!b) return 0; free(b); return main(1, b); }", USE),
    ("an argument of main is freed", FREES + _main("f(v[1]);"), FREE),
    ("passed twice", "static void f(char *p, char *q) { free(p); free(q); }" + _main("f(p, p);"), FREE),
    ("passed twice to what does not return", f"{_ENDS_ONE} {_main('f(p, p);')}", USE),
    ("passed twice through what does not return", f"{_ENDS_ONE} static void h(char *p, char *q) {{ f(p, q); }} "
     f"{_main('h(p, p);')}", USE),
    ("passed twice, and ended below", "static void e(char *p) { free(p); } static void f(char *p, char *q) { e(p); if (q) "
     "q[0] = 1; } " + _main("f(p, p);"), USE),
    ("passed twice, and stored", "static char *s; static void f(char *p, char *q) { s = p; free(s); if (q) q[0] = 1; } "
     + _main("f(p, p);"), USE),
    ("passed twice, once inside", "static void f(char *p, char *q) { free(p); q[0] = 1; }" + _main("if (p) f(p, p + 1);"), USE),
    ("the function ends it before", "static void f(char *p) { free(p); free(p); }" + _main("f(p);"), FREE),
    ("the function gives it away", "static void f(char *p) { g = p; opaque(); free(p); }" + _main("f(p);"), FREE),
    ("its address is used", "static void f(char *p) { char **q = &p; free(*q); }" + _main("f(p);"), FREE),
    ("another end", CLOSES + "int main(void) { f((FILE *)malloc(2)); return 0; }", CLOSE),
    ("a stream is freed", FREES + 'int main(void) { f((char *)fopen("a", "r")); return 0; }', FREE),
    ("called through a pointer", FREES + "static void (*h)(char *) = f;" + _main("h(p); f(malloc(2));"), FREE),
    ("called at the end", "static void f(void) { free(g); }" + _main("atexit(f);"), FREE),
    ("not called", FREES + _main("free(p);"), FREE),
    ("without main", FREES + "void h(void) { f(malloc(2)); }", FREE),
    ("called with too few", "static void f(); " + _main("f();") + " static void f(p) char *p; { free(p); }", FREE),
    ("not as a pointer", "static void f(); " + _main("f(n);") + " static void f(p) char *p; { free(p); }", FREE),
    ("used after the end", USES + _main("free(p); f(p);"), USE),
    ("used after it was resized", USES + _main("char *q = realloc(p, 9); if (q) { f(p); free(q); }"), USE),
    ("its caller is not supported", FREES + _main('__asm__("" : "+r"(p)); f(p);'), FREE),
    ("a jump comes back", FREES + _main("setjmp(env); f(p);"), FREE),
    ("another name", FREES + 'void other(char *) __attribute__((alias("f")));' + _main("free(p); other(p); f(malloc(1));"), FREE),
    ("mutual recursion ends it first", "static void h(char *p, int n); static void f(char *p, int n) { if (n) h(p, n); "
     "else free(p); } static void h(char *p, int n) { free(p); f(p, n - 1); }" + _main("f(p, 1);"), FREE),
    ("another operand ends it, and nothing reads the pointer later", f"{ORDER.replace('f(', 'drop(')} static int f(char *p) "
     "{ return c++ + p[0]; } static int h(char *p) { char *q = p; return two(f(q), drop(p) + c); }" + _main("h(p);"), USE),
    ("in an order that is not seen", f"{ORDER} static int h(char *p) {{ return two(p ? (exit(1), 0) : 0, f(p)); }}"
     + _main("free(p); h(p);"), FREE),
    ("in an order that a callee hides", f"{ORDER} static int dies(void) {{ exit(1); return 1; }}"
     "static int h(char *p) { return two(dies(), f(p)); }" + _main("f(malloc(2)); free(p); h(p);"), FREE),
)  # fmt: skip


@pytest.mark.parametrize(("body", "rules"), [case[1:] for case in NOT_KEPT], ids=[case[0] for case in NOT_KEPT])
def test_what_a_caller_may_not_keep_is_not_proved(body: str, rules: tuple[str, ...]) -> None:
    of = program(body)
    for rule in rules:
        why, proof = claim(of, rule)
        assert why
        with pytest.raises(RefusedError):
            check_closed_sets(of, proof)


def test_reasons_say_what_callers_have_to_keep_and_which_does_not() -> None:
    of = program(f"{FREES} static void h(char *q) {{ f(q); }} {_main('h(g);')}")
    (function,) = (one for one in of.functions if one.endswith("::f"))
    followed = ClosedSearch(of).follow(function)
    assert followed is not None
    said = "safe if callers keep: `p` is null, or a whole block of memory that nothing else frees"
    assert refusal(of, followed.found, function, "double-free").startswith(said)
    assert "h() is called, and it is not known that `q` is null" in claim(of, "double-free")[0]


@pytest.mark.parametrize(
    ("freed", "why"),
    [
        ("p - 8", "safe if callers keep: `p` is inside of a block of memory that nothing else frees, and whose start is"),
        ("(p - n) - 8", "safe if callers keep: `p` is inside of a block of memory"),
        ("p + 8", "`p + 8` is freed, and points into the block, not to its start"),
        ("&((struct node *)p)->name", "is freed, and points into the block, not to its start"),
    ],
)
def test_only_what_lies_in_front_of_a_pointer_may_be_the_start_of_its_block(freed: str, why: str) -> None:
    of = program(f"void f(char *p, int n) {{ free({freed}); }}")
    followed = ClosedSearch(of).follow("f")
    assert followed is not None
    assert why in refusal(of, followed.found, "f", "invalid-free")


def test_a_claim_without_a_caller_is_refused() -> None:
    of = program(f"{FREES} static void h(void) {{ f(g); }} {_main('f(p); h();')}")
    why, proof = claim(of, "double-free")
    assert why
    fewer = tuple(one for one in proof.functions if not one.function.endswith("::h"))
    assert fewer != proof.functions
    with pytest.raises(RefusedError):
        check_closed_sets(of, msgspec.structs.replace(proof, functions=fewer))


def test_claims_about_runs_from_main_are_written_and_read() -> None:
    of = program(KEPT[0][1])
    proof = claim(of, "double-free")[1]
    read = text.read(text.write((proof,), of, "LP64"), of)
    assert read.all == (proof,)
    wrong = msgspec.structs.replace(proof, runs_from=("nowhere",))
    with pytest.raises(RefusedError):
        text.read(text.write((wrong,), of, "LP64"), of)
