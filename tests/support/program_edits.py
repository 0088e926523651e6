"""Random edits of the text of a whole program: bodies, functions, names, parameters, types, globals, declarations."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

from analysis.api import Checker
from analysis.engines.automaton import Algorithm
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Report
from benchmarks.generated import Text, generate, write

LARGE = Options(limits=Limits(global_edges=0))  # so that no program is small enough to be checked from nothing
_STATEMENTS = (
    "{ int *lost = 0; *lost = 1; }",
    "{ char *kept = malloc(3); if (!kept) exit(1); }",
    "if (total_{file} > 3) return{value};",
    "total_{file} = 7;",
    "{call};",
    "exit(3);",
)
_TOPS = (
    "static void *taken_{number} = (void *) {name};",
    "int total_{file}_more = 4;",
    "extern void exit(int) __attribute__((noreturn));",
    "struct node_{file} *added_{number}(int n) {{ if (n > 2) return 0; return n ? added_{number}(n - 1) : 0; }}",
    '__asm__("nop");',
    "extern int odd_{number} __attribute__((strange)); int has_{number}(void) {{ return odd_{number}; }}",
    "int *{name}_2(int n) {{ static int one; return n ? &one : 0; }} int asks_{number}(void) {{ return *{name}_2(0); }}",
)


class Edited:
    """A generated program that is edited, one text after the other."""

    def __init__(self, random: Random, lines: int) -> None:
        self._random = random
        self._written = generate(lines, random.randrange(10_000))
        self._present = {file.name: list(file.lines) for file in self._written}
        self.changed: set[str] = set(self._present)

    def write(self, folder: Path) -> list[str]:
        """Writes the program as it was generated; the paths of its C files."""
        return [str(path) for path in write(self._written, folder)]

    def text(self, name: str) -> str:
        """The present text of a file."""
        return "\n".join(self._present[name]) + "\n"

    def edit(self) -> str:
        """One edit more, or one file put back; says what was done."""
        self.changed.clear()
        file = self._random.choice(self._written)
        if self._random.random() < 0.35 and self._present[file.name] != list(file.lines):
            self._put(file.name, list(file.lines))
            return f"{file.name} is what it was"
        sources = [file for file in self._written if file.functions]
        file = self._random.choice(sources)
        name = self._random.choice(list(file.functions))
        kind = self._random.choice([self._body, self._body, self._remove, self._rename, self._parameter, self._top, self._type])
        kind(file, name)
        return f"{kind.__name__} {name} in {file.name}"

    def _put(self, name: str, lines: list[str]) -> None:
        self._present[name] = lines
        self.changed.add(name)

    def _definition(self, file: Text, name: str) -> tuple[int, int] | None:
        """Where a function is in the present text: its head, and behind its end."""
        lines = self._present[file.name]
        head = next((at for at, line in enumerate(lines) if re.match(rf"[a-z].*\b{name}\(.*\)$", line)), None)
        if head is None:
            return None
        return head, next(at for at in range(head, len(lines)) if lines[at] == "}") + 1

    def _body(self, file: Text, name: str) -> None:
        where = self._definition(file, name)
        if where is not None:
            lines = list(self._present[file.name])
            value = "" if name.startswith("drop") else " 0"
            call = self._random.choice([n for f in self._written for n in f.functions if n != "main"])
            arguments = "0" if call.startswith(("drop", "make")) else "0, 0"
            statement = self._random.choice(_STATEMENTS).replace("{file}", re.sub(r"\D", "", file.name))
            lines.insert(where[0] + 2, "    " + statement.replace("{value}", value).replace("{call}", f"{call}({arguments})"))
            self._put(file.name, lines)

    def _remove(self, file: Text, name: str) -> None:
        where = self._definition(file, name)
        if where is not None and name != "main":
            lines = self._present[file.name]
            self._put(file.name, lines[: where[0]] + lines[where[1] :])

    def _rename(self, file: Text, name: str) -> None:
        if name == "main":
            return
        everywhere = self._random.random() < 0.5
        for other in self._written if everywhere else [file]:
            lines = [re.sub(rf"\b{name}\b", f"{name}_x", line) for line in self._present[other.name]]
            if lines != self._present[other.name]:
                self._put(other.name, lines)

    def _parameter(self, file: Text, name: str) -> None:
        header = file.name.replace(".c", ".h")
        old, new = self._random.choice(
            [("int n", "int amount"), ("int n", "long n"), ("int n", "int n, int more"), ("int ", "long ")]
        )
        for other in (file.name, header):
            lines = [
                line.replace(old, new, 1) if re.search(rf"^[a-z].*\b{name}\(.*\);?$", line) else line
                for line in self._present[other]
            ]
            self._put(other, lines)

    def _top(self, file: Text, name: str) -> None:
        lines = list(self._present[file.name])
        number = len(lines)
        values = {"number": number, "name": name, "file": re.sub(r"\D", "", file.name)}
        self._put(file.name, [*lines, self._random.choice(_TOPS).format(**values)])

    def _type(self, file: Text, name: str) -> None:
        header = file.name.replace(".c", ".h")
        old, new = self._random.choice(
            [
                ("    char *name;", "    char name[8];"),
                ("    int kind;", "    int kind, other;"),
                ("    int count;", "    char *count;"),
            ]
        )
        self._put(header, [line.replace(old, new) for line in self._present[header]])


def answer(report: Report) -> list[object]:
    """What has to be the same however it was found: all but traces, work and times."""
    return [
        report.verdict,
        sorted((f.rule, f.message, str(f.place), f.function, f.fingerprint) for f in report.findings),
        sorted(
            (f.name, str(f.place), f.summary, [(r, v.verdict, v.reason, v.assumptions) for r, v in f.verdicts.items()])
            for f in report.functions
        ),
        sorted(map(str, report.messages)),
    ]


class Chain:
    """A program under edit, with a checker that goes on from revision to revision."""

    def __init__(
        self, random: Random, folder: Path, lines: int, algorithm: Algorithm = "incr-back", options: Options = LARGE
    ) -> None:
        self._folder = folder
        self._options = options
        self._program = Edited(random, lines)
        self._paths = self._program.write(folder)
        self._checker = self._new(algorithm)
        self._checker.check()
        self.repaired = 0

    def _new(self, algorithm: Algorithm) -> Checker:
        checker = Checker(self._options, algorithm=algorithm)
        checker.open(self._paths)
        return checker

    def step(self) -> str:
        """Makes one edit and compares the checker's answer with that of a check from scratch. Returns a
        description of the edit."""
        done = self.edit()
        self.compare(done)
        return done

    def edit(self) -> str:
        """One edit of the program; returns what was done."""
        done = self._program.edit()
        for name in self._program.changed:
            (self._folder / name).write_text(self._program.text(name), encoding="utf-8")
        return done

    def compare(self, done: str) -> None:
        """The checker must say what one from scratch says."""
        self._checker.refresh()
        report = self._checker.check()
        self.repaired += all(one.reason != "scratch" for one in report.rechecked)
        expected = self._new("full").check()
        assert answer(report) == answer(expected), done
