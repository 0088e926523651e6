"""Random types and initialisers (C11 6.7.9) of arrays, records, unions and bit-fields: in order, with designators, nested, with
what comes later in place of what was before, with braces left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from benchmarks.random_c.scalar_types import INT, TYPES, UNSIGNED, Int


class Array(NamedTuple):
    """An array."""

    element: Type
    length: int


class Member(NamedTuple):
    """A member; an anonymous one has no name. `bits` of a bit-field, else 0."""

    name: str
    type: Type
    bits: int = 0


class Record(NamedTuple):
    """A structure or union; `tag` is empty for that of an anonymous member."""

    keyword: str
    tag: str
    members: tuple[Member, ...]


Type = Int | Array | Record
Path = tuple[int, ...]
"""A part of an object: the numbers of members and elements that lead to it."""


def declared(type_: Type, name: str) -> str:
    """A declarator of the type, for a name that may be empty."""
    lengths = ""
    while isinstance(type_, Array):
        lengths, type_ = f"{lengths}[{type_.length}]", type_.element
    spelled = type_.name if isinstance(type_, Int) else f"{type_.keyword} {type_.tag}"
    return f"{spelled} {name}{lengths}".replace(" [", "[").rstrip()


def definition(record: Record) -> str:
    """The members of a record, in braces."""
    lines = []
    for member in record.members:
        if isinstance(member.type, Record) and not member.name:
            lines.append(f"{member.type.keyword} {definition(member.type)};")
        else:
            lines.append(declared(member.type, member.name) + (f" : {member.bits}" if member.bits else "") + ";")
    return "{ " + " ".join(lines) + " }"


def random_record(random: Random, tag: str, name: str, before: Sequence[Record]) -> Record:
    """A structure; `name` begins the names of its members, `before` are records that it can contain."""
    members: list[Member] = []
    for number in range(random.randrange(2, 5)):
        called = f"{name}{number}"
        match random.randrange(8):
            case 0 | 1:
                base = random.choice((INT, UNSIGNED))
                members.append(Member(called, base, random.randrange(2, 31)))
            case 2:
                members.append(Member(called, Array(random.choice(TYPES), random.randrange(1, 4))))
            case 3:
                members.append(Member(called, Array(Int("char", 8, True), random.randrange(2, 6))))
            case 4 if before:
                inner = random.choice(before)
                members.append(Member(called, random.choice((inner, Array(inner, 2)))))
            case 5:
                bytes_ = Array(Int("unsigned char", 8, False), 4)
                parts = (Member(f"{called}u", UNSIGNED), Member(f"{called}b", bytes_))
                members.append(Member("", Record("union", "", parts)))
            case 6:
                parts = (Member(f"{called}x", random.choice(TYPES)), Member(f"{called}y", random.choice(TYPES)))
                members.append(Member("", Record("struct", "", parts)))
            case _:
                members.append(Member(called, random.choice(TYPES)))
    return Record("struct", tag, tuple(members))


def leaves(type_: Type, expression: str) -> Iterator[str]:
    """The scalars of an object, as expressions; of a union those of its first member."""
    match type_:
        case Array(element, length):
            for index in range(length):
                yield from leaves(element, f"{expression}[{index}]")
        case Record(keyword, _, members):
            for member in members[:1] if keyword == "union" else members:
                yield from leaves(member.type, f"{expression}.{member.name}" if member.name else expression)
        case _:
            yield expression


def _parts(type_: Type) -> int:
    """How many parts an aggregate has that follow one another in a list."""
    match type_:
        case Array(_, length):
            return length
        case Record(keyword, _, members):
            return 1 if keyword == "union" else len(members)
    return 0


def _part(type_: Type, number: int) -> Type:
    if isinstance(type_, Array):
        return type_.element
    assert isinstance(type_, Record)
    return type_.members[number].type


class Initialisers:
    """Writes initialisers. `scalars` are expressions to use where they need not be constant; `objects` are names of
    records, by tag."""

    def __init__(self, random: Random, scalars: Sequence[str] = (), objects: dict[str, list[str]] | None = None) -> None:
        self._random, self._scalars, self._objects = random, scalars, objects or {}

    def initialiser(self, type_: Type) -> str:
        """One for an object of the type."""
        if isinstance(type_, Int):
            return self._scalar()
        if isinstance(type_, Array) and type_.element == Int("char", 8, True) and self._random.random() < 0.5:
            return self._string(type_.length)
        return self.braced(type_)

    def _scalar(self) -> str:
        r = self._random
        if self._scalars and r.random() < 0.4:
            return r.choice(self._scalars)
        return str(r.choice((0, 1, 2, 3, 5, 9, 70, 200, 300, 70000, -1, -7, "'a'", "0x7fffffff", "(int)sizeof(long)", "1 << 4")))

    def _string(self, length: int) -> str:
        text = "".join(self._random.choice("abz") for _ in range(self._random.randrange(length + 1)))
        return self._random.choice(('"%s"', '{"%s"}')) % text

    def braced(self, type_: Array | Record) -> str:
        """One in braces."""
        r, items = self._random, list[str]()
        at: Path | None = (0,)  # what comes next without a designator; None if nothing does
        whole: list[Path] = []  # parts that were given by an expression: parts of them may not be given any more
        before = 1  # how deep the part was that came before
        for _ in range(r.randrange(1, 6)):
            spelled, is_range, climbed = "", False, at is not None and len(at) < before
            if at is None or r.random() < 0.5:
                at, spelled, is_range = self._designated(type_, whole)
                climbed = False
            given = self._at(type_, at)
            is_closed = any(at[: len(path)] == path and at != path for path in whole)
            if is_closed:
                break
            if not is_range and r.random() < 0.3 and self._first_scalar(given):
                while not isinstance(given, Int):  # no braces: the value is for the first scalar in it
                    at, given = (*at, 0), _part(given, 0)
                if any(at[: len(path)] == path and at != path for path in whole):
                    break
            if climbed and self._is_string(given):
                break  # compilers differ in what a string initialises there
            same = self._objects.get(given.tag, []) if isinstance(given, Record) else []
            if same and r.random() < 0.5:
                whole.append(at)
                items.append(f"{spelled}{r.choice(same)}")
            else:
                fitting = Initialisers(r) if is_range else self  # of gcc's ranges, records and arrays must be constant
                items.append(spelled + fitting.initialiser(given))
                if any(name in items[-1] for names in self._objects.values() for name in names):
                    whole.append(at)
            before = len(at)
            at = None if is_range else self._after(type_, at)  # what follows a range is a matter of the compiler
        return self._closed(items, type_)

    def _closed(self, items: list[str], type_: Array | Record) -> str:
        return "{" + ", ".join(items or ["0" if isinstance(self._at(type_, (0,)), Int) else "{0}"]) + "}"

    @staticmethod
    def _is_string(type_: Type) -> bool:
        return isinstance(type_, Array) and type_.element == Int("char", 8, True)

    def _first_scalar(self, type_: Type) -> bool:
        """Whether braces can be left out; what would begin with a string keeps them."""
        while not isinstance(type_, Int):
            if self._is_string(type_):
                return False
            type_ = _part(type_, 0)
        return True

    @staticmethod
    def _at(type_: Type, path: Path) -> Type:
        for number in path:
            type_ = _part(type_, number)
        return type_

    def _after(self, type_: Type, path: Path) -> Path | None:
        """The part that is initialised next (C11 6.7.9p17, p20)."""
        while path:
            if path[-1] + 1 < _parts(self._at(type_, path[:-1])):
                return (*path[:-1], path[-1] + 1)
            path = path[:-1]
        return None

    def _designated(self, type_: Array | Record, whole: Sequence[Path]) -> tuple[Path, str, bool]:
        """A part that a designator names, the designator, and whether it names several elements (an extension of gcc)."""
        r, path, spelled, here, is_range = self._random, Path(), "", type_, False
        while True:
            if isinstance(here, Array):
                low = high = r.randrange(here.length)
                if not (is_range or self._objects) and r.random() < 0.2:
                    high = r.randrange(low, here.length)
                    is_range = high > low
                path, named = (*path, high), f"[{low} ... {high}]" if high > low else f"[{low}]"
            else:
                path = (*path, r.randrange(len(here.members)))
                name = here.members[path[-1]].name
                named = f".{name}" if name else ""
            spelled += named
            part = _part(here, path[-1])
            if isinstance(part, Int) or (named and (path in whole or r.random() < 0.6)):
                return path, f"{spelled} = ", is_range
            here = part
