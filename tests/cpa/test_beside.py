"""Handlers of signals and threads: for which functions they matter. The class: a function is proved as if it ran alone, and it
does not. Twins are functions for which nothing that runs beside matters.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.cfa.graph import Program
from analysis.cpa.obstacles.beside import beside
from analysis.cpa.obstacles.code_addresses import UNKNOWN
from analysis.model.options import Options

HEADERS = """#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
"""

# what runs beside, and a function `f` that it matters for
TRAPS = {
    "a variable": """static int g; static void h(int s) { g = s; } int f(void) { g = 1; return 10 / g; }
        int main(void) { signal(SIGINT, h); return f(); }""",
    "a variable in an order that C leaves open": """static int g; static int next(void) { return ++g; }
        static void h(int s) { g = next() - next(); } int f(void) { g = 1; return 10 / g; }
        int main(void) { signal(SIGINT, h); return f(); }""",
    "a variable that a callee reads": """static int g; static void h(int s) { g = s; } static int get(void) { return g; }
        int f(void) { return get() ? 10 / get() : 0; } int main(void) { signal(SIGINT, h); return f(); }""",
    "a variable that is passed and takes the result": """static int g; static void h(int s) { g = s; }
        static int over(int n) { return 10 / n; } int f(void) { g = 1; g = over(g); return 0; }
        int main(void) { signal(SIGINT, h); return f(); }""",
    "an array in an index of itself": """static int g[2]; static void h(int s) { g[0] = s; }
        int f(void) { g[0] = 0; g[g[0]] = 1; return 0; }
        int main(void) { signal(SIGINT, h); return f(); }""",
    "a variable by way of a pointer": """static int g; static void h(int s) { g = s; }
        int f(int *p) { if (*p == 0) return 0; return 10 / *p; }
        int main(void) { signal(SIGINT, h); return f(&g); }""",
    "through a pointer": """static int g, *to = &g; static void h(int s) { *to = s; }
        int f(void) { g = 1; return 10 / g; }
        int main(void) { signal(SIGINT, h); return f(); }""",
    "a local by way of a pointer": """static int *to; static void h(int s) { if (to) *to = s; }
        int f(void) { int x = 1; to = &x; return 10 / x; } int main(void) { signal(SIGINT, h); return f(); }""",
    "what a callee of the handler writes": """static int g; static void clear(void) { g = 0; } static void h(int s) { clear(); }
        int f(void) { g = 1; return 10 / g; } int main(void) { signal(SIGINT, h); return f(); }""",
    "memory that is freed": """struct s { int n; }; static struct s *kept; static void h(int s) { free(kept); kept = 0; }
        int f(struct s *p) { p->n = 1; return 10 / p->n; }
        int main(void) { kept = calloc(1, sizeof *kept); signal(SIGINT, h); return f(kept); }""",
    "memory that a library writes": """static char text[8]; static void h(int s) { memset(text, 0, sizeof text); }
        int f(void) { text[0] = 1; return 10 / text[0]; } int main(void) { signal(SIGINT, h); return f(); }""",
    "installed in a callee": """static int g; static void h(int s) { g = s; } static void deep(void) { signal(SIGINT, h); }
        static void start(void) { deep(); } int f(void) { g = 1; return 10 / g; }
        int main(void) { start(); return f(); }""",
    "installed by a parameter": """static int g; static void h(int s) { g = s; }
        static void install(int n, void (*with)(int)) { signal(n, with); }
        int f(void) { g = 1; return 10 / g; } int main(void) { install(SIGINT, h); return f(); }""",
    "installed from a table": """static int g; static void h(int s) { g = s; } static void (*table[])(int) = {h};
        int f(void) { g = 1; return 10 / g; } int main(void) { signal(SIGINT, table[0]); return f(); }""",
    "installed by a result": """static int g; static void h(int s) { g = s; } static void (*choose(void))(int) { return h; }
        int f(void) { g = 1; return 10 / g; } int main(void) { signal(SIGINT, choose()); return f(); }""",
    "another type": """static int g; static int h(void) { g = 0; return 0; }
        int f(void) { g = 1; return 10 / g; } int main(void) { signal(SIGINT, (void (*)(int))h); return f(); }""",
    "a structure": """static int g; static void h(int s) { g = s; } int f(void) { g = 1; return 10 / g; }
        int main(void) { struct sigaction a; memset(&a, 0, sizeof a); a.sa_handler = h; sigaction(SIGINT, &a, 0);
        return f(); }""",
    "a static structure": """static int g; static void h(int s, siginfo_t *i, void *c) { g = s; }
        static struct sigaction a = {.sa_sigaction = h, .sa_flags = SA_SIGINFO}; int f(void) { g = 1; return 10 / g; }
        int main(void) { sigaction(SIGINT, &a, 0); return f(); }""",
    "through a pointer to signal": """static int g; static void h(int s) { g = s; }
        int f(void) { g = 1; return 10 / g; }
        int main(void) { void (*(*install)(int, void (*)(int)))(int) = signal; install(SIGINT, h); return f(); }""",
    "a mask helps nothing": """static int g; static void h(int s) { g = s; }
        int f(void) { sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0); g = 1; return 10 / g; }
        int main(void) { signal(SIGINT, h); return f(); }""",
    "a handler and itself": """static int g; static void f(int s) { g = 0; g = 1; if (g == 0) abort(); g = s / g; }
        int main(void) { signal(SIGINT, f); signal(SIGTERM, f); return 0; }""",
    "a handler and another": """static int g; static void h(int s) { g = 0; } static void f(int s) { g = 1; s = 10 / g; }
        int main(void) { signal(SIGINT, h); signal(SIGTERM, f); return 0; }""",
    "a handler that may return": """static int g; static void h(int s) { g = 0; if (s == SIGTERM) exit(1); }
        int f(void) { g = 1; return 10 / g; } int main(void) { signal(SIGINT, h); return f(); }""",
    "a jump within the handler": """static int g; static sigjmp_buf b; static void leave(void) { siglongjmp(b, 1); }
        static void h(int s) { if (sigsetjmp(b, 1) == 0) { g = 0; leave(); } }
        int f(void) { g = 1; return 10 / g; } int main(void) { signal(SIGINT, h); return f(); }""",
    "a callback that was held as something else": """static int g, v[2];
        static int c(const void *a, const void *b) { g = 0; return 0; }
        static void h(int s) { void *how = (void *)c; qsort(v, 2, 4, (int (*)(const void *, const void *))how); }
        int f(void) { g = 1; return 10 / g; } int main(void) { signal(SIGINT, h); return f(); }""",
    "errno": """static void h(int s) { write(1, "x", 1); } int f(void) { errno = 1; return 10 / errno; }
        int main(void) { signal(SIGINT, h); return f(); }""",
    "nobody knows what": """void unknown(int); int g; int f(void) { g = 1; return 10 / g; }
        int main(void) { signal(SIGINT, unknown); return f(); }""",
    "an external function": """void unknown(void); int g; static void h(int s) { unknown(); }
        int f(void) { g = 1; return 10 / g; }
        int main(void) { signal(SIGINT, h); return f(); }""",
    "assembler": """static int g; static void h(int s) { __asm__ volatile("nop" : : "r"(&g) : "memory"); }
        int f(void) { g = 1; return 10 / g; } int main(void) { signal(SIGINT, h); return f(); }""",
    "no main": """int g; void install(void (*h)(int)) { signal(SIGINT, h); } int f(void) { g = 1; return 10 / g; }""",
    "a thread": """static int g; static void *run(void *p) { g = 0; return p; } int f(void) { g = 1; return 10 / g; }
        int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); return f(); }""",
    "a thread that never returns": """static int g; static void *run(void *p) { for (;;) g = 0; }
        int f(void) { g = 1; return 10 / g; }
        int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); return f(); }""",
    "within a thread": """static int g; static
        int f(void) { return g ? 10 / g : 0; } static void *run(void *p) { f(); return p; }
        int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); g = 1; g = 0; return 0; }""",
    "two threads of one": """static int g; static int f(void) { g = 1; g = 0; g = 1; return 10 / g; }
        static void *run(void *p) { f(); return p; }
        int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); pthread_create(&t, 0, run, 0); return 0; }""",
    "what a thread is passed": """static void *run(void *p) { *(int *)p = 0; return 0; } static
        int f(int *x) { return *x ? 10 / *x : 0; }
        int main(void) { int x = 1; pthread_t t; pthread_create(&t, 0, run, &x); return f(&x); }""",
    "a handler beside threads": """static int g; static void h(int s) { g = 0; exit(1); } static void *run(void *p) { return p; }
        int f(void) { g = 1; return 10 / g; }
        int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); signal(SIGINT, h); return f(); }""",
    "a handler that a thread is passed": """static int g; static void h(int s) { g = 0; }
        static void *run(void *p) { signal(SIGINT, (void (*)(int))p); return 0; }
        int f(void) { g = 1; return 10 / g; }
        int main(void) { pthread_t t; pthread_create(&t, 0, run, (void *)h); return f(); }""",
    "a timer": """static int g; static void h(union sigval v) { g = 0; }
        int f(void) { g = 1; return 10 / g; } #include <time.h>
        int main(void) { struct sigevent e; memset(&e, 0, sizeof e); e.sigev_notify_function = h; timer_t t;
        timer_create(CLOCK_REALTIME, &e, &t);
        return f(); }""".replace(" #include <time.h>\n", "\n#include <time.h>\n"),
}

TWINS = {
    "no signals": """static int g; void h(int s) { g = s; } int f(void) { g = 1; return 10 / g; }
        int main(void) { h(1); return f(); }""",
    "another variable": """static int g, other; static void h(int s) { other = s; }
        int f(void) { g = 1; return 10 / g; }
        int main(void) { signal(SIGINT, h); return f(); }""",
    "a variable that only changes by itself": """static volatile sig_atomic_t stop; static int g;
        static void h(int s) { stop = 1; } int f(void) { g = 1; if (stop) return 0; return 10 / g; }
        int main(void) { signal(SIGINT, h); return f(); }""",
    "a variable that nobody points to": """static int stop; static void h(int s) { stop = 1; }
        int f(int *p) { if (*p == 0) return 0; return 10 / *p; }
        int main(void) { int x = 1; signal(SIGINT, h); return f(&x); }""",
    "only parameters": """static int *to; void unknown(void); static void h(int s) { *to = 0; unknown(); }
        int f(int n) { int d = n > 0 ? n : 1; return 10 / d; }
        int main(void) { signal(SIGINT, h); return f(1); }""",
    "a variable that it only writes": """static int g; static void h(int s) { g = s; }
        int f(int n) { g = n; return n > 0 ? 10 / n : 0; }
        int main(void) { signal(SIGINT, h); return f(1); }""",
    "a handler that ends the program": """static int g; static void finish(int s) { g = 0; remove("x"); exit(s); }
        int f(void) { g = 1; return 10 / g; } int main(void) { signal(SIGINT, finish); return f(); }""",
    "a handler that jumps away": """static int g; static sigjmp_buf b; static void h(int s) { g = 0; siglongjmp(b, 1); }
        int f(void) { g = 1; return 10 / g; }
        int main(void) { if (sigsetjmp(b, 1)) return 1; signal(SIGINT, h); return f(); }""",
    "ignored": """static int g; void h(int s) { g = s; } int f(void) { g = 1; return 10 / g; }
        int main(void) { signal(SIGINT, SIG_IGN); signal(SIGTERM, SIG_DFL); h(2); return f(); }""",
    "what was there before": """static int g, other; static void h(int s) { other = s; } void not(void) { g = 0; }
        int f(void) { g = 1; return 10 / g; }
        int main(void) { void (*old)(int) = signal(SIGINT, h); not(); signal(SIGINT, old); return f(); }""",
    "a table of others": """static int g, other; static void h(int s) { other = s; } static void clear(int s) { g = 0; }
        static void (*table[])(int) = {clear}; int f(void) { g = 1; return 10 / g; }
        int main(void) { signal(SIGINT, h); table[0](1); return f(); }""",
    "a structure": """static int g, other; static void h(int s) { other = s; } int f(void) { g = 1; return 10 / g; }
        int main(void) { struct sigaction a; memset(&a, 0, sizeof a); a.sa_handler = h; sigaction(SIGINT, &a, 0);
        return f(); }""",
    "a thread": """static int g, other; static void *run(void *p) { other = 0; return p; }
        int f(void) { g = 1; return 10 / g; }
        int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); return f(); }""",
    "a thread's own": """static int g; static int f(int n) { int x = n ? n : 1; return 10 / x; }
        static void *run(void *p) { f(g); return p; }
        int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); g = 0; return 0; }""",
    "an order that C leaves open": """static int g, n, other; static int next(void) { return ++n; }
        static void h(int s) { other = next() - next(); } int f(void) { g = 1; return 10 / g; }
        int main(void) { signal(SIGINT, h); return f(); }""",
    "the program's own signal": """static int g; static void h(int s) { g = s; }
        static void mine(int n, void (*with)(int)) { with(n); } int f(void) { g = 1; return 10 / g; }
        int main(void) { mine(1, h); return f(); }""",
}


def program_of(path: Path, text: str) -> Program:
    path.write_text(HEADERS + text)
    checker = Checker(Options())
    checker.open([str(path)])
    assert [file.parse_errors for file in checker.check().files] == [0]
    return checker.inspect().program


def obstacle(program: Program) -> str | None:
    (name,) = (name for name in program.functions if name == "f" or name.endswith("::f"))
    return beside(program).obstacle((name,))


@pytest.mark.parametrize("name", TRAPS)
def test_what_runs_beside_matters(name: str, tmp_path: Path) -> None:
    reason = obstacle(program_of(tmp_path / "a.c", TRAPS[name]))
    assert reason is not None
    assert "reads" in reason


@pytest.mark.parametrize("name", TWINS)
def test_what_runs_beside_does_not_matter(name: str, tmp_path: Path) -> None:
    assert obstacle(program_of(tmp_path / "a.c", TWINS[name])) is None


def test_functions_that_run_beside(tmp_path: Path) -> None:
    text = """static void a(int s) {} static void b(int s) {} static void c(int s) {} void d(int s) {}
    static void *t(void *p) { return p; }
    static void (*kept)(int) = c; static void (*unused)(void);
    int main(void) { pthread_t id; struct sigaction s = {.sa_handler = b}; signal(SIGINT, a); sigaction(SIGTERM, &s, 0); d(1);
    pthread_create(&id, 0, t, 0); return 0; }"""
    program = program_of(tmp_path / "a.c", text)
    found = beside(program)
    assert {name.rpartition("::")[2] for name in found.handlers} == {"b", "c", "a"}, "what is in memory may come to a structure"
    assert {name.rpartition("::")[2] for name in found.threads} == {"t"}


def test_code_that_is_not_known_may_be_what_runs(tmp_path: Path) -> None:
    text = "void (*choose(void))(int); int main(void) { signal(SIGINT, choose()); return 0; }"
    program = program_of(tmp_path / "a.c", text)
    assert UNKNOWN in beside(program).handlers
