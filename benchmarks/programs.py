"""Fetches, verifies and prepares the real programs of the benchmarks: `python -m benchmarks.programs [NAME ...]`.

Each ends in `benchmarks/.cache/NAME/` with a `compile_commands.json` whose every command was tried (`-fsyntax-only`).
Sendmail also gets `compile_commands.libraries.json`: the same program together with its libsm and libsmutil.

Only the upstream tarballs are used, without Debian's patches. Flags are those of the programs' own makefiles for
Linux; optimisation is left out, since it makes the C library's headers add inline bodies to every file.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sources import FetchError, SourcePackage, fetch

CACHE = Path(__file__).resolve().parent / ".cache"

Commands = list[dict[str, object]]


@dataclass(frozen=True)
class Program:
    """A program to measure on: where it comes from and how it becomes compile commands, by output file name."""

    package: SourcePackage
    needs: tuple[str, ...]
    prepare: Callable[[Path], dict[str, Commands]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.programs", description="Fetch the benchmark programs.")
    parser.add_argument("names", nargs="*", help=f"which ones: {', '.join(PROGRAMS)} (default: all)")
    names = parser.parse_args(arguments).names or list(PROGRAMS)
    for name in names:
        if name not in PROGRAMS:
            parser.error(f"no program {name!r}; there are {', '.join(PROGRAMS)}")
    try:
        for name in names:
            print(f"{name}: {provide(name)}")
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def provide(name: str) -> Path:
    """The compile_commands.json of a program, made if it is not there yet. Raises FetchError."""
    ready = CACHE / name / "compile_commands.json"
    if not ready.is_file() or not _is_of_this_folder(ready):
        _make(name, PROGRAMS[name])
    return ready


def _is_of_this_folder(ready: Path) -> bool:
    """Whether the commands name files beside them. Those of a copied cache name the files of the other cache, which are
    not part of the program that is opened here."""
    return all(Path(entry["directory"]).is_relative_to(ready.parent) for entry in json.loads(ready.read_text(encoding="utf-8")))


def _make(name: str, program: Program) -> None:
    missing = [tool for tool in (*program.needs, "cc") if shutil.which(tool) is None]
    if missing:
        raise FetchError(f"{name} needs {', '.join(missing)}, not found on PATH. On Debian: apt-get install bison gcc")
    tarball = fetch(program.package, CACHE / "downloads")
    root = CACHE / name
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    with tarfile.open(tarball) as archive:
        archive.extractall(root / "source", filter="data")
    (top,) = (root / "source").iterdir()
    written = program.prepare(top)
    for commands in written.values():
        _try_each(name, commands)
    # compile_commands.json comes last: its presence means that the program is complete
    for file_name in sorted(written, reverse=True):
        (root / file_name).write_text(json.dumps(written[file_name], indent=1) + "\n", encoding="utf-8")


def _try_each(name: str, commands: Commands) -> None:
    for entry in commands:
        arguments = [str(argument) for argument in _list(entry["arguments"])]
        tried = subprocess.run(
            [*arguments[:1], "-fsyntax-only", "-w", *arguments[1:]],
            cwd=str(entry["directory"]),
            capture_output=True,
            text=True,
            check=False,
        )
        if tried.returncode != 0:
            first = next((line for line in tried.stderr.splitlines() if "error" in line), tried.stderr[:200])
            raise FetchError(f"{name}: {entry['file']} does not compile: {first} (on Debian: apt-get install libdb-dev)")


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def _commands(folder: Path, names: Sequence[str], flags: Sequence[str]) -> Commands:
    return [{"directory": str(folder), "file": name, "arguments": ["cc", *flags, "-c", name]} for name in names]


def _prepare_spin(top: Path) -> dict[str, Commands]:
    folder = top / "Src"
    # what its makefile does for spin.o, with bison in the role of yacc
    made = subprocess.run(["bison", "-y", "-d", "spin.y"], cwd=folder, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise FetchError(f"bison does not accept spin.y: {made.stderr.strip()[:200]}")
    names = sorted(path.name for path in folder.glob("*.c"))
    return {"compile_commands.json": _commands(folder, names, ["-DNXT", "-Wall", "-pedantic"])}


def _prepare_sendmail(top: Path) -> dict[str, Commands]:
    # what its Build script does: the header of the operating system becomes sm_os.h in each object folder
    header = top / "include" / "sm" / "os" / "sm_os_linux.h"
    parts: dict[str, Commands] = {}
    for part in ("sendmail", "libsm", "libsmutil"):
        folder = top / part
        shutil.copyfile(header, folder / "sm_os.h")
        flags = ["-I.", "-I../sendmail", "-I../include", "-DNEWDB", "-DHASFLOCK=1"]
        if part == "libsmutil":
            flags.append("-DNOT_SENDMAIL")
        parts[part] = _commands(folder, _sources_of(folder / "Makefile.m4"), flags)
    everything = [entry for part in parts.values() for entry in part]
    return {"compile_commands.json": parts["sendmail"], "compile_commands.libraries.json": everything}


def _sources_of(makefile: Path) -> list[str]:
    """The C files of a product of sendmail's build, from its `bldSOURCES` definition."""
    text = makefile.read_text(encoding="utf-8", errors="replace")
    found = re.search(r"define\(`bldSOURCES', `([^']*)'", text)
    if found is None:
        raise FetchError(f"no list of sources in {makefile}")
    return sorted(name for name in found.group(1).split() if name.endswith(".c"))


PROGRAMS = {
    "spin": Program(
        SourcePackage(
            "spin",
            "6.5.2+dfsg-1",
            "spin_6.5.2+dfsg.orig.tar.xz",
            "5f54157828908fdddc0175721628b51ba91f64ae725b2d4cf81dba2eee38930a",
            "spin_6.5.2+dfsg-1.dsc",
            "0d0a6e8b800a01e3edc476b2035fa891168080a7031949cc8f1c6ba29ea442bd",
        ),
        ("bison",),
        _prepare_spin,
    ),
    "sendmail": Program(
        SourcePackage(
            "sendmail",
            "8.17.1.9-2+deb12u2",
            "sendmail_8.17.1.9.orig.tar.gz",
            "bbe09120daa48e81f4b283dd54d8e2003fea68e525f218a9fa1126ccc977eed7",
            "sendmail_8.17.1.9-2+deb12u2.dsc",
            "26527eb89e9168245ec3725848af51113b0ba78569417c147c6865310fb4cc64",
        ),
        (),
        _prepare_sendmail,
    ),
}


if __name__ == "__main__":
    sys.exit(main())
