"""Programs that are hand-written traps, from `fixtures/misread`: each has a defect that something hides, or looks as if it had.

A file begins with comments: `// rule: division-by-zero`, and `// safe` if no run violates it, or `// defect` if a run does, where
the comment `/* defect */` is, or `reach_error` is called. Lines `//--- b.c` begin further files of the program.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "misread"
_FILE = re.compile(r"^//--- (\S+)\n", re.MULTILINE)
_FLAGS = ["-w", "-O0", "-g", "-std=gnu11", "-fno-sanitize-recover=all"]
_ERROR = "#include <stdlib.h>\nvoid reach_error(void) { abort(); }\n"


class Trap(NamedTuple):
    """A trap: its name, the rule, whether no run violates it, and its files by name."""

    name: str
    rule: str
    is_safe: bool
    files: dict[str, str]

    def write(self, folder: Path) -> list[str]:
        """Writes the files of the program; their paths."""
        for name, text in self.files.items():
            (folder / name).write_text(text)
        return [str(folder / name) for name in self.files]


def read_trap(path: Path) -> Trap:
    """The trap of a fixture."""
    first, *others = _FILE.split(path.read_text())
    files = {"main.c": first} | dict(zip(others[::2], others[1::2], strict=True))
    rule = re.search(r"^// rule: (\S+)$", first, re.MULTILINE)
    said = re.search(r"^// (safe|defect)$", first, re.MULTILINE)
    assert rule is not None, path
    assert said is not None, path
    return Trap(f"{path.parent.name}/{path.stem}", rule.group(1), said.group(1) == "safe", files)


def traps(kind: str) -> list[Trap]:
    """All traps of a folder of `fixtures/misread`."""
    return [read_trap(path) for path in sorted((FOLDER / kind).glob("*.c"))]


def run_with_sanitizers(trap: Trap, folder: Path) -> subprocess.CompletedProcess[str]:
    """Compiles the program with gcc and runs it; CalledProcessError if it does not compile."""
    paths = trap.write(folder)
    (folder / "reach_error_.c").write_text(_ERROR)
    objects = []
    sanitizers = "-fsanitize=address,undefined"
    for path in (*paths, str(folder / "reach_error_.c")):
        subprocess.run(["gcc", *_FLAGS, sanitizers, "-c", path, "-o", path + ".o"], check=True, capture_output=True, text=True)
        objects.append(path + ".o")
    program = str(folder / "program")
    subprocess.run(["gcc", sanitizers, *objects, "-o", program, "-lpthread"], check=True, capture_output=True, text=True)
    return subprocess.run([program], capture_output=True, text=True, timeout=60, cwd=folder, check=False)
