"""A report as a software verification witness 2.0 [WITNESS]: of a confirmed violation in a run from `main`, the results that the
functions outside of the program had, and the place; of a proved program, the invariants of its loops.

The text is JSON, which is YAML. A validator follows a run by the results alone; branches follow from them.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from analysis.c.functions import known
from analysis.cli.json_format import encode_json
from analysis.cli.witness.witness_format import RULES, WitnessError, is_whole
from analysis.interpreter.library.reading import INDICATORS
from analysis.model.distribution import everproof_version
from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import Limits
from analysis.model.places import Place
from analysis.model.report import Finding, Report
from analysis.model.run_inputs import RunInput, RunStart
from analysis.model.spelling import display_name

_LOOP = re.compile(r"\b(?:while|for|do)\b")
_NUMBERS = frozenset({"number", "descriptor", "outside"})  # results in the tables of library functions that are no pointers
_EPOCH = "SOURCE_DATE_EPOCH"  # https://reproducible-builds.org/specs/source-date-epoch


class ProvedLoop(NamedTuple):
    """What a proof says of a loop: a place in its head, and what holds there, in C."""

    function: str
    place: Place
    text: str


class WrittenWitness(NamedTuple):
    """The text of a witness, and whether it is of a proof that says nothing of loops."""

    text: str
    without_invariants: bool


def written_witness(report: Report, data_model: str, loops: Callable[[str], Iterable[ProvedLoop]]) -> WrittenWitness:
    """The witness of a report; `loops` are those of which the proof of a rule says something. Raises WitnessError where there is
    no witness."""
    files = tuple(file.path for file in report.files)
    for finding in report.findings:
        if finding.status == "confirmed" and finding.rule in RULES and finding.run is not None and finding.run.entry == "main":
            segments = _segments(finding, finding.run)
            return WrittenWitness(_text("violation_sequence", segments, finding.rule, files, data_model), False)
    rule = next((name for name in RULES if is_whole(name) and report.verdict == "safe" and _is_proved(report, name)), None)
    if rule is None:
        whole = ", ".join(name for name in RULES if is_whole(name))
        raise WitnessError(
            f"no confirmed run from main violates a rule that witnesses can be about, and none of {whole} is proved"
            " for the whole program"
        )
    invariants = [_invariant(loop) for loop in loops(rule)]
    return WrittenWitness(_text("invariant_set", invariants, rule, files, data_model), not invariants)


def _is_proved(report: Report, rule: str) -> bool:
    verdicts = [function.verdicts[rule] for function in report.functions if rule in function.verdicts]
    return bool(verdicts) and all(one.verdict == "safe" or one.no_place or one.unreached for one in verdicts)


def _text(kind: str, content: Any, rule: str, files: Sequence[str], data_model: str) -> str:
    hashes = {file: hashlib.sha256(_read(file)).hexdigest() for file in files}
    task = {
        "input_files": list(files),
        "input_file_hashes": hashes,
        "specification": f"CHECK( init(main()), LTL({RULES[rule]}) )",
        "data_model": data_model,
        "language": "C",
    }
    body = encode_json([kind, task, content])
    metadata = {
        "format_version": "2.0",
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, body)),
        "creation_time": _now(),
        "producer": {"name": "Everproof", "version": everproof_version()},
        "task": task,
    }
    return encode_json([{"entry_type": kind, "metadata": metadata, "content": content}])


def _now() -> str:
    given = os.environ.get(_EPOCH)
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(given or time.time())))
    except (ValueError, OverflowError, OSError):
        raise WitnessError(f"{_EPOCH} is {given!r}, which is no time in seconds") from None


def _read(path: str) -> bytes:
    try:
        return read_file(path, Limits().source_bytes)
    except UnreadableError as error:
        raise WitnessError(f"{path} cannot be read: {error.reason}") from None


def _segments(finding: Finding, run: RunStart) -> list[dict[str, Any]]:
    waypoints = [*_results(run), _waypoint("target", finding.place, finding.function, None)]
    return [{"segment": [{"waypoint": one}]} for one in waypoints]


def _results(run: RunStart) -> Iterator[dict[str, Any]]:
    """The results of functions outside of the program, at the closing parenthesis of each call."""
    for one, asked in zip(run.inputs, run.asked_at, strict=True):
        if one.kind == "result" and one.fresh is None and not one.object and not one.is_float and asked is not None:
            function, place = asked
            constraint = {"value": f"\\result {_said(one)}", "format": "acsl_expression"}
            yield _waypoint("function_return", place, display_name(function), constraint, at_end=True)


def _said(given: RunInput) -> str:
    """What a result is. Of pointers, and of what asks about the state of a stream, only whether there is one was asked."""
    function = known(given.name)
    is_whether = given.name in INDICATORS or (function is not None and function.result not in _NUMBERS)
    return "!= 0" if is_whether and given.number else f"== {given.number}"


def _waypoint(
    kind: str, place: Place, function: str, constraint: dict[str, str] | None, *, at_end: bool = False
) -> dict[str, Any]:
    found = {"type": kind, "action": "follow", "location": _location(place, function, at_end=at_end)}
    return found if constraint is None else {**found, "constraint": constraint}


def _location(place: Place, function: str, *, at_end: bool) -> dict[str, Any]:
    at = place.range.end if at_end else place.range.start
    column = max(at.column - 1, 1) if at_end else at.column
    return {"file_name": place.path, "line": at.line, "column": column, "function": function}


def _invariant(loop: ProvedLoop) -> dict[str, Any]:
    location = _location(_keyword(loop.place), loop.function, at_end=False)
    return {"invariant": {"type": "loop_invariant", "location": location, "value": loop.text, "format": "c_expression"}}


def _keyword(place: Place) -> Place:
    """The place of the word that begins a loop, given one in its head; the place itself where there is none above it."""
    lines = _read(place.path).decode("utf-8", "replace").split("\n")
    for line in range(place.range.start.line, max(place.range.start.line - 5, 0), -1):
        text = lines[line - 1] if line <= len(lines) else ""
        before = text if line < place.range.start.line else text[: place.range.start.column + 5]
        found = list(_LOOP.finditer(before))
        if found:
            start = type(place.range.start)(line, found[-1].start() + 1)
            return Place(place.path, type(place.range)(start, start))
    return place
