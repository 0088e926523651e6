"""Edits that show a difference between a program checked after each edit and one checked from nothing, and no more of them than
it takes: the algorithm ddmin (A. Zeller, R. Hildebrandt: Simplifying and isolating failure-inducing input, 2002)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from analysis.api import Checker
from analysis.model.report import Report
from analysis.model.report_differences import compared
from analysis.worker.reference.task import ReplayTask

_RUNS = 60  # of a whole replay, at most
_T = TypeVar("_T")


def needed_edits(task: ReplayTask) -> tuple[int, ...] | None:
    """See `ReplayAnswer`. Only the engine's work is replayed, without provers."""
    return smallest(range(len(task.steps)), lambda numbers: _differs(task, numbers), _RUNS)


def smallest(whole: Sequence[_T], shows: Callable[[Sequence[_T]], bool], runs: int) -> tuple[_T, ...] | None:
    """A part of a sequence that still shows something, of which no single element can be left out unless `shows` would have to
    be asked more often than `runs` times. None if the whole does not show it."""
    left, parts = list(whole), 2
    if not shows(left):
        return None
    while len(left) > 1 and runs > 0:
        size = -(-len(left) // parts)
        for start in range(0, len(left), size):
            rest = left[:start] + left[start + size :]
            runs -= 1
            if shows(rest):
                left, parts = rest, max(parts - 1, 2)
                break
            if runs <= 0:
                break
        else:
            if parts >= len(left):
                break
            parts = min(2 * parts, len(left))
    return tuple(left)


def _differs(task: ReplayTask, numbers: Sequence[int]) -> bool:
    """Whether the program says something else when it is checked after each of these edits than when it is checked once."""
    steps = [task.steps[number] for number in numbers]
    texts = {**task.base, **dict(steps)}
    again, once = _Replay(task), _Replay(task)
    with contextlib.closing(again.checker), contextlib.closing(once.checker):
        again.change(task.base)
        report = again.checker.check()
        for path, text in steps:
            again.change({path: text})
            report = again.checker.check()
        once.change(texts)
        fresh: Report = once.checker.check()
        return any(compared(report, fresh))


class _Replay:
    """A checker that knows nothing, on the program of a task."""

    def __init__(self, task: ReplayTask) -> None:
        self.checker = Checker(msgspec.structs.replace(task.options, engine="automaton"), jobs=1)
        extra = [path for path in {**task.base, **dict(task.steps)} if path.endswith(".c")]
        self.checker.open_workspace(task.program, extra)

    def change(self, texts: dict[str, str | None]) -> None:
        for path, text in texts.items():
            self.checker.change(path, text)
