"""The contract of one function, as data."""

from __future__ import annotations

from typing import Literal

import msgspec

Status = Literal["proved", "assumed", "given", "described", "seen"]
"""`given`: a table of library functions says it. `described`: a contract of the project does. `seen`: a statement of the function
says it, whatever leads there."""


class Clause(msgspec.Struct, frozen=True):
    """One thing that a contract says: in plain words with C in it, and as a condition in C, where there is one. `from_`: the
    rule, or the table, that it comes from."""

    text: str
    formula: str
    status: Status
    from_: str = msgspec.field(name="from")


class FunctionContract(msgspec.Struct, frozen=True):
    """What is known of a function. `path` and `line` are empty, and 0, for one that the program does not define. `declared`: its
    declaration as it is written, where that is known; `signature` is made from the types.

    `requires`: what callers have to keep, so that it violates the rules that the clauses are from at no place in itself;
    `blocks`: the same, of blocks and streams that its parameters lead to, which `callers_discharging` does not count.
    `ownership`: which blocks and streams it ends, makes or keeps. `returns` is False if no call comes back.
    `callers_discharging`: how many of the functions of the program that call it keep all that it requires, or pass what violates
    nothing all the same, and how many there are. `closed`: nothing in it violates these rules where callers keep that. `open`:
    where a rule may be violated, whatever callers keep. `relies`: what holds of the data of the program at all times, so that a
    rule is not violated, in runs from `main`."""

    function: str
    path: str
    line: int
    signature: str
    requires: tuple[Clause, ...] = ()
    ensures: tuple[Clause, ...] = ()
    writes: tuple[Clause, ...] = ()
    ownership: tuple[Clause, ...] = ()
    returns: bool = True
    callers_discharging: tuple[int, int] = (0, 0)
    open: tuple[str, ...] = ()
    closed: bool = False
    declared: str = ""
    relies: tuple[Clause, ...] = ()
    blocks: tuple[Clause, ...] = ()
