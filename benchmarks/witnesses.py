"""Witnesses that Everproof writes, validated by another verifier: CBMC.

    python -m benchmarks.witnesses --cbmc CBMC [--corpus FOLDER] [--timeout S] [--id NAME ...] [--show]

Each program of the corpus (see `benchmarks.corpus`; EVERPROOF_CORPUS) with error calls is checked by `everproof check --witness`.
What the witness says and the program become one C program (`benchmarks.witness_programs`), and CBMC is asked of that. goto-cc and
goto-instrument stand beside it.

- A violation witness is *accepted* if CBMC reaches its target in a run that returns what it says.
- A correctness witness is *accepted* if CBMC proves the program and that each invariant holds: by induction, with the invariants
  as contracts of their loops and all other loops unwound to their end; or by unwinding all loops.
- *Refuted*: CBMC finds a run that violates an invariant or the property, or proves that no run of a violation witness gets to the
  target. *Not decided*: neither within the bounds and the seconds of the processor that CBMC has for each question.

The exit status is 1 if a witness is refuted.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from analysis.c.functions import known
from analysis.model.verifiers import is_input
from analysis.rules.plain_yaml import read_plain_yaml
from benchmarks import cbmc
from benchmarks.corpus import Row, rows, text_of
from benchmarks.processor_limit import limited
from benchmarks.verdicts import command
from benchmarks.witness_programs import INVARIANT, TARGET, UntranslatedError, called, invariant, violating

Said = Literal["accepted", "refuted", "not decided", "not translated"]
Ask = Callable[[str, int, str, bool], cbmc.Said]
"""Asks CBMC of a text within a bound: which checks count (all if empty), and whether the contracts of loops do."""
_BOUNDS = (4, 20, 200, 2000)
_PATIENCE = 20  # so many seconds by the clock for one of the processor


class Validated(NamedTuple):
    """What became of the witness of a program: of which kind it is, what was said of it, and how or why."""

    kind: str
    invariants: int
    said: Said
    how: str


def validated(text: str, entry: Mapping[str, Any], ask: Ask, macros: frozenset[str] = frozenset()) -> Validated:
    """What CBMC says of a witness. `macros`: the names of the program's macros."""
    is_violation = entry["entry_type"] == "violation_sequence"
    stated = 0 if is_violation else len(entry["content"])
    kind = "violation" if is_violation else "correctness, with invariants" if stated else "correctness, without"
    try:
        said, how = _reached(text, entry, ask, macros) if is_violation else _proved(text, entry, ask)
    except UntranslatedError as error:
        said, how = "not translated", str(error)
    return Validated(kind, stated, said, how)


def _reached(text: str, entry: Mapping[str, Any], ask: Ask, macros: frozenset[str]) -> tuple[Said, str]:
    names, why = called(text, entry), "not reached within the bounds"
    if not macros.isdisjoint(names):
        raise UntranslatedError("a result is that of a call within a macro, which has no place of its own")
    put = violating(text, entry)
    for bound in _BOUNDS:
        found = ask(put, bound, TARGET, False)
        if found.answer == "violated":
            return "accepted", "a run gets to the target"
        if found.answer == "complete":
            own = next((name for name in names if name.startswith("__builtin_")), None)
            return ("not decided", f"CBMC computes `{own}`") if own else ("refuted", "no run gets to the target")
        if found.answer == "unknown":
            why = found.why
            break
    return "not decided", why


def _proved(text: str, entry: Mapping[str, Any], ask: Ask) -> tuple[Said, str]:
    if entry["content"] and ask(invariant(text, entry, "contract"), _BOUNDS[0], "", True).answer == "complete":
        return "accepted", "by induction"
    checked, why = invariant(text, entry, "check"), "no bound is enough"
    for bound in _BOUNDS:
        found = ask(checked, bound, "", False)
        if found.answer == "violated":
            return _refuted(text, found)
        if found.answer == "complete":
            return "accepted", "by unwinding"
        if found.answer == "unknown":
            why = found.why
            break
    if ask(invariant(text, entry, "contract", everywhere=True), _BOUNDS[0], "", True).answer == "complete":
        return "accepted", "by induction; of loops that it says nothing of, nothing is needed"
    return "not decided", why


def _refuted(text: str, found: cbmc.Said) -> tuple[Said, str]:
    """A violation counts unless CBMC knows less: functions of the library, and that a function outside of the program returns no
    pointer to a block which nothing outside knows."""
    for name in sorted(found.unread):
        if known(name) is not None and not is_input(name):
            return "not decided", f"CBMC does not know `{name}`"
        if re.search(rf"\*\s*{name}\s*\(", text):
            return "not decided", f"to CBMC, `{name}` may return a pointer to any block"
    return "refuted", "an invariant" if found.why == INVARIANT else "the property"


