"""Partitions in a light theory ([UPPROVER] section 5.2): linear arithmetic of the reals, or equality of uninterpreted functions.

The formulas of bodies are weakened, so that what holds of them holds of the program. What does not hold may be an artefact.
Symbols keep their canonical names and get the sorts of the theory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import msgspec

from analysis.engines.summary.body_partitions import Partition, digest_of
from analysis.smt.interpolants.euf_abstraction import EufAbstraction
from analysis.smt.interpolants.lra_abstraction import LraAbstraction, real_symbol
from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import symbol
from analysis.smt.logic.terms import Term, symbols

Light = Literal["lra", "euf"]


Abstractions = dict[tuple[Light, str], tuple[tuple[Partition, Partition], ...]]
"""The last few partitions of each function, the last one first, and what they are in a light theory. An edit is often undone."""
_VERSIONS = 3


def abstracted(partitions: Mapping[str, Partition], theory: Light, known: Abstractions) -> dict[str, Partition]:
    """The partitions of a program, encoded with whole numbers, in a light theory. What is `known` is not made again; it is
    added to, and what the program does not have is dropped."""
    weakened: Callable[[Term], Term] = LraAbstraction() if theory == "lra" else EufAbstraction()
    symbol_of = _as_real if theory == "lra" else weakened
    found = {}
    for name, partition in partitions.items():
        versions = known.get((theory, name), ())
        before = next((version for version in versions if version[0] == partition), None)
        version = before or (partition, _abstracted(partition, weakened, symbol_of))
        known[theory, name] = (version, *(other for other in versions if other is not before))[:_VERSIONS]
        found[name] = version[1]
    for key in [key for key in known if key[1] not in partitions]:
        del known[key]
    return found


def _as_real(term: Term) -> Term:
    return real_symbol(term) if term.sort.kind in ("Int", "Real", "BitVec") else term


def _abstracted(partition: Partition, weakened: Callable[[Term], Term], symbol_of: Callable[[Term], Term]) -> Partition:
    known = dict.fromkeys((*symbols(partition.conjuncts), *partition.inputs, *partition.outputs, *partition.depends))
    known.update(dict.fromkeys(source for sources in partition.depends.values() for source in sources))
    made = {term: symbol_of(term) for term in known}
    named = {new: symbol(str(term.data), new.sort) for term, new in made.items()}
    rename = Substitution(named)
    conjuncts = rename.all(weakened(term) for term in partition.conjuncts)

    def all_of(terms: Iterable[Term]) -> tuple[Term, ...]:
        return tuple(named[made[term]] for term in terms)

    return msgspec.structs.replace(
        partition,
        conjuncts=conjuncts,
        inputs=all_of(partition.inputs),
        outputs=all_of(partition.outputs),
        depends={named[made[term]]: all_of(sources) for term, sources in partition.depends.items()},
        digest=digest_of(conjuncts, partition.slots),
    )
