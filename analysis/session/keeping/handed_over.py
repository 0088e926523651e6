"""What one machine hands over to another: what it found in programs, and proofs that can be checked again, as one file.

The file is data of whoever wrote it. It is a digest and packed MessagePack, decoded into the types below and no others, with all
its sizes bounded; each text of the program is named by the digest of its content, so that the file speaks of these texts,
wherever they lie. Paths are relative to the top of the workspace, and lead nowhere outside of it.

Nothing in it is believed. A report is shown as what was found elsewhere, until the checker has found it again: nothing in it is
proved or confirmed (`unbelieved`). A proof says only where the next one is looked for, and counts when its certificate is
accepted (`analysis.session.provers.asking.kept_texts`). Tests: tests/session/test_handed_over.py.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Sequence

import msgspec

from analysis.model.digest import digest_text
from analysis.model.distribution import everproof_version
from analysis.model.file_reading import UnreadableError, read_file, read_start
from analysis.model.limits import HANDED_OVER_BYTES, HANDED_OVER_UNPACKED, PROOF_BYTES
from analysis.model.places import Place
from analysis.model.report import (
    ELSEWHERE,
    FileReport,
    Finding,
    FunctionReport,
    Message,
    Report,
    RuleVerdict,
    Times,
    TraceStep,
    Work,
)

_MAGIC = b"everproof handed over 1\n"
_DIGEST = re.compile(r"[0-9a-f]{16,128}\Z")
_CONFIRMED = "a run confirmed it elsewhere, and that is being checked again"


class HandedOverError(Exception):
    """A file that is of no use; the text is a clause in lower case without a full stop."""


class HandedProgram(msgspec.Struct, frozen=True):
    """What was found in a program. `files` are the texts that it was found in: the digest of each by its path."""

    files: dict[str, str]
    report: Report


class HandedProof(msgspec.Struct, frozen=True):
    """A proof, by the key of the question that it answers; or, without one, the key that it is kept under."""

    key: str
    proof: bytes = b""
    at: str = ""


class HandedOver(msgspec.Struct, frozen=True):
    """All that is in a file. `everproof` is the version that wrote it."""

    everproof: str
    programs: tuple[HandedProgram, ...]
    proofs: tuple[HandedProof, ...]


_decoder = msgspec.msgpack.Decoder(HandedOver)


def packed(handed: HandedOver) -> bytes:
    """The bytes of the file; raises HandedOverError where they are too many."""
    try:
        data = msgspec.msgpack.encode(handed)
    except UnicodeEncodeError:
        raise HandedOverError("a name in it is no text") from None
    file = _MAGIC + digest_text(data).encode() + b"\n" + zlib.compress(data, 6)
    if len(data) > HANDED_OVER_UNPACKED or len(file) > HANDED_OVER_BYTES:
        raise HandedOverError("it would be too large")
    return file


def read_handed_over(path: str) -> HandedOver:
    """What is in a file; raises HandedOverError."""
    try:
        return unpacked(read_file(path, HANDED_OVER_BYTES))
    except UnreadableError as error:
        raise HandedOverError(error.reason) from None


def is_another_file(path: str) -> bool:
    """Whether there is something at the path that is no file of this kind; a file that is empty may be replaced."""
    try:
        start = read_start(path, len(_MAGIC))
    except UnreadableError as error:
        return not error.missing
    return bool(start) and start != _MAGIC


def unpacked(file: bytes) -> HandedOver:
    """What is in the bytes of a file; raises HandedOverError."""
    if not file.startswith(_MAGIC):
        raise HandedOverError("it is no file that `everproof cache export` wrote")
    digest, _, rest = file[len(_MAGIC) :].partition(b"\n")
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(rest, HANDED_OVER_UNPACKED)
        is_whole = unpacking.eof and not unpacking.unconsumed_tail and not unpacking.unused_data
        if not is_whole or digest != digest_text(data).encode():
            raise HandedOverError("it is damaged, or too large")
        handed = _decoder.decode(data)
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise HandedOverError("it is damaged") from None
    if handed.everproof != everproof_version():
        raise HandedOverError(f"version {handed.everproof[:20]!r} of Everproof wrote it, and this is {everproof_version()}")
    if not all(map(_is_proof, handed.proofs)) or not all(_is_inside(path) for one in handed.programs for path in one.files):
        raise HandedOverError("it names a file outside of the folder, or something that is no name")
    return handed


def is_key(text: str) -> bool:
    """Whether a text could be the key of a question."""
    return bool(_DIGEST.match(text))


def _is_proof(proof: HandedProof) -> bool:
    return len(proof.proof) <= PROOF_BYTES and is_key(proof.key) and (not proof.at or is_key(proof.at))


def _is_inside(path: str) -> bool:
    """Whether a relative path is one below the folder that it is relative to."""
    return (
        bool(path)
        and "\0" not in path
        and not os.path.isabs(path)
        and os.path.normpath(path) == path
        and path.split("/")[0] != ".."
    )


def handed_program(report: Report, files: Sequence[tuple[str, str | None]], root: str) -> HandedProgram | None:
    """What was found in a program below a folder, to be handed over; None if its files do not lie there. `files` are all that it
    was made from, with their digests. Steps and findings elsewhere, such as in a header of the system, are left out."""
    digests = {name: digest for path, digest in files if digest is not None and (name := _relative(path, root)) is not None}
    if not report.files or not all(_relative(file.path, root) in digests for file in report.files):
        return None
    return HandedProgram(digests, _moved(report, lambda path: name if (name := _relative(path, root)) in digests else None))


def _relative(path: str, root: str) -> str | None:
    relative = os.path.relpath(os.path.abspath(path), root)
    return relative.replace(os.sep, "/") if _is_inside(relative) else None


def report_of(handed: HandedOver, root: str, files: Sequence[str], digest: Callable[[str], str | None]) -> Report | None:
    """What was found in the program of these files, with absolute paths, and nothing of it believed; None if what is handed over
    is about other texts. `digest` is that of the present text of a file."""
    wanted = {_relative(path, root) for path in files}
    for one in handed.programs:
        checked = {file.path for file in one.report.files}
        if checked == wanted and all(digest(os.path.join(root, name)) == known for name, known in one.files.items()):
            return unbelieved(_moved(one.report, lambda name, of=one.files: os.path.join(root, name) if name in of else None))  # type: ignore[misc]
    return None


def unbelieved(report: Report) -> Report:
    """The report as what somebody says: nothing in it is proved or confirmed."""
    findings = tuple(map(_possible, report.findings))
    functions = tuple(map(_open, report.functions))
    return msgspec.structs.replace(report, verdict="violated" if findings else "unknown", findings=findings, functions=functions)


def _possible(finding: Finding) -> Finding:
    reason = _CONFIRMED if finding.status == "confirmed" else finding.reason
    return msgspec.structs.replace(finding, status="possible", reason=reason, assumptions=(), run=None)


def _open(function: FunctionReport) -> FunctionReport:
    verdicts = {rule: _unsettled(verdict) for rule, verdict in function.verdicts.items()}
    return msgspec.structs.replace(function, verdicts=verdicts, invariants=())


def _unsettled(verdict: RuleVerdict) -> RuleVerdict:
    """A verdict without what it says that holds: of all runs, where callers keep something, within a bound, or because of the
    form of the function or of the calls of it."""
    holds = verdict.verdict == "safe" or verdict.is_conditional or verdict.within is not None
    if holds or verdict.no_place or verdict.unreached:
        return RuleVerdict("unknown", ELSEWHERE, (), verdict.engine, rechecked=True)
    return RuleVerdict(verdict.verdict, verdict.reason, (), verdict.engine)


def _moved(report: Report, path_of: Callable[[str], str | None]) -> Report:
    """The report with other paths; what lies where `path_of` gives none is left out, and so is what only the next check of this
    machine could use."""
    findings = (_moved_finding(finding, path_of) for finding in report.findings)
    functions = (_moved_function(function, path_of) for function in report.functions)
    files = (FileReport(path, one.functions, one.parse_errors) for one in report.files if (path := path_of(one.path)) is not None)
    messages = (_moved_message(message, path_of) for message in report.messages)
    return Report(
        verdict=report.verdict,
        files=tuple(files),
        functions=tuple(function for function in functions if function is not None),
        findings=tuple(finding for finding in findings if finding is not None),
        messages=tuple(message for message in messages if message is not None),
        work=Work(),
        times=Times(),
    )


def _moved_place(place: Place, path_of: Callable[[str], str | None]) -> Place | None:
    path = path_of(place.path)
    return None if path is None else msgspec.structs.replace(place, path=path)


def _moved_finding(finding: Finding, path_of: Callable[[str], str | None]) -> Finding | None:
    place = _moved_place(finding.place, path_of)
    if place is None:
        return None
    steps = tuple(step for one in finding.explanation if (step := _moved_step(one, path_of)) is not None)
    return msgspec.structs.replace(finding, place=place, trace=steps, explaining=(), at=(), clear=b"", run=None)


def _moved_step(step: TraceStep, path_of: Callable[[str], str | None]) -> TraceStep | None:
    place = _moved_place(step.place, path_of)
    return None if place is None else msgspec.structs.replace(step, place=place)


def _moved_function(function: FunctionReport, path_of: Callable[[str], str | None]) -> FunctionReport | None:
    place = _moved_place(function.place, path_of)
    return None if place is None else msgspec.structs.replace(function, place=place, invariants=())


def _moved_message(message: Message, path_of: Callable[[str], str | None]) -> Message | None:
    path = path_of(message.path) if message.path else None
    return None if path is None else msgspec.structs.replace(message, path=path)
