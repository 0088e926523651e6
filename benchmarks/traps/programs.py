"""The programs of `fixtures/traps`: a file, or a folder with the files of one program.

`GROUP/NAME-bad` has a defect: `// defect: RULE` stands at the end of the line where it shows. `GROUP/NAME-good` is its twin, in
which nothing is violated. The first lines of the first file may say `// options: --data-model ILP32`, and `// run: WORDS`, the
arguments that the program is run with, and `// compiled with: -fcommon`.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from pathlib import Path
from typing import Literal, NamedTuple

FOLDER = Path(__file__).parents[2] / "fixtures" / "traps"
_DEFECT = re.compile(r"//\s*defect:\s*(?P<rule>[\w-]+)\s*$")
_RUN = re.compile(r"^//\s*run:\s*(?P<words>.*)$", re.MULTILINE)
_FLAGS = re.compile(r"^//\s*compiled with:\s*(?P<words>.*)$", re.MULTILINE)
_OPTIONS = re.compile(r"^//\s*options:\s*(?P<words>.*)$", re.MULTILINE)
Model = Literal["LP64", "ILP32"]


class Trap(NamedTuple):
    """One program. `rule`: what the defect violates, also for the twin, which violates nothing; `places`: the marked lines, as
    name of the file and number, none for a twin; `words`: the arguments of its run; `flags`: what the
    compiler is told besides."""

    name: str
    files: tuple[Path, ...]
    rule: str
    places: frozenset[tuple[str, int]]
    model: Model
    words: tuple[str, ...]
    flags: tuple[str, ...]

    @property
    def is_defect(self) -> bool:
        """Whether its run violates the rule."""
        return bool(self.places)

    def digest(self) -> str:
        """SHA-256 over the names and texts of its files."""
        digest = hashlib.sha256()
        for file in self.files:
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
        return digest.hexdigest()


def traps(folder: Path = FOLDER) -> list[Trap]:
    """All traps, each defect before its twin. Raises ValueError where a marker or a twin is missing."""
    found: list[Trap] = []
    for bad in sorted((*folder.glob("*/*-bad"), *folder.glob("*/*-bad.c"))):
        good = bad.with_name(bad.name.replace("-bad", "-good"))
        defect = _read(folder, bad, None)
        found += [defect, _read(folder, good, defect.rule)]
    return found


def _read(folder: Path, path: Path, rule: str | None) -> Trap:
    """A program; `rule` is that of the defect if it is the twin."""
    if not path.exists():
        raise ValueError(f"{path}: this twin is missing")
    files = tuple(sorted(path.glob("*.c"), key=lambda file: (file.name != "main.c", file.name))) if path.is_dir() else (path,)
    places: set[tuple[str, int]] = set()
    rules: set[str] = set()
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if match := _DEFECT.search(line):
                places.add((file.name, number))
                rules.add(match["rule"])
    if len(rules) != (rule is None):
        raise ValueError(f"{path}: a defect has marks of one rule, its twin none")
    head = "\n".join(files[0].read_text("utf-8").splitlines()[:3])
    options, run, flags = _OPTIONS.search(head), _RUN.search(head), _FLAGS.search(head)
    name = path.relative_to(folder).as_posix().removesuffix(".c")
    model: Model = "ILP32" if options and "ILP32" in options["words"] else "LP64"
    words = tuple(shlex.split(run["words"])) if run else ()
    compiled = tuple(shlex.split(flags["words"])) if flags else ()
    return Trap(name, files, rule or rules.pop(), frozenset(places), model, words, compiled)
