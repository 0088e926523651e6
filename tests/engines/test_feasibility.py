"""Which errors of the automaton have a path: small programs, with the findings as (rule, line)."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Report

HEAD = "#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\nint input(void);\n"
FATAL = "static void fatal(int now) { if (now) exit(1); }\n"
FIND = """struct s { int v; } pool[4];
static struct s *find(int key, int make) { int i; for (i = 0; i < 4; i++) if (pool[i].v == key) return &pool[i];
  if (!make) return NULL; pool[0].v = key; return &pool[0]; }
"""
PANIC = "static void say(const char *t) { int panic = 0; if (*t == '!') panic = 1; if (panic) exit(2); }\n"
SPLIT = """static char **split(int *n) { char **v; *n = 0; if (input()) return NULL;
  v = malloc(8); if (!v) exit(1); *n = 1; return v; }
"""
LESS = "static int less(int a, int b) { return a < b; }\n"
KEPT = """struct e { unsigned b, e; } *all[99];
static struct e *make(unsigned b, unsigned e) { struct e *x = malloc(sizeof *x); unsigned i; if (!x) return 0;
  for (i = b; i < e; i++) all[i] = x; return x; }
"""
SWAP = """static int swap(int a, int b, int n) { int *p = 0; if (n == 0) return 0; if (a < b) return swap(b, a, n - 1);
  if (b == a) return 1; if (a > b) return *p; return 0; }
