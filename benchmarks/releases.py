"""Checks ten successive releases of C libraries incrementally: `python -m benchmarks.releases [NAME ...]`, as Markdown.

The sources are those that Python packages ship in their source distributions, fetched with pip from the index that it is
configured for; digests are checked. The releases are the last ten, in order, in which these sources differ from the ones before.

`everproof revisions --compare` goes from the first to the last with IncrBack, and says whether any result differs from that of a
check from scratch: then the exit status is 4. Times of a version are what the reports say, in the chain of versions and in a
process of its own, each the median of some runs; below the table is what all of these took of the processor, which depends less
on what else the machine does. How many functions changed is counted by `analysis.cfa.revisions.delta`.
"""

from __future__ import annotations

import argparse
import json
import os
import posixpath
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from analysis.api import Checker
from analysis.cfa.revisions.delta import ProgramChange, Revision, program_change
from analysis.model.options import Options
from benchmarks.programs import CACHE
from benchmarks.sources import FetchError, verify

COMMAND = [sys.executable, "-m", "analysis.cli"]
HERE = Path(__file__).resolve().parent.parent
DIFFERENT = 4


@dataclass(frozen=True)
class Library:
    """A C library in a Python package: the folder of it in the source distributions, and the digests of these, by version. `more`
    are folders with other parts of it, all of which go into one folder.

    `left_out` are files that need more than the C library. `included` are C files that another one includes: they get another
    name, so that they are not files of the program of their own.
    """

    package: str
    folder: str
    releases: Mapping[str, str]
    left_out: frozenset[str] = frozenset()
    included: Mapping[str, str] = field(default_factory=dict)
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a command answered, and the seconds of the processor that it took, the compiler's included."""

    document: Any
    seconds: float


@dataclass(frozen=True)
class Measured:
    """A chain of versions. Seconds of the processor for all of it incrementally, and for all of its versions one by one."""

    steps: tuple[Step, ...]
    chain: float
    apart: float


@dataclass(frozen=True)
class Step:
    """From one release to the next. `differences` are those of the incremental check from one from scratch; times in ms."""

    old: str
    new: str
    change: ProgramChange
    functions: int
    reused: int
    recomputed: int
    from_scratch: str | None
    incremental: float
    scratch: float
    differences: tuple[str, ...]
    introduced: int
    fixed: int
    findings: int


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.releases", description="Check releases of C libraries.")
    parser.add_argument("names", nargs="*", help=f"which libraries: {', '.join(LIBRARIES)} (default: all)")
    parser.add_argument("--runs", type=int, default=3, help="of each check; times are medians (default: 3)")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in LIBRARIES]
    if unknown or given.runs < 1:
        parser.error(f"no library {unknown[0]!r}; there are {', '.join(LIBRARIES)}" if unknown else "--runs must be at least 1")
    differs = False
    try:
        for name in given.names or list(LIBRARIES):
            measured = measure(provide(name), given.runs)
            print(table(name, measured), flush=True)
            differs = differs or any(step.differences for step in measured.steps)
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return DIFFERENT if differs else 0


def provide(name: str, library: Library | None = None) -> list[Path]:
    """A folder for each release of a library, one of `LIBRARIES` or another, in order; fetched if it is not there yet. Raises
    FetchError."""
    library = library or LIBRARIES[name]
    folders = []
    for version, digest in library.releases.items():
        folder = CACHE / "releases" / name / version
        if not folder.is_dir():
            archive = _download(library.package, version, digest, CACHE / "downloads")
            partial = folder.with_name(f"{version}.partial")
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            unpack(archive, library, partial)
            partial.rename(folder)
        folders.append(folder)
    return folders


def _download(package: str, version: str, digest: str, downloads: Path) -> Path:
    """The verified source distribution of a release."""
    downloads.mkdir(parents=True, exist_ok=True)
    archive = downloads / f"{package}-{version}.tar.gz"
    if not archive.is_file():
        with tempfile.TemporaryDirectory() as folder:
            wanted = Path(folder, "wanted.txt")
            wanted.write_text(f"{package}=={version} --hash=sha256:{digest}\n", encoding="utf-8")
            options = ["--no-deps", "--no-binary", ":all:", "--require-hashes", "--dest", str(downloads), "-r", str(wanted)]
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", *options]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = " ".join(done.stderr.strip().splitlines()[-3:])
            raise FetchError(f"pip does not provide the source distribution of {package} {version}: {said}")
    verify(archive, digest)
    return archive


