"""Defects that public projects have mended: found before the fix, gone after it? `python -m benchmarks.mended [NAME ...]`.

Each is a patch that Debian 12 carries for one of its packages. The pairs were chosen by what CVEs and patches say, among
defects of kinds that Everproof looks for, before anything was checked; nothing was tuned to them. The tarballs are fetched
by name and digest. *Before* is the upstream release with the patches that come earlier in Debian's series, *after* has this
one as well. The files that the patch concerns, and those that define what these call, are checked as one program, with the
default rules and all findings shown. A defect counts as found if a finding of its kind is there before and not after. By
default the automaton engine is asked alone; `--engine auto` has provers decide what it finds. Of a null pointer that callers
of a library pass, there is no finding. There the contracts of `everproof contracts` are compared: what the function requires
of its callers before and does not any more after.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.model.digest import digest_text
from analysis.session.keeping.surroundings import tool_digest
from benchmarks.mended_defects import PACKAGES, PAIRS, Pair
from benchmarks.processor_limit import limited
from benchmarks.programs import CACHE
from benchmarks.sources import FetchError, fetch, unpacked, verify

_FOLDER = CACHE / "mended"
_SECONDS = 600  # of the processor, for one check of a program, or for its contracts


@dataclass(frozen=True)
class Judged:
    """What was found of a pair: the findings of its kind before, in other places after, and those that went away."""

    before: int
    after: int
    gone: tuple[dict[str, Any], ...]
    failure: str = ""
    required: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """In a word."""
        if self.failure:
            return f"not checked: {self.failure}"
        if not self.gone:
            return "required of callers, then not" if self.required else "missed"
        return "found, gone" if any(one["shown"] for one in self.gone) else "found (held back), gone"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mended", description="Check defects before and after their fix.")
    parser.add_argument("names", nargs="*", help="only these defects")
    parser.add_argument("--engine", default="automaton", help="as of `everproof check` (default: automaton)")
    given = parser.parse_args(arguments)
    chosen = [pair for pair in PAIRS if pair.name in given.names or not given.names]
    print("| defect | package | kind | result | where |")
    print("|---|---|---|---|---|")
    judged = []
    for pair in chosen:
        one = judge(pair, given.engine)
        judged.append(one)
        places = {f"{gone['rule']} in `{gone['function']}`" for gone in one.gone}
        where = "; ".join(sorted(places) or [f"`{needed}`" for needed in one.required[:3]])
        print(f"| {pair.name} | {PACKAGES[pair.package].package.tarball} | {pair.rules[0]} | {one.said} | {where} |", flush=True)
    found, required = sum(bool(one.gone) for one in judged), sum(bool(one.required) for one in judged)
    unchecked = sum(bool(one.failure) for one in judged)
    missed = len(judged) - found - required - unchecked
    said = f"{found} found before and gone after, {required} required of callers, {missed} missed"
    print(f"\n{len(judged)} defects: {said}{f', {unchecked} not checked' if unchecked else ''}.")
    return 0


def judge(pair: Pair, engine: str) -> Judged:
    """The findings of a pair, kept for this version of the tool."""
    kept = _FOLDER / "results" / f"{pair.name}.{engine}.json"
    version = digest_text(tool_digest(), pair.patch, *pair.files, *pair.rules)
    if kept.is_file() and (known := json.loads(kept.read_text(encoding="utf-8")))["tool"] == version:
        return Judged(known["before"], known["after"], tuple(known["gone"]), "", tuple(known["required"]))
    try:
        folders = provide(pair)
        before, after = (_findings(pair, folder, engine) for folder in folders)
        gone = _gone(before, after)
        required: list[str] = []
        if not gone and "null-dereference" in pair.rules:
            needed, left_needed = (_requirements(pair, folder) for folder in folders)
            required = sorted(needed - left_needed)
    except FetchError as error:
        return Judged(0, 0, (), str(error))
    kept.parent.mkdir(parents=True, exist_ok=True)
    said = {"tool": version, "before": len(before), "after": len(after), "gone": gone, "required": required}
    kept.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    return Judged(len(before), len(after), tuple(gone), "", tuple(required))


def _gone(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings that there were before, and are not any more."""
    left = Counter(map(_meaning, after))
    gone = []
    for one in before:
        left[_meaning(one)] -= 1
        if left[_meaning(one)] < 0:
            gone.append(one)
    return gone