"""
TWO = "int *p = 0, x = 1, a = input(), b = input();"
CASES = [
    ("neither less nor equal", "", f"{TWO} if (a < b || a == b) return 0; if (b < a) p = &x; return *p;", []),
    ("not less, perhaps equal", "", f"{TWO} if (a < b) return 0; if (b < a) p = &x; return *p;", ["null"]),
    ("not equal, perhaps less", "", f"{TWO} if (a == b) return 0; if (b < a) p = &x; return *p;", ["null"]),
    (
        "neither less nor equal, and no number",
        "",
        "int *p = 0, x = 1; double a = input(), b = input(); if (a < b || a == b) return 0; if (b < a) p = &x; return *p;",
        ["null"],
    ),
    ("less by now", "", f"{TWO} if (a < b) return 0; a--; if (a == b) return 0; if (b < a) p = &x; return *p;", ["null"]),
    ("less in a function", LESS, f"{TWO} if (a <= b) return 0; if (!less(b, a)) return *p;", []),
    ("not less in a function", LESS, f"{TWO} if (a <= b) return 0; if (less(b, a)) return *p;", ["null"]),
    ("a turn for each", KEPT, "unsigned b = input(), e = input(); if (b < e) { struct e *x = make(b, e); if (x) x->b = 0; }", []),
    ("no turn", KEPT, "unsigned b = input(), e = input(); if (b <= e) { struct e *x = make(b, e); if (x) x->b = 0; }", ["leak"]),
    ("the other way round one level deeper", SWAP, "int a = input(), b = input(); if (a < b) return swap(a, b, 3);", ["null"]),
    ("a flag tells the branches", "", "int *p = 0; int x = 1, ok = 0; if (input()) { p = &x; ok = 1; } if (ok) return *p;", []),
    (
        "the flag changes",
        "",
        "int *p = 0; int x = 1, ok = 0; if (input()) { p = &x; ok = 1; } ok = input(); if (ok) return *p;",
        ["null"],
    ),
    ("a copy tells", "", "int *p = 0; int x, k = input(), j; if (k) p = &x; j = k; if (j) return *p;", []),
    ("found by constant", FIND, "return find(input(), 1)->v;", []),
    ("not made", FIND, "return find(input(), 0)->v;", ["null"]),
    ("fatal for one", FATAL, "int *p = malloc(4); if (!p) fatal(1); *p = 1; free(p);", []),
    ("not for zero", FATAL, "int *p = malloc(4); if (!p) fatal(0); *p = 1; free(p);", ["null"]),
    ("panics for a mark", PANIC, 'int *p = malloc(4); if (!p) say("!no memory"); *p = 1; free(p);', []),
    ("says and goes on", PANIC, 'int *p = malloc(4); if (!p) say("no memory"); *p = 1; free(p);', ["null"]),
    (
        "a result and a number",
        SPLIT,
        "int n, r; char **v = split(&n); if (n == 0) return 0; r = v[0] != 0; free(v); return r;",
        [],
    ),
    ("the number is not asked", SPLIT, "int n, r; char **v = split(&n); r = v[0] != 0; free(v); return r;", ["null"]),
    ("a constant switch", "", "char f = 'U'; int *p = 0; int x; if (input()) { f = '4'; p = &x; } if (f != 'U') return *p;", []),
    (
        "an interior pointer",
        "",
        'char *s = strdup("a/b"); char *t; if (!s) return 1; t = strchr(s, 47); if (!t) { free(s); return 1; } s = 0; return *t;',
        ["leak"],
    ),
    (
        "an interior pointer that is handed out",
        'char *end(void) { char *s = strdup("a/b"); return s ? strchr(s, 47) : 0; }\n',
        "char *t = end(); if (!t) return 1; return *t;",
        ["leak"],
    ),
    ("the block is lost", "", 'char *s = strdup("a/b"); if (!s) return 1; s = 0;', ["leak"]),
    ("the same descriptor", "", "int want = input(), fd = dup(1); if (fd < 0) return 1; if (fd != want) close(fd);", []),
    (
        "another descriptor",
        "",
        "int want = input(), fd = dup(1); if (fd < 0) return 1; if (fd != want) return want; close(fd);",
        ["leak"],
    ),
]


def check(tmp_path: Path, text: str, limits: Limits = Limits()) -> Report:  # noqa: B008 - immutable
    """The report on one file."""
    path = tmp_path / "t.c"
    path.write_text(text)
    checker = Checker(Options(limits=limits))
    checker.open([str(path)])
    return checker.check()


@pytest.mark.parametrize(("functions", "body", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_findings_have_paths(tmp_path: Path, functions: str, body: str, expected: list[str]) -> None:
    report = check(tmp_path, f"{HEAD}{functions}int main(void)\n{{ {body} return 0; }}\n")
    assert [message for message in report.messages if message.severity == "error"] == []
    kinds = [finding.rule.split("-")[0] if finding.rule.startswith("null") else "leak" for finding in report.findings]
    assert kinds == expected


def test_a_global_set_before_the_return_keeps_its_value(tmp_path: Path) -> None:
    program = "static int dying;\nstatic int *get(void) { static int x; return dying ? NULL : &x; }\n"
    late = program + "static void die(void) { dying = 1; exit(*get()); }\nint main(void) { if (input()) die(); return *get(); }\n"
    assert [finding.function for finding in check(tmp_path, HEAD + late).findings] == ["die"]  # there it has another value
    flag = "static int dying;\nstatic void die(void) { dying = 1; exit(1); }\n"
    never = flag + "int main(void) { int x, *p = &x; if (input()) die(); if (dying) p = NULL; return *p; }\n"
    assert check(tmp_path, HEAD + never).findings == ()
    early = program + "static void mark(void) { dying = input(); }\nint main(void) { mark(); return *get(); }\n"
    assert [finding.function for finding in check(tmp_path, HEAD + early).findings] == ["main"]


def test_most_callers_decide_what_a_null_result_means_in_a_large_program(tmp_path: Path) -> None:
    find = "static int a[3]; static int *at(int i) { if (i > 2) return NULL; return &a[i]; }\n"
    tested = "".join(f"int f{n}(int i) {{ int *p = at(i); return p ? *p : 0; }}\n" for n in range(3))
    trusting = "".join(f"int f{n}(int i) {{ int *p = at(i); return *p; }}\n" for n in range(3))
    last = "int main(void) { int *p = at(input()); return *p; }\n"
    large = Limits(global_edges=1)
    for limits in (Limits(), large):
        assert [finding.function for finding in check(tmp_path, HEAD + find + tested + last, limits).findings] == ["main"]
    assert check(tmp_path, HEAD + find + trusting + last, large).findings == ()
    every = [finding.function for finding in check(tmp_path, HEAD + find + trusting + last).findings]
    assert sorted(every) == ["f0", "f1", "f2", "main"]


def test_functions_that_only_compute_their_result_are_looked_into(tmp_path: Path) -> None:
    functions = """enum { NONE, MEMORY, LAST };
