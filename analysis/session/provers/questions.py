"""A finding as a question to a prover: all that the answer depends on, and its key."""

from __future__ import annotations

from typing import Literal, NamedTuple

from analysis.engines.automaton.suspicions import Suspicion
from analysis.model import ir
from analysis.model.digest import digest_text
from analysis.model.options import Options
from analysis.model.spelling import spell_expr
from analysis.session.provers.slices import Slice

_SHARE = 0.8  # of the budget's seconds, after which a prover says by itself how far it came


class FindingQuestion(NamedTuple):
    """Whether a run of the program from one of its entries violates a rule at an edge; `seconds` is how long it may take.

    The fields are those of `engines.symbolic.Task`, which is made of them where the engine is."""

    program: Slice
    function: str
    edge: int
    rule: str
    expression: ir.Expr | None
    way: tuple[tuple[str, int], ...]
    data_model: Literal["LP64", "ILP32"]
    seconds: float


def question_of(suspicion: Suspicion, program: Slice, options: Options) -> FindingQuestion:
    """The question about a finding in a slice of its program."""
    way = suspicion.way if all(function in program.functions for function, _ in suspicion.way) else ()
    seconds = _SHARE * options.limits.task_seconds
    return FindingQuestion(
        program, suspicion.function, suspicion.edge, suspicion.rule, suspicion.expression, way, options.data_model, seconds
    )


def key_of(question: FindingQuestion) -> str:
    """What the answer is kept under: a digest of all that it depends on. The way is only a hint, and time is only patience."""
    what = "" if question.expression is None else spell_expr(question.expression)
    where = f"{question.edge} {question.rule} {question.data_model} {what}"
    return digest_text(question.program.digest, question.function, where)
