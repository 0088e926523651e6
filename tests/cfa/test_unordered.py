"""Where C leaves the order of evaluation open and it could matter, the expression is obstructed; elsewhere it is not.

Class: operands, arguments, subscripts, initialisers and assignments with side effects (programs: `fixtures/traps/evaluation`).
"""

from __future__ import annotations

import pytest

from analysis.cfa.linking.evaluation_order import assumptions_of
from analysis.cfa.linking.link import link
from analysis.model import ir
from analysis.model.assumptions import ORDER
from tests.support.lowered import unit_of

_DECLARED = """
typedef unsigned long size_t;
struct pair { int low, high; int *where; };
struct stack { struct pair *top; struct pair kept; }; struct outer { struct { struct pair inner[2]; } all; };
struct stack stack, *stacks; struct outer *outer; union either { struct pair pair; struct stack stack; } *either;
typedef struct file FILE; extern FILE *stderr; extern int optind; extern char *where; FILE *log; char name[9];
char *strerror(int); FILE *fopen(const char *, const char *); int fprintf(FILE *, const char *, ...); unsigned ntohs(unsigned);
char *setlocale(int, const char *); int toupper(int), fclose(FILE *), getopt(int, char **, const char *);
struct tm { int tm_year; } *moment(const long *); long when;
union both { int i; unsigned u; };
int g, h, table[9], *top; static int hidden; struct pair pair; union both both; char *out;
int unknown(int), printf(const char *, ...), abs(int), __VERIFIER_nondet_int(void);
size_t strlen(const char *); void *malloc(size_t); void free(void *); void exit(int);
int sprintf(char *, const char *, ...), snprintf(char *, size_t, const char *, ...);
void __VERIFIER_assert(int); int *__errno_location(void); double sqrt(double); void perror(const char *);
int one(void) { return 1; }
int sum(int a, int b) { return a + b; }
int reads_g(void) { return g; }
int writes_g(void) { return g = 2; }
int writes_h(void) { return h = 2; }
int reads_hidden(void) { return hidden; }
int low(struct pair *p) { return p->low++; }
int high(struct pair *p) { return p->high++; }
int store(int *p) { return *p = 1; }
int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
int checked(int n) { if (n == 0) exit(1); return n; }
int bare(void) { int kept; return kept; }
int locally(int n) { int kept = n; int *p = &kept; return kept + (p != 0); }
int prints(void) { char t[4]; snprintf(t, 4, "x"); return t[0]; }
int prints_to(char *t) { snprintf(t, 4, "x"); return t[0]; }
int (*pointed)(void) = writes_g;
"""


def obstacles(expression: str) -> list[str]:
    """Why a function with the expression is not understood."""
    text = f"{_DECLARED}\nint f(int i, int j, int *p, struct pair *s, char *t) {{ int own = i; {expression}; return own; }}"
    functions = link([unit_of(text)]).program.functions
    assert not any(cfa.unsupported for name, cfa in functions.items() if name != "f")
    return [edge.effect.reason for edge in functions["f"].unsupported if isinstance(edge.effect, ir.Unsupported)]


