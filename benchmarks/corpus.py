"""Programs with known verdicts: a folder with `index.csv`, its rows, and what each asks of the checker.

`index.csv` has the columns `id`, `path` (relative to the folder above), `property`, `expected`, `category`, `kind`,
`include_dir`, `cflags`, `data_model` and `note`. The names of files and functions say nothing about the verdict here.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from analysis.api import Checker
from analysis.cfa.graph import Program
from analysis.model.options import CompilerFlags, Options

Model = Literal["LP64", "ILP32"]

_LABEL = re.compile(r"\bERROR\s*:")
_CHECK = re.compile(r"\b(__ESBMC_)?assert\s*\(")
_EMPTY = re.compile(r"\bvoid\s+assert\s*\([^)]*\)\s*\{\s*\}")  # the tools that judge the program take it for the check
_DEFINED = re.compile(r"define\s+assert|\bassert\s*\([^;{}]*\)\s*\{")
_POINTERS = ("null-dereference", "use-after-free", "use-after-scope", "double-free", "invalid-free")
_SAFETY = frozenset({*_POINTERS, "array-bounds"})
_LOCKS = frozenset({"lock-discipline", "lock-at-exit"})
_RULES: dict[str, frozenset[str]] = {
    "reach_error": frozenset({"assertion"}),
    "memsafety": _SAFETY | {"memory-leak"},
    "memcleanup": frozenset({"memory-cleanup"}),
    "null-deref": frozenset({"null-dereference"}),
    "use-after-free": frozenset({"use-after-free", "use-after-scope"}),
    "double-free": frozenset({"double-free"}),
    "invalid-free": frozenset({"invalid-free"}),
    "mem-leak": frozenset({"memory-leak"}),
    "array-bounds": frozenset({"array-bounds"}),
    "uninit": frozenset({"uninitialized-read"}),
    "div-by-zero": frozenset({"division-by-zero"}),
    "lock": _LOCKS,
    "lock:mutex": _LOCKS,
    "lock:spinlock": _LOCKS,
}
_CHECKS: dict[str, frozenset[str]] = {
    "assert": frozenset({"assertion"}),
    "deref": frozenset(_POINTERS),
    "bounds": frozenset({"array-bounds"}),
    "div0": frozenset({"division-by-zero"}),
    "leak": frozenset({"memory-leak"}),
}
# the rules of the competition on software verification say that allocations find memory
_COMPETITION = frozenset({"reach_error", "memsafety", "memcleanup"})


class Row(NamedTuple):
    """One program with what is expected of it. `about` is the name of its property in the index, `rules` what that is in the
    words of our rules, none if they have none for it; `allocation_fails`: whether runs count in which there is no memory."""

    id: str
    path: Path
    more: tuple[Path, ...]
    about: str
    expected: str
    category: str
    kind: str
    flags: CompilerFlags
    model: Model
    label: bool
    rules: frozenset[str]
    allocation_fails: bool
    ignored: frozenset[int]

    @property
    def is_safe(self) -> bool:
        """Whether a verdict is expected, and it is that nothing is violated."""
        return self.expected == "true"


def rows(corpus: Path, kinds: tuple[str, ...] = ("verdict",)) -> Iterator[Row]:
    """The rows of some kinds, in the order of the index."""
    with (corpus / "index.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            if line["kind"] in kinds:
                yield _row(corpus, line)


def _row(corpus: Path, line: dict[str, str]) -> Row:
    folder, note = line["include_dir"], line["note"]
    model: Model = "LP64" if line["data_model"] == "LP64" else "ILP32"
    defines = tuple(word[2:] for word in shlex.split(line["cflags"]) if word.startswith("-D"))
    if "seahorn" in folder:
        defines += ("__declspec(x)=",)
    if model == "ILP32":
        defines += ("__LONG_MAX__=2147483647L", "__SIZEOF_LONG__=4", "__SIZEOF_POINTER__=4")
    named = line["property"].partition(" ")[0]
    return Row(
        id=line["id"],
        path=corpus.parent / line["path"],
        more=tuple(corpus / folder / name for name in ("io.c", "std_thread.c")) if "juliet" in folder else (),
        about=named,
        expected=line["expected"],
        category=line["category"],
        kind=line["kind"],
        flags=CompilerFlags(include_dirs=(str(corpus / folder),) if folder else (), defines=defines),
        model=model,
        label="label ERROR" in note,
        rules=_rules(named, note),
        allocation_fails="malloc may return NULL" in note or ("malloc never fails" not in note and named not in _COMPETITION),
        ignored=frozenset(int(number) for number in line["ignore_lines"].split(";") if number),
    )


def _rules(named: str, note: str) -> frozenset[str]:
    if named != "any":
        return frozenset().union(*(_RULES.get(part, frozenset()) for part in named.split("+")))
    listed = re.search(r"checks: ([a-z0-9+]+)", note)
    if listed is None:
        return _SAFETY | {"assertion"}
    return frozenset().union(*(_CHECKS[name] for name in listed[1].split("+")))


def program_of(row: Row) -> Program:
    """The program, as the checker builds it; reaching a label that counts as the error becomes a call."""
    checker = Checker(Options(flags=row.flags, data_model=row.model))
    checker.open([str(row.path), *(str(path) for path in row.more)])
    text = text_of(row)
    if text is not None:
        checker.change(str(row.path), text)
    return checker.inspect().program


def text_of(row: Row) -> str | None:
    """The text of the program, if it must be another one than that of its file: what the corpus takes for a check is made one."""
    changed, text = None, _EMPTY.sub("", row.path.read_text(errors="replace"))
    if _CHECK.search(text) and "assert.h" not in text and not _DEFINED.search(text):
        changed = text = "#define assert(e) __VERIFIER_assert(e)\n#define __ESBMC_assert(e, m) __VERIFIER_assert(e)\n" + text
    if row.label:
        changed = "void reach_error(void);\n" + _LABEL.sub("ERROR: reach_error();", text)
    return changed
