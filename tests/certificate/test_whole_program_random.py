"""Random programs whose blocks lead to each other, and are reached through variables, members, arrays, unions, copies of bytes
and functions: what is proved of a function in runs from main, by what the whole program ends, no run violates there. Runs are
those of the code of the compiler, under its address sanitizer."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from random import Random

import pytest

from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.whole_conditions import has_conditions
from analysis.cfa.graph import Program
from analysis.cfa.linking.link import link
from analysis.cpa.framework.algorithm import Cancellation
from analysis.session.portfolio import contract_proofs
from analysis.session.portfolio.request import Proved, Request
from analysis.session.portfolio.request_terms import About
from tests.support.lowered import unit_of

_RULE = "use-after-free"
_PROGRAMS, _RUNS, _FUNCTIONS = 40, 4, 4
_HEAD = """
typedef unsigned long size_t;
void *calloc(size_t, size_t); void *realloc(void *, size_t); void free(void *); void *memcpy(void *, const void *, size_t);
struct node { struct node *a, *b; union { unsigned long number; struct node *c; } u; int value; };
static unsigned seed; static int left = 60; void (*signal(int, void (*)(int)))(int); int raise(int);
typedef __builtin_va_list va_list;
static int choose(void) { seed = seed * 1103515245u + 12345u; return left-- > 0 ? (seed >> 16) & 1 : 0; }
static void copy(char *to, const char *from, unsigned long n) { while (n--) *to++ = *from++; }
"""


class _Writer:
    """Writes one program, whose names end with `tag`."""

    def __init__(self, random: Random, tag: int) -> None:
        self._random, self._tag = random, tag
        self._number = 0

    def text(self) -> str:
        tag = self._tag
        parts = [f"static struct node *G_{tag}, *H_{tag}, *A_{tag}[3], S_{tag};\n"]
        parts += [f"static struct node *make{one}_{tag}(void) {{ return calloc(1, sizeof(struct node)); }}\n" for one in range(3)]
        parts.append(f"static void end_{tag}(struct node *p) {{ free(p); }}\n")
        parts.append(f"static void none_{tag}(struct node *p) {{ if (p) choose(); }}\n")
        further = "va_list l; __builtin_va_start(l, n); struct node *p = __builtin_va_arg(l, struct node *);"
        parts.append(f"static struct node *last_{tag}(int n, ...) {{ {further} __builtin_va_end(l); return p; }}\n")
        parts.append(f"static void ended_{tag}(int n, ...) {{ {further} free(p); }}\n")
        parts.append(f"static struct node *W_{tag}; static void hand_{tag}(int n) {{ free(W_{tag}); W_{tag} = 0; }}\n")
        parts.append(f"static void look_{tag}(int n) {{ if (W_{tag}) choose(); }}\n")
        parts.append(f"static void (*table_{tag}[])(struct node *) = {{ end_{tag}, none_{tag} }};\n")
        for number in range(_FUNCTIONS):
            self._number = number
            body = f"struct node *r = 0; {self._statements(1)} return {self._pointer()};"
            parts.append(f"static struct node *h{number}_{tag}(struct node *p, struct node *q) {{ {body} }}\n")
        self._number = _FUNCTIONS
        parts.append(f"static void top_{tag}(void) {{ struct node *p = 0, *q = 0, *r = 0; {self._statements(0, 14)} }}\n")
        return "".join(parts)

    def _pointer(self) -> str:
        return self._random.choice(
            ["p", "q", "r", f"G_{self._tag}", f"H_{self._tag}", f"A_{self._tag}[{self._random.randrange(3)}]"]
        )

    def _place(self) -> str:
        owner = self._random.choice([self._pointer(), f"(&S_{self._tag})"])
        return self._random.choice([self._pointer(), f"{owner}->{self._random.choice(['a', 'b', 'u.c'])}"])

    def _guarded(self, place: str, statement: str) -> str:
        owner = place.partition("->")[0]
        return f"if ({owner}) {{ {statement} }}" if "->" in place else statement

    def _new(self) -> str:
        return f"make{self._random.choice([0, 0, 1, 1, 2])}_{self._tag}()"

    def _statement(self, depth: int) -> str:
        random, tag = self._random, self._tag
        place, other, pointer = self._place(), self._place(), self._pointer()
        inner = "{ " + self._statements(depth - 1) + " }" if depth else ";"
        callee = f"h{random.randrange(self._number)}_{tag}({pointer}, {self._pointer()})" if self._number else pointer
        use = f"if ({pointer}) {pointer}->value = 1;"
        whole = f"{place} = {other};"
        kinds = [
            *[self._guarded(place, f"{place} = {self._new()};")] * 3,
            *[self._guarded(other, self._guarded(place, whole))] * 3,
            *[self._guarded(other, f"if ({other}) {other}->value++;"), use] * 3,
            *[self._guarded(place, f"{place} = {callee};")] * 3,
            f"if (choose()) {inner} else {inner}",
            f"if ({pointer}) S_{tag} = *{pointer};",
            f"if ({pointer}) *{pointer} = S_{tag};",
            f"copy((char *)&{pointer}, (const char *)&G_{tag}, sizeof(struct node *));",
            f"memcpy(&A_{tag}[1], &A_{tag}[0], sizeof(struct node *));",
            f"if ({pointer}) {{ {pointer}->u.number ^= 0; }}",
            f"{pointer} = last_{tag}(1, {self._pointer()});",
            f"{pointer} = (struct node *)(unsigned long)(const void *){self._pointer()};",
            f"W_{tag} = {pointer}; signal(10, look_{tag}); raise(10);",
        ]
        if random.random() < 0.2:
            kinds += [
                f"r = make2_{tag}(); if (choose()) {{ G_{tag} = r; }} free(r);",
                f"table_{tag}[choose()](make2_{tag}());",
                f"if ({pointer}) {{ struct node *t = realloc({pointer}, 2 * sizeof *t); if (t) {{ H_{tag} = t; }} }}",
                f"end_{tag}({pointer}); {pointer} = 0;",
                f"end_{tag}({pointer});",
                f"none_{tag}({pointer});",
                f"ended_{tag}(1, {pointer});",
                f"W_{tag} = {pointer}; signal(10, hand_{tag}); signal(10, signal(10, look_{tag})); raise(10);",
            ] * 3
        return random.choice(kinds)

    def _statements(self, depth: int, most: int = 5) -> str:
        return " ".join(self._statement(depth) for _ in range(self._random.randrange(most // 2, most + 1)))


def _linked(text: str, tag: int) -> Program:
    return link([unit_of(f"{_HEAD}{text}int main(int n, char **v) {{ seed = n; top_{tag}(); return 0; }}")]).program


def _proved(program: Program) -> tuple[frozenset[str], int]:
    """The functions of which the rule is proved, and how many of them only by what the whole program ends."""
    search = ClosedSearch(program)
    answers = contract_proofs.prove(Request(program, ("main",), About("contracts", (_RULE,))), 1000.0, Cancellation())
    names = [one.function for one in answers if isinstance(one.answer, Proved)]
    followed = [search.follow(name) for name in names]
    by_conditions = sum(one is not None and has_conditions(one.found, _RULE) for one in followed)
    return frozenset(name.rpartition("::")[2] for name in names), by_conditions


def _used_after_free(program: Path, tag: int, run: int) -> str | None:
    """The function in which a run uses what was freed; None if it does not."""
    options = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    words = [program, str(tag), *["x"] * run]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=options)
    if ": heap-use-after-free" not in done.stderr:
        return None
    frames = re.findall(r"#\d+ 0x\w+ in (\w+)", done.stderr.partition("freed by")[0])
    return next(name for name in frames if name.endswith(f"_{tag}") or name == "copy")


@pytest.mark.parametrize("seed", [5])
def test_no_run_uses_what_the_program_never_ends(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    bodies = [_Writer(random, tag).text() for tag in range(_PROGRAMS)]
    answers = [_proved(_linked(body, tag)) for tag, body in enumerate(bodies)]
    assert sum(by_conditions for _, by_conditions in answers) > _PROGRAMS // 4
    table = ", ".join(f"top_{tag}" for tag in range(_PROGRAMS))
    main = f"static void (*all[])(void) = {{ {table} }};\nint atoi(const char *);\n"
    main += "int main(int n, char **v) { seed = n; all[atoi(v[1])](); return 0; }\n"
    source, program = tmp_path / "all.c", tmp_path / "all"
    source.write_text(_HEAD + "".join(bodies) + main)
    subprocess.run(["gcc", "-w", "-O0", "-fsanitize=address", "-fno-builtin", "-o", program, source], check=True)
    seen = 0
    for tag, (proved, _) in enumerate(answers):
        for run in range(_RUNS):
            used = _used_after_free(program, tag, run)
            seen += used is not None
            assert used not in proved, (used, bodies[tag])
    assert seen