static unsigned long code(int e) { return (unsigned long)-(long)e; }
static unsigned failed(unsigned long c) { return c > (unsigned long)-LAST; }
static unsigned long make(int **p) { *p = malloc(4); if (*p == NULL) return code(%s); return NONE; }
int main(void) { int *p; unsigned long c = make(&p); if (failed(c)) return 1; *p = 1; free(p); return 0; }
"""
    for limits in (Limits(), Limits(global_edges=1)):
        assert check(tmp_path, HEAD + functions % "MEMORY", limits).findings == ()
        (finding,) = check(tmp_path, HEAD + functions % "LAST", limits).findings
        assert finding.function == "main"


def test_what_a_function_reads_is_read_at_the_call(tmp_path: Path) -> None:
    functions = """struct s { int *p; };
static int is_empty(const struct s *s) { return s->p == NULL; }
int f(struct s *s, int n) { s->p = NULL; %s if (is_empty(s)) return 0; return *s->p; }
"""
    large = Limits(global_edges=1)
    assert check(tmp_path, HEAD + functions % "", large).findings == ()
    assert check(tmp_path, HEAD + functions % "if (n) s->p = &n;", large).findings == ()


def test_what_is_known_behind_a_pointer_goes_through_functions_that_do_not_ask(tmp_path: Path) -> None:
    functions = """struct event { int kind; int *first; int *second; };
static void drop(struct event *e) { switch (e->kind) { case 1: free(e->first); break; case 2: free(e->second); break; } }
static int emit(struct event *e) { if (input()) { drop(e); return 0; } return 1; }
int f(void) { struct event e = {0}; e.kind = %d; e.first = malloc(4); if (e.first == NULL) return 1;
              if (emit(&e)) drop(&e); return 0; }
"""
    for limits in (Limits(), Limits(global_edges=1)):
        assert check(tmp_path, HEAD + functions % 1, limits).findings == ()
        assert [finding.rule for finding in check(tmp_path, HEAD + functions % 2, limits).findings] == ["memory-leak"]


def test_members_of_a_variable_are_different_objects_and_those_of_a_union_are_not(tmp_path: Path) -> None:
    functions = """%s pair { int set; int other; };
int f(int n) { %s pair p; int *q = NULL; p.set = 1; p.other = n; if (p.set != 1) return *q; return 0; }
"""
    for kind, expected in (("struct", []), ("union", ["f"])):
        found = check(tmp_path, HEAD + functions % (kind, kind)).findings
        assert [finding.function for finding in found] == expected


def test_a_call_whose_result_goes_to_a_member_may_write_the_others(tmp_path: Path) -> None:
    functions = """struct pair { int set; int other; };
static int fill(struct pair *p) { p->set = input(); return 1; }
int f(void) { struct pair p; int *q = NULL; p.set = 1; p.other = %s; if (p.set != 1) return *q; return 0; }
"""
    large = Limits(global_edges=1)
    assert [finding.function for finding in check(tmp_path, HEAD + functions % "fill(&p)", large).findings] == ["f"]
    assert check(tmp_path, HEAD + functions % "input()", large).findings == ()


def test_the_trace_is_a_shortest_path(tmp_path: Path) -> None:
    text = HEAD + "int main(void)\n{\n int *p = 0;\n if (input()) {\n  if (input()) return 1;\n }\n return *p;\n}\n"
    (finding,) = check(tmp_path, text).findings
    assert [(step.kind, step.place.range.start.line) for step in finding.trace if step.kind == "branch"] == [("branch", 8)]
