"""Random programs of small functions that call each other and go wrong in many ways, and random edits of their statements.

Numbers, pointers and globals are passed down and compared with constants, so that many of the ways to an error contradict
themselves. `Edited` compares a checker that follows the edits with one from scratch.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from analysis.api import Checker
from analysis.engines.automaton import Algorithm
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Finding, Report

_LARGE = Options(limits=Limits(global_edges=0))  # so that no program is small enough to be checked from nothing
_SIZES = (6, 10, 16)  # functions
_HEAD = "#include <stdlib.h>\nint shared, mode;\nint *kept;\n"
_MAIN = "int main(int argc, char **argv) { f0(argc, 0); f1(2, &shared); return 0; }\n"
_SIMPLE = {
    "pointer": ("p = 0;", "q = 0;", "p = q;", "q = p;", "p = &shared;", "kept = p;", "q = kept;"),
    "block": ("q = malloc(4);", "p = malloc(4);", "free(q);", "free(p);"),
    "use": ("*p = 1;", "*q = 2;", "a = *p;", "*p = a;", "shared = 6 / a;"),
    "number": ("mode = 0;", "mode = 1;", "mode = a;", "a = 0;", "a = mode;", "a++;"),
    "end": ("return VALUE;", "if (!p) return VALUE;", "if (!q) exit(1);", "if (a < 0) return VALUE;"),
}
_KINDS = ("call", "call", "pointer", "block", "use", "use", "number", "end")
_CONDITIONS = ("p", "!p", "q", "p == q", "a == 0", "a == 1", "a == 2", "a > 0", "a > 1", "a != 1", "mode == 0", "kept")
_NUMBERS = ("a", "a", "0", "1", "2", "mode")
_POINTERS = ("p", "p", "q", "0", "&shared", "kept")


class DefectiveProgram:
    """A program of one file."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._functions = random.choice(_SIZES)
        self._bodies = [[self._statement(number, 2) for _ in range(random.randint(2, 5))] for number in range(self._functions)]
        self._former: list[list[list[str]]] = []

    @property
    def text(self) -> str:
        """The program as it is now."""
        heads = "".join(f"{_head(number)};\n" for number in range(self._functions))
        bodies = "".join(_function(number, body) for number, body in enumerate(self._bodies))
        return _HEAD + heads + bodies + _MAIN

    def edit(self) -> str:
        """One edit, or the last one taken back; says what was done."""
        random = self._random
        if self._former and random.random() < 0.3:
            self._bodies = self._former.pop()
            return "the last edit taken back"
        self._former.append([list(body) for body in self._bodies])
        number = random.randrange(self._functions)
        body = self._bodies[number]
        kind = random.choice(("insert", "insert", "remove", "replace", "swap", "move"))
        at = random.randrange(len(body)) if body else 0
        if kind == "insert" or not body:
            body.insert(random.randrange(len(body) + 1), self._statement(number, 1))
        elif kind == "remove":
            del body[at]
        elif kind == "replace":
            body[at] = self._statement(number, 1)
        elif kind == "swap":
            other = random.randrange(len(body))
            body[at], body[other] = body[other], body[at]
        else:
            random.choice(self._bodies).append(body.pop(at))
        return f"{kind} in f{number}"

    def _statement(self, number: int, depth: int) -> str:
        random = self._random
        kind = random.choice((*_KINDS, "branch", "branch", "branch", "branch", "loop") if depth else _KINDS)
        if kind == "branch":
            other = f" else {{ {self._statement(number, depth - 1)} }}" if random.random() < 0.4 else ""
            return f"if ({random.choice(_CONDITIONS)}) {{ {self._statement(number, depth - 1)} }}{other}"
        if kind == "loop":
            return f"while (a > 0) {{ a--; {self._statement(number, depth - 1)} }}"
        if kind == "call":
            return self._call(number)
        return random.choice(_SIMPLE[kind])

    def _call(self, number: int) -> str:
        """Most calls are of later functions, so that few are recursive."""
        random = self._random
        further = min(number + random.randint(1, 4), self._functions - 1)
        callee = random.randrange(self._functions) if random.random() < 0.2 else further
        target = random.choice(("", "p = ", "q = ") if callee % 2 else ("", "a = "))
        return f"{target}f{callee}({random.choice(_NUMBERS)}, {random.choice(_POINTERS)});"


def _head(number: int) -> str:
    return f"{'int *' if number % 2 else 'int '}f{number}(int a, int *p)"


def _function(number: int, body: list[str]) -> str:
    value = "p" if number % 2 else "a"
    lines = "".join(f"    {statement}\n" for statement in body).replace("VALUE", value)
    return f"{_head(number)}\n{{\n    int *q = &shared;\n{lines}    return {value};\n}}\n"


class Compared(NamedTuple):
    """One edit: what was done, what is another answer than from scratch, and how many findings there are."""

    done: str
    differences: tuple[str, ...]
    findings: int


class Edited:
    """A program under edit, with a checker that goes on from revision to revision."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.program = DefectiveProgram(Random(seed))
        self._file = folder / "program.c"
        self._file.write_text(self.program.text, encoding="utf-8")
        self._checker = self._new("incr-back")
        self._checker.check()

    def _new(self, algorithm: Algorithm) -> Checker:
        checker = Checker(_LARGE, algorithm=algorithm)
        checker.open([str(self._file)])
        return checker

    def step(self) -> Compared:
        """One edit, compared with a check from scratch."""
        done = self.program.edit()
        self._file.write_text(self.program.text, encoding="utf-8")
        self._checker.refresh()
        report, expected = self._checker.check(), self._new("full").check()
        return Compared(done, tuple(_differences(report, expected)), len(expected.findings))


def _differences(report: Report, expected: Report) -> Iterator[str]:
    now, then = _by_place(report), _by_place(expected)
    for key in sorted(now.keys() | then.keys()):
        if now.get(key) != then.get(key):
            yield f"line {key[0]}, {key[1]}: {_told(now.get(key))}; from scratch {_told(then.get(key))}"
    if sorted(report.refuted_findings) != sorted(expected.refuted_findings):
        yield "other findings are refuted"
    if report.verdict != expected.verdict:
        yield f"{report.verdict}; from scratch {expected.verdict}"


def _by_place(report: Report) -> dict[tuple[int, str, str], list[Finding]]:
    found: dict[tuple[int, str, str], list[Finding]] = {}
    for one in report.findings:
        found.setdefault((one.place.range.start.line, one.rule, one.message), []).append(one)
    return found


def _told(findings: list[Finding] | None) -> str:
    if findings is None:
        return "no finding"
    return ", ".join(f"{one.score} points, trace of {len(one.trace)} steps, {one.since}" for one in findings)
