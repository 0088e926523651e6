"""Counts the steps that a backtracking matcher takes, so that a test need not measure time.

The standard module does not say how much work a match was. So the parsed form of an expression is run here, as the standard
module does it: in the same order, with the same choices, but without its shortcuts for literals. Each byte that is compared and
each choice that is taken up again is a step.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any, NamedTuple

_parser: Any = importlib.import_module("re._parser")  # the standard module's own; it has no public one since Python 3.11
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
_REPEATS = {"MAX_REPEAT": "greedy", "MIN_REPEAT": "lazy", "POSSESSIVE_REPEAT": "possessive"}
_EVERY = frozenset(map(chr, range(256)))


class TooManyStepsError(Exception):
    """More steps than the caller allowed."""


class Instruction(NamedTuple):
    """One instruction: what it does, the characters it takes, the programs or numbers that it refers to."""

    name: str
    characters: frozenset[str] = frozenset()
    inner: tuple[Instruction, ...] = ()
    first: int = 0
    second: int = 0
    word: str = ""


class Matcher:
    """Runs an expression. `steps` is how many it took so far; more than `allowed` raise TooManyStepsError."""

    def __init__(self, pattern: re.Pattern[Any], allowed: int) -> None:
        self._program = _program(pattern, whole=False)
        self._whole = _program(pattern, whole=True)
        self._allowed = allowed
        self.steps = 0

    def whole(self, text: str) -> int | None:
        """As `fullmatch`; the end of the match."""
        return self._run(self._whole, text, 0)

    def once(self, text: str) -> int | None:
        """As `match`."""
        return self._run(self._program, text, 0)

    def everywhere(self, text: str) -> list[tuple[int, int]]:
        """As `finditer`: the matches."""
        found, position = [], 0
        while position <= len(text):
            end = self._run(self._program, text, position)
            if end is None:
                position += 1
            else:
                found.append((position, end))
                position = end if end > position else position + 1
        return found

    def _step(self, count: int = 1) -> None:
        self.steps += count
        if self.steps > self._allowed:
            raise TooManyStepsError

    def _run(self, program: tuple[Instruction, ...], text: str, start: int) -> int | None:
        """The end of the first match of a program at `start`, in the order of its choices."""
        choices = [(0, start, start)]  # each: an instruction, the position to take up, and the last one before it to try
        while choices:
            at, position, last = choices.pop()
            if position > last:
                choices.append((at, position - 1, last))
            elif position < last:
                choices.append((at, position + 1, last))
            self._step()
            while True:
                done = program[at]
                if done.name == "end":
                    return position
                after = self._advance(done, text, position, at, choices)
                if after is None:
                    break
                at, position = after
        return None

    def _advance(
        self, done: Instruction, text: str, position: int, at: int, choices: list[tuple[int, int, int]]
    ) -> tuple[int, int] | None:
        """Does one instruction: the next one and its position, or None if it fails."""
        self._step()
        match done.name:
            case "split":
                choices.append((done.second, position, position))
                return done.first, position
            case "jump":
                return done.first, position
            case "take":
                return (at + 1, position + 1) if text[position : position + 1] in done.characters else None
            case "run":
                return self._repeat(done, text, position, at, choices)
            case "atomic":
                end = self._run(done.inner, text, position)
                return None if end is None else (at + 1, end)
            case "look":
                begin = position - done.first
                holds = begin >= 0 and self._run(done.inner, text, begin) is not None
                return (at + 1, position) if holds == (done.word == "there") else None
        return (at + 1, position) if _holds(done.word, text, position) else None

    def _repeat(
        self, done: Instruction, text: str, position: int, at: int, choices: list[tuple[int, int, int]]
    ) -> tuple[int, int] | None:
        """Characters of a set, as many as there are or as few as will do."""
        end, last = position, min(len(text), position + done.second)
        while end < last and text[end] in done.characters:
            end += 1
        least = position + done.first
        if end < least:
            self._step(end - position)
            return None
        if done.word == "lazy":
            self._step(least - position)
            if end > least:
                choices.append((at + 1, least + 1, end))
            return at + 1, least
        self._step(end - position)
        if done.word == "greedy" and end > least:
            choices.append((at + 1, end - 1, least))
        return at + 1, end


def _holds(word: str, text: str, position: int) -> bool:
    before, after = text[:position][-1:], text[position : position + 1]
    match word:
        case "AT_BEGINNING" | "AT_BEGINNING_STRING":
            return position == 0
        case "AT_BEGINNING_LINE":
            return before in ("", "\n")
        case "AT_END":
            return text[position:] in ("", "\n")
        case "AT_END_LINE":
            return after in ("", "\n")
        case "AT_END_STRING":
            return after == ""
        case "AT_BOUNDARY" | "AT_NON_BOUNDARY":
            is_boundary = _is_word(before) != _is_word(after)
            return is_boundary == (word == "AT_BOUNDARY")
    raise ValueError(f"no steps are known for the assertion {word}")


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


@cache
def _program(pattern: re.Pattern[Any], whole: bool) -> tuple[Instruction, ...]:
    tree = _parser.parse(pattern.pattern, pattern.flags)
    found = list(_compiled(tree, pattern.flags))
    return (*found, *([Instruction("at", word="AT_END_STRING")] if whole else []), Instruction("end"))


def _compiled(tree: Any, flags: int, offset: int = 0) -> Iterator[Instruction]:
    """The instructions for the parts of a parsed expression in turn; `offset` is where the first will stand."""
    for operation, argument in tree:
        part = list(_part(str(operation), argument, flags, offset))
        yield from part
        offset += len(part)


def _part(name: str, argument: Any, flags: int, offset: int) -> list[Instruction]:
    characters = _characters(name, argument, flags)
    if characters is not None:
        return [Instruction("take", characters)]
    match name:
        case "AT":
            word = str(argument)
            multiline = flags & re.MULTILINE and word in ("AT_BEGINNING", "AT_END")
            return [Instruction("at", word=word + "_LINE" if multiline else word)]
        case "SUBPATTERN":
            return list(_compiled(argument[3], flags, offset))
        case "ATOMIC_GROUP":
            return [Instruction("atomic", inner=_closed(argument, flags))]
        case "ASSERT" | "ASSERT_NOT":
            direction, tree = argument
            back = tree.getwidth()[0] if direction < 0 else 0
            word = "there" if name == "ASSERT" else "not there"
            return [Instruction("look", inner=_closed(tree, flags), first=back, word=word)]
        case "BRANCH":
            return _branches(argument[1], flags, offset)
    if name in _REPEATS:
        return _repeats(_REPEATS[name], *argument, flags, offset)
    raise ValueError(f"no steps are known for the part {name}")


def _closed(tree: Any, flags: int) -> tuple[Instruction, ...]:
    return (*_compiled(tree, flags), Instruction("end"))


def _branches(trees: list[Any], flags: int, offset: int) -> list[Instruction]:
    *others, last = trees
    lengths = [len(list(_compiled(tree, flags))) + 2 for tree in others]
    end = offset + sum(lengths) + len(list(_compiled(last, flags)))
    found: list[Instruction] = []
    for tree, length in zip(others, lengths, strict=True):
        here = offset + len(found)
        found.append(Instruction("split", first=here + 1, second=here + length))
        found.extend(_compiled(tree, flags, here + 1))
        found.append(Instruction("jump", first=end))
    return [*found, *_compiled(last, flags, offset + len(found))]


def _repeats(kind: str, least: int, most: int, tree: Any, flags: int, offset: int) -> list[Instruction]:
    if len(tree) == 1:
        characters = _characters(str(tree[0][0]), tree[0][1], flags)
        if characters is not None:
            return [Instruction("run", characters, first=least, second=int(most), word=kind)]
    if kind == "possessive":
        return [Instruction("atomic", inner=(*_repeats("greedy", least, most, tree, flags, 0), Instruction("end")))]
    found: list[Instruction] = []
    for _ in range(least):
        found.extend(_compiled(tree, flags, offset + len(found)))
    if most == _parser.MAXREPEAT:
        assert tree.getwidth()[0], "a repeated part that can be empty"
        here = offset + len(found)
        body = list(_compiled(tree, flags, here + 1))
        return [*found, _choice(kind, here + 1, here + len(body) + 2), *body, Instruction("jump", first=here)]
    length = len(list(_compiled(tree, flags))) + 1
    end = offset + len(found) + length * (most - least)
    for _ in range(most - least):
        here = offset + len(found)
        found.append(_choice(kind, here + 1, end))
        found.extend(_compiled(tree, flags, here + 1))
    return found


def _choice(kind: str, into: int, past: int) -> Instruction:
    first, second = (past, into) if kind == "lazy" else (into, past)
    return Instruction("split", first=first, second=second)


def _characters(name: str, argument: Any, flags: int) -> frozenset[str] | None:
    """The characters that a part of one character takes, of the first 256; None for other parts."""
    match name:
        case "LITERAL":
            return _both_cases(frozenset(chr(argument)), flags)
        case "NOT_LITERAL":
            return _EVERY - _both_cases(frozenset(chr(argument)), flags)
        case "ANY":
            return _EVERY if flags & re.DOTALL else _EVERY - {"\n"}
        case "RANGE":
            return _both_cases(frozenset(map(chr, range(argument[0], argument[1] + 1))), flags)
        case "CATEGORY":
            expression = re.compile(_CATEGORIES[str(argument)], re.ASCII)
            return frozenset(filter(expression.match, _EVERY))
        case "IN":
            negated = str(argument[0][0]) == "NEGATE"
            taken: frozenset[str] = frozenset()
            for kind, value in argument[negated:]:
                taken |= _characters(str(kind), value, flags) or frozenset()
            return _EVERY - taken if negated else taken
    return None


def _both_cases(characters: frozenset[str], flags: int) -> frozenset[str]:
    if not flags & re.IGNORECASE:
        return characters
    return characters | {other for one in characters for other in (one.lower(), one.upper())}


def sample(pattern: re.Pattern[Any], random: Random) -> str:
    """A text that begins as the expression wants it, chosen at random; what it looks at besides is left out."""
    return "".join(_sampled(_parser.parse(pattern.pattern, pattern.flags), pattern.flags, random))


def _sampled(tree: Any, flags: int, random: Random) -> Iterator[str]:
    for operation, argument in tree:
        name = str(operation)
        characters = _characters(name, argument, flags)
        if characters is not None:
            printable = sorted(one for one in characters if one.isascii() and (one.isprintable() or one == "\n"))
            yield random.choice(printable or sorted(characters))
        elif name in _REPEATS:
            least, most, inner = argument
            for _ in range(random.choice([least, min(most, least + 1), min(most, least + 2)])):
                yield from _sampled(inner, flags, random)
        elif name == "BRANCH":
            yield from _sampled(random.choice(argument[1]), flags, random)
        elif name == "SUBPATTERN":
            yield from _sampled(argument[3], flags, random)
        elif name == "ATOMIC_GROUP":
            yield from _sampled(argument, flags, random)
        elif name == "ASSERT" and argument[0] > 0:
            yield from _sampled(argument[1], flags, random)
