"""Which defects are seeded: drawn with a fixed seed, tried with the compiler, and judged by hand in `benchmarks/recall.csv`.

The draw takes sites of each operator and project in turn, at most one of an operator in a function (but for `unlock`, which few
functions have). A site counts as a candidate if the seeded file compiles, and is another text behind the preprocessor than the
file as it was. The files are those that the compile commands name, without those in folders of tests and examples. Every third
candidate is `held`: nobody looks at what comes of it while the analysis is changed.

The file of judgements holds no code of the projects but for the name of what a seed is about. A seed is computed again from the
sources, whose archives are pinned by digest, and the digest of the seeded file is compared.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.real_sources import provide
from benchmarks.recall_sites import OPERATORS, Site, sites
from benchmarks.sources import FetchError

PROJECTS = ("bzip2", "jansson", "libyaml", "lz4", "less", "hiredis", "spin", "sendmail", "gawk", "tinyproxy")
"""Those of `benchmarks.real_projects` that are read by hand, and one that uses locks."""
JUDGEMENTS = Path(__file__).with_name("recall.csv")
DRAWN: Mapping[str, int] = {"null-check": 5, "unchecked": 5, "dropped": 5, "twice": 3, "after": 4, "unlock": 9}
"""How many candidates of an operator are drawn from each project, at most."""
_SEED = 20
_LEFT_OUT = frozenset(("test", "tests", "examples", "example"))
_COLUMNS = ("part", "project", "operator", "file", "line", "function", "subject", "digest", "is_defect", "why")


class Command(NamedTuple):
    """How a file is compiled: in which folder, and with which words between the compiler's name and the file's."""

    path: Path
    folder: Path
    flags: tuple[str, ...]


class Seed(NamedTuple):
    """A seeded defect in a file, the text of that file with it, and the judgement: `is_defect` None if there is none yet."""

    part: str
    project: str
    command: Command
    site: Site
    text: bytes
    is_defect: bool | None = None
    why: str = ""

    @property
    def digest(self) -> str:
        """Of the seeded text."""
        return hashlib.sha256(self.text).hexdigest()[:16]

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line of the function in the seeded text."""
        removed = self.command.path.read_bytes().count(b"\n") - self.text.count(b"\n")
        return self.site.lines[0], self.site.lines[1] - removed

    @property
    def place(self) -> str:
        """The file's name and the line."""
        return f"{self.command.path.name}:{self.site.line}"


def commands_of(project: str) -> list[Command]:
    """How the files of a project are compiled, each file once. Raises FetchError."""
    found: dict[Path, Command] = {}
    for entry in json.loads(provide(project).read_text(encoding="utf-8")):
        words = entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])
        path = Path(os.path.realpath(os.path.join(entry["directory"], entry["file"])))
        found.setdefault(path, Command(path, Path(entry["directory"]), tuple(_flags(words[1:], entry["file"]))))
    return [found[path] for path in sorted(found)]


def _flags(words: Sequence[str], file: str) -> Iterator[str]:
    skips = False
    for word in words:
        if skips or word in ("-c", file):
            skips = False
        elif word == "-o":
            skips = True
        else:
            yield word


def drawn(projects: Sequence[str] = PROJECTS) -> Iterator[Seed]:
    """All candidates of some projects, without judgements. Raises FetchError."""
    for project in projects:
        found = _all_sites(project)
        for operator in OPERATORS:
            yield from _candidates(project, operator, [place for place in found if place[1].operator == operator])


def _all_sites(project: str) -> list[tuple[Command, Site, bytes]]:
    found = []
    for command in commands_of(project):
        if _LEFT_OUT.isdisjoint(command.path.parts):
            text = command.path.read_bytes()
            found += [(command, site, text) for site in sites(text)]
    return found


def _candidates(project: str, operator: str, places: list[tuple[Command, Site, bytes]]) -> Iterator[Seed]:
    Random(f"{_SEED} {project} {operator}").shuffle(places)
    seen: set[tuple[Path, str, int]] = set()
    for command, site, text in places:
        if len(seen) == DRAWN[operator]:
            return
        function = (command.path, site.function, site.line if operator == "unlock" else 0)  # few functions unlock
        if function not in seen and _is_effective(command, text, site.applied(text)):
            part = "held" if len(seen) % 3 == 1 else "open"
            seen.add(function)
            yield Seed(part, project, command, site, site.applied(text))


def _is_effective(command: Command, before: bytes, after: bytes) -> bool:
    return compiled(command, after, ["-fsyntax-only", "-w"]) is not None and (
        compiled(command, before, ["-E", "-P"]) != compiled(command, after, ["-E", "-P"])
    )


def compiled(command: Command, text: bytes, options: Sequence[str], compiler: str = "gcc") -> str | None:
    """What a compiler prints for a text in the place of a file, on both streams; None if it does not accept the text."""
    with beside(command, text) as file:
        words = [compiler, *options, *command.flags, str(file)]
        done = subprocess.run(words, cwd=command.folder, capture_output=True, text=True, errors="replace", check=False)
    return done.stdout + done.stderr if done.returncode == 0 else None


@contextmanager
def beside(command: Command, text: bytes) -> Iterator[Path]:
    """A file of another text in the folder of a file, so that it finds the same headers; it is gone afterwards."""
    number, name = tempfile.mkstemp(prefix="seeded-", suffix=".c", dir=command.path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(text)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


# -- judgements ---------------------------------------------------------------------------------------------------------------


def judged(projects: Sequence[str] = PROJECTS) -> list[Seed]:
    """The seeds that were judged, as computed from the sources. Raises FetchError where one cannot be made any more."""
    with JUDGEMENTS.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["project"] in projects]
    made: dict[tuple[str, str], tuple[Command, Site, bytes]] = {}
    for project in dict.fromkeys(row["project"] for row in rows):
        wanted = {(row["file"], row["operator"], int(row["line"])) for row in rows if row["project"] == project}
        for command, site, text in _all_sites(project):
            if (_within(project, command.path), site.operator, site.line) in wanted:
                seeded = site.applied(text)
                made[project, hashlib.sha256(seeded).hexdigest()[:16]] = command, site, seeded
    found = []
    for row in rows:
        place = made.get((row["project"], row["digest"]))
        if place is None:
            raise FetchError(f"{row['project']}: the seed at {row['file']}:{row['line']} cannot be made from these sources.")
        is_defect = {"yes": True, "no": False}.get(row["is_defect"])
        found.append(Seed(row["part"], row["project"], *place, is_defect, row["why"]))
    return found


def written(seeds: Sequence[Seed]) -> None:
    """Writes the file of judgements."""
    with JUDGEMENTS.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(_COLUMNS)
        for seed in seeds:
            site, word = seed.site, {True: "yes", False: "no", None: ""}[seed.is_defect]
            place = (_within(seed.project, seed.command.path), site.line, site.function, site.subject)
            rows.writerow((seed.part, seed.project, site.operator, *place, seed.digest, word, seed.why))


def _within(project: str, path: Path) -> str:
    return os.path.relpath(path, provide(project).parent.resolve() / "source")
