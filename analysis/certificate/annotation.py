"""An annotation of a program: an assertion for each of some points ([IPA] Definitions 3.2 and 3.3).

A point is a location of a function in a context, which is a chain of calls that leads there (the calls are inlined). Assertions
are over the state variables of `analysis.smt.transitions`. Every cycle has a point with an assertion; between those points, the
checker follows the program.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

from analysis.cfa.graph import Program
from analysis.cpa.domains.location import Stack
from analysis.cpa.predicates.violations import Property
from analysis.smt.encoding.numbers.formula import Mode
from analysis.smt.logic.terms import Term


class Annotation(msgspec.Struct, frozen=True):
    """What is claimed: no run that starts at `entry` violates `property` at any of the edges (function, edge); and why.

    `contexts` are the stacks of calls by number; the empty one is 0. Calls in other contexts are claimed not to happen."""

    entry: str
    property: Property
    edges: tuple[tuple[str, int], ...]
    mode: Mode
    contexts: tuple[Stack | None, ...]
    assertions: Mapping[tuple[int, int], Term]


class Summaries(msgspec.Struct, frozen=True):
    """The same claim, proved function by function: an assertion for each point of `analysis.cpa.predicates.procedures`, by
    function and location. Those at the entry and the exit of a function are its summary. Points without one are claimed not to
    be reached."""

    entry: str
    property: Property
    edges: tuple[tuple[str, int], ...]
    mode: Mode
    assertions: Mapping[tuple[str, int], Term]


Proof = Annotation | Summaries


def program_digest(program: Program) -> str:
    """What the program says: its functions, and what its globals start with."""
    hasher = hashlib.blake2b(digest_size=16)
    for name, cfa in sorted(program.functions.items()):
        hasher.update(f"{name}\0{cfa.digest}\0".encode())
    for name, variable in sorted(program.globals.items()):
        hasher.update(f"{name}\0{variable.var!r}\0{variable.initial!r}\0{variable.parts!r}\0".encode())
    for key, record in sorted(program.records.items()):
        hasher.update(f"{key}\0{record!r}\0".encode())
    return hasher.hexdigest()
