"""What the library keeps for itself does not end: `errno`, tables of `isalpha`, and the standard streams that nothing closes.

The class: a program closes a standard stream where its name does not stand (by a copy, a parameter, a table, `freopen`), or
overwrites what the library has made, and uses it after that. In each program, `f` uses one.
"""

from __future__ import annotations

import pytest

from analysis.certificate.ownership.closed_checker import check_closed_sets, refusal
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.closed_sets import ClosedSets
from analysis.certificate.ownership.obligations import USES
from analysis.certificate.ownership.standard_streams import never_closed
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.model.assumptions import LEFT_OPEN
from tests.support.lowered import unit_of

_HEAD = """typedef unsigned long size_t; typedef struct file FILE; extern FILE *stdin, *stdout, *stderr;
FILE *fopen(const char *, const char *); int fclose(FILE *), fflush(FILE *), fputs(const char *, FILE *), fgetc(FILE *);
FILE *freopen(const char *, const char *, FILE *); int fprintf(FILE *, const char *, ...), pclose(FILE *), fcloseall(void);
void *malloc(size_t); void free(void *); int *__errno_location(void); const unsigned short **__ctype_b_loc(void);
int *__error(void); int unknown(FILE *), atexit(void (*)(void)); FILE *other(void); char *getenv(const char *);
"""
_F = 'int f(int n) { fputs("x", stderr); return n; }'

PROVED = {
    "named alone": _F,
    "compared": f"{_F} int g(FILE *s) {{ return s == stderr || stderr != 0; }}",
    "other streams are closed": f'{_F} void g(void) {{ FILE *s = fopen("a", "r"); if (s) fclose(s); }}',
    "another standard stream is closed": f"{_F} void g(void) {{ fclose(stdout); }}",
    "closed by a parameter, but never passed": f"{_F} void g(FILE *s) {{ fclose(s); }}",
    "passed, and all that is closed was opened there": f'{_F} void h(FILE *s) {{ fputs("a", s); }} void g(void) {{ h(stderr); '
    'FILE *s = 0; s = fopen("a", "r"); if (s) fclose(s); }',
    "copied, and nothing is closed": f"{_F} FILE *out; void g(void) {{ out = stderr; }}",
    "a copy of it": 'int f(int n) { FILE *s = n ? stdout : stderr; fputs("x", s); return 0; }',
    "errno": "int f(int n) { if (*__errno_location() == n) return 1; *__errno_location() = 0; return 0; }",
    "errno of another system": "int f(int n) { return *__error() == n; }",
    "the address of errno": "static int get(int *p) { return *p; } int f(int n) { int *p = __errno_location(); return *p + "
    "get(p); }",
    "a table": "int f(int n) { return (*__ctype_b_loc())[n] & 8; }",
}
TRAPS = {
    "closed": f"{_F} void g(void) {{ fclose(stderr); }}",
    "closed in a cast": f"{_F} void g(void) {{ fclose((FILE *)(void *)stderr); }}",
    "closed by a copy": f"{_F} void g(void) {{ FILE *s = stderr; fclose(s); }}",
    "closed by a global variable": f"{_F} FILE *out; void g(void) {{ out = stderr; }} void h(void) {{ fclose(out); }}",
    "closed by a table": f"{_F} FILE *out[2]; void g(int n) {{ out[n] = stderr; fclose(out[0]); }}",
    "closed by a parameter": f"{_F} static void h(FILE *s) {{ fclose(s); }} void g(void) {{ h(stderr); }}",
    "closed by a choice": f"{_F} void g(int n) {{ fclose(n ? stdout : stderr); }}",
    "closed by a result": f"{_F} static FILE *h(void) {{ return stderr; }} void g(void) {{ fclose(h()); }}",
    "closed by a member": f"{_F} struct s {{ FILE *out; }}; void g(struct s *s) {{ s->out = stderr; fclose(s->out); }}",
    "closed by a pointer to the function": f"{_F} void g(void) {{ int (*end)(FILE *) = fclose; end(stderr); }}",
    "closed by a variable that was opened, perhaps": f'{_F} void g(int n) {{ FILE *s = fopen("a", "r"); if (n) s = stderr; '
    "fclose(s); }",
    "closed by a variable that a pointer writes": f"{_F} static void h(FILE **s) {{ *s = stderr; }} void g(void) {{ FILE *s = 0; "
    "h(&s); fclose(s); }",
    "closed by an argument of a list": f"{_F} void g(int n, ...) {{ __builtin_va_list a; __builtin_va_start(a, n); FILE *s = "
    "__builtin_va_arg(a, FILE *); fclose(s); } void h(void) { g(1, stderr); }",
    "opened anew": f'{_F} void g(void) {{ freopen("a", "w", stderr); }}',
    "closed with all": f"{_F} void g(void) {{ fcloseall(); }}",
    "passed to what is not known": f"{_F} void g(void) {{ unknown(stderr); }}",
    "another one is put there": f'{_F} void g(void) {{ stderr = fopen("a", "w"); fclose(stderr); }}',
    "written by its address": f"{_F} FILE **at = &stderr;",
    "a table of the library is overwritten": "int f(int n) { *__ctype_b_loc() = malloc(n); return (*__ctype_b_loc())[n] & 8; }",
}


def program(text: str) -> Program:
    return link([unit_of(_HEAD + text)]).program


def why(of: Program, rule: str) -> str:
    """Why a rule is not proved of `f`; empty if it is, and the checker accepts that."""
    search = ClosedSearch(of)
    followed = search.follow("f")
    assert followed is not None
    reason = refusal(of, followed.found, "f", rule)
    if not reason:
        assert LEFT_OPEN.sentence in check_closed_sets(
            of, ClosedSets("f", rule, search.sets("f"))
        ).assumptions or not never_closed(of)
    return "" if reason == "nothing in it could violate the rule" else reason


@pytest.mark.parametrize("name", PROVED)
def test_what_the_library_keeps_does_not_end(name: str) -> None:
    assert [why(program(PROVED[name]), rule) for rule in sorted(USES)] == ["", ""]


@pytest.mark.parametrize("name", TRAPS)
def test_what_may_have_ended_is_not_proved(name: str) -> None:
    assert all(why(program(TRAPS[name]), rule) for rule in sorted(USES))
