"""The checker of certificates: small, and independent of the engine that found the proof (invariant I10).

It shares with the engines only what C means (`analysis.smt.transitions`, `analysis.cpa.predicates`), and believes nothing that
the solver does not confirm.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from analysis.certificate.annotation import Annotation, Proof
from analysis.certificate.claimed import Place
from analysis.certificate.inlined import Inlined
from analysis.certificate.proof_obligations import Questions
from analysis.certificate.refusal import RefusedError
from analysis.certificate.summary_certificate import check_summaries
from analysis.cfa.graph import Program
from analysis.cpa.obstacles.beside import beside
from analysis.cpa.obstacles.completeness import KEEPS_ERRNO, address_reasons, keeps_errno
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.cpa.predicates.violations import violations
from analysis.frontend.declarations.file_level import UNSEEN
from analysis.model.c_types import LP64, DataModel
from analysis.model.spelling import display_name
from analysis.smt.logic.terms import symbols
from analysis.smt.solving.solver import Budget
from analysis.smt.transitions.system import System

_STATE = re.compile(r"(old:)?(@|\d+:|heap:|#next$)")
"""What names of state variables begin with. Assertions speak of nothing else: a name that the checker gives to an input while it
follows the program would stand for that input as well."""


class Checked(NamedTuple):
    """What an accepted proof rests on, how many questions the solver answered, and which claimed places no run reaches."""

    assumptions: tuple[str, ...]
    questions: int
    unreached: tuple[Place, ...] = ()


def check(program: Program, proof: Proof, model: DataModel = LP64, budget: Budget = Budget(10_000)) -> Checked:  # noqa: B008
    """Accepts the proof, or raises RefusedError. KeyError if the program does not define its entry; TooLargeError if the program
    cannot be encoded."""
    known = {(violation.function, violation.edge) for violation in violations(program, proof.property)}
    strange = set(proof.edges) - known
    if len(set(proof.edges)) < len(proof.edges):
        raise RefusedError("it names a place twice")
    if strange:
        raise RefusedError(f"it names a place in {display_name(min(strange)[0])} where nothing could violate {proof.property}")
    if keeps_errno(program):
        raise RefusedError(KEEPS_ERRNO)
    for reason in address_reasons(program, (proof.entry,)):
        raise RefusedError(reason)
    is_whole = proof.entry == "main"
    if is_whole and UNSEEN in program.externals:
        raise RefusedError("attributes make functions run before or after main, or give them other names")
    changed = None if is_whole else beside(program).obstacle((proof.entry,))
    if changed is not None:
        raise RefusedError(changed)
    odd = sorted(str(term.data) for term in symbols(proof.assertions.values()) if not _STATE.match(str(term.data)))
    if odd:
        raise RefusedError(f"an assertion mentions {odd[0]}, which is not part of the state")
    system = System(
        program,
        proof.mode,
        model,
        whole=is_whole,
        exposed=exposed(program),
        definedness=proof.property == "uninitialized-read",
    )
    questions = Questions(system, budget)
    reached = Inlined(program, proof, questions).run() if isinstance(proof, Annotation) else check_summaries(proof, questions)
    if not proof.edges:
        raise RefusedError("it claims nothing")
    unreached = tuple(place for place in proof.edges if place not in reached)
    return Checked(tuple(system.assumptions), questions.count, unreached)