def witness_of(row: Row, folder: Path, more: Sequence[str]) -> tuple[str, Any]:
    """The text of a row's program and the entry of the witness that the command writes about it; None if it writes none."""
    words = command(row, "auto", [*more, "--witness", "witness.yml"], folder)
    root = str(Path(__file__).resolve().parents[1])
    subprocess.run(words, cwd=folder, env={**os.environ, "PYTHONPATH": root}, capture_output=True, check=False)
    text, file = text_of(row), folder / "witness.yml"
    text = row.path.read_text(errors="replace") if text is None else text
    entries: Any = read_plain_yaml(file.read_bytes()) if file.is_file() else [None]
    return text, entries[0]


def asking(row: Row, words: Sequence[str], seconds: float) -> Ask:
    """How CBMC is asked of texts in the place of a row's program."""
    ended = limited(words, seconds)
    beside = [[str(Path(words[-1]).with_name(name))] for name in ("goto-cc", "goto-instrument")]

    def ask(text: str, bound: int, only: str, contracts: bool) -> cbmc.Said:
        question = cbmc.Question((row.path, *row.more), text, row.flags.include_dirs, row.flags.defines, row.model)
        return cbmc.ask(ended, question, bound, _PATIENCE * seconds, only, beside if contracts else ())

    return ask


def macros_of(row: Row, text: str) -> frozenset[str]:
    """The macros that a program in the place of a row's defines."""
    question = cbmc.Question((row.path,), text, row.flags.include_dirs, row.flags.defines, row.model)
    listed = cbmc.preprocessed(row.path, question, text, "-dM") or ""
    return frozenset(re.findall(r"^#define (\w+)", listed, re.MULTILINE))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.witnesses", description="Our witnesses, validated by CBMC.")
    parser.add_argument("--corpus", type=Path, default=os.environ.get("EVERPROOF_CORPUS"), help="the folder with index.csv")
    parser.add_argument("--cbmc", required=True, help="the command of CBMC")
    parser.add_argument("--timeout", type=float, help="of `everproof check` (default: none, so that load changes nothing)")
    parser.add_argument("--seconds", type=float, default=20.0, help="of the processor, for a question to CBMC (default: 20)")
    parser.add_argument("--id", action="append", default=[], help="only this program; repeatable")
    parser.add_argument("--show", action="store_true", help="each program with what became of it")
    given = parser.parse_args(arguments)
    if given.corpus is None or not (Path(given.corpus) / "index.csv").is_file():
        parser.error("there is no corpus: name the folder with index.csv by --corpus or EVERPROOF_CORPUS")
    chosen = [row for row in rows(Path(given.corpus)) if row.rules == {"assertion"} and (not given.id or row.id in given.id)]
    more = ["--timeout", str(given.timeout)] if given.timeout else []
    found: list[Validated] = []
    for row in chosen:
        with tempfile.TemporaryDirectory() as folder:
            text, entry = witness_of(row, Path(folder), more)
        if entry is not None:
            found.append(validated(text, entry, asking(row, [given.cbmc], given.seconds), macros_of(row, text)))
        if given.show:
            print(f"{row.id} {row.path.name:50} {found[-1] if entry is not None else 'no witness'}", file=sys.stderr, flush=True)
    print(f"CBMC {cbmc.version((given.cbmc,))}. {len(chosen)} programs with error calls, {len(found)} of them with a witness.\n")
    print("\n".join(table(found)))
    return int(any(one.said == "refuted" for one in found))


def table(found: Sequence[Validated]) -> Iterator[str]:
    """How many witnesses of each kind were accepted and how, and what the others are."""
    yield "| witness | programs | accepted | refuted | not decided | not translated | invariants |"
    yield "|---|---|---|---|---|---|---|"
    for kind in ("violation", "correctness, with invariants", "correctness, without"):
        of = [one for one in found if one.kind == kind]
        counts = Counter(one.said for one in of)
        cells = [counts[said] for said in ("accepted", "refuted", "not decided", "not translated")]
        yield f"| {kind} | {len(of)} | {' | '.join(map(str, cells))} | {sum(one.invariants for one in of)} |"
    yield ""
    yield "| said | how, or why | programs |"
    yield "|---|---|---|"
    for (said, how), count in sorted(
        Counter((one.said, one.how) for one in found).items(), key=lambda item: (item[0][0], -item[1])
    ):
        yield f"| {said} | {how} | {count} |"


if __name__ == "__main__":
    raise SystemExit(main())
