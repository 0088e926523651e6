"""What a process is asked that checks a program as it was, or would be, and what it answers. One task comes on standard
input, as MessagePack; answers go to standard output, each with its length in front (`analysis.wire` has the same frames)."""

from __future__ import annotations

import contextlib
import gc
import os
import struct
from collections.abc import Iterator
from typing import IO, BinaryIO

import msgspec

from analysis.model.options import Options
from analysis.model.report import Report
from analysis.model.same_findings import Known
from analysis.model.text_changes import Fix

_LENGTH = struct.Struct(">I")


class ReferenceTask(msgspec.Struct, frozen=True, tag=True):
    """Asks for the findings of a program at a reference. `program` is its folder, or its file. `first` are the texts that files
    had when they were opened first in this session, by absolute path; `opened` those that are open now. `proves`: provers are
    asked as well, also about the functions of the files that are open. `checks`: nothing is checked if it is false."""

    program: str
    reference: str
    options: Options
    store: str | None
    first: dict[str, str]
    opened: tuple[str, ...]
    checks: bool = True
    proves: bool = False


class BisectionTask(msgspec.Struct, frozen=True, tag=True):
    """Asks which of the `steps` has introduced findings, by fingerprint: each gives a file a new text. Before the first one,
    files have the `texts`."""

    program: str
    options: Options
    store: str | None
    texts: dict[str, str]
    steps: tuple[tuple[str, str], ...]
    fingerprints: tuple[str, ...]


class FixTask(msgspec.Struct, frozen=True, tag=True):
    """Asks for fixes of a finding, by its fingerprint, in the file at `path`. Open files have the `texts`."""

    program: str
    options: Options
    store: str | None
    texts: dict[str, str]
    path: str
    fingerprint: str


class AuditTask(msgspec.Struct, frozen=True, tag=True):
    """Asks for the report on a program from nothing, provers included. Open files have the `texts`."""

    program: str
    options: Options
    texts: dict[str, str]


class ReplayTask(msgspec.Struct, frozen=True, tag=True):
    """Asks which edits show a difference between a program checked after each edit and one checked from nothing. Files have the
    texts of `base` before the first of the `steps`, each of which gives a file a new text; None is what is on the disk."""

    program: str
    options: Options
    base: dict[str, str | None]
    steps: tuple[tuple[str, str | None], ...]


class ReferenceAnswer(msgspec.Struct, frozen=True, tag=True):
    """The findings of a program at a reference, and the names of its functions. `refuted` are fingerprints. `examined` are the
    files whose functions provers were asked about; None: nobody was asked about anything.

    `name` says what the findings are of. `is_disk`: all files hold what they hold on the disk. `is_checked`: else nothing is
    known of findings. `watched` are files that change when the reference may be another one. `problem`: why it is not the one
    that was asked for."""

    name: str
    findings: tuple[Known, ...]
    functions: tuple[str, ...]
    refuted: tuple[str, ...]
    examined: tuple[str, ...] | None
    is_disk: bool
    is_checked: bool = True
    watched: tuple[str, ...] = ()
    problem: str = ""


class BisectionAnswer(msgspec.Struct, frozen=True, tag=True):
    """The number, from 1, of the step that has introduced each finding, by fingerprint; those that were there before have 0, and
    of which it is not known are left out."""

    introduced: dict[str, int]


class FixAnswer(msgspec.Struct, frozen=True, tag=True):
    """The fixes with which a check of the program was satisfied, the most fitting ones first."""

    fixes: tuple[Fix, ...]


class AuditAnswer(msgspec.Struct, frozen=True, tag=True):
    """The report from nothing."""

    report: Report


class ReplayAnswer(msgspec.Struct, frozen=True, tag=True):
    """The numbers, from 0, of the edits that show the difference, none of which can be left out alone; None where they do not."""

    steps: tuple[int, ...] | None


def role_of(reference: str) -> str:
    """The role in which a program is checked at a reference (`analysis.api.Checker.open_workspace`)."""
    return f"reference {reference}"


Task = ReferenceTask | BisectionTask | FixTask | AuditTask | ReplayTask
Answer = ReferenceAnswer | BisectionAnswer | FixAnswer | AuditAnswer | ReplayAnswer

PATIENT = 10  # of 19: what somebody waits for goes first; with 19, a build in the background would stop it

_encoder = msgspec.msgpack.Encoder()
_tasks = msgspec.msgpack.Decoder(Task)
_answers = msgspec.msgpack.Decoder(Answer)


def encode_task(task: Task) -> bytes:
    """The task as bytes."""
    return _encoder.encode(task)


def read_task(stream: BinaryIO) -> Task:
    """The task that a stream holds. Ends the process if it is cut off: whoever asked is gone."""
    try:
        task: Task = _tasks.decode(stream.read())
    except msgspec.DecodeError as error:
        raise SystemExit(1) from error
    return task


def write_answer(stream: BinaryIO, answer: Answer) -> None:
    """Sends an answer."""
    data = _encoder.encode(answer)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def read_answer(stream: IO[bytes]) -> Answer | None:
    """The next answer, None if there are no more; raises msgspec.DecodeError on anything else."""
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    length: int = _LENGTH.unpack(header)[0]
    data = stream.read(length)
    if len(data) < length:
        return None
    answer: Answer = _answers.decode(data)
    return answer


@contextlib.contextmanager
def answering() -> Iterator[BinaryIO]:
    """Makes a process one that answers a task: with a low priority, and the stream for its answers, into which nothing else is
    written."""
    gc.disable()  # it ends soon
    with contextlib.suppress(OSError, AttributeError):
        os.nice(PATIENT)
    with os.fdopen(os.dup(1), "wb") as stream:
        os.dup2(2, 1)
        with contextlib.suppress(BrokenPipeError):
            yield stream