def unpack(archive: Path, library: Library, folder: Path) -> None:
    """Puts the library's C files and headers, and nothing else, into a folder. Raises FetchError if there are none."""
    with tarfile.open(archive) as members:
        for member in members:
            name = posixpath.basename(member.name)
            inside = posixpath.dirname(member.name.partition("/")[2]) in (library.folder, *library.more)
            if inside and member.isfile() and name.endswith((".c", ".h")) and name not in library.left_out:
                content = members.extractfile(member)
                assert content is not None
                text = content.read()
                for included, instead in library.included.items():
                    text = text.replace(b'#include "%s"' % included.encode(), b'#include "%s"' % instead.encode())
                (folder / library.included.get(name, name)).write_bytes(text)
    if not any(folder.glob("*.c")):
        raise FetchError(f"{archive} holds no C files in {library.folder}.")


def measure(folders: Sequence[Path], runs: int) -> Measured:
    """All that is measured on a chain of versions, which lie beside one another."""
    root, names = folders[0].parent, [folder.name for folder in folders]
    compared = ask(["revisions", *names, "--compare"], root).document
    chains = [ask(["revisions", *names], root) for _ in range(runs)]
    alone = {name: [ask(["check", name], root) for _ in range(runs)] for name in names}
    revisions = [read_revision(folder) for folder in folders]
    steps = []
    for at, (old, new) in enumerate(pairwise(names), 1):
        report, about = compared[at], compared[at]["revision"]
        if about["differences"] is None:
            raise FetchError(f"{new} was not compared with a check from scratch: there was not enough time.")
        steps.append(
            Step(
                old=old,
                new=new,
                change=program_change(revisions[at - 1], revisions[at]),
                functions=sum(file["functions"] for file in report["files"]),
                reused=report["work"]["configurations"]["reused"],
                recomputed=report["work"]["configurations"]["recomputed"],
                from_scratch=about["from_scratch"],
                incremental=statistics.median(chain.document[at]["time_ms"]["total"] for chain in chains),
                scratch=statistics.median(check.document["time_ms"]["total"] for check in alone[new]),
                differences=tuple(about["differences"]),
                introduced=len(about["introduced"]),
                fixed=len(about["fixed"]),
                findings=len(report["findings"]),
            )
        )
    seconds = [statistics.median(check.seconds for check in checks) for checks in alone.values()]
    return Measured(tuple(steps), statistics.median(chain.seconds for chain in chains), sum(seconds))


def ask(arguments: Sequence[str], folder: Path) -> Answer:
    """What a command of Everproof's answers as JSON, in a process of its own. Raises FetchError if it could not do it."""
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [*COMMAND, *arguments, "--store", "none", "--format", "json"]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, cwd=folder, env=os.environ | {"PYTHONPATH": path}, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode not in (0, 1, DIFFERENT):
            said = errors.read().decode(errors="replace").strip().splitlines()[-3:]
            raise FetchError(f"`everproof {arguments[0]}` exited with {process.returncode} in {folder}: {' '.join(said)}")
        return Answer(json.loads(output.read()), usage.ru_utime + usage.ru_stime)


def read_revision(folder: Path) -> Revision:
    """A version as `analysis.cfa.revisions.delta` takes it."""
    checker = Checker(Options())
    checker.open([str(folder)])
    view = checker.inspect()
    return Revision(view.program, view.places, view.unparsed, view.system)


