"""Messages between the server and the checker process (invariant I1).

A frame is a 4-byte big-endian length and that many bytes of MessagePack, one message each. The checker reads
`Request`s on standard input and writes `Event`s on standard output; it takes them in order, but drops work that a
newer `Edit` has made obsolete. Every event that answers something carries the `generation` of the newest request it
has seen when its input was fixed: a generation is a number that the server counts up with each request.
"""

from __future__ import annotations

import struct
from typing import Any, BinaryIO, Literal

import msgspec

from analysis.model.derivation import FunctionDerivations
from analysis.model.options import Options
from analysis.model.report import Finding, FunctionReport, Message, Rechecked, Times, Work
from analysis.model.text_changes import Fix

_LENGTH = struct.Struct(">I")
Since = Literal["new", "old"]
"""What a finding is that is compared with those of a reference."""


class Configure(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Sets the options and the folders of the workspace. The first request; again when settings change.

    `store`: a file, `none`, or None for the default (see analysis.store.store_location). `reference`: what findings are compared
    with, as the setting of that name says it. `self_audit`: whether what is shown is checked again from nothing in idle time.
    """

    generation: int
    options: Options
    folders: tuple[str, ...]
    store: str | None = None
    reference: str = "none"
    self_audit: bool = False


class Edit(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The unsaved text of a file, or None: the file on disk counts again. Does not start a check.

    The first text of a file is what it held when the session began. For a checker that was started later, `first` says that,
    where it was another one."""

    generation: int
    path: str
    version: int
    text: str | None
    first: str | None = None


class Check(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Asks for a check of the program as it is now; `focus` are the files the user looks at, most important first.

    `full`: forget everything that was computed before and start from nothing.
    """

    generation: int
    focus: tuple[str, ...]
    full: bool = False


class Cancel(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Ends the check that was asked for last, and takes a full one back: what was known before it is known again. Answered by a
    `Cancelled` of this generation."""

    generation: int


class ClearStore(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Empties the stores of the workspace, and forgets everything that was computed. Does not start a check."""

    generation: int


class Derive(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Asks what was derived in a function of a file, named as in the text, or what of it leads to a `line`, counted from 1.
    Answered by a `Derived` of this generation, after the check that is under way."""

    generation: int
    path: str
    function: str
    line: int | None = None


class Saved(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A version of an open file was saved: contracts are compared with those of this text from now on. Does not start a check."""

    generation: int
    path: str
    version: int


class AskContract(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Asks for the contract of a function, as it is named in the text of a file. Answered by a `ToldContract` of this generation,
    after the check that is under way, without a long computation."""

    generation: int
    path: str
    function: str


class Bisect(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Asks which of the `steps` has introduced findings of the program of a file: each gives a file a new text. Before the first
    one, files have the `texts`. Answered by a `Bisected` of this generation, when nothing else is to be done."""

    generation: int
    path: str
    texts: dict[str, str]
    steps: tuple[tuple[str, str], ...]
    fingerprints: tuple[str, ...]


class AskFixes(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Asks for fixes of a finding of an open file. Answered by a `ToldFixes` of this generation."""

    generation: int
    path: str
    fingerprint: str


class AskDifference(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Asks how a file differs from what it held at the reference. Answered by a `ToldDifference` of this generation."""

    generation: int
    path: str


class Ping(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Asks for a sign of life. Answered by a `Pong` at once, whatever the checker is busy with."""

    generation: int


class Shutdown(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Ends the checker process."""

    generation: int


class FileResult(msgspec.Struct, frozen=True, gc=False, tag=True):
    """All that is known of one file. `version` is that of the `Edit` it was computed from, None for the text on disk. `alone`: it
    is what the file shows by itself, while the rest of the program is being read.

    `handed_over`: another machine found it; the same counts of it.

    `reference` says what the findings are compared with, in words for people; `since` what each of them is, None where that is
    not known yet. Both are empty where nothing is compared, or not yet."""

    generation: int
    path: str
    version: int | None
    findings: tuple[Finding, ...]
    functions: tuple[FunctionReport, ...]
    messages: tuple[Message, ...]
    alone: bool = False
    reference: str = ""
    since: tuple[Since | None, ...] = ()
    handed_over: bool = False


class CheckDone(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Every file's result for this generation has been sent. `rechecked` are the functions that this check looked at again."""

    generation: int
    work: Work
    times: Times
    messages: tuple[Message, ...]
    rechecked: tuple[Rechecked, ...] = ()


class Cancelled(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The answer to the `Cancel` of this generation: no check is under way."""

    generation: int


class Decided(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Provers have nothing more to say of the findings in the results of this generation."""

    generation: int


class Derived(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The answer to a `Derive`; None: nothing was derived there, or the function is not known."""

    generation: int
    derivations: FunctionDerivations | None


class ContractLine(msgspec.Struct, frozen=True, gc=False):
    """One sentence of a contract, and how it is known, in words."""

    text: str
    known: str


class ContractText(msgspec.Struct, frozen=True, gc=False):
    """A contract as people read it. `lines` are the most useful ones, and so many `more` are left out. `callers`: how many there
    are, or keep what is required, in words. `path` is where the function is defined, with the `line`; empty if nowhere in the
    program. `is_whole`: nothing is left out for lack of time."""

    function: str
    declaration: str
    lines: tuple[ContractLine, ...]
    more: int = 0
    callers: str = ""
    path: str = ""
    line: int = 0
    is_whole: bool = True


class ToldContract(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The answer to an `AskContract`; None: the function is not known, or nothing is known of it yet."""

    generation: int
    contract: ContractText | None


class ContractChange(msgspec.Struct, frozen=True, gc=False):
    """What edits did to the contract of a function of a file since that was opened or saved, in one line. `is_same`: callers rely
    on the same as before."""

    path: str
    function: str
    text: str
    is_same: bool


class ContractChanges(msgspec.Struct, frozen=True, gc=False, tag=True):
    """What edits did to contracts of functions of one program, which is named by its folder or file: all changes that are known
    for the texts of this generation. Sent when nothing else is to be done."""

    generation: int
    program: str
    changes: tuple[ContractChange, ...]


class Bisected(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The answer to a `Bisect`: the number, from 1, of the step that has introduced each finding, by fingerprint. Those that were
    there before have 0; of which it is not known are left out."""

    generation: int
    introduced: dict[str, int]


class ToldDifference(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The answer to an `AskDifference`: the reference, in words for people, and a unified diff from it to the present text. None:
    nothing is compared; or nobody knows the text."""

    generation: int
    reference: str
    difference: str | None


class ToldFixes(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The answer to an `AskFixes`: changes of the text as it was when they were asked for, each checked. None: a text has changed
    since, or fixes of another finding were asked for."""

    generation: int
    fixes: tuple[Fix, ...] | None


class ReferenceProblem(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Why findings are not compared with what was asked for: one clear sentence."""

    generation: int
    reason: str


class AuditDone(msgspec.Struct, frozen=True, gc=False, tag=True):
    """What an audit in idle time came to, in a sentence. `is_news`: it has found something, or more about that."""

    generation: int
    sentence: str
    is_news: bool


class Progress(msgspec.Struct, frozen=True, gc=False, tag=True):
    """What the checker does now, in a few words, and its progress from 0 to 100, if that is known."""

    generation: int
    text: str
    percentage: int | None = None


class Pong(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The answer to the `Ping` of this generation."""

    generation: int


class Failed(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A check could not be done. `reason` is one clear sentence."""

    generation: int
    reason: str


Request = (
    Configure
    | Edit
    | Check
    | Cancel
    | ClearStore
    | Derive
    | Saved
    | AskContract
    | Bisect
    | AskFixes
    | AskDifference
    | Ping
    | Shutdown
)
Event = (
    FileResult
    | CheckDone
    | Cancelled
    | Decided
    | Derived
    | ToldContract
    | ContractChanges
    | Bisected
    | ToldDifference
    | ToldFixes
    | ReferenceProblem
    | AuditDone
    | Progress
    | Pong
    | Failed
)

_encoder = msgspec.msgpack.Encoder()
_requests = msgspec.msgpack.Decoder(Request)
_events = msgspec.msgpack.Decoder(Event)


def frame(message: Request | Event) -> bytes:
    """The message as bytes to send."""
    try:
        data = _encoder.encode(message)
    except UnicodeEncodeError:  # a file name that is no text
        data = _encoder.encode(_as_text(msgspec.to_builtins(message)))
    return _LENGTH.pack(len(data)) + data


def _as_text(value: Any) -> Any:
    """The same, with what is no text in strings written out by backslashes."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_as_text(key): _as_text(part) for key, part in value.items()}
        case list() | tuple():
            return [_as_text(part) for part in value]
    return value


def frame_length(header: bytes) -> int:
    """The number of bytes that follow a frame's 4-byte header."""
    length: int = _LENGTH.unpack(header)[0]
    return length


def decode_event(data: bytes) -> Event:
    """An event from a frame's bytes; raises msgspec.DecodeError on anything else."""
    event: Event = _events.decode(data)
    return event


def read_request(stream: BinaryIO) -> Request | None:
    """The next request, None at the end of the stream; raises msgspec.DecodeError on anything else."""
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    length = frame_length(header)
    data = stream.read(length)
    if len(data) < length:
        return None
    request: Request = _requests.decode(data)
    return request
