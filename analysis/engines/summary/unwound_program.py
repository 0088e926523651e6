"""A program as a tree of calls with formulas; or the reasons why there is none that an answer could rest on."""

from __future__ import annotations

from collections.abc import MutableMapping

import msgspec

from analysis.cfa.callgraph import callees
from analysis.cfa.graph import Program
from analysis.cpa.obstacles.completeness import KEEPS_ERRNO, address_reasons, keeps_errno, reachable
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.cpa.predicates.violations import Property, violations_in
from analysis.engines.summary.body_encoding import BodyEncoder
from analysis.engines.summary.body_partitions import Partition
from analysis.engines.summary.call_tree import CallTree
from analysis.engines.summary.known_bodies import KnownBodies
from analysis.engines.summary.partition_abstraction import Abstractions, Light, abstracted
from analysis.engines.summary.reached_places import may_reach_check
from analysis.frontend.declarations.file_level import UNSEEN
from analysis.model.c_types import LP64, DataModel
from analysis.smt.encoding.numbers.formula import Mode
from analysis.smt.solving.solver import Budget
from analysis.smt.transitions.system import System
from analysis.smt.transitions.vocabulary import TooLargeError

PROPERTIES: frozenset[Property] = frozenset(
    {"assertion", "division-by-zero", "signed-overflow", "shift-range", "null-dereference", "array-bounds"}
)
"""What can be asked. Whether variables have values is not among it: bodies do not pass that on."""
_ENTRY = "main"
_BUDGET = Budget(2_000)  # of each question whether a check is reached


class UnwoundProgram(msgspec.Struct, frozen=True):
    """The partitions of a program and the tree of its calls, the assumptions of its formulas, and the digests of the functions as
    the front end has them."""

    partitions: dict[str, Partition]
    tree: CallTree
    assumptions: tuple[str, ...]
    digests: dict[str, str]


class CannotUnwindError(Exception):
    """There is no tree that an answer could rest on; why."""


def unwound(
    program: Program,
    property_: Property,
    bound: int,
    mode: Mode,
    numbers: MutableMapping[str, int],
    model: DataModel = LP64,
    known: KnownBodies | None = None,
) -> UnwoundProgram:
    """The tree of the calls from `main`. `numbers`: see `BodyEncoder`. `known`: bodies of revisions before; those of this one are
    added. Raises CannotUnwindError."""
    if bound < 1:
        raise CannotUnwindError("a bound is at least 1")
    if property_ not in PROPERTIES:
        raise CannotUnwindError(f"summaries say nothing about {property_}")
    if _ENTRY not in program.functions:
        raise CannotUnwindError("there is no function main")
    if keeps_errno(program):
        raise CannotUnwindError(KEEPS_ERRNO)
    if UNSEEN in program.externals:
        raise CannotUnwindError("attributes make functions run before or after main, or give them other names")
    for reason in address_reasons(program, (_ENTRY,)):
        raise CannotUnwindError(reason)
    functions = reachable(program, (_ENTRY,))
    if any(_ENTRY in called for called in callees(program).values()):
        raise CannotUnwindError("main is called by the program itself, so that it need not begin where the program does")
    places = [place for name in functions for place in violations_in(program, name, property_)]
    if not places:
        raise CannotUnwindError("only main and what it calls are looked at, and nothing there could violate it")
    try:
        system = System(program, mode, model, exposed=exposed(program))
        bodies = (known or KnownBodies()).of((property_, bound, mode, model), system)
        encoder = BodyEncoder(system, places, _ENTRY, bound, numbers, bodies)
        partitions = encoder.partitions(functions)
        tree = CallTree(partitions, _ENTRY, bound)
    except TooLargeError as error:
        raise CannotUnwindError(str(error)) from error
    if not tree.cuts_nothing and not may_reach_check(tree, _BUDGET):
        raise CannotUnwindError("the bound leaves out every place where it could be violated")
    digests = {name: program.functions[name].digest for name in functions}
    return UnwoundProgram(partitions, tree, tuple(system.assumptions), digests)


def in_theory(unrolled: UnwoundProgram, theory: Light, known: Abstractions) -> UnwoundProgram:
    """The same program in a light theory; for `known` see `abstracted`."""
    partitions = abstracted(unrolled.partitions, theory, known)
    tree = CallTree(partitions, _ENTRY, unrolled.tree.bound)
    return msgspec.structs.replace(unrolled, partitions=partitions, tree=tree)
