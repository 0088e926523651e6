"""What a measurement has printed, and where, when, from what and on which machine: the records in `benchmarks/results/evidence`.

A record is a JSON file. `tool` is a digest of the code that was measured and of the scripts that measured it; so it says whether
a record is of the present code, also where nothing was committed. `inputs` are the digests of the folders that the command was
given. The programs that benchmarks fetch are pinned by digests in their code.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

import msgspec

from analysis.model.digest import digest_text

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "benchmarks" / "results" / "evidence"
_CODE = ("analysis", "server", "benchmarks", "requirements.lock", "pyproject.toml")
_ENDINGS = {".py", ".yaml", ".json", ".toml", ".csv", ".c", ".h", ".lock"}
_MODEL = re.compile(r"^model name\s*: (.*)$", re.MULTILINE)


class Machine(msgspec.Struct, frozen=True):
    """What was measured on. `memory` in MB; `load`: of the last minute, at the beginning and at the end."""

    processor: str
    processors: int
    memory: int
    python: str
    load: tuple[float, float]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement. `commit` ends in "+" if files were changed since. `status`: 1 if the command says that something is not as
    it should be, else 0. `seconds` are by the clock; `printed` is Markdown."""

    command: str
    date: str
    commit: str
    version: str
    tool: str
    inputs: dict[str, str]
    machine: Machine
    seconds: float
    status: int
    printed: str

    def page(self) -> str:
        """As it stands in the docs: when, where and by which command, and what that printed."""
        begin, end = self.machine.load
        machine = f"{self.machine.processors} processors, load {begin:.1f} at the beginning and {end:.1f} at the end"
        head = f"`python -m {self.command}`; {self.date}, commit {self.commit}; {machine}; {self.seconds:,.0f} s."
        said = "" if self.status == 0 else " The command said that something is not as it should be."
        return f"{head}{said}\n\n{self.printed.strip()}\n"


def read_record(name: str, folder: Path = RECORDS) -> Record | None:
    """The record of a piece; None if there is none. Raises msgspec.ValidationError if it is no record."""
    path = folder / f"{name}.json"
    return msgspec.json.decode(path.read_bytes(), type=Record) if path.is_file() else None


def write_record(name: str, record: Record, folder: Path = RECORDS) -> None:
    """Keeps a record, wholly or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"{name}.json.new"
    unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
    unfinished.replace(folder / f"{name}.json")


def code_digest() -> str:
    """Of all code that measures or is measured, in the working tree."""
    parts = [platform.python_version()]
    for top in _CODE:
        path = ROOT / top
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            within = file.relative_to(ROOT)
            if file.suffix in _ENDINGS and file.is_file() and not {"results", ".cache"} & {*within.parts}:
                parts += (str(within), digest_text(file.read_bytes()))
    return digest_text(*parts)


def folder_digest(folder: Path) -> str:
    """Of all files in a folder: their paths and contents."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return digest_text(*(part for file in files for part in (str(file.relative_to(folder)), file.read_bytes())))


def commit() -> str:
    """The commit that is checked out, with "+" if files were changed since; "none" outside of a repository."""
    head = _git("rev-parse", "--short=8", "HEAD")
    return (head + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")) if head else "none"


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def machine(load: tuple[float, float]) -> Machine:
    """This machine."""
    described = Path("/proc/cpuinfo")
    models = _MODEL.findall(described.read_text(encoding="utf-8")) if described.is_file() else []
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1_000_000
    processor = models[0] if models else platform.machine()
    return Machine(processor, os.cpu_count() or 1, memory, platform.python_version(), load)
