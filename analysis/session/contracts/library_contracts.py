"""Contracts of library functions, from the rows of `analysis.c.functions`, and of functions that a project describes."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.c.functions import Function, known
from analysis.cfa.graph import External
from analysis.model.c_types import Pointer
from analysis.session.contracts.function_contract import Clause, FunctionContract
from analysis.session.contracts.signatures import signature

_MADE = {
    "block": "returns a new block of memory, which has to be freed",
    "stream": "returns a new stream, which has to be closed",
    "directory": "returns a new directory stream, which has to be closed",
    "descriptor": "returns a new descriptor, which has to be closed",
    "stack": "returns a block that ends with the function that calls",
    "static": "returns an object that later calls may change",
}
_ACCESSED = frozenset(("in", "copied", "text", "out", "inout", "handle", "closed", "format", "scan", "lock", "link"))


def library_contract(name: str, declared: External | None = None) -> FunctionContract | None:
    """What the table says of a function, or the project; None if neither does. `declared`: how the program declares it."""
    own = None if declared is None else declared.contract
    function = known(name) or own
    if function is None:
        return None
    shown = name if declared is None else signature(name, declared.type)
    source = f"the table of library functions ({function.described})" if own is None else f"{function.described}{_open(own)}"
    return FunctionContract(
        name,
        "",
        0,
        shown,
        requires=tuple(Clause(f"`{text}`", text, "given", source) for text in _required(function, declared)),
        ensures=tuple(Clause(text, "", "given", source) for text in _ensured(function)),
        writes=tuple(Clause(text, "", "given", source) for text in _written(function)),
        ownership=tuple(Clause(text, "", "given", source) for text in _owned(function)),
        returns=not function.never_returns,
    )


def _open(function: Function) -> str:
    return "" if function.is_complete else ", which proofs do not rely on, since it is not complete"


def argument(number: int) -> str:
    """How an argument is called: `argument 1` is the first."""
    return f"argument {number + 1}"


def _required(function: Function, declared: External | None) -> Iterator[str]:
    for number, one in enumerate(function.arguments):
        type_ = declared.type.parameters[number] if declared and number < len(declared.type.parameters) else None
        is_pointer = type_ is None or isinstance(type_, Pointer)
        is_accessed = not one.nullable and not one.uses.isdisjoint(_ACCESSED) and "n" not in one.uses
        if is_pointer and (is_accessed or (declared is not None and bool(declared.row) and number in declared.nonnull)):
            yield f"{argument(number)} != NULL"


def _ensured(function: Function) -> Iterator[str]:
    if function.result == "argument":
        yield f"returns {argument(function.of)}"
    if function.result == "into":
        yield f"returns a pointer into what {argument(function.of)} leads to" + (", or NULL" if function.null else "")
    elif function.result not in ("", "number", "descriptor"):
        yield "may return NULL" if function.null else "never returns NULL"
    if function.least is not None and function.greatest is not None:
        yield f"returns {function.least} to {function.greatest}"


def _written(function: Function) -> Iterator[str]:
    if not function.is_complete or "elsewhere" in function.besides:
        yield "anything that it can reach"
        return
    found = [f"what {argument(number)} leads to" for number in function.written]
    yield from [*found, *([] if "keeps-errno" in function.besides else ["`errno`"])]


def _owned(function: Function) -> Iterator[str]:
    yield from (f"frees {argument(number)}" for number in function.positions("freed"))
    yield from (f"closes {argument(number)}" for number in function.positions("closed"))
    yield from (f"keeps {argument(number)}" for number in function.positions("kept"))
    if function.result in _MADE:
        yield _MADE[function.result]
