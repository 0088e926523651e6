"""The inputs of a confirmed run, as they are reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from analysis.cfa.bit_layout import BitLayout
from analysis.cfa.graph import Program
from analysis.engines.symbolic.task import Confirmed
from analysis.interpreter.inputs import Fresh, InputValue, Object, Question
from analysis.model import ir
from analysis.model.c_types import DataModel, Floating, Pointer, Void
from analysis.model.run_inputs import RunInput, RunStart
from analysis.model.spelling import display_name

_OF_CALLS = ("result", "allocation", "written")


def run_start(program: Program, confirmed: Confirmed, model: DataModel) -> RunStart:
    """Where a run begins, and what it was given."""
    layout = BitLayout.of(program, model)
    called = [_called(program, step.function, step.edge) for step in confirmed.steps]
    made = tuple((step.function, step.edge) for step in confirmed.observation.made)
    asked = tuple(_asked_by(question, confirmed) for question, _ in confirmed.inputs)
    return RunStart(confirmed.entry, tuple(_inputs(called, confirmed.inputs, layout)), made, asked=asked)


def _asked_by(question: Question, confirmed: Confirmed) -> tuple[str, int]:
    """The function and the edge of the call that asks a question; -1 for the edge where it is none of a call."""
    if question.kind not in _OF_CALLS or question.step >= len(confirmed.steps):
        return ("", -1)
    step = confirmed.steps[question.step]
    return (step.function, step.edge)


def _inputs(called: Sequence[str], asked: Sequence[tuple[Question, InputValue]], layout: BitLayout) -> Iterator[RunInput]:
    for question, value in asked:
        name, call = question.name, 0
        if question.kind in _OF_CALLS and question.step < len(called):
            name = called[question.step] or name
            call = called[: question.step].count(name)
        given = RunInput(question.kind, name, offset=question.offset, call=call, size=layout.bytes(question.type) or 0)
        match value:
            case Fresh(elements):
                target = question.type.target if isinstance(question.type, Pointer) else Void()
                yield msgspec.structs.replace(given, fresh=(layout.bytes(target) or 0) * elements)
            case Object(target_name, offset):
                yield msgspec.structs.replace(given, object=target_name, number=offset)
            case _:
                is_float = isinstance(question.type, Floating)
                number, real = (0, float(value)) if is_float else (int(value), 0.0)
                yield msgspec.structs.replace(given, number=number, real=real, is_float=is_float)


def _called(program: Program, function: str, edge: int) -> str:
    """The function of the library, or elsewhere, that a step calls by its name; empty if it calls none."""
    effect = program.functions[function].by_id[edge].effect
    is_direct = isinstance(effect, ir.Call) and isinstance(effect.callee, ir.Var)
    name = effect.callee.name if is_direct else ""  # type: ignore[union-attr]  # as is_direct says
    return "" if name in program.functions else display_name(name)
