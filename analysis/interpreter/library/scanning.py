"""Functions that read fields of a text into objects of the program (C11 7.21.6.2).

Any bytes can be in a file, and they can end anywhere: how many fields are read is an input of the run, and so are the bytes. What
ends a field comes next (`next_characters`).
`sscanf` reads a string instead, and does what that says.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from analysis.c.formats import Conversion, stored_bits
from analysis.interpreter.halting import not_modelled
from analysis.interpreter.library.blocks import known_bytes, put
from analysis.interpreter.library.next_characters import EVERYTHING, Next
from analysis.interpreter.library.reading import is_unreadable, next_is, what_is_next
from analysis.interpreter.library.strings import parsed_number, string_at
from analysis.interpreter.library.unknown import overwritten
from analysis.interpreter.running_machine import RunningMachine
from analysis.interpreter.unknown_bytes import unsigned
from analysis.model.c_types import INT, Type

Types = tuple[Type, ...]
Function = Callable[[RunningMachine, list[Any], Types], Any]
_SPACES = b" \t\n\v\f\r"
_LONGEST = 4096  # characters of a word
_FIELD = re.compile(
    r"%(?P<star>\*?)(?P<width>[0-9]{1,9})?(?P<length>hh|h|ll|l|j|z|t|L)?(?P<kind>\[\^?\]?[^\]]*\]|[^\[])", re.DOTALL
)
_BASES = {"d": 10, "u": 10, "i": 0, "x": 16, "X": 16, "o": 8}
_INTEGERS, _FLOATS = frozenset(_BASES), frozenset("aAeEfFgG")
_ALPHANUMERIC = frozenset(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_SIGNS = frozenset(b"+-")
_DECIMAL, _OTHER = frozenset(b"0123456789"), _ALPHANUMERIC | frozenset(b"+-._")
_NOT_BEHIND = {kind: _DECIMAL if kind in "duo" else _OTHER for kind in (*_INTEGERS, *_FLOATS)}
"""Characters that a number of each kind would have taken, or may have."""
_WHAT = "what {}() reads"  # the name of an object that no program has


def _fields(name: str, text: str) -> list[re.Match[str] | str]:
    """The parts of a format: conversions, a blank for any white space, and other characters that stand for themselves."""
    found: list[re.Match[str] | str] = []
    at = 0
    while at < len(text):
        if text[at] != "%":
            found.append(" " if text[at].encode("latin-1") in _SPACES else text[at])
            at += 1
            continue
        match = _FIELD.match(text, at)
        if match is None or (match["kind"] == "%" and match.group() != "%%"):
            not_modelled(f"a format of {name}")
        found.append("%" if match["kind"] == "%" else match)
        at = match.end()
    return found


def _bits(machine: RunningMachine, name: str, field: re.Match[str]) -> int:
    """How many bits of a number a field stores."""
    bits = stored_bits(Conversion(field["kind"], field["length"] or ""), machine.code.model)
    if bits is None:
        not_modelled(f"a format of {name}")
    return bits


def _scanned_stream(name: str, format_at: int) -> Function:
    """`scanf` and `fscanf`: how many fields are read is an input. There can be none because something else is there, where the
    format begins with a number, or has characters that stand for themselves."""

    def scan(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
        parts = _fields(name, string_at(machine, arguments[format_at]).decode("latin-1"))
        fields = [part for part in parts if isinstance(part, re.Match)]
        if any(field["star"] or field["kind"][0] not in _INTEGERS | _FLOATS | {"s", "c", "["} for field in fields):
            not_modelled(f"a format of {name}")
        given = arguments[format_at + 1 :]
        if len(given) < len(fields):
            not_modelled("a format with too few arguments")
        handle = arguments[0] if format_at else 0
        if is_unreadable(machine, handle):
            return -1
        next_ = Next(what_is_next(machine, handle))
        count = int(machine.ask("result", INT, name, 0, -1, len(fields)))
        if count == -1:
            if all(part == " " for part in parts):
                not_modelled(f"{name}() that reads no field and fails")
            next_.ends(skips=parts[0] == " " or (isinstance(parts[0], re.Match) and _skips(parts[0])))
        else:
            _scan(machine, name, parts, count, given, next_)
        next_is(machine, handle, next_.possible)
        return count

    return scan


def _scan(
    machine: RunningMachine, name: str, parts: list[re.Match[str] | str], count: int, given: list[Any], next_: Next
) -> None:
    """Reads the first fields of a format; something else is there in place of the field after them, or of a character before
    it."""
    at = 0
    for part in parts:
        if part == " ":
            next_.skip()
        elif isinstance(part, str):
            if at == count:
                next_.is_not(frozenset(part.encode("latin-1")))
                return
            next_.takes(part.encode("latin-1")[0])
        elif at < count:
            _read_field(machine, name, part, given[at], next_)
            at += 1
        else:
            _fail(name, part, next_, is_first=count == 0)
            return


def _skips(field: re.Match[str]) -> bool:
    """Whether white space before a field is left out (C11 7.21.6.2p8)."""
    return field["kind"][0] not in "c["


def _fail(name: str, field: re.Match[str], next_: Next, *, is_first: bool) -> None:
    """A field is not read: something comes that it does not take or, behind another field, nothing."""
    kind = field["kind"]
    if _skips(field):
        next_.skip()
    if kind in ("s", "c"):
        if is_first:
            not_modelled(f"a word that {name} does not take")
        next_.ends(skips=False)
        return
    next_.is_not(_accepted(kind) if kind[0] == "[" else _NOT_BEHIND[kind] | _SIGNS)


def _read_field(machine: RunningMachine, name: str, field: re.Match[str], address: int, next_: Next) -> None:
    """Stores a field; what it takes begins with what can come next."""
    kind, width = field["kind"], field["width"]
    if _skips(field):
        next_.skip()
    if kind[0] in "s[":
        if field["length"]:
            not_modelled(f"wide characters that {name} reads")
        word, end = _word(machine, name, field)
        next_.takes(word[0])
        put(machine, address, word + b"\0")
        if end is not None:
            next_.possible = frozenset((end,)) if end else EVERYTHING - _accepted(kind)
        return
    bits = 8 * int(width or 1) if kind == "c" else _bits(machine, name, field)
    machine.memory.writable(address, bits // 8)
    overwritten(machine, address, bits // 8)
    if kind == "c":
        if next_.possible is not None:
            next_.takes(known_bytes(machine, address, 1)[0])
        return
    next_.takes_number()
    if width:
        _fits(machine, name, field, known_bytes(machine, address, bits // 8))
    else:
        next_.possible = EVERYTHING - _NOT_BEHIND[kind]


def _fits(machine: RunningMachine, name: str, field: re.Match[str], stored: bytes) -> None:
    """A number is one that so few characters can be."""
    if field["kind"] in _FLOATS:
        not_modelled(f"a format of {name}")
    digits, base = int(field["width"]), _BASES[field["kind"]] or 10
    value = int.from_bytes(stored, "little", signed=field["kind"] in "di")
    if not -(base ** (digits - 1)) < value < base**digits:
        not_modelled("a number with more digits than are read")


def _word(machine: RunningMachine, name: str, field: re.Match[str]) -> tuple[bytes, int | None]:
    """The characters of a field up to one that it does not take, or to a zero, which nothing is known to follow; and that
    character, None if no more were to be read."""
    accepts, most = _accepted(field["kind"]), int(field["width"] or _LONGEST)
    found = bytearray((int(machine.ask("memory", unsigned(8), _WHAT.format(name), 0, 33, 126)),))
    if found[0] not in accepts:
        not_modelled(f"a word that {name} does not take")
    while len(found) < most:
        character = int(machine.ask("memory", unsigned(8), _WHAT.format(name), len(found)))
        if character == 0 or character not in accepts:
            return bytes(found), character
        found.append(character)
    return bytes(found), None


@cache
def _accepted(kind: str) -> frozenset[int]:
    """The characters that `%s` takes, or a set such as `[^a-z]`."""
    everything = frozenset(range(256))
    if kind == "s":
        return everything.difference(_SPACES)
    listed = kind[1:-1].removeprefix("^").encode("latin-1")
    found = set(listed)
    for at in range(1, len(listed) - 1):
        if listed[at : at + 1] == b"-":
            found.update(range(listed[at - 1], listed[at + 1] + 1))
    return everything - found if kind[1] == "^" else frozenset(found)


def _sscanf(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    text = string_at(machine, arguments[0])
    given = iter(arguments[2:])
    at = count = 0
    is_begun = False  # whether a field was read, though it may not be counted
    for part in _fields("sscanf", string_at(machine, arguments[1]).decode("latin-1")):
        kind = "" if isinstance(part, str) else part["kind"]
        if part == " " or (kind != "c" and kind != "n" and kind[:1] != "[" and kind):
            at += len(text[at:]) - len(text[at:].lstrip(_SPACES))
        if part == " ":
            continue
        if isinstance(part, str):
            if at >= len(text):
                return _at_end(count, is_begun=is_begun)
            if text[at : at + 1] != part.encode("latin-1"):
                return count
            at += 1
            continue
        address = 0 if part["star"] else next(given, None)
        if address is None:
            not_modelled("a format with too few arguments")
        if kind == "n":
            _store_number(machine, part, address, at)
            continue
        if at >= len(text):
            return _at_end(count, is_begun=is_begun)
        length = _store_field(machine, part, address, text[at:])
        if length == 0:
            return count
        at, is_begun = at + length, True
        count += not part["star"]
    return count


def _at_end(count: int, *, is_begun: bool) -> int:
    """What `sscanf` returns where the text is over and more is wanted."""
    if is_begun and count == 0:
        not_modelled("a text that ends behind what sscanf leaves out")
    return count or -1


def _store_field(machine: RunningMachine, field: re.Match[str], address: int, text: bytes) -> int:
    """Stores a field, if it is not suppressed, from the start of a text. How many characters it has; 0 if it does not match."""
    kind, width = field["kind"], int(field["width"] or (1 if field["kind"] == "c" else len(text)))
    text = text[:width]
    if kind in _INTEGERS:
        value, length = parsed_number(text, _BASES[kind])
        if value is not None and not field["star"]:
            _store_number(machine, field, address, value)
        return length
    if kind == "c" and len(text) == width:
        length, end = width, b""
    elif kind[0] in "s[":
        accepts = _accepted(kind)
        length, end = next((at for at, one in enumerate(text) if one not in accepts), len(text)), b"\0"
    else:
        not_modelled("a format of sscanf")
    if field["length"]:
        not_modelled("a format of sscanf")
    if length and not field["star"]:
        put(machine, address, text[:length] + end)
    return length


def _store_number(machine: RunningMachine, field: re.Match[str], address: int, value: int) -> None:
    bits = _bits(machine, "sscanf", field)
    least = -(1 << bits - 1)
    greatest = -least - 1 if field["kind"] in "di" else (1 << bits) - 1
    if not least <= value <= greatest:  # C11 7.21.6.2p10
        not_modelled("a number that the object cannot represent")
    put(machine, address, (value & ((1 << bits) - 1)).to_bytes(bits // 8, "little"))


MODELS: dict[str, Function] = {
    "scanf": _scanned_stream("scanf", 0),
    "fscanf": _scanned_stream("fscanf", 1),
    "sscanf": _sscanf,
}
