"""Random programs whose functions fill, copy, swap and overwrite objects of their callers: of a function that is proved not to
leak in runs from main, also by what its callers keep, no run loses a block there.

Runs are those of the code of the compiler. After each statement, all blocks are looked for that variables of the program lead to,
directly or through others; the first statement after which one is missing has lost it, in the function that it is in."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from random import Random

import pytest

from analysis.certificate.ownership.closed_checker import refusal
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.cfa.linking.link import link
from analysis.cpa.framework.algorithm import Cancellation
from analysis.session.portfolio import contract_proofs
from analysis.session.portfolio.request import Proved, Request
from analysis.session.portfolio.request_terms import About
from tests.support.lowered import unit_of

_RULE = "memory-leak"
_PROGRAMS, _RUNS, _FUNCTIONS = 120, 5, 5
_HEAD = """typedef unsigned long size_t; void *malloc(size_t); void free(void *); void *memset(void *, int, size_t);
int choose(void);
"""
_BOX = "struct box { struct box *a, *b; int n; };\n"


_DEFECTS = ("stored", "passed", "passed by a pointer", "cleared", "moved", "swapped", "lost", "none")
"""What a program may do that makes blocks get lost, in one of its functions, besides all that it may do anyway."""


class _Writer:
    """Writes one program, whose names end with `tag`. `CHECK` is where runs are looked at; `ENTER` and `LEAVE` are around
    bodies."""

    def __init__(self, random: Random, tag: int) -> None:
        self._random, self._tag = random, tag
        self._defect, self._where = random.choice(_DEFECTS), random.randrange(1, _FUNCTIONS + 1)

    def text(self) -> str:
        parts = [f"static struct box G_{self._tag}, *L_{self._tag};\n"]
        for number in range(_FUNCTIONS):
            parts.append(self._function(f"h{number}_{self._tag}", "struct box *p, struct box *q", number, 4))
        made = " ".join(f"G_{self._tag}.{member} = malloc(sizeof(struct box)); CHECK" for member in "ab")
        parts.append(f"static void fill_{self._tag}(void) {{ {made} L_{self._tag} = &G_{self._tag}; CHECK }}\n")
        parts.append(self._function(f"top_{self._tag}", "void", _FUNCTIONS, 6))
        return "".join(parts)

    def _function(self, name: str, parameters: str, number: int, most: int) -> str:
        pointers = "struct box *r = 0, *t = 0;" if parameters != "void" else "struct box *p = 0, *q = 0, *r = 0, *t = 0;"
        first = self._random.choice(["p = &x;", "q = &y;", "p = &x; q = &y;"]) if parameters == "void" else ""
        clear = "x.a = x.b = y.a = y.b = 0; x.n = y.n = 0;"
        statements = [self._statement(number, 1) for _ in range(self._random.randrange(2, most + 1))]
        if number == self._where:
            at = self._random.randrange(len(statements) + 1)
            statements[at:at] = [f"{self._defective(number)} CHECK"]
        body = f"{pointers} struct box x, y; {clear} ENTER {first} CHECK {' '.join(statements)} LEAVE"
        return f"static void {name}({parameters}) {{ {body} }}\n"

    def _pointer(self) -> str:
        return self._random.choice(["p", "q", "r", "&x", "&y", "&x", "p", "p"])

    def _member(self, *more: str) -> str:
        owner = self._random.choice(["p", "q", "r", "x", "y", "x", "p", *more])
        return f"{owner}{'->' if owner[-1:] in 'pqr' or owner.startswith('L') else '.'}{self._random.choice('ab')}"

    def _guarded(self, text: str, *used: str) -> str:
        names = {one[0] for one in used if one.startswith(("p->", "q->", "r->")) or one in ("p", "q", "r")}
        for name in sorted(names):
            text = f"if ({name}) {{ {text} }}"
        return text

    def _callee(self, number: int) -> str:
        return f"h{self._random.randrange(number)}_{self._tag}"

    def _statement(self, number: int, depth: int) -> str:
        random, tag = self._random, self._tag
        to, of, one, other = self._member(), self._member(f"G_{tag}", f"L_{tag}", f"G_{tag}"), self._pointer(), self._pointer()
        inner = "{ " + self._statement(number, depth - 1) + " }" if depth else ";"
        kinds = [
            *[self._guarded(f"{to} = 0;", to)] * 3,
            *[self._guarded(f"{to} = {of};", to, of)] * 3,
            *[self._guarded(f"*({one}) = *({other});", one, other)] * 2,
            self._guarded(f"({one})->n = 1;", one),
            self._guarded(f"{{ struct box s = *({one}); *({one}) = *({other}); *({other}) = s; }}", one, other),
            self._guarded(f"memset({one}, 0, sizeof(struct box));", one),
            f"x = G_{tag};",
            f"r = {random.choice(['p', 'q', '&x', '&y'])};",
            f"if (choose()) {inner} else {inner}",
        ]
        if number:
            callee = self._callee(number)
            kinds += [f"{callee}({one}, {other});", f"{callee}({one}, 0);", f"{callee}(&x, {other});", f"{callee}(&y, &x);"] * 2
            kinds.append(f"t = malloc(sizeof *t); if (t) {{ t->a = t->b = 0; {callee}(t, {one}); }} free(t); t = 0;")
            kinds.append(f"t = malloc(sizeof *t); if (t) {{ *t = G_{tag}; {callee}({one}, t); }} free(t); t = 0;")
        return f"{random.choice(kinds)} CHECK"

    def _defective(self, number: int) -> str:
        tag, callee, member = self._tag, self._callee(number), self._random.choice("ab")
        return {
            "stored": f"x.{member} = malloc(sizeof(struct box));",
            "passed": f"{callee}(&G_{tag}, &x);",
            "passed by a pointer": f"r = &G_{tag}; {callee}({self._random.choice(['r, 0', '&x, r'])});",
            "cleared": f"memset(&G_{tag}, 0, sizeof(struct box));",
            "moved": f"x.{member} = G_{tag}.{member}; CHECK G_{tag}.{member} = 0; CHECK {callee}(&x, 0);",
            "swapped": f"{{ struct box s = x; x = G_{tag}; G_{tag} = s; }} CHECK {callee}(&x, &y);",
            "lost": "t = malloc(sizeof *t); CHECK t = 0;",
            "none": f"{callee}(&x, &y);",
        }[self._defect]


def _proved(text: str, tag: int) -> tuple[frozenset[str], int]:
    """The functions of which the rule is proved, and how many of them only by what callers keep, or the program holds."""
    plain = re.sub(r"\b(CHECK|ENTER|LEAVE)\b", "", text)
    main = f"int main(void) {{ fill_{tag}(); top_{tag}(); return 0; }}"
    program = link([unit_of(f"{_HEAD}{_BOX}{plain}{main}")]).program
    answers = contract_proofs.prove(Request(program, ("main",), About("contracts", (_RULE,))), 1000.0, Cancellation())
    names = {one.function for one in answers if isinstance(one.answer, Proved)}
    search = ClosedSearch(program)
    followed = {name: search.follow(name) for name in names}
    by_callers = sum(one is not None and bool(refusal(program, one.found, name, _RULE)) for name, one in followed.items())
    return frozenset(name.rpartition("::")[2] for name in names), by_callers


_MAIN = """#include <stdlib.h>
#include <stdio.h>
#include <string.h>
static unsigned long long seed; static int left = 40;
static int next(void) { seed = seed * 6364136223846793005ULL + 1442695040888963407ULL; return (seed >> 40) & 7; }
static int choose(void) { return left-- > 0 ? next() & 1 : 0; }
struct frame { const char *name; struct box **pointers[4]; struct box *boxes[2]; };
static struct frame frames[400]; static int depth;
static struct box *live[4000]; static char marked[4000]; static int made;
static struct box *globals[2]; static struct box **lists[1];
static void *xmalloc(size_t n) {
    struct box *p = next() && made < 4000 ? calloc(1, n) : 0;
    if (p) live[made++] = p;
    return p;
}
static void xfree(void *p) { for (int i = 0; i < made; i++) if (p && live[i] == p) live[i] = 0; }
static void mark(struct box *p) {
    for (int i = 0; p && i < made; i++)
        if (live[i] == p && !marked[i]) { marked[i] = 1; mark(p->a); mark(p->b); }
}
static void check(const char *name) {
    memset(marked, 0, sizeof marked);
    for (int i = 0; i < depth; i++) {
        for (int k = 0; k < 4; k++) mark(*frames[i].pointers[k]);
        for (int k = 0; k < 2; k++) { mark(frames[i].boxes[k]->a); mark(frames[i].boxes[k]->b); }
    }
    mark(globals[0]->a); mark(globals[0]->b); mark(*lists[0]);
    for (int i = 0; i < made; i++) if (live[i] && !marked[i]) { printf("%s\\n", name); fflush(stdout); exit(0); }
}
#define malloc xmalloc
#define free xfree
#define CHECK check(__func__);
#define ENTER frames[depth++] = (struct frame){__func__, {&p, &q, &r, &t}, {&x, &y}};
#define LEAVE depth--; check(__func__);
"""


@pytest.mark.parametrize("seed", [11])
def test_no_run_loses_a_block_where_callers_keep_what_is_required(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    bodies = [_Writer(random, tag).text() for tag in range(_PROGRAMS)]
    answers = [_proved(body, tag) for tag, body in enumerate(bodies)]
    assert sum(by_callers for _, by_callers in answers) > _PROGRAMS // 4
    parts = [_MAIN.replace("struct frame {", f"{_BOX}struct frame {{", 1), *bodies]
    calls = [
        f"case {tag}: globals[0] = &G_{tag}; lists[0] = &L_{tag}; fill_{tag}(); top_{tag}(); break;" for tag in range(_PROGRAMS)
    ]
    parts.append(f"int main(int n, char **v) {{ seed = atoi(v[2]) * 7919 + 1; switch (atoi(v[1])) {{ {' '.join(calls)} }} }}\n")
    source, program = tmp_path / "all.c", tmp_path / "all"
    source.write_text("".join(parts))
    subprocess.run(["gcc", "-w", "-O0", "-fno-builtin", "-o", program, source], check=True)
    seen = 0
    for tag, (proved, _) in enumerate(answers):
        for run in range(_RUNS if proved else 0):
            done = subprocess.run([program, str(tag), str(run)], capture_output=True, text=True, check=True)
            seen += bool(done.stdout)
            assert done.stdout.strip() not in proved, (run, bodies[tag])
    assert seen  # what is not proved
