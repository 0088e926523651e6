"""What a function uses is safe in runs from main if the whole program never ends what its pointers lead to, and what it
overwrites loses nothing if that never leads to what could be lost.

The class: a pointer comes out of memory. Each case has a twin in which the program ends, or loses, what it leads to, in a way
that is not seen where it is used."""

from __future__ import annotations

import pytest

from analysis.certificate.pointed.whole_program import pointed
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.cpa.framework.algorithm import Cancellation
from analysis.model.assumptions import COPIED_POINTERS
from analysis.session.portfolio import contract_proofs
from analysis.session.portfolio.request import Proved, Request
from analysis.session.portfolio.request_terms import About
from tests.certificate.test_ownership_refused import HEAD
from tests.support.lowered import unit_of

_MORE = "void abort(void); typedef void (*handler)(int); handler signal(int, handler); char *getenv(const char *);\n"
_LIST = "struct list { struct list *next; char *name; FILE *file; }; static struct list *head;\n"
_ADD = "static void add(void) { struct list *one = malloc(sizeof *one); if (one) { one->next = head; head = one; } }\n"
_USES = "static void f(void) { if (head) head->next = 0; }\n"
_WRITES = 'static void f(void) { if (head && head->file) fputs("a", head->file); }\n'


def program(text: str) -> Program:
    return link([unit_of(HEAD + _MORE + _LIST + text)]).program


def proof(of: Program, rule: str, entries: tuple[str, ...] = ("main",)) -> Proved | None:
    """The proof of a rule in function `f`, if there is one."""
    answers = contract_proofs.prove(Request(of, entries, About("contracts", (rule,))), 1000.0, Cancellation())
    (found,) = (one.answer for one in answers if one.function.rpartition("::")[2] == "f")
    return found if isinstance(found, Proved) else None


CASES = (
    ("never freed", "use-after-free", f"{_ADD}{_USES}int main(void) {{ add(); f(); return 0; }}",
     ("add(); f", "add(); free(head); f")),
    ("another block is freed", "use-after-free",
     f"{_ADD}{_USES}int main(void) {{ char *p = malloc(2); free(p); add(); f(); return 0; }}",
     ("free(p); add();", "add(); p = (char *)head; free(p);")),
    ("a handler of signals", "use-after-free",
     f"{_ADD}{_USES}static void end(int n) {{ abort(); }} int main(void) {{ add(); signal(2, end); f(); return 0; }}",
     ("abort()", "free(head)")),
    ("through a pointer to a function", "use-after-free",
     f"{_ADD}{_USES}static void end(void *p) {{ }} static void (*run)(void *) = end; int main(void) "
     "{ add(); run(head); f(); return 0; }", ("end(void *p) { }", "end(void *p) { free(p); }")),
    ("through a pointer to another type of functions", "use-after-free",
     f"{_ADD}{_USES}static void end(void *p) {{ }} static void (*run)(void *, int) = (void (*)(void *, int))end; int main(void) "
     "{ add(); run(head, 1); f(); return 0; }", ("end(void *p) { }", "end(void *p) { free(p); }")),
    ("what main is passed", "use-after-free",
     "static char **words; static int f(void) { return words[0][0]; } int main(int n, char **v) { words = v; return f(); }",
     ("words = v;", "words = v; words[0] = malloc(2); free(words[0]);")),
    ("the environment", "use-after-free",
     "static char *word; static char f(void) { return word[0]; } int main(void) { word = \"a\"; return f(); }",
     ('"a"', 'getenv("a")')),
    ("a word put where another was", "use-after-free",
     "static char *word; static int f(void) { return word[0]; } int main(int n, char **v, char **words) "
     '{ word = malloc(2); putenv(word); words[0] = 0; f(); return 0; }',
     ("words[0] = 0", "free(words[0])")),
    ("a word put into an array of the program's", "use-after-free",
     "extern char **environ; static char *word, *words[2]; static int f(void) { return word[0]; } int main(void) "
     '{ word = malloc(2); words[0] = "a"; environ = words; putenv(word); words[1] = 0; f(); return 0; }',
     ("words[1] = 0", "free(words[0])")),
    ("a stream that is not closed", "use-after-close",
     f'{_ADD}{_WRITES}int main(void) {{ add(); head->file = fopen("a", "w"); f(); return 0; }}',
     ('"w"); f', '"w"); { struct list copy = *head; fclose(copy.file); } f')),
    ("nothing is lost", "resource-leak",
     f"{_ADD}static void f(void) {{ head->name = 0; }} int main(void) {{ add(); f(); return 0; }}",
     ("add(); f", 'add(); head->file = fopen("a", "w"); f')),
    ("a block without streams is lost", "resource-leak",
     f"{_ADD}static void f(void) {{ head = 0; }} int main(void) {{ add(); f(); return 0; }}",
     ("add(); f", 'add(); head->next = malloc(9); *(FILE **)head->next = fopen("a", "w"); f')),
    ("a literal is overwritten", "memory-leak",
     "static char *name; static void f(void) { name = 0; } int main(void) { name = \"a\"; f(); return 0; }",
     ('"a"', "malloc(2)")),
    ("overwritten below", "memory-leak",
     "static char *name; static void g(char **p) { *p = 0; } static void f(void) { g(&name); name = \"b\"; } int main(void) "
     "{ name = \"a\"; f(); return 0; }", ('name = "a"', "name = malloc(2)")),
    ("through a pointer to a function that loses nothing", "memory-leak",
     "static char *name; static void none(char **p) { *p = \"a\"; } static void (*run)(char **) = none; static void f(void) "
     "{ char *x = 0; name = 0; run(&x); } int main(void) { f(); return 0; }", ('*p = "a"', "*p = malloc(2)")),
    ("a result through a pointer", "memory-leak",
     "static char *name; static char *none(void) { return 0; } static char *(*run)(void) = none; static void f(void) "
     "{ name = 0; run(); } int main(void) { f(); return 0; }", ("return 0; } static char", "return malloc(2); } static char")),
    ("what was kept, through a pointer in a record", "memory-leak",
     "static char *name, *kept; static char *none(void) { char *p = kept; kept = 0; return p; } "
     "static struct { int n; char *(*run)(void); } table[] = {{1, none}}; static void f(int n) { name = 0; table[n].run(); } "
     'int main(void) { kept = "a"; f(0); return 0; }', ('kept = "a"', "kept = malloc(2)")),
    ("through a pointer, below", "memory-leak",
     "static char *name, *kept; static void none(void) { kept = 0; } static void (*run)(void); static void g(void) { run(); } "
     'static void f(void) { name = 0; g(); } int main(void) { run = none; kept = "a"; f(); return 0; }',
     ('kept = "a"', "kept = malloc(2)")),
    ("the library through a pointer", "memory-leak",
     "int puts(const char *); char *strdup(const char *); static char *name; static int (*run)(const char *); "
     'static void f(void) { name = 0; run("a"); } int main(void) { run = puts; f(); return 0; }',
     ("run = puts", "run = (int (*)(const char *))strdup")),
    ("which one is chosen", "memory-leak",
     "static char *name; static int none(char **p) { return 0; } static int one(char **p) { *p = malloc(2); return 1; } "
     "static int (*runs[])(char **) = {none, none}; static void f(int n) { char *x; name = 0; runs[n](&x); } "
     "int main(int n, char **v) { f(n & 1); return 0; }", ("{none, none}", "{none, one}")),
    ("overwritten by who calls itself", "memory-leak",
     "static char *names[3]; static void f(int n) { names[n] = 0; if (n) f(n - 1); } int main(void) "
     "{ names[1] = \"a\"; f(2); return 0; }", ('"a"', "malloc(2)")),
    ("a table of the library's", "use-after-free",
     "const unsigned short **__ctype_b_loc(void); static const unsigned short *row; static int f(void) { return row[1]; } "
     "int main(int n, char **v) { char *p = malloc(2); v[0] = p; row = *__ctype_b_loc(); free(p); return f(); }",
     ("*__ctype_b_loc()", "(const unsigned short *)v[0]")),
    ("the buffer of a stream", "use-after-free",
     "struct F { char *base; }; static char *text; static char f(void) { return text[0]; } int main(void) "
     '{ FILE *s = fopen("a", "r"); if (!s) return 0; text = s->base; f(); fclose(stderr); return 0; }',
     ("fclose(stderr)", "fclose(s); f()")),
    ("the buffer of a stream that was open at the start", "use-after-free",
     "struct F { char *base; }; static char *text; static char f(void) { return text[0]; } int main(void) "
     '{ FILE *s = fopen("a", "r"); text = stderr->base; f(); if (s) fclose(s); return 0; }',
     ("fclose(s)", "fclose(stderr), f()")),
    ("an address that is a number", "use-after-free",
     "static char *place = (char *)64; static void f(void) { *place = 1; } int main(void) { f(); return 0; }",
     ("{ f();", "{ place = malloc(2); free(place); f();")),
)  # fmt: skip


