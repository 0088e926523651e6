"""An earlier annotation as it is, as a claim about the new program: where the certificate checker accepts it, no difference has
to be followed any further. This goes beyond [IPA], whose algorithms begin with what a change impacts.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from analysis.certificate.annotation import Annotation
from analysis.certificate.annotation_map import AnnotationMap
from analysis.certificate.checked_outcome import Proved, ReuseWork, Work
from analysis.certificate.checker import check
from analysis.certificate.later_version import claimed
from analysis.certificate.refusal import RefusedError
from analysis.cfa.revisions.location_map import ProgramMap
from analysis.cpa.predicates.adjustable_blocks import BlockEnds, block_ends
from analysis.model.c_types import DataModel
from analysis.smt.logic.term_building import FALSE
from analysis.smt.solving.solver import Budget


class MappedProof(msgspec.Struct, frozen=True):
    """The earlier annotation that answers the same question, the map to its program, and the seconds of the processor that it
    took to compare the programs."""

    pair: ProgramMap
    annotation: Annotation
    differing: float


def revalidated(
    earlier: MappedProof, known: Callable[[MappedProof], AnnotationMap], ends: BlockEnds, model: DataModel, budget: Budget
) -> Proved | None:
    """The proof of the new program that an earlier one is; None if it is not accepted. `known` says it in the terms of the new
    program; `budget`: of each question to the solver."""
    began, pair = time.process_time(), earlier.pair
    try:
        claim = claimed(known(earlier), lambda cfa: block_ends(cfa, ends))
        annotating = time.process_time() - began
        checked = check(pair.new, claim, model, budget)
    except RefusedError:
        return None
    cubes = sum(_cubes(claim).values())
    reuse = ReuseWork(cubes, cubes, cubes, 0, pair.changed_edges, earlier.differing, annotating, "annotation")
    return Proved(claim, checked.assumptions, Work(questions=checked.questions, reuse=reuse), checked.unreached)


def _cubes(claim: Annotation) -> dict[tuple[int, int], int]:
    """How many cubes are asserted, by point."""
    asserted = claim.assertions.items()
    return {point: len(term.args) if term.op == "or" else int(term is not FALSE) for point, term in asserted}
