"""Thirty small packages of Debian 12, checked in one batch by provers of a Dask cluster on this machine.

    python -m benchmarks.packages [--workers 2] [--budget edit] [--timeout 120] [NAME ...]

The upstream tarballs are fetched by name and digest. A project's own `configure` is run where there is one, and the compile
commands are read off `make -n`; where that gives none, the folder is checked as it was unpacked. Then `everproof batch` checks
all of them with the workers of a cluster, and its table is printed, with what it took in all. What an earlier run has done is
not done again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from distributed import LocalCluster

from benchmarks import real_sources
from benchmarks.debian_packages import PACKAGES
from benchmarks.programs import CACHE
from benchmarks.real_sources import PROJECTS, Project
from benchmarks.sources import FetchError, fetch, unpacked

_FOLDER = CACHE / "packages"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.packages", description="Check packages in a batch.")
    parser.add_argument("names", nargs="*", help=f"which ones: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--budget", default="edit")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each program (default: 120)")
    given = parser.parse_args(arguments)
    try:
        programs = [provide(name) for name in given.names or NAMES]
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    here = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(n_workers=given.workers, threads_per_worker=1, **here) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        options = ["--budget", given.budget, "--timeout", f"{given.timeout:g}", "--scheduler", address, "--jobs", "1"]
        began = time.monotonic()
        command = [sys.executable, "-m", "analysis.cli", "batch", "--into", str(_FOLDER / "reports"), *options]
        done = subprocess.run([*command, *map(str, programs)], stdout=subprocess.PIPE, text=True, cwd=_FOLDER, check=False)
        print(done.stdout.replace("/compile_commands.json", ""))
        print(f"{len(programs)} programs in {time.monotonic() - began:.0f} s, exit code {done.returncode}")
    return 0


def provide(name: str) -> Path:
    """The program of a package, relative to the folder of all: its compile_commands.json, or the folder of its sources if there
    is none. Raises FetchError."""
    place = _FOLDER / name
    ready = place / "compile_commands.json"
    if not place.is_dir():
        project = PROJECTS.get(name)
        top = unpacked(fetch(PACKAGES[name] if project is None else project.package, CACHE / "downloads"), place)
        if project is None:
            steps = (("./configure",),) if (top / "configure").is_file() else ()
            project = Project(PACKAGES[name], configure=steps)
        try:
            real_sources.write_commands(name, project, top, ready)
        except FetchError as error:
            print(f"{name}: checked as a folder: {error}", file=sys.stderr)
    return (ready if ready.is_file() else place).relative_to(_FOLDER)


NAMES = tuple(sorted((*PACKAGES, "bzip2", "hiredis", "jansson", "libyaml", "tinyproxy")))
"""The packages, those of `benchmarks.real_sources` among them."""


if __name__ == "__main__":
    raise SystemExit(main())
