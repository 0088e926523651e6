"""The first attempt at a finding, runs on inputs that no formula has given.

These are all runs where inputs are few, runs in which one thing fails after the other (`single_faults`), and random ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from analysis.cfa.open_functions import is_main
from analysis.cpa.obstacles.completeness import depends_on_compiler
from analysis.engines.symbolic.caller import doubts
from analysis.engines.symbolic.choices import Choosing, MakeInputs, next_choices, unread_parameters
from analysis.engines.symbolic.compared_texts import texts_near
from analysis.engines.symbolic.random_inputs import mentioned_inputs
from analysis.engines.symbolic.runs import LEAKS, Attempts, described
from analysis.engines.symbolic.single_faults import compared_on, faulty_inputs
from analysis.engines.symbolic.task import Task
from analysis.interpreter.outcome import Exited, Replayed, Returned, Run, Start, Stuck

_RUN_SHARE = 0.15  # of the seconds, after which no run on few inputs, or on random ones, is begun
_LARGE_RUN_SHARE = 0.04  # the same for random ones in large programs, where such runs hardly get far
_FAULT_SHARE = 0.55  # of the seconds, after which no run is begun in which one thing fails
_FAULT_STEPS = 60_000  # of such a run, which goes as far as the program does
_FAULTY_ENTRIES = 3  # that such runs begin in
_QUICK_STEPS = 20_000  # of a run on random inputs


class Seen(NamedTuple):
    """A run from an entry in which the violation was observed, and of which there is no doubt."""

    entry: str
    replayed: Replayed


class FirstRuns:
    """The runs of one task from `entries`, which the program has. `is_late`: whether less than a share of the seconds is left.

    After `look`, `never` says whether all runs are known and none violates the rule, and `why` what keeps that from being known.
    """

    def __init__(
        self, task: Task, entries: tuple[str, ...], attempts: Attempts, is_late: Callable[[float], bool], *, is_large: bool
    ) -> None:
        self._task, self._program, self._entries, self._attempts = task, task.program, entries, attempts
        self._is_late, self._is_large = is_late, is_large
        self.never = False
        self.why: dict[str, None] = {}

    def look(self) -> Seen | None:
        """Runs of a `main`, if that is the only entry. Others are called in unknown ways: of these, runs in which little
        fails."""
        if len(self._entries) != 1 or not is_main(self._entries[0]):
            return self._with_faults()
        (entry,) = self._entries
        found = self._on_few_inputs(entry)
        if found is None and not self.never and not self._is_late(0):
            found = self._with_faults() or self._on_random_inputs(entry)
        return found

    def _run(self, entry: str, make: MakeInputs, steps: int | None = None) -> tuple[Run, Seen | None]:
        run, replayed = self._attempts.run(start_of(self._task, entry), make, steps)
        if replayed is None or doubts(self._program, entry, replayed, self._task.target, self._task.model):
            return run, None
        return run, Seen(entry, replayed)

    def _with_faults(self) -> Seen | None:
        """Runs in which little fails, of each entry; the one that the claimed path begins in comes first."""
        path = self._task.path
        pointer_bytes, compared = self._task.model.pointer_bits // 8, compared_on(self._program, path)
        texts = texts_near(self._program, path)
        entries = sorted(self._entries, key=lambda entry: (not path or entry != path[0].function, not is_main(entry)))
        for entry in entries[:_FAULTY_ENTRIES]:
            for make, tell in faulty_inputs(path, pointer_bytes, self._task.effort.runs, compared, texts):
                if self._is_late(1 - _FAULT_SHARE):
                    return None
                run, seen = self._run(entry, make, _FAULT_STEPS)
                if seen is not None:
                    return seen
                tell(run.path)
        return None

    def _on_few_inputs(self, entry: str) -> Seen | None:
        """All runs of a program whose inputs are few and of few values."""
        choices: list[int] | None = []
        unread = unread_parameters(self._program.functions[entry])
        is_whole = self._task.target.rule not in LEAKS
        for _ in range(self._task.effort.runs):
            if choices is None or self._is_late(1 - _RUN_SHARE):
                break
            recipe = Choosing(choices, unread)
            run, seen = self._run(entry, recipe)
            inputs = recipe.first
            if seen is not None:
                return seen
            if inputs.open:
                return None
            if not isinstance(run.end, Returned | Exited | Stuck) or run.assumptions or run.by_address:
                is_whole = False
                self.why[f"a run could not be followed to its end: {described(run)}"] = None
            choices = next_choices(inputs.choices)
        self.never = is_whole and choices is None and not depends_on_compiler(self._program, self._entries)
        return None

    def _on_random_inputs(self, entry: str) -> Seen | None:
        for make in mentioned_inputs(self._program, self._task.model, self._task.effort.runs):
            if self._is_late(1 - (_LARGE_RUN_SHARE if self._is_large else _RUN_SHARE)):
                return None
            _, seen = self._run(entry, make, _QUICK_STEPS)
            if seen is not None:
                return seen
        return None


def start_of(task: Task, entry: str) -> Start:
    """Where a run of a task from an entry begins: variables hold anything there, but for a `main`."""
    return Start(entry, any_globals=not is_main(entry), data_model=task.model)
