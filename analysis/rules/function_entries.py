"""One entry of a file of contracts: what it can say of a function, and the row of `analysis.c.functions` that says the same.

An entry says less than a row, in words for people. Arguments are numbered from 1, as `everproof contracts` does. What an entry
leaves out, the function does not do, if the entry is `complete`. Of any other entry only findings make use: for proofs the row
has the word `open`, so that nothing is known of the function.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from analysis.c.functions import known

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_RESERVED = ("__builtin_", "__VERIFIER_", "__atomic_", "__sync_")
_WORDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "null": "nothing",
    "object": "a table of fields",
    "str": "text",
}
_EXPECTED = re.compile(r"Expected `([a-z |]+)`, got `([a-z]+)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `([a-z_]+)`")
_CHOICES = {
    "result": "number, or a table of fields",
    "new": "block, stream or descriptor",
    "pointer": "own or any",
    "closes": "stream or descriptor",
    "uses": "object",
}
_STEP = re.compile(r"\.([a-z_]+)|\[([0-9]+)\]")
_MOST_ARGUMENTS = 127  # C11 5.2.4.1
_MOST = 1 << 63


class EntryError(Exception):
    """An entry that cannot be used: the field, if it is about one, and what is wrong with it, in one clause."""


class _Argument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the function does with an argument, and with what it leads to. `bytes`: the number of the argument that says how many
    bytes it accesses there. `frees` and `closes`: it ends a block, a stream or a descriptor. `uses`: it uses an object of the
    library's, like a stream. `keeps`: later calls may use the pointer. `calls`: it calls the function that it is passed."""

    reads: bool = False
    writes: bool = False
    writes_beneath: bool = False
    text: bool = False
    uses: Literal["object"] | None = None
    frees: bool = False
    closes: Literal["stream", "descriptor"] | None = None
    keeps: bool = False
    calls: bool = False
    bytes: int | None = None
    not_null: bool = False
    may_be_null: bool = False


class _Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the function returns: a number, in a range; an argument, or a pointer into what one leads to; something new that has
    to be freed or closed; an object of its own; or any other pointer."""

    least: int | None = None
    greatest: int | None = None
    argument: int | None = None
    into: int | None = None
    new: Literal["block", "stream", "descriptor"] | None = None
    pointer: Literal["own", "any"] | None = None
    may_be_null: bool | None = None


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry. `further_arguments`: it takes further arguments, and reads what they lead to. `sets_errno`: whether it may.
    `uses_kept`: it accesses what it, or another function, was passed before and kept. `complete`: it does nothing else."""

    name: str
    arguments: tuple[_Argument, ...] = ()
    further_arguments: bool = False
    result: Literal["number"] | _Result = "number"
    never_returns: bool = False
    sets_errno: bool = True
    uses_kept: bool = False
    complete: bool = False


class FunctionEntry(msgspec.Struct, frozen=True):
    """An entry that can be used. `row`: the first four columns of its row. `not_null`: the numbers of the arguments, from 0, that
    may not be null."""

    name: str
    row: str
    not_null: tuple[int, ...]


def name_of(content: Any) -> str | None:
    """The name of the function that an entry is about; None if it says none."""
    name = content.get("name") if isinstance(content, dict) else None
    return name if isinstance(name, str) and _NAME.fullmatch(name) else None


def read_entry(content: Any) -> FunctionEntry:
    """The entry that plain data is. Raises EntryError."""
    try:
        entry = msgspec.convert(content, _Entry)
    except msgspec.ValidationError as error:
        raise EntryError(_plain(error)) from None
    if not _NAME.fullmatch(entry.name):
        raise EntryError("name: must be the name of a function in C")
    if known(entry.name) is not None or entry.name.startswith(_RESERVED):
        raise EntryError("name: what this function does is known already, and a project cannot say it again")
    if len(entry.arguments) > _MOST_ARGUMENTS:
        raise EntryError(f"arguments: there must be at most {_MOST_ARGUMENTS}")
    if entry.never_returns and not entry.complete:
        raise EntryError("never_returns: needs `complete: true` as well, since proofs rely on it")
    if entry.never_returns and entry.result != "number":
        raise EntryError("result: a function that never returns has none")
    words = [_argument(at, one, len(entry.arguments)) for at, one in enumerate(entry.arguments)]
    words += ["..."] if entry.further_arguments else []
    returned = _returned(entry.result, len(entry.arguments)) if isinstance(entry.result, _Result) else ""
    row = " | ".join((entry.name, " ".join(words), returned, " ".join(_besides(entry))))
    return FunctionEntry(entry.name, row, tuple(at for at, one in enumerate(entry.arguments) if one.not_null))


def _besides(entry: _Entry) -> list[str]:
    said = {
        "noreturn": entry.never_returns,
        "elsewhere": entry.uses_kept,
        "keeps-errno": not entry.sets_errno,
        "open": not entry.complete,
    }
    return [word for word, holds in said.items() if holds]


