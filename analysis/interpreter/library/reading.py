"""Reading from streams and descriptors (C11 7.21.8.1, 7.21.10, POSIX `read` and `recv`): what comes is input, and so is how much
of it comes.

A stream from which less came than was asked for is at its end, or in error: `feof` and `ferror` say which, and that is an input,
too. Nothing comes after the end. What they say of a stream is not known once another function has used it.

What `ungetc` pushes back comes next, and so does the character that ended what `scanf` took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from analysis.interpreter.halting import not_modelled
from analysis.interpreter.library.blocks import known_bytes, size_of
from analysis.interpreter.library.descriptors import is_none
from analysis.interpreter.library.next_characters import END, Next
from analysis.interpreter.library.unknown import overwritten, unknown
from analysis.interpreter.memory import Block, Reading
from analysis.interpreter.running_machine import RunningMachine
from analysis.model.c_types import INT, Integer, Type

Types = tuple[Type, ...]
Function = Callable[[RunningMachine, list[Any], Types], Any]
INDICATORS: dict[str, Reading] = {"feof": "end", "ferror": "error"}
_GREATEST = (1 << 31) - 1  # bytes that are tried as what comes
_FROM_START, _FROM_END = 0, 2  # SEEK_SET and SEEK_END, on all systems
_ONLY_END = frozenset((END,))
_MOVING = frozenset(("fseek", "fseeko", "fsetpos", "rewind", "clearerr"))
_KEEPING = frozenset(("fread", "fgets", "fgetc", "getc", "fileno", *INDICATORS))


def _received(name: str) -> Function:
    """`read` and its like: so many bytes as they return, which is at most what they are asked for; -1 where they fail."""

    def run(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
        if is_none(machine, arguments[0], name) or arguments[0] in machine.unreadable:
            return -1
        size = size_of(machine, arguments[2])
        signed = Integer(machine.code.pointer_bits, True, "ssize_t")
        count = int(machine.ask("result", signed, name, 0, -1, min(size, _GREATEST)))
        if not -1 <= count <= size:
            not_modelled(f"{name}() that returns more than it was asked for")
        if count > 0:
            overwritten(machine, arguments[1], count)
        return count

    return run


def _lseek(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    """Where a descriptor is then: where the program says, or, from the end of the file, anywhere; -1 where there is no end."""
    if is_none(machine, arguments[0], "lseek"):
        return -1
    offset, whence = int(arguments[1]), int(arguments[2])
    if whence == _FROM_START:
        return offset if offset >= 0 else -1
    if whence != _FROM_END or offset != 0:
        not_modelled("a position that is neither the end of a file nor a certain one")
    end = int(machine.ask("result", Integer(machine.code.pointer_bits, True, "off_t"), "lseek", 0, -1))
    if end < -1:
        not_modelled("lseek() that returns no position")
    return end


def _fread(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    size, wanted = size_of(machine, arguments[1]), size_of(machine, arguments[2])
    if size == 0 or wanted == 0 or is_unreadable(machine, arguments[3]):
        return 0
    count = int(machine.ask("result", Integer(machine.code.pointer_bits, False, "size_t"), "fread", 0, 0, min(wanted, _GREATEST)))
    if count > wanted:
        not_modelled("fread() that returns more than it was asked for")
    if count:
        overwritten(machine, arguments[0], size * count)
        begins(machine, arguments[3], arguments[0])
    if count < wanted:
        came_short(machine, arguments[3])
    else:
        came(machine, arguments[3])
    return count


def _character(name: str) -> Function:
    def run(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
        handle = arguments[0] if arguments else 0  # `getchar` reads from `stdin`
        if is_unreadable(machine, handle):
            return END
        possible = what_is_next(machine, handle)
        if possible is not None and len(possible) == 1 and possible != _ONLY_END:
            next_is(machine, handle, None)
            return next(iter(possible))
        character = int(machine.ask("result", INT, name, 0, -1, 255))
        if possible is not None and character not in possible:
            not_modelled("a character that does not come next")
        if character == END:
            came_short(machine, handle)
        else:
            next_is(machine, handle, None)
            came(machine, handle)
        return character

    return run


def is_unreadable(machine: RunningMachine, handle: Any) -> bool:
    """Whether nothing can be read from a stream, as it was opened only for writing: an error (POSIX `fgetc`)."""
    stream = _stream(machine, handle)
    return stream is not None and stream.reading == "none"


def _unget(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    """Pushes a character back; one always has room (C11 7.21.7.10p3)."""
    character, key = int(arguments[0]), _key(machine, arguments[1])
    if character == -1:
        return -1
    if key in machine.next:
        not_modelled("a character that is pushed back before another one that is known")
    machine.next[key] = frozenset((character & 255,))
    return character & 255


def _key(machine: RunningMachine, handle: Any) -> int:
    """What `machine.next` calls a stream."""
    return 0 if _stream(machine, handle) is None or handle == machine.stdin else int(handle)


def next_is(machine: RunningMachine, handle: Any, possible: frozenset[int] | None) -> None:
    """Notes which characters can come next from a stream, -1 for its end; None: any."""
    key = _key(machine, handle)
    if possible is None:
        machine.next.pop(key, None)
    else:
        machine.next[key] = possible


def what_is_next(machine: RunningMachine, handle: Any) -> frozenset[int] | None:
    """The characters that can come next from a stream, -1 for its end; None: any."""
    return machine.next.get(_key(machine, handle))


def begins(machine: RunningMachine, handle: Any, address: int) -> None:
    """What was read from a stream to an address begins with a character that could come next."""
    next_ = Next(what_is_next(machine, handle))
    if next_.possible is not None:
        next_.takes(known_bytes(machine, address, 1)[0])
    next_is(machine, handle, None)


def came(machine: RunningMachine, handle: Any) -> None:
    """Notes that all came from a stream that was asked for: it was not at its end before."""
    stream = _stream(machine, handle)
    if stream is not None and stream.reading == "short":
        stream.reading = "error"


def came_short(machine: RunningMachine, handle: Any) -> None:
    """Notes that less came from a stream than was asked for."""
    possible = what_is_next(machine, handle)
    if possible is not None and END not in possible:
        not_modelled("the end of a stream from which something comes next")
    stream = _stream(machine, handle)
    if stream is not None and stream.reading == "more":
        stream.reading = "short"


def _indicator(name: str) -> Function:
    otherwise = unknown(name, INT)

    def run(machine: RunningMachine, arguments: list[Any], types: Types) -> int:
        stream = _stream(machine, arguments[0])
        if stream is None or stream.reading in ("unknown", "none"):
            return int(otherwise(machine, arguments, types, True))
        if stream.reading == "short":
            says = int(machine.ask("result", INT, name, 0)) != 0
            stream.reading = INDICATORS[name] if says else next(one for one in INDICATORS.values() if one != INDICATORS[name])
        if stream.reading == "end":
            next_is(machine, arguments[0], _ONLY_END)
        return int(stream.reading == INDICATORS[name])

    return run


def note_use(machine: RunningMachine, name: str, handles: Iterable[Any]) -> None:
    """A function of the library uses streams: unless it is known what it does to what `feof` says, that is not known from now
    on, nor what comes next if it moves to another place."""
    if name not in _KEEPING:
        for handle in handles:
            stream = _stream(machine, handle)
            if stream is not None and (stream.reading != "none" or name == "freopen"):
                stream.reading = "unknown"
                if name in _MOVING:
                    machine.next.pop(_key(machine, handle), None)


def _stream(machine: RunningMachine, handle: Any) -> Block | None:
    block = machine.memory.find(handle or machine.stdin) if isinstance(handle, int) else None
    return block if block is not None and block.kind == "resource" else None


MODELS: dict[str, Function] = {
    "read": _received("read"),
    "recv": _received("recv"),
    "lseek": _lseek,
    "fread": _fread,
    "fgetc": _character("fgetc"),
    "getc": _character("getc"),
    "getchar": _character("getchar"),
    "ungetc": _unget,
    **{name: _indicator(name) for name in INDICATORS},
}