def _meaning(finding: dict[str, Any]) -> tuple[str, ...]:
    """What a finding says, without its place: lines move."""
    return finding["rule"], finding["function"], finding["message"]


def provide(pair: Pair) -> tuple[Path, Path]:
    """The folders of the package before and after the patch. Raises FetchError."""
    patched, root = PACKAGES[pair.package], _FOLDER / pair.package
    tarball = fetch(patched.package, CACHE / "downloads")
    debian = CACHE / "downloads" / patched.debian
    verify(debian, patched.debian_sha256)
    if not (root / "ready").is_file():
        top = unpacked(tarball, root)
        for command in patched.prepare:
            _run(command, top)
        with tarfile.open(debian) as archive:
            archive.extractall(root, filter="data")
        (root / "ready").touch()
    (top,) = (root / "source").iterdir() if len(list((root / "source").iterdir())) == 1 else (root / "source",)
    series = [
        line.split()[0] for line in (root / "debian" / "patches" / "series").read_text("utf-8").splitlines() if line.split()
    ]
    earlier = [name for name in series[: series.index(pair.patch)] if not name.startswith("#")]
    before, after = root / pair.name / "before", root / pair.name / "after"
    shutil.rmtree(root / pair.name, ignore_errors=True)
    shutil.copytree(top, before, symlinks=True)
    for name in earlier:
        _apply(root / "debian" / "patches" / name, before)
    shutil.copytree(before, after, symlinks=True)
    _apply(root / "debian" / "patches" / pair.patch, after)
    return before, after


def _apply(patch: Path, folder: Path) -> None:
    """Changes C files as the patch says; parts of it that concern other files and do not fit are left out."""
    command = ["patch", "-p1", "--force", "--silent", "--no-backup-if-mismatch", "--reject-file=-", "-i", str(patch)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode > 1:
        raise FetchError(f"{patch.name} does not fit: {done.stdout.strip()[-200:]}")


def _requirements(pair: Pair, folder: Path) -> set[str]:
    """What the functions of the files require of their callers for no null pointer to be followed."""
    command = [sys.executable, "-m", "analysis.cli", "contracts", "--format", "json", *_flags(pair, folder), *pair.files]
    done = _limited(command, folder)
    if done.returncode != 0:
        raise FetchError(f"{pair.name}: {done.stderr.strip()[-200:]}")
    return {
        f"{one['function']}: {clause['formula']}"
        for one in json.loads(done.stdout)
        for clause in one["requires"]
        if clause["from"] == "null-dereference"
    }


def _flags(pair: Pair, folder: Path) -> list[str]:
    patched = PACKAGES[pair.package]
    return [*(f"-I{folder / include}" for include in patched.include), *(["-DHAVE_CONFIG_H=1"] if patched.prepare else [])]


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(CACHE.parents[1]), os.environ.get("PYTHONPATH", "")])}


def _findings(pair: Pair, folder: Path, engine: str) -> list[dict[str, Any]]:
    """The findings of the pair's kind in its files."""
    options = [
        "--store",
        "none",
        "--format",
        "json",
        "--engine",
        engine,
        "--jobs",
        "1",
        "--budget",
        "edit",
    ]
    command = [sys.executable, "-m", "analysis.cli", "check", *options, *_flags(pair, folder), *pair.files]
    done = _limited(command, folder)
    if done.returncode not in (0, 1):
        raise FetchError(f"{pair.name}: {done.stderr.strip()[-200:]}")
    report = json.loads(done.stdout)
    for message in report["messages"]:
        if "was not found" in message["text"]:
            print(f"{pair.name}: {message['text']}", file=sys.stderr)
    found = report["findings"]
    return [
        {name: one[name] for name in ("rule", "function", "message", "status", "shown", "score")}
        for one in found
        if one["rule"] in pair.rules
    ]


def _limited(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """What a command said, which is ended when it takes the processor for too long: load ends nothing. Raises FetchError if it
    was ended, by that or otherwise: then what it said says nothing."""
    words = limited(command, _SECONDS)
    done = subprocess.run(words, cwd=folder, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise FetchError(f"it took more than {_SECONDS} s of the processor")
    if done.returncode < 0:
        raise FetchError(f"it ended by signal {-done.returncode}")
    return done


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise FetchError(f"`{' '.join(command)}` failed in {folder.name}: {done.stderr.strip()[-200:]}")


if __name__ == "__main__":
    raise SystemExit(main())
