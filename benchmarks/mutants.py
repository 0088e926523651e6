"""Mutation testing of the judges: the code that decides whether an answer may be believed.

`mutants.toml` lists small changes that each break a judge: replay, the certificate checker, the repair of the
derivation graph, the compiler flags, the store. For each of them the project is copied, changed, and the tests of
that judge run. A mutant is *killed* if a test fails. A mutant that survives shows a missing test, or says in the
list why no test can tell it from the original (`equivalent`).

    python -m benchmarks.mutants [--tests GROUP] [--name WORDS]

Prints a line for each mutant and a summary. Exit status 1 if one survives without a reason, or if one that is said
to be equivalent is killed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

ROOT = Path(__file__).parent.parent
LIST = Path(__file__).parent / "mutants.toml"
_COPIED = ("analysis", "server", "tests", "fixtures", "demo", "benchmarks", "pyproject.toml")
_SECONDS = 900  # after which a run counts as killed: a mutant may loop


class Mutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change: the only place of `old` in `file` becomes `new`; `tests` names the group that should notice."""

    name: str
    file: str
    old: str
    new: str
    tests: str
    equivalent: str = ""

    def applied(self, text: str) -> str:
        """The file's text with the change. ValueError if `old` is not there exactly once."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: the text to replace is {text.count(self.old)} times in {self.file}")
        return text.replace(self.old, self.new)


class Mutants(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The list: mutants, and the tests of each group."""

    groups: dict[str, list[str]]
    mutant: list[Mutant]


def read_mutants() -> Mutants:
    """The list as it is in the repository. Raises msgspec.ValidationError if it is not well-formed."""
    return msgspec.convert(tomllib.loads(LIST.read_text("utf-8")), Mutants)


def copy_project(to: Path) -> None:
    """Copies what tests need."""
    for name in _COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__", ".cache", "node_modules"))
        else:
            shutil.copy(source, to / name)


def survives(mutant: Mutant, tests: Sequence[str], project: Path) -> bool:
    """Whether all tests pass with the mutant in the copy at `project`; the copy is as before afterwards."""
    path = project / mutant.file
    original = path.read_text("utf-8")
    path.write_text(mutant.applied(original), "utf-8")
    try:
        return run_tests(tests, project)
    finally:
        path.write_text(original, "utf-8")


def run_tests(tests: Sequence[str], project: Path) -> bool:
    """Whether all tests pass in the copy. Random examples are the same in each run, so that the answer is."""
    environment = {**os.environ, "CI": "true", "PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    if done.returncode not in (0, 1):
        raise RuntimeError(f"pytest ended with status {done.returncode}: {done.stdout.decode()[-2000:]}")
    return done.returncode == 0


def judge(mutants: Iterable[Mutant], groups: dict[str, list[str]], project: Path) -> int:
    """Tries each mutant and prints what became of it; returns the number of wrong entries."""
    killed = equivalent = wrong = 0
    for mutant in mutants:
        lives = survives(mutant, groups[mutant.tests], project)
        if lives and mutant.equivalent:
            equivalent += 1
            print(f"equivalent  {mutant.name}: {mutant.equivalent}", flush=True)
        elif lives or mutant.equivalent:
            wrong += 1
            print(f"{'SURVIVED' if lives else 'KILLED, though called equivalent'}  {mutant.name}", flush=True)
        else:
            killed += 1
            print(f"killed      {mutant.name}", flush=True)
    print(f"{killed} killed, {equivalent} equivalent, {wrong} wrong")
    return wrong


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", help="only the mutants of this group")
    parser.add_argument("--name", default="", help="only mutants whose name has these words")
    arguments = parser.parse_args()
    listed = read_mutants()
    chosen = [m for m in listed.mutant if arguments.tests in (None, m.tests) and arguments.name in m.name]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        project = Path(folder)
        copy_project(project)
        for group in dict.fromkeys(m.tests for m in chosen):
            if not run_tests(listed.groups[group], project):
                print(f"The tests of {group} fail without any mutant.")
                return 1
        return 1 if judge(chosen, listed.groups, project) else 0


if __name__ == "__main__":
    raise SystemExit(main())
