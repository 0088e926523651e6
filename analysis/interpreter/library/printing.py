"""Formatted output (C11 7.21.6.1): what is printed goes into the run's output, what is written into memory goes there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from analysis.interpreter.halting import not_modelled
from analysis.interpreter.library.blocks import known_bytes, put, size_of
from analysis.interpreter.library.strings import string_at
from analysis.interpreter.memory import KNOWN
from analysis.interpreter.running_machine import RunningMachine
from analysis.model.c_types import Type

Types = tuple[Type, ...]
Function = Callable[[RunningMachine, list[Any], Types], Any]
_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?(?P<length>hh|h|ll|l|z|j|t|L|q)?(?P<kind>.)", re.DOTALL
)
_WIDEST, _LONGEST = 100_000, 10_000_000  # characters of one field, and of all that one call prints
_DIGITS = 100  # of a width or precision
_WIDTHS = {"hh": 8, "h": 16, None: 32, "ll": 64, "j": 64, "q": 64}


def formatted(machine: RunningMachine, format_: str, arguments: Iterator[Any]) -> str:
    """The text, one character a byte."""

    length = 0

    def convert(found: re.Match[str]) -> str:
        nonlocal length
        if found["kind"] == "%":
            return "%"
        flags, width = found["flags"], _number(found["width"], arguments)
        if width < 0:
            flags, width = flags + "-", -width
        precision = None if found["precision"] is None else _number(found["precision"], arguments)
        if precision is not None and precision < 0:  # as if there were none (C11 7.21.6.1p5)
            precision = None
        text = _converted(machine, found["kind"], found["length"], flags, precision, next(arguments))
        text = text.ljust(width) if "-" in flags else _padded(text, width, flags, found["kind"], precision)
        length += len(text)
        if length > _LONGEST:
            not_modelled(f"more than {_LONGEST} characters printed by one call")
        return text

    try:
        return _CONVERSION.sub(convert, format_)
    except StopIteration:
        not_modelled("a format with too few arguments")


def _number(text: str | None, arguments: Iterator[Any]) -> int:
    """A width or precision: digits, none, or a star for the next argument."""
    found = next(arguments) if text == "*" else None if len(text or "") > _DIGITS else int(text or 0)
    if not isinstance(found, int) or abs(found) > _WIDEST:
        not_modelled("a field that is very wide, or a number with very many digits")
    return found


def _padded(text: str, width: int, flags: str, kind: str, precision: int | None) -> str:
    if "0" not in flags or (precision is not None and kind in "diouxX") or kind in "cs":
        return text.rjust(width)
    sign = 1 if text[:1] in ("-", "+", " ") else 0
    prefix = sign + 2 if text[sign : sign + 2].lower() == "0x" else sign
    return text[:prefix] + text[prefix:].rjust(width - prefix, "0")


def _converted(machine: RunningMachine, kind: str, length: str | None, flags: str, precision: int | None, value: Any) -> str:
    if kind in "diouxX" and isinstance(value, int):
        bits = _WIDTHS.get(length, machine.code.model.long_bits)
        return _integer(kind, bits, flags, precision, value)
    if kind in "eEfFgG" and isinstance(value, float):
        special = "#" if "#" in flags else ""
        sign = "+" if "+" in flags else " " if " " in flags else ""
        return f"%{special}{sign}.{6 if precision is None else precision}{kind}" % value
    match kind:
        case "c" if isinstance(value, int):
            return chr(value & 255)
        case "s" if isinstance(value, int) and length is None:
            return string_at(machine, value, precision).decode("latin-1")
        case "p" if isinstance(value, int):
            return hex(value) if value else "(nil)"
    not_modelled(f"the conversion %{length or ''}{kind} with this argument")


def _integer(kind: str, bits: int, flags: str, precision: int | None, value: int) -> str:
    value &= (1 << bits) - 1
    sign = ""
    if kind in "di":
        if value >> (bits - 1):
            value, sign = (1 << bits) - value, "-"
        else:
            sign = "+" if "+" in flags else " " if " " in flags else ""
    digits = format(value, {"o": "o", "x": "x", "X": "X"}.get(kind, "d"))
    if precision is not None:
        digits = "" if precision == 0 and value == 0 else digits.rjust(precision, "0")
    if "#" in flags and kind == "o" and not digits.startswith("0"):
        digits = "0" + digits
    if "#" in flags and kind in "xX" and value:
        sign += f"0{kind}"
    return sign + digits


def _text(machine: RunningMachine, arguments: list[Any], at: int, *, kept: bool = True) -> str:
    """What is printed; `kept`: the program may look at it."""
    format_ = string_at(machine, arguments[at]).decode("latin-1")
    if kept and any(found["kind"] == "p" for found in _CONVERSION.finditer(format_)):
        machine.memory.by_address = True
    return formatted(machine, format_, iter(arguments[at + 1 :]))


def _printed(at: int) -> Function:
    """`printf` and its like; the format is argument number `at`."""

    def run(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
        text = _text(machine, arguments, at, kept=False)
        if at == 0:
            machine.print(text)
        return len(text)

    return run


def _sprintf(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    text = _text(machine, arguments, 1)
    put(machine, arguments[0], text.encode("latin-1") + b"\0")
    return len(text)


def _snprintf(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    text, size = _text(machine, arguments, 2), size_of(machine, arguments[1])
    if size:
        put(machine, arguments[0], text.encode("latin-1")[: size - 1] + b"\0")
    return len(text)


def _asprintf(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    data = _text(machine, arguments, 1).encode("latin-1") + b"\0"
    address = machine.new_block("heap", len(data), KNOWN)
    put(machine, address, data)
    put(machine, arguments[0], address.to_bytes(machine.code.pointer_bits // 8, "little"))
    return len(data) - 1


def _puts(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    text = string_at(machine, arguments[0]).decode("latin-1")
    if len(arguments) == 1:
        machine.print(text + "\n")
    return len(text) + 1


def _putchar(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    if len(arguments) == 1:
        machine.print(chr(arguments[0] & 255))
    return int(arguments[0]) & 255


def _fwrite(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    size, count = size_of(machine, arguments[1]), size_of(machine, arguments[2])
    known_bytes(machine, arguments[0], size * count)
    return count if size else 0  # C11 7.21.8.2p3


def _nothing(_machine: RunningMachine, _arguments: list[Any], _types: Types) -> int:
    return 0


MODELS: dict[str, Function] = {
    "printf": _printed(0),
    "printk": _printed(0),
    "fprintf": _printed(1),
    "dprintf": _printed(1),
    "sprintf": _sprintf,
    "snprintf": _snprintf,
    "asprintf": _asprintf,
    "puts": _puts,
    "fputs": _puts,
    "putchar": _putchar,
    "putc": _putchar,
    "fputc": _putchar,
    "fwrite": _fwrite,
    "fflush": _nothing,
    "perror": _nothing,
}
