"""Which steps of a run say what becomes of the block that a violation is about: where it is made, released, and lost.

What a run saw names the block by a number, `heap block 2` or `resource 1`, and so do the values of its steps. People do not know
these numbers: they need the call that has made the block, the one that has freed or closed it, and where what led to it was given
another value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from analysis.c.blocks import RELEASES, RESIZES
from analysis.c.functions import all_with
from analysis.cfa.graph import Program
from analysis.model import ir
from analysis.model.spelling import display_name
from analysis.session.provers.asking.answer import Decided, Ran

_BLOCK = re.compile(r"\b(?:heap block|resource) \d+\b")
_ENDS = RELEASES | RESIZES | all_with(lambda one: bool(one.positions("freed", "closed")))
_LOST = "nothing points to"


def block_steps(observed: str, steps: Sequence[Ran], program: Program) -> frozenset[int]:
    """The numbers of the steps that make, release and lose the block that `observed` names first; none if it names no block."""
    block = _named(observed)
    if block is None:
        return frozenset()
    having = [number for number, step in enumerate(steps) if _has(block, step)]
    gone = next((number for number in having if _is_freed(block, steps[number])), len(steps))
    released = [number for number in having if number < gone < len(steps) and _calls(program, steps[number], _ENDS)]
    lost = _lost(block, steps, program) if _LOST in observed else None
    found = (_made(block, steps, program), *released[-1:], lost)
    return frozenset(number for number in found if number is not None)


def repeats(run: Decided, known: Decided, program: Program) -> bool:
    """Whether a run that loses a block shows what another one has shown already: both lose what the same call has made, and the
    run passes, behind that call, where the other one ends. A run from `main` sees the loss only when the program ends."""
    ours, theirs = _named(run.observed), _named(known.observed)
    if ours is None or theirs is None or not (_LOST in run.observed and _LOST in known.observed and known.steps):
        return False
    mine, other = _made(ours, run.steps, program), _made(theirs, known.steps, program)
    if mine is None or other is None or _place(run.steps[mine]) != _place(known.steps[other]):
        return False
    return _place(known.steps[-1]) in {_place(step) for step in run.steps[mine + 1 :]}


def _place(step: Ran) -> tuple[str, int]:
    return step.function, step.edge


def _named(observed: str) -> re.Pattern[str] | None:
    named = _BLOCK.search(observed)
    return None if named is None else re.compile(rf"{named[0]}\b")


def _has(block: re.Pattern[str], step: Ran) -> bool:
    return any(block.match(value) for value in step.values.values())


def _made(block: re.Pattern[str], steps: Sequence[Ran], program: Program) -> int | None:
    """The first step that has the block, if it is a call that can have made it."""
    first = next((number for number, step in enumerate(steps) if _has(block, step)), None)
    return first if first is not None and _calls(program, steps[first], None) else None


def _lost(block: re.Pattern[str], steps: Sequence[Ran], program: Program) -> int | None:
    """The last step that gives another value to what led to the block, as far as the steps show it."""
    leading, lost = set[tuple[str, str]](), None
    for number, step in enumerate(steps):
        writes = isinstance(program.functions[step.function].by_id[step.edge].effect, ir.Assign | ir.Call)
        for text, value in step.values.items():
            if block.match(value):
                leading.add((step.function, text))
            elif writes and (step.function, text) in leading:
                leading.discard((step.function, text))
                lost = number
    return lost


def _is_freed(block: re.Pattern[str], step: Ran) -> bool:
    return any(block.match(value) and value.endswith(", freed") for value in step.values.values())


def _calls(program: Program, step: Ran, names: frozenset[str] | None) -> bool:
    """Whether a step calls a function that the program does not define; one of these `names`, if they are given."""
    effect = program.functions[step.function].by_id[step.edge].effect
    if not isinstance(effect, ir.Call) or not isinstance(effect.callee, ir.Var) or effect.callee.name in program.functions:
        return False
    return names is None or display_name(effect.callee.name) in names
