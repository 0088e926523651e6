"""What the provers do: decide one finding each, or prove one function. The engines, and z3 with them, are loaded with this
module, so only in their processes.

What is decided depends on the question alone. A process keeps the program that it was sent last, and the parts of it, since the
next question is often about the same, or about one in which a function differs: what the engine knows of parts of it stays.
"""

from __future__ import annotations

import pickle
import time
from typing import Any

import msgspec

from analysis.cfa.graph import Program
from analysis.engines.symbolic import Confirmed, Decision, Effort, Refuted, Target, Task, decide
from analysis.engines.witness.outcome import Step
from analysis.model.c_types import ILP32, LP64, DataModel
from analysis.session.provers.claiming import claimed
from analysis.session.provers.claims import ClaimQuestion
from analysis.session.provers.decided import Decided, Ran
from analysis.session.provers.outcome import had_the_processor
from analysis.session.provers.questions import FindingQuestion
from analysis.session.provers.slices import Slice
from analysis.smt.z3_backend import Z3Solver

_parts: dict[bytes, Any] = {}
_last: tuple[str, Program] | None = None
_LEAST = 0.1  # seconds


def answer(question: FindingQuestion | ClaimQuestion) -> Decided:
    """The answer to a question."""
    began, worked, before = time.monotonic(), time.process_time(), Z3Solver.checks
    program = _program(question.program)
    left = max(_LEAST, question.seconds - (time.monotonic() - began))
    if isinstance(question, ClaimQuestion):
        decided = claimed(question, program, _model(question), left)
    else:
        decided = _told(decide(_task(question, program, left)))
    had = not decided.final and had_the_processor(time.process_time() - worked, time.monotonic() - began)
    return msgspec.structs.replace(decided, queries=Z3Solver.checks - before, tried=question.seconds if had else 0.0)


def _model(question: FindingQuestion | ClaimQuestion) -> DataModel:
    return ILP32 if question.data_model == "ILP32" else LP64


def _task(question: FindingQuestion, program: Program, seconds: float) -> Task:
    return Task(
        program=program,
        target=Target(question.function, question.edge, question.rule, question.expression),
        entries=question.program.entries,
        way=tuple(Step(function, edge) for function, edge in question.way),
        effort=Effort(seconds=seconds),
        model=_model(question),
    )


def _program(parts: Slice) -> Program:
    global _parts, _last
    if _last is not None and _last[0] == parts.digest:
        return _last[1]
    tables = (parts.functions, parts.globals, parts.externals, parts.records)
    _parts = {data: _parts[data] if data in _parts else pickle.loads(data) for table in tables for data in table.values()}
    functions, globals_, externals, records = ({name: _parts[data] for name, data in table.items()} for table in tables)
    program = Program(functions, globals_, externals, records, parts.address_taken)
    _last = parts.digest, program
    return program


def _told(decision: Decision) -> Decided:
    match decision:
        case Confirmed():
            return Decided(
                "confirmed",
                observed=decision.observation.text,
                assumptions=decision.assumptions,
                steps=tuple(Ran(step.function, step.edge, step.depth, step.values) for step in decision.steps),
                states=decision.spent.states,
            )
        case Refuted():
            return Decided("refuted", assumptions=decision.assumptions, states=decision.spent.states)
    return Decided("possible", decision.final, reason=decision.reason, looked=decision.looked, states=decision.spent.states)
