"""The words of clauses that program functions and library functions share. What makes sentences of them, and compares contracts,
knows them by these names."""

from __future__ import annotations

import re
from collections.abc import Sequence

EXPECTS = "expects "
REQUIRES = "requires "
"""Before conditions on what callers pass: `EXPECTS` where it is enough that they hold, and may not be necessary; `REQUIRES` where
the function is defined for nothing else."""
LEAKS_UNLESS = "may leak unless "
"""Before a condition under which nothing is lost. It is enough, and callers need not keep it: what they pass may lead to what
others lead to, too."""
FREES_FOUND = "may free or close what a structure that it is passed leads to"
REACHED_LIVE = f"{EXPECTS}all that it reaches through pointers in memory to be neither freed nor closed"
_NAMED = re.compile(r"`[^`]+`")
_EACH_OF = re.compile(rf"each of (?:{_NAMED.pattern}, )*{_NAMED.pattern} and {_NAMED.pattern}")
EXPECTS_NOTHING = f"{EXPECTS}nothing"
NEVER_RETURNS = "does not return"
NEVER_NULL = "never returns NULL"
NEVER_ZERO = "never returns 0"
MAY_BE_NULL = "may return NULL"
NULL_OR = "returns NULL or "
ANYTHING = "anything that it can reach"
NOTHING = "nothing that callers see"
PASSED_ON = ", or pass it on"
_ARGUMENT = "argument "
_NEW = {
    "block": "a new block, which has to be freed",
    "stream": "a new stream, which has to be closed",
    "directory": "a new directory stream, which has to be closed",
}


def new(kind: str) -> str:
    """What is new, and has to be ended: a `block`, `stream` or `directory`. KeyError for anything else."""
    return _NEW[kind]


def result(what: str, *, or_null: bool) -> str:
    """What a function returns."""
    return f"{NULL_OR if or_null else 'returns '}{what}"


def new_result(text: str) -> str:
    """What is new in what `result` made; empty if nothing is."""
    what = text.removeprefix(NULL_OR).removeprefix("returns ")
    return what if what in _NEW.values() else ""


def kept(what: str) -> str:
    """That a function may keep a pointer, or let others have it."""
    return f"may keep {what}{PASSED_ON}"


def all_kept(texts: Sequence[str]) -> str:
    """Several of what `kept` made, in one."""
    what = [text.removeprefix("may keep ").removesuffix(PASSED_ON) for text in texts]
    return kept(what[0]) if len(what) == 1 else f"may keep {', '.join(what[:-1])} and {what[-1]}, or pass them on"


def each_of(names: Sequence[str]) -> str:
    """Names in C, as what something is said of."""
    said = [f"`{name}`" for name in names]
    return said[0] if len(said) == 1 else f"each of {', '.join(said[:-1])} and {said[-1]}"


def of_each(text: str) -> tuple[str, ...]:
    """A sentence about several parameters (`each_of`) as one about each."""
    several = _EACH_OF.search(text)
    if several is None:
        return (text,)
    return tuple(f"{text[: several.start()]}{name}{text[several.end() :]}" for name in _NAMED.findall(several.group()))


def argument(number: int, names: Sequence[str] = ()) -> str:
    """How an argument is called, numbered from 0: by the name of its parameter, else `argument 1` is the first."""
    name = names[number] if number < len(names) else ""
    return f"`{name}`" if name else f"{_ARGUMENT}{number + 1}"


def not_null(number: int, names: Sequence[str] = ()) -> str:
    """The condition that an argument is no null pointer."""
    return f"{argument(number, names).strip('`')} != NULL"


def arguments_not_null(formulas: Sequence[str], verb: str) -> str:
    """Several such conditions on arguments without names, in words, behind `EXPECTS` or `REQUIRES`."""
    numbers = [one.removeprefix(_ARGUMENT).removesuffix(" != NULL") for one in formulas]
    if len(numbers) == 1:
        return f"{verb}{_ARGUMENT}{numbers[0]} not to be NULL"
    return f"{verb}arguments {', '.join(numbers[:-1])} and {numbers[-1]} not to be NULL"


def is_unnamed(formula: str) -> bool:
    """Whether a condition is one of `not_null` on an argument without a name."""
    return formula.startswith(_ARGUMENT)


def member(name: str, record: str) -> str:
    """A member of all records of a type. What tells records without a tag apart is left out."""
    return f"`{name}` of `{record.partition('#')[0]}`"


def all_of(number: int, noun: str) -> str:
    """`the only write`, `both writes`, `all 3 writes`."""
    if number == 1:
        return f"the only {noun}"
    return f"both {noun}s" if number == 2 else f"all {number} {noun}s"


def counted(number: int, noun: str) -> str:
    """`1 caller`, `2 callers`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
