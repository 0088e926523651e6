"""Tasks of difference verification: pairs of versions of which at most the new one has the defect, as in [DIFFDP] section 4.1.

- `pair`: the pairs of the corpus, in both directions; `incremental.csv` has their verdicts.
- `combination`: such a pair joined with a program that does not change (`joined_programs`), and the combinations of the corpus.
  The paper's are made of each program of one family with each of another; so each pair is joined with several others here.
  With two, about half of all tasks are combinations, as in the paper.
- `regressing`, `fixing`, `neutral`: edits of the larger programs of the corpus in which nothing is wrong. A regression makes a
  check ask for an input to be another number as well, a fix is that backwards, and a neutral edit computes what nothing depends
  on, makes an assignment of a constant twice, or both.

A pair of which both versions have the defect is no task: nobody could tell which of them an alarm is about.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple

from analysis.engines.difference.data_detector import Goal
from analysis.model.options import CompilerFlags, Options
from benchmarks.corpus import Model, Row, rows, text_of
from benchmarks.joined_programs import joined, preprocessed

_LARGE = 25  # lines
_PARTNERS = 2  # programs that a pair is joined with, each apart
_UNDEFINED = frozenset({"null-dereference", "array-bounds", "division-by-zero"})
_CHECK = re.compile(r"\b(__VERIFIER_assert|assert)\s*\((?=[^(){};]*\)\s*;)")
_REACH = re.compile(r"\bif\s*\((?=[^;]*\)\s*\{?\s*(?:\w+:\s*)?\{?\s*(?:reach_error|__VERIFIER_error)\s*\(\s*\)\s*;)")
_CONSTANT = re.compile(r"^[ \t]+\w+ = \d+;$", re.MULTILINE)
BODY = re.compile(r"^\w[\w *]*\([^;{}()]*\)\s*\{[ \t]*$", re.MULTILINE)
_LABEL_OF_ASSERT = re.compile(r"\bassert\s*\([^(){}]*\)\s*\{[^{}]*\{\s*ERROR\s*:(?!\s*\{?\s*reach_error\b)")
_CALL_AT_LABEL = re.compile(r"\bERROR\s*:\s*__VERIFIER_error\s*\(")  # one more call there would take it out of its branch
_CANNOT_HOLD = re.compile(r"\s*0\s*\)")
_OTHER_LANGUAGE = "__SMACK_code("  # what it is passed is no C, and means something to one verifier only
_HEADER = "int __VERIFIER_nondet_int();\n"


class Task(NamedTuple):
    """Two versions of a program that is the text of one file. `is_safe`: the new version has no defect. `is_preprocessed`: the
    texts are those after preprocessing."""

    category: str
    name: str
    path: Path
    old: str
    new: str
    is_safe: bool
    options: Options
    rules: tuple[str, ...] = ("assertion",)
    goal: Goal = "assertions"
    is_preprocessed: bool = False

    @property
    def model(self) -> Model:
        """The data model."""
        return self.options.data_model


class Version(NamedTuple):
    """A version of a program of which the verdict is known."""

    path: Path
    text: str
    is_safe: bool
    options: Options
    rules: tuple[str, ...]


def corpus_tasks(corpus: Path, seed: int) -> Iterator[Task]:
    """All tasks of a corpus, but for those of its larger programs (`larger_edits`)."""
    pairs = list(_pairs(corpus))
    yield from pairs
    yield from _combinations(corpus, [task for task in pairs if task.category == "pair"], Random(seed))
    yield from _edits(corpus, Random(seed))


# -- pairs ---------------------------------------------------------------------------------------------------------


def _pairs(corpus: Path) -> Iterator[Task]:
    found: dict[str, list[Version]] = {}
    with (corpus / "incremental.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            version = version_of(corpus, row)
            if version is not None:
                found.setdefault(row["seq"], []).append(version)
    for name, versions in found.items():
        steps = list(pairwise(versions))
        for number, (old, new) in enumerate([*steps, *((new, old) for old, new in steps)]):
            if (old.is_safe or new.is_safe) and old.text != new.text:
                category = "combination" if name.startswith("combo_") else "pair"
                goal: Goal = "assertions" if new.rules == ("assertion",) else "violations"
                yield Task(category, f"{name} {number}", new.path, old.text, new.text, new.is_safe, new.options, new.rules, goal)


def version_of(corpus: Path, line: dict[str, str]) -> Version | None:
    """A version of which the verdict is known."""
    expected = line["expected"]
    if expected.startswith("must-report:|") and expected.endswith("imprecise-ok:"):
        expected = "true"
    if expected not in ("true", "false") or line["property"] not in ("reach_error", "any", "reach_error/warnings"):
        return None
    name, path = line["seq"], corpus.parent / line["path"]
    folders = tuple(str(corpus / "include" / folder) for folder in ("smack", "esbmc", "seahorn") if f"_{folder}_" in name)
    model: Model = "LP64" if any(f"_{folder}_" in name for folder in ("smack", "esbmc", "2ls")) else "ILP32"
    raw = path.read_text(errors="replace")
    if _OTHER_LANGUAGE in raw:
        return None
    rules = frozenset({"assertion"}) if line["property"] != "any" else frozenset({"assertion"}) | _UNDEFINED
    is_label = bool(_LABEL_OF_ASSERT.search(raw)) or not ("reach_error" in raw or "assert" in raw or _CALL_AT_LABEL.search(raw))
    options = _options(folders, model)
    row = Row(name, path, (), "", expected, "", "", options.flags, model, is_label, rules, False, frozenset())
    return Version(path, text_of(row) or raw, expected == "true", options, tuple(sorted(rules)))


def _options(folders: tuple[str, ...], model: Model) -> Options:
    defines = ("__LONG_MAX__=2147483647L", "__SIZEOF_LONG__=4", "__SIZEOF_POINTER__=4") if model == "ILP32" else ()
    return Options(flags=CompilerFlags(include_dirs=folders, defines=defines), data_model=model)


# -- combinations --------------------------------------------------------------------------------------------------


def _combinations(corpus: Path, pairs: Sequence[Task], random: Random) -> Iterator[Task]:
    """Each pair about assertions with programs that do not change: by turns before and behind it."""
    others = list(_larger(corpus))
    for task in pairs:
        fitting = [one for one in others if one[0].model == task.model] if task.goal == "assertions" else []
        for number, (row, text) in enumerate(random.sample(fitting, min(_PARTNERS, len(fitting)))):
            partner = preprocessed(row.path, text, row.flags.include_dirs, row.flags.defines)
            versions = [_combined(task, one, partner, is_first=bool(number % 2)) for one in (task.old, task.new)]
            if versions[0] is not None and versions[1] is not None:
                name = f"{task.name} + {row.path.name}"
                options = Options(data_model=task.model)
                found = Task("combination", name, row.path, versions[0], versions[1], task.is_safe, options)
                yield found._replace(is_preprocessed=True)


def _combined(task: Task, text: str, partner: bytes | None, *, is_first: bool) -> str | None:
    """A version of a task before or behind another program; None if that is no program."""
    own = preprocessed(task.path, text, task.options.flags.include_dirs, task.options.flags.defines)
    if own is None or partner is None:
        return None
    return joined(own, partner) if is_first else joined(partner, own)


def _larger(corpus: Path, most: int = 400) -> Iterator[tuple[Row, str]]:
    """The larger programs about assertions in which nothing is wrong."""
    for row in rows(corpus):
        text = text_of(row) or row.path.read_text("utf-8", "replace")
        lines = text.count("\n")
        if row.rules == frozenset({"assertion"}) and row.is_safe and not row.more and _LARGE <= lines <= most:
            yield row, text


# -- edits ---------------------------------------------------------------------------------------------------------


def _edits(corpus: Path, random: Random) -> Iterator[Task]:
    for row, text in _larger(corpus, most=2_000):
        options = Options(flags=row.flags, data_model=row.model)
        name = f"{row.id} {row.path.name}"
        broken = _regressing(text, random)
        if broken is not None:
            yield Task("regressing", name, row.path, text, broken, False, options)
            yield Task("fixing", name, row.path, broken, text, True, options)
        for number in range(2):
            other = _neutral(text, random)
            if other is not None:
                yield Task("neutral", f"{name} {number}", row.path, text, other, True, options)


def _regressing(text: str, random: Random) -> str | None:
    """The text with a check that asks for more; None if it has no call of a check that says what has to hold."""
    found = [(match, "!= {} && ") for match in _CHECK.finditer(text)] + [(match, "== {} || ") for match in _REACH.finditer(text)]
    found = [(match, more) for match, more in found if "define" not in text[: match.start()].rpartition("\n")[2]]
    if not found:
        return None
    match, more = random.choice(found)
    asked = f"__VERIFIER_nondet_int() {more.format(random.randrange(100))}"
    if _CANNOT_HOLD.match(text, match.end()):  # it says that its place is not reached, and nothing can be a regression there
        return None
    return _HEADER + text[: match.end()] + asked + text[match.end() :]


def _neutral(text: str, random: Random) -> str | None:
    """The text with an edit that changes nothing that a check depends on."""
    constants, bodies = list(_CONSTANT.finditer(text)), list(BODY.finditer(text))
    if not constants and not bodies:
        return None
    if constants and random.random() < 0.5:
        match = random.choice(constants)
        text = text[: match.end()] + "\n" + match[0] + text[match.end() :]
        bodies = list(BODY.finditer(text))
    if bodies:
        match = random.choice(bodies)
        text = text[: match.end()] + " unsigned edited = 0; edited = edited + 3;" + text[match.end() :]
    return text