def _argument(at: int, one: _Argument, count: int) -> str:
    """The word of a row for an argument."""
    field = f"arguments.{at + 1}"
    if one.not_null and one.may_be_null:
        raise EntryError(f"{field}: not_null and may_be_null exclude each other")
    uses = _uses(one, field)
    if one.bytes is not None and (not 1 <= one.bytes <= count or one.bytes == at + 1):
        raise EntryError(f"{field}.bytes: must be the number of another argument")
    if one.bytes is not None and not (one.reads or one.writes):
        raise EntryError(f"{field}.bytes: only what the function reads or writes has so many bytes")
    size = f":{one.bytes - 1}" if one.bytes is not None else ""
    # of what is left alone, nobody asks whether it leads anywhere
    null = "?" if one.may_be_null or (uses == ["n"] and not one.not_null) else ""
    return "+".join(uses) + size + null


def _uses(one: _Argument, field: str) -> list[str]:
    """What the function does with an argument, in words of a row."""
    _check_uses(one, field)
    if one.closes == "descriptor":
        return ["n", "closed"]
    said = {
        "inout": one.reads and one.writes,
        "in": one.reads and not one.writes,
        "out": one.writes and not one.reads,
        "text": one.text and not one.reads,
        "beneath": one.writes_beneath,
        "handle": one.uses == "object",
        "freed": one.frees,
        "closed": one.closes == "stream",
        "kept": one.keeps,
        "code": one.calls,
    }
    return [word for word, holds in said.items() if holds] or ["n"]


def _check_uses(one: _Argument, field: str) -> None:
    """Raises EntryError for words about an argument that do not go together."""
    if (one.frees or one.closes == "stream") and (one.reads or one.writes or one.text or one.keeps or one.uses is not None):
        raise EntryError(f"{field}: what the function frees or closes, it cannot use in another way")
    if one.frees and one.closes is not None:
        raise EntryError(f"{field}: frees and closes exclude each other")
    if one.closes == "descriptor" and one != _Argument(closes="descriptor"):
        raise EntryError(f"{field}: a descriptor is a number, of which nothing else can be said")
    if one.text and one.writes:
        raise EntryError(f"{field}: text is only read; of what the function writes as well, say `reads` and `writes`")


def _returned(result: _Result, count: int) -> str:
    """The word of a row for the result."""
    is_range = result.least is not None or result.greatest is not None
    kinds = [is_range, *(one is not None for one in (result.argument, result.into, result.new, result.pointer))]
    if sum(kinds) != 1:
        raise EntryError("result: must be one of number, least and greatest, argument, into, new, pointer")
    if is_range:
        return _range(result)
    for name, number in (("argument", result.argument), ("into", result.into)):
        if number is not None and not 1 <= number <= count:
            raise EntryError(f"result.{name}: must be the number of an argument")
    if result.argument is not None or result.new == "descriptor":
        if result.may_be_null is not None:
            what = "a descriptor is a number" if result.new else "an argument is null where null is passed"
            raise EntryError(f"result.may_be_null: {what}")
        return "descriptor" if result.argument is None else f"argument:{result.argument - 1}"
    if result.may_be_null is None:
        raise EntryError("result.may_be_null: must be true or false, for a pointer")
    pointer = "outside" if result.pointer == "own" else "any"
    kind = f"into:{result.into - 1}" if result.into is not None else result.new or pointer
    return kind + ("?" if result.may_be_null else "")


def _range(result: _Result) -> str:
    if result.may_be_null is not None:
        raise EntryError("result.may_be_null: a number is no pointer")
    if result.least is None or result.greatest is None:
        raise EntryError("result: least and greatest belong together")
    if not -_MOST <= result.least <= result.greatest < 2 * _MOST:
        raise EntryError("result.least: must be at most result.greatest, and both must fit into 64 bits")
    return f"{result.least}..{result.greatest}"


def _plain(error: msgspec.ValidationError) -> str:
    """What is wrong with a field, in words of YAML."""
    message, _, path = str(error).partition(" - at `")
    if path.startswith("key"):
        return "the names of its fields must be text"
    steps = [name or str(int(number) + 1) for name, number in _STEP.findall(path.removesuffix("`"))]
    expected, unknown, missing = _EXPECTED.fullmatch(message), _UNKNOWN.fullmatch(message), _MISSING.fullmatch(message)
    if unknown is not None:
        return _at([*steps, _shown(unknown[1])], "there is no such field")
    if missing is not None:
        return _at([*steps, missing[1]], "is missing")
    if steps and steps[-1] in _CHOICES:
        return _at(steps, f"must be {_CHOICES[steps[-1]]}")
    if expected is not None:
        wanted = " or ".join(_WORDS.get(kind, kind) for kind in expected[1].split(" | ") if kind != "null")
        return _at(steps, f"must be {wanted}, not {_WORDS.get(expected[2], expected[2])}")
    return _at(steps, _shown(message[:1].lower() + message[1:]))


def _at(steps: list[str], what: str) -> str:
    return ": ".join(part for part in (".".join(steps), what) if part)


def _shown(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:100]
