"""Contracts of library functions, from the rows of `analysis.c.functions`, and of functions that a project describes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.c.blocks import RESIZES
from analysis.c.functions import Function, known
from analysis.cfa.graph import External
from analysis.model.c_types import Pointer
from analysis.session.contracts import words
from analysis.session.contracts.declarations import parameter_names
from analysis.session.contracts.function_contract import Clause, FunctionContract, Status
from analysis.session.contracts.signatures import signature

_MADE = {
    "block": words.new("block"),
    "stream": words.new("stream"),
    "directory": words.new("directory"),
    "descriptor": "-1, or a new descriptor, which has to be closed",
    "stack": "a block that ends with the function that calls",
    "static": "an object that later calls may change",
}
_ACCESSED = frozenset(("in", "copied", "text", "out", "inout", "handle", "closed", "format", "scan", "lock", "link"))


def library_contract(name: str, declared: External | None = None, written: str = "") -> FunctionContract | None:
    """What the table says of a function, or the project; None if neither does. `declared`: how the program declares it;
    `written`: in which words, where that is known."""
    own = None if declared is None else declared.contract
    function = known(name) or own
    if function is None:
        return None
    shown = name if declared is None else signature(name, declared.type)
    names = parameter_names(written)
    status: Status = "given" if own is None else "described"
    source = f"the table of library functions ({function.described})" if own is None else f"{function.described}{_open(own)}"
    return FunctionContract(
        name,
        "",
        0,
        shown,
        requires=tuple(Clause(f"`{text}`", text, status, source) for text in _required(function, declared, names)),
        ensures=tuple(Clause(text, "", status, source) for text in _ensured(function, names)),
        writes=tuple(Clause(text, "", status, source) for text in _written(function, names)),
        ownership=tuple(Clause(text, "", status, source) for text in _owned(function, names)),
        returns=not function.never_returns,
        declared=written,
    )


def _open(function: Function) -> str:
    return "" if function.is_complete else ", which proofs do not rely on, since it is not complete"


def _required(function: Function, declared: External | None, names: Sequence[str]) -> Iterator[str]:
    is_own = declared is not None and bool(declared.row)
    for number, one in enumerate(function.arguments):
        type_ = declared.type.parameters[number] if declared and number < len(declared.type.parameters) else None
        is_pointer = type_ is None or isinstance(type_, Pointer)
        is_used = is_own or not one.uses.isdisjoint(_ACCESSED)  # as proofs have it
        is_needed = not one.nullable and "n" not in one.uses and is_used
        if is_pointer and (is_needed or (is_own and declared is not None and number in declared.nonnull)):
            yield words.not_null(number, names)


def _ensured(function: Function, names: Sequence[str]) -> Iterator[str]:
    if function.never_returns:
        yield words.NEVER_RETURNS
        return
    if function.result == "argument":
        yield words.result(words.argument(function.of, names), or_null=bool(function.null))
    if function.result == "into":
        yield words.result(f"a pointer into what {words.argument(function.of, names)} points to", or_null=bool(function.null))
    elif function.result not in ("", "number", "descriptor"):
        yield words.MAY_BE_NULL if function.null else words.NEVER_NULL
    if function.least is not None and function.greatest is not None:
        yield f"returns {function.least} to {function.greatest}"


def _written(function: Function, names: Sequence[str]) -> Iterator[str]:
    if not function.is_complete or "elsewhere" in function.besides or function.calls_code or function.positions("beneath"):
        yield words.ANYTHING
        return
    further = function.positions("out...")
    found = [f"what {words.argument(number, names)} points to" for number in function.written if number not in further]
    found += [f"what {words.argument(number)} and those after it point to" for number in further]
    errno = [] if "keeps-errno" in function.besides else ["`errno`"]
    yield from [*found, *errno] or [words.NOTHING]


def _owned(function: Function, names: Sequence[str]) -> Iterator[str]:
    if_ = " where it succeeds" if function.name in RESIZES else ""  # what a project says of a function holds for each call
    yield from (f"frees {words.argument(number, names)}{if_}" for number in function.positions("freed"))
    yield from (f"closes {words.argument(number, names)}" for number in function.positions("closed"))
    yield from (f"keeps {words.argument(number, names)}" for number in function.positions("kept"))
    if function.result in _MADE:
        yield words.result(_MADE[function.result], or_null=bool(function.null))