@pytest.mark.parametrize(
    "expression",
    [
        "own = i++ + i",
        "own = i + i++",
        "own = sum(i, i++)",
        'printf("%s %s", strerror(i), strerror(j))',
        "own = strerror(i)[0] + *t",
        "own = sum(i, fopen(t, t) != 0) + writes_g()",
        "own = sum(fopen(t, t) != 0, optind)",
        'fprintf(stderr = log, "%s", t) + fprintf(stderr, "%s", t)',
        "own = sum((*s = stack.kept, 1), s->low)",
        "own = sum((*s = pair, 1), outer->all.inner[i].low)",
        "own = sum((outer->all.inner[i] = pair, 1), s->low)",
        "own = sum((*outer = *outer, 1), s->low)",
        "own = sum((*s = pair, 1), either->stack.kept.low)",
        "own = sum((*s = pair, 1), *p)",
        "own = sum(fopen(t, t) != 0, fopen(t, t) != 0)",
        'own = sum(fclose(log), fprintf(log, "%s", t))',
        "own = sum(moment(&when) != 0, moment(&when)->tm_year)",
        "own = sum(getopt(i, 0, t), optind)",
        "own = sum(setlocale(i, t) != 0, toupper(j))",
        "own = sum(i = 1, i = 2)",
        "table[i] = i++",
        "i = i++",
        "i = ++i + 1",
        "i += i++",
        "*p = (*p)++",
        "s->low = s->low++",
        "own = sum(writes_g(), reads_g())",
        "own = sum(writes_g(), writes_g())",
        "own = writes_g() + g",
        "own = g + writes_g()",
        "g += writes_g()",
        "own = g++ + reads_g()",
        "table[g] = writes_g()",
        "*top = store(&g) + (top = p, 1)",
        "own = low(s) + s->low",
        "own = low(s) + low(&pair)",
        "s->where[low(s)] = 1, own = s->low + low(s)",
        "own = sum(store(&own), own)",
        "own = sum(store(p), g), p = &g",
        "own = sum(t[0], prints_to(t))",
        "own = sum(unknown(1), unknown(2))",
        "own = unknown(1) + g",
        "own = pointed() + g",
        "own = sum(pointed(), pointed())",
        "own = sum(checked(i), 10 / i)",
        "own = sum(10 / i, checked(i))",
        "own = sum(({ if (!i) return 0; 1; }), 10 / i)",
        "own = sum((free(p), 1), *p)",
        "int both[2] = {writes_g(), reads_g()}",
        "struct pair made = {.high = writes_g(), .low = g}",
        "own = (reads_g)() - (writes_g)()",
        "own = both.i++ + both.u",
        "own = table[i]++ + table[j]",
        "(i ? pointed : pointed)() + writes_g()",
        "*p = writes_g() + (p = top, 1)",
        "own = i < (j = i--, j)",
        'own = printf("%d%n", i, p) + *p',
        'char line[9]; own = sprintf(line, "%n", &own) + own',
        'char line[9]; own = snprintf(line, 9, "%ln", &own) + own',
        "char line[9]; own = sprintf(line, t) + *p",
        "own = sum(checked(i), malloc(1) != 0)",
        "own = sum(checked(i), (__VERIFIER_assert(i), 1))",
        "own = sum(checked(i), bare())",
        "int k; own = sum(checked(i), k)",
        "int k; if (j) k = 1; own = sum(k, checked(i))",
        "int k; while (j--) k = 1; own = sum(k, checked(i))",
        "int k[2]; k[1] = 1; own = sum(k[0], checked(i))",
        "own = sum(checked(i), 1u << j)",
        "own = sum(checked(i), (unsigned)j >> 32)",
        "own = sum(checked(i), j >> i)",
        "own = sum(checked(i), j + i)",
        "own = sum(checked(i), j / -1)",
        "own = sum(checked(i), (unsigned)j % (unsigned)i)",
        "own = sum(checked(i), table[9])",
        "own = sum(checked(i), table[j])",
        "own = ({ if (!i) goto out; 1; }) + (g = 1); out:",
        "own = ({ if (!i) goto out; 1; }) + writes_g(); out:",
        "own = ({ if (!i) return 1; 1; }) + ({ if (!j) return 2; 1; })",
        "own = ({ if (!i) return 1; 1; }) + checked(j)",
        "own = *__errno_location() + (int)sqrt(i)",
        "own = (int)sqrt(i) + *__errno_location()",
        "own = (*__errno_location() = 0) + (malloc(1) != 0)",
        'own = sum((perror("a"), 1), (int)sqrt(i))',
    ],
)
def test_an_order_that_could_matter_is_an_obstacle(expression: str) -> None:
    found = obstacles(expression)
    assert found
    assert all(reason.startswith("operands that C may evaluate in either order (") for reason in found)


def test_a_call_through_a_pointer_does_what_functions_do_whose_address_is_taken() -> None:
    text = "int g; int one(void) { return 1; } int (*op)(void) = one; int f(int i) { return op() * 10 + op() + g + i; }"
    assert not link([unit_of(text)]).program.functions["f"].unsupported
    assert link([unit_of(text.replace("return 1", "return g++"))]).program.functions["f"].unsupported


def test_a_variable_of_a_function_is_exposed_by_that_function_alone() -> None:
    text = (
        "int unknown(int *); int sum(int, int); int g(int i) { return unknown(&i); } int f(int i) { return sum(i, unknown(0)); }"
    )
    assert not link([unit_of(text)]).program.functions["f"].unsupported
    taken = text.replace("return sum", "int *p = &i; return sum")
    assert link([unit_of(taken)]).program.functions["f"].unsupported