def table(name: str, measured: Measured) -> str:
    """What was measured on a library, as Markdown."""
    titles = ["releases", "functions", "added", "deleted", "modified", "configurations reused", "recomputed"]
    titles += ["incremental, ms", "from scratch, ms", "differences", "findings introduced", "fixed", "then"]
    lines = [f"### {name}", "", f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    steps = measured.steps
    for step in steps:
        change = step.change
        cells = [f"{step.old} to {step.new}", step.functions, len(change.added), len(change.deleted), len(change.modified)]
        cells += [step.reused, step.recomputed, f"{step.incremental:.0f}", f"{step.scratch:.0f}", len(step.differences) or "none"]
        lines.append(f"| {' | '.join(map(str, [*cells, step.introduced, step.fixed, step.findings]))} |")
    took = f"{measured.chain:.0f} s of the processor; its versions one by one {measured.apart:.0f} s"
    lines += ["", f"The chain of {len(steps) + 1} versions took {took}."]
    apart = [f"{step.new}: {step.from_scratch}" for step in steps if step.from_scratch is not None]
    if apart:
        lines += ["", f"Not checked as an edit of the version before, because of its files: {'; '.join(apart)}."]
    lines += [f"\n**Differs from a check from scratch, {step.new}:** {text}" for step in steps for text in step.differences]
    return "\n".join(lines) + "\n"


LIBRARIES = {
    "hiredis": Library(
        package="hiredis",
        folder="vendor/hiredis",
        left_out=frozenset({"test.c", "ssl.c"}),
        included={"dict.c": "dict.inc"},
        releases={
            "0.1.2": "c44df954d9dcc9f57682bf8fabf172a112edf53ff35bb5ce8f8fff1b1985abb1",
            "0.1.6": "b6df262a0231d8172fe1941e589f04e51974b273209bae6d0d8e235daa3b6a35",
            "0.2.0": "ca958e13128e49674aa4a96f02746f5de5973f39b57297b84d59fd44d314d5b5",
            "0.3.0": "0c8cff472d579434c667e4c8243efe1a7f598b1f616f08d12c06770f8e4171c0",
            "2.0.0": "81d6d8e39695f2c37954d1011c0480ef7cf444d4e3ae24bc5e89ee5de360139a",
            "2.1.1": "21751e4b7737aaf7261a068758b22f7670155099592b28d8dde340bf6874313d",
            "2.3.2": "733e2456b68f3f126ddaf2cd500a33b25146c3676b97ea843665717bda0c5d43",
            "3.2.1": "5a5f64479bf04dd829fe7029fad0ea043eac4023abc6e946668cbbec3493a78d",
            "3.4.0": "da19331354433af6a2c54c21f2d70ba084933c0d7d2c43578ec5c5b446674ad5",
            "3.5.0": "c227592cc56b7df247abe4755c26723965be68972be2149fa441ac33d82131ba",
        },
    ),
    "lz4": Library(
        package="lz4",
        folder="lz4libs",
        releases={
            "0.9.2": "9f903552f891431b99cf785ec7056bfdeb7e6cbc6af70476a455099c402d1201",
            "0.10.1": "a0423290a6e89c1789525a7e9d344d877c7a97102cf5c0f99b2319ac560f1b3e",
            "0.12.0": "7d98158f9851c791187789d6e4410fde953c8c2b3b4dfff175ce02e479300ca8",
            "0.20.1": "54a28528cf264bfb24d7fa355a29535882edfeb19f4afa31c1d0a7b2e6eec6b1",
            "2.0.0": "151de89250a51df7928045e45d82636ec9115c29a4c1f1f7c7a56b7d06f4ab3e",
            "2.1.2": "ec265f7c3fc3df706e9579bde632ceeef9278858d7ae87c376a2954d11e9ea39",
            "2.1.10": "db4ac5a9b54d6d6b5bb0d6f9b77790f1460e2aeb37cd8ec76c96fe78aaf4a2a8",
            "2.2.1": "b666e2d04648f656b6af7d863bc7e50bd72bc00c5c569f89ead010c29c5facb4",
            "3.1.3": "081ef0a3b5941cb03127f314229a1c78bd70c9c220bb3f4dd80033e707feaa18",
            "4.3.2": "e1431d84a9cfb23e6773e72078ce8e65cad6745816d4cbf9ae67da5ea419acda",
        },
    ),
}


if __name__ == "__main__":
    sys.exit(main())