@pytest.mark.parametrize(("rule", "text", "change"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_only_what_the_program_never_ends_is_proved(rule: str, text: str, change: tuple[str, str]) -> None:
    found = proof(program(text), rule)
    assert found is not None
    assert COPIED_POINTERS.sentence in found.assumptions
    assert change[0] in text
    assert proof(program(text.replace(*change)), rule) is None


OPEN = (
    ("no main", f"{_ADD}void f(void) {{ if (head) head->next = 0; }} void g(void) {{ add(); f(); }}"),
    ("other code runs", f"{_ADD}{_USES}void opaque(void); int main(void) {{ add(); opaque(); f(); return 0; }}"),
    ("an address is made of a number", f"{_ADD}{_USES}long choose_(void) {{ return (long)head; }} int main(void) "
     "{ add(); *(void **)choose_() = head; f(); return 0; }"),
    ("a pointer gets to a handler with a signal", "union sigval { void *p; }; int sigqueue(int, int, union sigval); "
     f"{_ADD}{_USES}int main(void) {{ union sigval v; add(); v.p = head; sigqueue(0, 2, v); f(); return 0; }}"),
    ("never called", f"{_ADD}{_USES}int main(void) {{ add(); return 0; }}"),
    ("what an initialiser leads to", "extern struct list *first, *other; static void f(void) { first->next = 0; } int main(void) "
     "{ free(other); f(); return 0; }"),
)  # fmt: skip


@pytest.mark.parametrize("text", [case[1] for case in OPEN], ids=[case[0] for case in OPEN])
def test_where_not_all_is_seen_nothing_is_proved(text: str) -> None:
    of = program(text)
    assert proof(of, "use-after-free", ("main",) if "main" in of.functions else ("f", "g")) is None


def test_not_in_runs_that_begin_elsewhere() -> None:
    of = program(f"{_ADD}{_USES.removeprefix('static ')}int main(void) {{ add(); f(); return 0; }}")
    assert proof(of, "use-after-free") is not None
    assert proof(of, "use-after-free", ("main", "f")) is None


def test_answers_are_kept_only_while_pointers_go_the_same_ways() -> None:
    text = f"{_ADD}{_USES}static int n; int main(void) {{ add(); n = 1; f(); return 0; }}"
    first = pointed(program(text))
    assert pointed(program(text.replace("n = 1", "n = 2"))) is first
    after = pointed(program(text.replace("n = 1", "free(head)")))
    assert after is not first
    assert not after.broken