@pytest.mark.parametrize(
    "expression",
    [
        "own = sum(one(), fact(3))",
        "own = sum(t != 0, prints())",
        "own = fact(i - 1) * fact(i - 2)",
        "own = sum(writes_g(), writes_h())",
        "own = sum(writes_g(), reads_hidden())",
        "own = unknown(1) + reads_hidden()",
        "own = low(s) + high(s)",
        "own = low(s) + s->high",
        "own = strlen(t) + strlen(out)",
        'own = printf("%d %d\\n", one(), fact(2))',
        'own = printf("a") + printf("b")',
        'char line[9]; own = sprintf(line, "%d", i) + j',
        "own = ({ if (!i) return 1; 1; }) + j",
        "own = sum(abs(i), abs(j))",
        "own = sum(__VERIFIER_nondet_int(), __VERIFIER_nondet_int())",
        "own = sum(malloc(1) != 0, malloc(2) != 0)",
        "own = writes_g() + own",
        "own = (int)sqrt(i) + (int)sqrt(j)",
        "own = *__errno_location() + *__errno_location()",
        "own = __VERIFIER_nondet_int() + *__errno_location()",
        "own = i++ + j++",
        "own = sum(i++, j)",
        "table[i++] = table[j++]",
        "*out++ = *t++",
        "*p++ = i++",
        "top[g++] = 1",
        "s->where[s->low++] = 1",
        "*s->where++ = *p",
        "own = (i++, i)",
        "own = i++ && i",
        "own = i++ ? i : i--",
        "i = sum(i++, 1)",
        "i = (i++, 1)",
        "own = table[0]++ + table[1]",
        "own = sum(locally(i), locally(j))",
        "s->low = low(s)",
        "*p = store(p)",
        "top = malloc(4)",
        "g = writes_g()",
        "own = checked(i), own = 10 / i",
        "own = sum(checked(i), j)",
        "int k; own = sum(checked(i), j)",
        "int k; k = j; own = sum(checked(i), k)",
        "int k; if (j) k = 1; else k = one(); own = sum(checked(i), k)",
        "int k[2] = {1}; own = sum(checked(i), k[0])",
        "int k; own = sum(writes_g(), k)",
        "own = sum(checked(i), (unsigned)j >> 31)",
        "own = sum(checked(i), j >> 31)",
        "own = sum(checked(i), 1u + j)",
        "own = sum(checked(i), j / 2)",
        "own = sum(checked(i), j % -2)",
        "own = sum(checked(i), table[8])",
        "own = ({ writes_g(); 1; }) + writes_h()",
        "int a = i++, b = i++",
        'fprintf(stderr, "%s", strerror(i))',
        'own = sum(i, fopen(t, "r") != 0)',
        "own = sum(s->low, strerror(i) != 0)",
        "own = sum(hidden, strerror(i) != 0)",
        "own = ntohs(i) + ntohs(j)",
        "own = sum(g, strerror(i) != 0)",
        "own = sum(table[i], strerror(i) != 0)",
        "*stacks->top++ = pair",
        "*stack.top++ = *s",
        "own = sum((stacks->top = s, 1), (*s = pair, 1))",
        "own = i++, i++",
        "struct pair made = {i++, j++}",
        "own = sizeof(i++) + i++",
        "while ((i = one()) != (j = one())) own++",
    ],
)
def test_an_order_that_gives_the_same_is_none(expression: str) -> None:
    assert obstacles(expression) == []


def test_only_runs_that_come_to_the_expression_are_obstructed() -> None:
    text = "int c; int next(void) { return ++c; } int f(int i) { if (i) return next() - next(); return 1; }"
    cfa = link([unit_of(text)]).program.functions["f"]
    (edge,) = cfa.unsupported
    assert edge.source != cfa.entry
    assert cfa.outgoing[edge.target]


def test_what_callers_and_other_files_change_decides() -> None:
    text = "int f(void), g(void); int h(void) { return f() + g(); }"
    apart = unit_of("int a, b; int f(void) { return a++; } int g(void) { return b++; }", "o.c")
    together = unit_of("int a, b; int f(void) { return a++; } int g(void) { return a + b; }", "o.c")
    before = link([unit_of(text, "m.c"), apart])
    assert not before.program.functions["h"].unsupported
    after = link([before.units[0], together], before)
    assert after.program.functions["h"].unsupported
    again = link([before.units[0], apart], after)
    assert not again.program.functions["h"].unsupported
    assert link([before.units[0]]).program.functions["h"].unsupported


def test_an_assumption_is_reported_where_it_is_made() -> None:
    with_effects = link([unit_of(f"{_DECLARED} int f(int *p) {{ return p[g++]; }}")]).program
    without = link([unit_of("int one(void) { return 1; } int f(int a) { a++; return one(); }")]).program
    assert ORDER.sentence in assumptions_of(with_effects)
    assert ORDER.sentence not in assumptions_of(without)


def test_what_is_decided_follows_what_other_files_become() -> None:
    """What is known of a function is kept only as long as what it calls does the same, and the same variables are exposed."""
    reader = unit_of("int g; int callee(void); int f(int *p) { return *p + callee(); } int e(void) { return g + callee(); }")
    middle = unit_of(
        "int inner(void); int f(int *); int e(void); int callee(void) { return inner(); }"
        "int main(void) { int x = 0; f(&x); e(); return callee(); }"
    )
    quiet = unit_of("int inner(void) { return 1; }")
    writer = unit_of("extern int g; int inner(void) { return g = 2; }")
    exposing = unit_of("extern int g; int *where = &g; int inner(void) { return g = 2; }")
    for inner, expected in (
        (quiet, set()),
        (writer, {"e"}),
        (exposing, {"e", "f"}),
        (writer, {"e"}),
        (quiet, set()),
        (exposing, {"e", "f"}),
        (quiet, set()),
    ):
        functions = link([reader, middle, inner]).program.functions
        assert {name for name, cfa in functions.items() if cfa.unsupported} == expected


def test_pointers_from_other_files_lead_to_variables_that_these_can_name() -> None:
    declared = "int g, *top; static int own; int set(int *p) { return *p = 2; } int other(void);"
    found = []
    for read, main in (
        ("g", ""),
        ("own", ""),
        ("g", "int main(void) { return f(); }"),
        ("g", "int main(void) { return other(); }"),
    ):
        program = link([unit_of(f"{declared} int f(void) {{ return {read} + set(top); }} {main}")]).program
        found.append(bool(program.functions["f"].unsupported))
    assert found == [True, False, False, True]
