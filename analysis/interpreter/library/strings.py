"""Strings (C11 7.24, 7.22.1): a string without an end within its object is a violation, found where the object ends."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from analysis.c.functions import LIBRARY
from analysis.c.text_searches import CHARACTER_SEARCHES, SEARCHES
from analysis.interpreter.halting import not_modelled
from analysis.interpreter.library.blocks import known_bytes, put, size_of
from analysis.interpreter.memory import ASKED, KNOWN, OPEN, UNDEFINED
from analysis.interpreter.running_machine import RunningMachine
from analysis.model.c_types import Type

Types = tuple[Type, ...]
Function = Callable[[RunningMachine, list[Any], Types], Any]


def string_at(machine: RunningMachine, address: int, most: int | None = None) -> bytes:
    """The characters of a string before its end, at most `most` of them."""
    if most == 0:
        return b""
    block = machine.memory.block(address, 1, "read")
    start = address - block.base
    end = block.data.find(0, start)
    while end >= 0 and block.mask[end] in (UNDEFINED, ASKED):  # bytes that are no values yet are 0, too
        if most is not None and end - start >= most:
            break
        known_bytes(machine, block.base + end, 1)
        end = block.data.find(0, start)
    length = (len(block.data) if end < 0 else end) - start
    if most is not None and length >= most:
        return known_bytes(machine, address, most)
    if end < 0:
        machine.memory.outside(block, block.size, 1, "read")  # of a growing block: more of it can be read
        return string_at(machine, address, most)
    return known_bytes(machine, address, length + 1)[:-1]


def _strlen(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    return len(string_at(machine, arguments[0]))


def _strnlen(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    return len(string_at(machine, arguments[0], size_of(machine, arguments[1])))


def _strcpy(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    put(machine, arguments[0], string_at(machine, arguments[1]) + b"\0")
    return int(arguments[0])


def _stpcpy(machine: RunningMachine, arguments: list[Any], types: Types) -> int:
    text = string_at(machine, arguments[1])
    return _strcpy(machine, arguments, types) + len(text)


def _strncpy(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    count = size_of(machine, arguments[2])
    text = string_at(machine, arguments[1], count)
    if count:
        machine.memory.block(arguments[0], count, "write")
    put(machine, arguments[0], text.ljust(count, b"\0"))
    return int(arguments[0])


def _strcat(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    start = arguments[0] + len(string_at(machine, arguments[0]))
    put(machine, start, string_at(machine, arguments[1]) + b"\0")
    return int(arguments[0])


def _strncat(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    start = arguments[0] + len(string_at(machine, arguments[0]))
    put(machine, start, string_at(machine, arguments[1], size_of(machine, arguments[2])) + b"\0")
    return int(arguments[0])


def _compared(fold: bool) -> Function:
    def compare(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
        left = size_of(machine, arguments[2]) if len(arguments) > 2 else None
        at = 0
        while left is None or at < left:  # not the whole strings: what is behind the first difference need not be there
            one = known_bytes(machine, arguments[0] + at, 1)[0]
            other = known_bytes(machine, arguments[1] + at, 1)[0]
            if fold:
                one, other = bytes((one,)).lower()[0], bytes((other,)).lower()[0]
            if one != other:
                return 1 if one > other else -1
            if one == 0:
                return 0
            at += 1
        return 0

    return compare


def _up_to(machine: RunningMachine, address: int, wanted: int) -> bytes:
    """The characters of a string up to the first that is wanted, or to the zero; what is behind it need not be there."""
    found = bytearray()
    while not found or found[-1] not in (0, wanted):
        found += known_bytes(machine, address + len(found), 1)
    return bytes(found)


def _character_search(name: str) -> Function:
    def search(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
        wanted = arguments[1] & 255
        is_first = name in ("strchr", "index")
        text = _up_to(machine, arguments[0], wanted) if is_first else string_at(machine, arguments[0]) + b"\0"
        at = CHARACTER_SEARCHES[name](text, wanted)
        return arguments[0] + at if at >= 0 else 0

    return search


def _search(name: str) -> Function:
    gives_pointer = LIBRARY[name].result == "into"

    def search(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
        at = SEARCHES[name](string_at(machine, arguments[0]), string_at(machine, arguments[1]))
        if not gives_pointer:
            return at
        return arguments[0] + at if at >= 0 else 0

    return search


_NUMBER = re.compile(rb"[ \t\n\v\f\r]*([+-]?)(0[xX](?=[0-9a-fA-F]))?")
_FLOATING = re.compile(rb"[ \t\n\v\f\r]*(?P<sign>[+-]?)(?P<digits>[0-9]*(?:\.[0-9]*)?)(?:(?<=[0-9.])[eE][+-]?[0-9]+)?")
_OTHER_FLOATING = re.compile(rb"inf|nan", re.IGNORECASE)
_DIGITS = b"0123456789abcdefghijklmnopqrstuvwxyz"
_SIGNIFICANT = 100  # digits, the leading zeros aside, that tell a number from others in the range of any type


def parsed_number(text: bytes, base: int) -> tuple[int | None, int]:
    """The number at the start of a text, None if there is none, and where it ends. One out of the range of all types may be
    another such number of the same sign."""
    if base != 0 and not 2 <= base <= len(_DIGITS):
        not_modelled(f"a number in base {base}")
    found = _NUMBER.match(text)
    start = 0 if found is None else found.end()
    prefixed = found is not None and found.group(2) is not None
    if prefixed and base not in (0, 16) and found is not None:
        start, prefixed = found.start(2), False
    if base == 0:
        base = 16 if prefixed else 8 if text[start : start + 1] == b"0" else 10
    end = start
    while end < len(text) and 0 <= _DIGITS.find(text[end : end + 1].lower()) < base:
        end += 1
    if end == start:
        return None, 0
    value = int(text[start:end].lstrip(b"0")[:_SIGNIFICANT] or b"0", base)
    return (-value if found is not None and found.group(1) == b"-" else value), end


def _strtol(signed: bool) -> Function:
    def convert(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
        base = arguments[2] if len(arguments) > 2 else 10
        value, end = parsed_number(string_at(machine, arguments[0]), base)
        if len(arguments) > 1 and arguments[1]:
            put(machine, arguments[1], (arguments[0] + end).to_bytes(machine.code.pointer_bits // 8, "little"))
        limit, found = 1 << (machine.code.model.long_bits - 1), value or 0
        if signed:
            return max(-limit, min(limit - 1, found))
        return found if abs(found) < 2 * limit else 2 * limit - 1

    return convert


def _ato(bits: int | None) -> Function:
    """`atoi` and its like, of a type of so many bits (none: `long`)."""

    def convert(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
        found = parsed_number(string_at(machine, arguments[0]), 10)[0] or 0
        limit = 1 << (machine.code.model.long_bits if bits is None else bits) - 1
        if not -limit <= found < limit:  # C11 7.22.1p1
            not_modelled("a number that the type of the result cannot represent")
        return found

    return convert


def parsed_floating(text: bytes) -> tuple[float, int]:
    """The number at the start of a text, and where it ends; 0.0 and 0 if there is none (C11 7.22.1.3)."""
    found = _FLOATING.match(text)
    if found is None or found["digits"] in (b"", b"."):
        if found is not None and _OTHER_FLOATING.match(text[found.end("sign") :]):
            not_modelled("a text that is infinite, or not a number")
        return 0.0, 0
    if found["digits"] == b"0" and text[found.end("digits") : found.end("digits") + 1] in (b"x", b"X"):
        not_modelled("a hexadecimal floating number")
    value = float(found[0])
    if value == 0.0 and found["digits"].strip(b"0."):
        not_modelled("a number that is nearly 0")  # C11 7.22.1.3p10
    return value, found.end()


def _strtod(machine: RunningMachine, arguments: list[Any], _types: Types) -> float:
    value, end = parsed_floating(string_at(machine, arguments[0]))
    if len(arguments) > 1 and arguments[1]:
        put(machine, arguments[1], (arguments[0] + end).to_bytes(machine.code.pointer_bits // 8, "little"))
    return value


def _next_token(machine: RunningMachine, start: int, delimiters: int) -> tuple[int, int]:
    """The next token from an address on, which is ended by a zero, and where to go on; 0 for nothing (C11 7.24.5.8)."""
    if start == 0:
        return 0, 0
    text, marks = string_at(machine, start), string_at(machine, delimiters)
    first = len(text) - len(text.lstrip(marks)) if marks else 0
    if first == len(text):
        return 0, 0
    end = next((at for at in range(first, len(text)) if text[at] in marks), len(text))
    if end == len(text):
        return start + first, 0
    put(machine, start + end, b"\0")
    return start + first, start + end + 1


def _strtok(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    token, machine.tokens = _next_token(machine, arguments[0] or machine.tokens, arguments[1])
    return token


def _strtok_r(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    """The place that it keeps is where to go on. Libraries keep different ones behind the last token: null, or the end."""
    size = machine.code.pointer_bits // 8
    start = arguments[0] or _kept_place(machine, arguments[2], size)
    token, after = _next_token(machine, start, arguments[1])
    machine.memory.write(arguments[2], after.to_bytes(size, "little"), bytes((KNOWN if after else OPEN,)) * size)
    return token


def _kept_place(machine: RunningMachine, address: int, size: int) -> int:
    """Where `strtok_r` is to go on; 0 where it left nothing."""
    _, mask = machine.memory.read(address, size)
    return 0 if OPEN in mask else int.from_bytes(known_bytes(machine, address, size), "little")


MODELS: dict[str, Function] = {
    "strlen": _strlen,
    "strnlen": _strnlen,
    "strcpy": _strcpy,
    "stpcpy": _stpcpy,
    "strncpy": _strncpy,
    "strcat": _strcat,
    "strncat": _strncat,
    "strcmp": _compared(fold=False),
    "strncmp": _compared(fold=False),
    "strcoll": _compared(fold=False),
    "strcasecmp": _compared(fold=True),
    "strncasecmp": _compared(fold=True),
    **{name: _character_search(name) for name in CHARACTER_SEARCHES},
    **{name: _search(name) for name in SEARCHES},
    "strtol": _strtol(signed=True),
    "strtoul": _strtol(signed=False),
    "strtok": _strtok,
    "strtok_r": _strtok_r,
    "strtod": _strtod,
    "atof": _strtod,
    "atoi": _ato(32),
    "atol": _ato(None),
    "atoll": _ato(64),
}
