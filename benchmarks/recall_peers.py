"""What other tools say of seeded defects: cppcheck, `clang --analyze` and `gcc -fanalyzer`.

Each looks at the file alone, with the flags of its compile command, as it was and with the defect. A tool has found the defect if
it says something in the function that it did not say before, whatever that is. Answers are kept in `benchmarks/.cache/recall`, by
the digest of the text.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.programs import CACHE
from benchmarks.recall_seeds import Command, Seed, beside
from benchmarks.sources import FetchError

KEPT = CACHE / "recall"
TOOLS = ("cppcheck", "clang", "gcc")
_SAID = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+)(?::\d+)?: (?:warning|error): (?P<text>.*)$", re.MULTILINE)
_LINES = re.compile(r"\bline \d+|\(\d+\)|'\d+'")  # in a message; they differ where only lines moved
_CPPCHECK_FLAGS = ("-D", "-U", "-I", "-include")
_SECONDS = 600


class Said(NamedTuple):
    """One message of a tool, and the line."""

    line: int
    text: str


def version(tool: str) -> str:
    """The first line of what it says of its version. Raises FetchError where it is not there."""
    try:
        done = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise FetchError(f"there is no {tool}: {error}. On Debian: apt-get install cppcheck clang gcc") from error
    return done.stdout.splitlines()[0].strip()


def finds(tool: str, seed: Seed) -> bool:
    """Whether a tool says something of the seed that it did not say of the file as it was."""
    before = _answer(tool, seed.command, seed.command.path.read_bytes())
    after = _answer(tool, seed.command, seed.text)
    new = Counter(said.text for said in after) - Counter(said.text for said in before)
    first, last = seed.lines
    return any(said.text in new and first <= said.line <= last for said in after)


def _answer(tool: str, command: Command, text: bytes) -> list[Said]:
    asked = [tool, version(tool), *command.flags, str(command.path.relative_to(CACHE.resolve()))]
    digest = hashlib.sha256("\0".join(asked).encode() + text).hexdigest()[:32]
    kept = KEPT / f"{digest}.json"
    if not kept.is_file():
        KEPT.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(_asked(tool, command, text)), encoding="utf-8")
    return [Said(*said) for said in json.loads(kept.read_text(encoding="utf-8"))]


def _asked(tool: str, command: Command, text: bytes) -> list[Said]:
    with beside(command, text) as file:
        words = [*_words(tool, command), str(file)]
        try:
            done = subprocess.run(
                words, cwd=command.folder, capture_output=True, text=True, errors="replace", check=False, timeout=_SECONDS
            )
        except subprocess.TimeoutExpired:
            return []
    found = []
    for match in _SAID.finditer(done.stderr + done.stdout):
        if Path(match["file"]).name == file.name:
            found.append(Said(int(match["line"]), _LINES.sub("", match["text"])))
    return found


def _words(tool: str, command: Command) -> list[str]:
    match tool:
        case "cppcheck":
            template = "--template={file}:{line}: warning: {id} {message}"
            return ["cppcheck", "--quiet", "--enable=warning", template, *_with_arguments(command.flags, _CPPCHECK_FLAGS)]
        case "clang":
            return ["clang", "--analyze", "--analyzer-output", "text", "-w", *command.flags]
        case _:
            return ["gcc", "-fanalyzer", "-fdiagnostics-plain-output", "-c", "-o", "/dev/null", *_quiet(command.flags)]


def _quiet(flags: Sequence[str]) -> list[str]:
    """Without the compiler's own warnings, which are not the analyzer's."""
    return [flag for flag in flags if not flag.startswith("-W")]


def _with_arguments(flags: Sequence[str], wanted: tuple[str, ...]) -> list[str]:
    found, takes = list[str](), False
    for flag in flags:
        if takes or flag.startswith(wanted):
            found.append(f"--include={flag}" if takes and found and found[-1] == "-include" else flag)
        takes = flag in wanted
    return [flag for flag in found if flag != "-include"]
