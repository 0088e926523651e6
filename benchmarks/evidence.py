"""Measures all that the docs say of Everproof, in pieces that go on where they stopped: `make evidence`.

    python -m benchmarks.evidence [--again] [--list] [NAME ...]

The pieces are in `evidence.toml`: each is a command of `benchmarks`. What it prints is kept as a record (`evidence_records`) with
the date, the version, the machine and digests of the inputs. A piece whose record is of the present code is not measured again,
unless `--again` asks for it. A piece that fails, or during which the code is changed, leaves the record that was there, and the
others go on. Use a quiet machine: some pieces measure seconds, and together they take a night.

`{corpus}` in a command is the folder that EVERPROOF_CORPUS names, `{cbmc}` the verifier CBMC. A piece that needs what is not
there is left out, with a sentence. `python -m benchmarks.evidence_pages` writes what was measured into the docs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import msgspec

from benchmarks.evidence_records import (
    RECORDS,
    ROOT,
    Record,
    code_digest,
    commit,
    folder_digest,
    machine,
    read_record,
    write_record,
)

PIECES = Path(__file__).with_name("evidence.toml")
_CRASHED = 70  # the status of a command that ends by an exception: with Python's own, 1, it would count as measured
_RUN = f"""\
import runpy, sys, traceback
del sys.argv[0]
try:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
except Exception:
    traceback.print_exc()
    sys.exit({_CRASHED})
"""


class Piece(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A measurement: the words after `python -m`, and what it is about."""

    name: str
    about: str
    command: str

    def words(self, places: Mapping[str, str]) -> list[str]:
        """The command's words, with the places of what it needs."""
        return [places.get(word.strip("{}"), word) if word[:1] == "{" else word for word in self.command.split()]

    @property
    def needs(self) -> list[str]:
        """The names of what has to be there."""
        return [word.strip("{}") for word in self.command.split() if word[:1] == "{"]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. The exit status is 1 if a piece has failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evidence", description="Measure what the docs say.")
    parser.add_argument("names", nargs="*", help="only these pieces")
    parser.add_argument("--again", action="store_true", help="also what was measured with this code before")
    parser.add_argument("--list", action="store_true", help="only say which pieces there are")
    given = parser.parse_args(arguments)
    pieces = read_pieces()
    unknown = sorted(set(given.names) - {piece.name for piece in pieces})
    if unknown:
        print(f"error: there is no piece {', '.join(unknown)}; --list says which there are", file=sys.stderr)
        return 2
    failed = 0
    for piece in (piece for piece in pieces if piece.name in given.names or not given.names):
        if given.list:
            print(f"{piece.name}: {piece.about}: python -m {piece.command}")
        else:
            failed += not measured(piece, given.again)
    return int(failed > 0)


def read_pieces(path: Path = PIECES) -> list[Piece]:
    """The pieces, in their order. Raises msgspec.ValidationError."""
    return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8"))["piece"], list[Piece])


def measured(piece: Piece, again: bool = False, folder: Path = RECORDS) -> bool:
    """Measures a piece, if it is not measured yet. False if that failed."""
    places = {"corpus": os.environ.get("EVERPROOF_CORPUS", ""), "cbmc": shutil.which("cbmc") or ""}
    missing = [need for need in piece.needs if not places.get(need)]
    if missing:
        print(f"{piece.name}: left out, it needs {' and '.join(missing)}", file=sys.stderr, flush=True)
        return True
    inputs = {need: folder_digest(Path(places[need])) for need in piece.needs if Path(places[need]).is_dir()}
    kept, tool, checked_out = read_record(piece.name, folder), code_digest(), commit()
    if kept is not None and not again and (kept.command, kept.tool, kept.inputs) == (piece.command, tool, inputs):
        print(f"{piece.name}: measured on {kept.date} with this code", file=sys.stderr, flush=True)
        return True
    print(f"{piece.name}: python -m {piece.command}", file=sys.stderr, flush=True)
    load, began = os.getloadavg()[0], time.monotonic()
    words = [sys.executable, "-c", _RUN, *piece.words(places)]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout.strip():
        print(f"{piece.name}: failed with status {done.returncode}; nothing is kept of it", file=sys.stderr, flush=True)
        return False
    if code_digest() != tool:
        print(f"{piece.name}: the code was changed meanwhile; nothing is kept of it", file=sys.stderr, flush=True)
        return False
    record = Record(
        command=piece.command,
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        commit=checked_out,
        version=version("everproof"),
        tool=tool,
        inputs=inputs,
        machine=machine((load, os.getloadavg()[0])),
        seconds=round(time.monotonic() - began, 1),
        status=done.returncode,
        printed=done.stdout,
    )
    write_record(piece.name, record, folder)
    return True


if __name__ == "__main__":
    raise SystemExit(main())
