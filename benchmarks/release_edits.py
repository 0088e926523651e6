"""From release to release of a C library, function by function: `python -m benchmarks.release_edits [NAME ...]`, as Markdown.

Whole releases nearly always add functions or change structures, and are then checked from scratch. Edits are smaller. So each
function that the next release has with another body, and with the same type, is put into the old release, one after the other:
as many versions, which `everproof revisions --compare` goes through. The exit status is 4 if any result differs from that of a
check from scratch. All else of the next release is left out, headers too, so that a function may name what is not there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from analysis.cfa.revisions.delta import Revision, program_change
from analysis.cfa.revisions.edge_delta import FunctionChange
from analysis.model.places import Place, Position, Range
from benchmarks.releases import DIFFERENT, LIBRARIES, ask, provide, read_revision
from benchmarks.sources import FetchError


@dataclass(frozen=True)
class Replacement:
    """The text of a function, from its name to its closing brace, in the place of [start, end) in a file of the release."""

    file: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Walk:
    """From a release to the next in `steps` edits. Configurations are summed up over the edits; times are medians in ms."""

    old: str
    new: str
    steps: int
    repaired: int
    reused: int
    recomputed: int
    incremental: float
    scratch: float
    differences: tuple[str, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.release_edits", description="Check releases by function.")
    parser.add_argument("names", nargs="*", help=f"which libraries: {', '.join(LIBRARIES)} (default: all)")
    parser.add_argument("--most", type=int, default=20, help="leave out releases that change more functions (default: 20)")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in LIBRARIES]
    if unknown or given.most < 1:
        parser.error(f"no library {unknown[0]!r}; there are {', '.join(LIBRARIES)}" if unknown else "--most must be at least 1")
    differs = False
    try:
        for name in given.names or list(LIBRARIES):
            walks = [walk for old, new in pairwise(provide(name)) if (walk := measure(old, new, given.most)) is not None]
            print(table(name, walks), flush=True)
            differs = differs or any(walk.differences for walk in walks)
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return DIFFERENT if differs else 0


def measure(old: Path, new: Path, most: int) -> Walk | None:
    """What is measured between two releases; None if no function can be replaced, or more than `most`. Raises FetchError."""
    replacements = edits(old, new)
    if not 0 < len(replacements) <= most:
        return None
    with tempfile.TemporaryDirectory() as folder:
        names = write_versions(old, replacements, Path(folder))
        first, *rest = ask(["revisions", *names, "--compare"], Path(folder)).document
    work = [report["work"]["configurations"] for report in rest]
    return Walk(
        old=old.name,
        new=new.name,
        steps=len(rest),
        repaired=sum(1 for count in work if count["reused"]),
        reused=sum(count["reused"] for count in work),
        recomputed=sum(count["recomputed"] for count in work),
        incremental=statistics.median(report["time_ms"]["total"] for report in rest),
        scratch=first["time_ms"]["total"],
        differences=tuple(text for report in rest for text in report["revision"]["differences"] or ()),
    )


def edits(old: Path, new: Path) -> list[Replacement]:
    """The functions that have another body in the next release, in the order of the old one."""
    before, after = read_revision(old), read_revision(new)
    found = (_replacement(change, before, after, old, new) for change in program_change(before, after).modified)
    return list(dict.fromkeys(edit for edit in found if edit is not None))  # a header's function is in several units


def _replacement(change: FunctionChange, before: Revision, after: Revision, old: Path, new: Path) -> Replacement | None:
    """None if the function has another type, or another file, or comes out of a macro."""
    here, there = _extent(change.old.name, before), _extent(change.new.name, after)
    if here is None or there is None or change.old.type != change.new.type:
        return None
    file = os.path.relpath(here.path, old)
    if file.startswith(os.pardir) or file != os.path.relpath(there.path, new):
        return None
    was, now = _read(Path(here.path)), _read(Path(there.path))
    text = now[_offset(now, there.range.start) : _offset(now, there.range.end)]
    return Replacement(file, _offset(was, here.range.start), _offset(was, here.range.end), text)


def _extent(function: str, revision: Revision) -> Place | None:
    """From the function's name in its definition to its closing brace."""
    name, end = revision.places.name_place(function), revision.places.end_place(function)
    if name.path != end.path or name.macro is not None or end.macro is not None:
        return None
    return Place(name.path, Range(name.range.start, end.range.end))


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


def _offset(text: str, position: Position) -> int:
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: position.line - 1]) + position.column - 1


def write_versions(old: Path, replacements: Sequence[Replacement], folder: Path) -> list[str]:
    """The release, and a version after each replacement, as folders; their names."""
    names = []
    for count in range(len(replacements) + 1):
        names.append(f"{old.name}-{count}")
        shutil.copytree(old, folder / names[-1])
        done = sorted(replacements[:count], key=lambda edit: -edit.start)
        for file in dict.fromkeys(edit.file for edit in done):
            text = _read(old / file)
            for edit in done:
                if edit.file == file:
                    text = text[: edit.start] + edit.text + text[edit.end :]
            (folder / names[-1] / file).write_bytes(text.encode("utf-8", "surrogateescape"))
    return names


def table(name: str, walks: Sequence[Walk]) -> str:
    """What was measured on a library, as Markdown."""
    titles = [
        "releases",
        "edits",
        "repaired",
        "configurations reused",
        "recomputed",
        "an edit, ms",
        "from scratch, ms",
        "differences",
    ]
    lines = [f"### {name}, function by function", "", f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for walk in walks:
        cells = [f"{walk.old} to {walk.new}", walk.steps, walk.repaired, walk.reused, walk.recomputed]
        cells += [f"{walk.incremental:.0f}", f"{walk.scratch:.0f}", len(walk.differences) or "none"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += [
        f"\n**Differs from a check from scratch, {walk.old} to {walk.new}:** {text}"
        for walk in walks
        for text in walk.differences
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
