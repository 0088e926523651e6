"""Decides whether a violation can happen: `decide`.

In this order, each step only if the ones before did not settle it:

1. The program is run (`first_runs`): on all its inputs where they are few (this decides programs without inputs), then so that
   one thing fails after the other, then on random ones.
2. The claimed path is asked about: a model of its formula gives inputs to run.
3. The search goes back from the violation (`backward`), which does not depend on the program's size: refuted if nothing leads
   there from any state that the function that it is in, or those that call it, may be entered in.
4. In programs that are not large, symbolic execution towards the target (`explore`), each path that it finds asked about as in 2.
   If it ends without a path to the target, and nothing was left out, the violation is refuted.
   First with mathematical integers, which is fast, and ends it only if it took nothing for given (that no signed sum
   overflows); then with bit-vectors.
5. If it found paths that no run takes, symbolic execution as a tree: refuted if no path of the tree leads to the violation.

What is undecided then is tried from the entry of its function (`inside`), to say what it would take.
Nothing is confirmed that the interpreter did not observe at the target, in a run from an entry (invariant I9).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from analysis.c.undefined import OBSERVED
from analysis.cfa.linking.evaluation_order import assumptions_of
from analysis.cpa.framework.algorithm import Cancellation
from analysis.cpa.obstacles.completeness import calls_the_unknown, hidden_flow
from analysis.cpa.symbolic_values.condition_formulas import Mode
from analysis.engines.symbolic.backward import Question, refute
from analysis.engines.symbolic.caller import claims, doubts
from analysis.engines.symbolic.candidates import IMPOSSIBLE, Candidates, Found
from analysis.engines.symbolic.choices import MakeInputs
from analysis.engines.symbolic.distance import Distance
from analysis.engines.symbolic.explore import Exploration
from analysis.engines.symbolic.first_runs import FirstRuns, start_of
from analysis.engines.symbolic.found_memory import FoundMemory
from analysis.engines.symbolic.inside import Inside, activation
from analysis.engines.symbolic.runs import Attempts
from analysis.engines.symbolic.task import Confirmed, Decision, Refuted, Spent, Task, Undecided, only_if
from analysis.engines.symbolic.violation_branches import violating
from analysis.interpreter.outcome import Bounds, Observation, Replayed, Run, Step
from analysis.model import clock
from analysis.model.assumptions import BOUNDS, TYPES
from analysis.model.report import NOT_REPEATED
from analysis.smt.solving.solver import Budget

# the explorations of one entry: the encoding of integers, whether as a tree, how much deeper, until which share of the time
_ROUNDS: tuple[tuple[Mode, bool, int, float], ...] = (("int", False, 1, 0.5), ("bv", False, 8, 0.8), ("bv", True, 8, 1.0))
_BACK_SHARE, _LARGE_BACK_SHARE = 0.2, 0.5  # of the seconds that are left, for going back from the violation
_LAST_SHARE = 0.12  # of the seconds, for runs from the entry of the function
_LARGE = 10_000  # edges; larger programs are not explored from their entries
_REASONS = 3  # that are reported
_NO_TIME = "not all paths of the program were followed within the budget"
_QUERY_SHARE = 0.1  # of the seconds, for one question about a path
_PATHS = 200  # paths that are asked about in one exploration


def decide(task: Task, cancellation: Cancellation | None = None) -> Decision:
    """The answer to a task. Raises KeyError if the program does not have the target's function or edge."""
    cancellation = cancellation or Cancellation()
    if task.allocation_fails:
        return _Deciding(task, cancellation).decide()
    found = FoundMemory(task)
    return found.in_original_edges(_Deciding(found.task, cancellation).decide())


class _Deciding:
    def __init__(self, task: Task, cancellation: Cancellation) -> None:
        self._task = task
        self._program, self._target, self._effort = task.program, task.target, task.effort
        self._cancellation = cancellation
        self._began = clock.spent()
        self._deadline = self._began + task.effort.seconds
        self._violating = violating(self._program, self._target)
        self._entries = tuple(entry for entry in task.entries if entry in self._program.functions)
        self._states = 0
        self._paths: list[list[Step]] = []
        self._looked: dict[str, None] = {}
        self._back = self._inside = ""
        self._is_large = sum(len(cfa.edges) for cfa in self._program.functions.values()) > _LARGE
        self._why: dict[str, None] = {}
        self._doubts: dict[str, None] = {}
        self._assumed: dict[str, None] = dict.fromkeys(assumptions_of(self._program))

    def decide(self) -> Decision:
        if self._target.rule not in OBSERVED:
            return self._undecided(f"runs cannot show violations of {self._target.rule}", final=True)
        bounds = Bounds(steps=self._effort.run_steps, memory=32_000_000)
        self._attempts = Attempts(self._program, self._target, bounds, fails=self._task.allocation_fails)
        milliseconds = min(3 * self._effort.query_milliseconds, int(_QUERY_SHARE * 1000 * self._effort.seconds))
        self._candidates = Candidates(
            self._program, self._target, self._violating.suspects, self._task.model, Budget(milliseconds), self._deadline
        )
        for stage in (self._by_running, self._by_the_path, self._look_inside, self._by_going_back, self._by_exploring):
            found = stage()
            if found is not None:
                return found
        if self._doubts:
            return self._undecided(only_if(next(iter(self._doubts))))
        if not self._inside and not self._is_late(0):
            self._inside = self._from_inside()
        why = sorted(self._why, key=lambda text: text != _NO_TIME)  # that there was no more time explains most
        reasons = list(dict.fromkeys(filter(None, [self._inside, self._back, *why])))
        return self._undecided(
            "; ".join(reasons[:_REASONS]) or "neither a run with the violation nor a proof was found within the budget"
        )

    def _by_running(self) -> Decision | None:
        runs = FirstRuns(self._task, self._entries, self._attempts, self._is_late, is_large=self._is_large)
        seen = runs.look()
        self._why.update(runs.why)
        if runs.never:
            return Refuted((), self._spent())
        return None if seen is None else self._confirmed(seen.entry, seen.replayed)

    # -- paths ---------------------------------------------------------------------------------------------------

    def _by_the_path(self) -> Decision | None:
        path = self._task.path
        if not path or path[0].function not in self._entries:
            return None
        before = path[:-1] if path[-1] == Step(self._target.function, self._target.edge) else path
        return self._judge(path[0].function, before)[1]

    def _judge(self, entry: str, path: Sequence[Step]) -> tuple[bool, Decision | None]:
        """Whether it is certain that no run takes the path and violates the rule; and the decision, if a run
        does."""
        found = Found("unknown")
        for found in self._candidates.ask(entry, path):
            if found.make is not None:
                decision = self._attempt(entry, found, found.make)
                if decision is not None:
                    return False, decision
            elif found.status == "unknown":
                self._why[found.reason] = None
        if found.status == "unsat":
            self._assumed.update(dict.fromkeys(found.assumptions))
            if calls_the_unknown(self._program, path):
                self._why[f"{IMPOSSIBLE}, unless an external function writes to global variables"] = None
                return False, None
        return found.status == "unsat", None

    def _attempt(self, entry: str, found: Found, make: MakeInputs) -> Confirmed | None:
        start = start_of(self._task, entry)
        run, replayed = self._attempts.run(start, make)
        if replayed is None and _stops_at_indeterminate(run) and self._target.rule == "assertion":
            run, replayed = self._attempts.run(msgspec.structs.replace(start, past=("uninitialized-read",)), make)
        if replayed is None:
            self._why[NOT_REPEATED] = None
            return None
        doubt = found.given or doubts(self._program, entry, replayed, self._target, self._task.model)
        if doubt:
            self._doubts[doubt] = None
            return None
        return self._confirmed(entry, replayed)

    # -- from the violation ---------------------------------------------------------------------------------------

    def _by_going_back(self) -> Decision | None:
        if not self._entries:
            return None
        target = self._target
        question = Question(
            self._program,
            target.function,
            self._program.functions[target.function].by_id[target.edge],
            self._violating.suspects,
            self._entries,
            self._task.model,
        )
        now, share = clock.spent(), _LARGE_BACK_SHARE if self._is_large else _BACK_SHARE
        answer = refute(question, now + share * (self._deadline - now), self._effort.states, self._cancellation)
        self._states += answer.states
        self._looked.update(dict.fromkeys(sorted(answer.functions)))
        if answer.refuted:
            return Refuted((*assumptions_of(self._program), *answer.assumptions), self._spent())
        self._paths = [[Step(*step) for step in path] for path in answer.paths]
        if answer.start:
            path = [Step(*step) for step in answer.start]
            found = self._judge(path[0].function, path)[1]
            if found is not None:
                return found
        self._back = answer.reason
        return None

    def _look_inside(self) -> None:
        """Tries the claimed path from the entry of its function, in a large program, in which little time may be left later."""
        if self._is_large:
            self._inside = self._from_inside()

    def _from_inside(self) -> str:
        """What it takes for it to happen, at the entry of its function."""
        last = activation(self._program, self._target, self._task.path)
        paths = self._paths if last is None else [last, *self._paths]
        inside = Inside(self._program, self._target, self._task.model, self._candidates, self._attempts)
        said = inside.happens(paths, self._deadline)
        self._looked.update(dict.fromkeys(inside.functions))
        return said

    # -- exploration --------------------------------------------------------------------------------------------

    def _by_exploring(self) -> Decision | None:
        if self._is_large:
            self._why["the program is too large to be explored from its start"] = None
            return None
        self._distance = Distance(self._violating.program, self._violating.locations)
        hidden = hidden_flow(self._program, self._entries)
        self._why.update(dict.fromkeys(hidden))
        reaching = [entry for entry in self._entries if self._distance.enters(entry)]
        refuted = not hidden and bool(self._entries)
        for number, entry in enumerate(reaching):
            share = (self._deadline - _LAST_SHARE * self._effort.seconds - clock.spent()) / (len(reaching) - number)
            decision = self._explore_entry(entry, clock.spent() + share, hidden=bool(hidden))
            if isinstance(decision, Confirmed):
                return decision
            refuted = refuted and decision is None
        return Refuted((*self._assumed, BOUNDS.sentence, TYPES.sentence), self._spent()) if refuted else None

    def _explore_entry(self, entry: str, deadline: float, *, hidden: bool) -> Confirmed | Undecided | None:
        """None: refuted from this entry."""
        now = clock.spent()
        for mode, tree, deeper, share in _ROUNDS:
            if clock.spent() > deadline:
                self._why[_NO_TIME] = None
                break
            milliseconds = min(self._effort.query_milliseconds, int(_QUERY_SHARE * 1000 * self._effort.seconds))
            recursion = deeper * self._effort.recursion
            effort = msgspec.structs.replace(self._effort, recursion=recursion, query_milliseconds=milliseconds)
            exploration = Exploration(
                self._violating.program, self._violating.locations, entry, effort, self._task.model, self._distance, mode
            )
            watch = _Watch(lambda path: self._judge(entry, path))
            until = now + share * (deadline - now)
            ending = exploration.run(self._effort.states, until, watch.judge, self._cancellation, tree=tree)
            self._states += exploration.states
            if isinstance(watch.decision, Confirmed):
                return watch.decision
            is_whole = ending == "finished" and not exploration.reasons and not exploration.assumptions
            if is_whole and (not watch.paths or (tree and watch.all_certain)):
                return None
            self._why.update(dict.fromkeys(exploration.reasons))
            if ending in ("budget", "cancelled"):
                self._why[_NO_TIME if ending == "budget" else "it was cancelled"] = None
            is_lost = hidden and ending == "finished" and not watch.paths  # neither a path nor a proof is left to be found
            if watch.is_full or is_lost or ending == "cancelled":
                break
        return self._undecided("")

    # -- answers ------------------------------------------------------------------------------------------------

    def _is_late(self, share: float) -> bool:
        """Whether less than this share of the seconds is left, or it was cancelled."""
        left = self._deadline - clock.spent()
        return self._cancellation.cancelled() or left <= share * self._effort.seconds

    def _spent(self) -> Spent:
        return Spent(self._attempts.count, self._states, self._candidates.count)

    def _undecided(self, reason: str, *, final: bool = False) -> Undecided:
        looked = tuple(self._looked) if self._is_large else ()
        return Undecided(reason, Spent() if final else self._spent(), final, looked)

    def _confirmed(self, entry: str, replayed: Replayed) -> Confirmed:
        assert replayed.observation is not None
        assumptions = (*replayed.assumptions, *claims(entry, replayed))
        return Confirmed(entry, replayed.steps, replayed.asked, replayed.observation, assumptions, self._spent())


def _stops_at_indeterminate(run: Run) -> bool:
    """Whether the run read a variable that has no value yet, which for most compilers is some value."""
    return isinstance(run.end, Observation) and run.end.kind == "uninitialized-read"


class _Watch:
    """What the paths of one exploration came to."""

    def __init__(self, judge: Callable[[Sequence[Step]], tuple[bool, Decision | None]]) -> None:
        self._judge = judge
        self.paths = 0
        self.all_certain = True
        self.decision: Decision | None = None

    @property
    def is_full(self) -> bool:
        """Whether enough was tried."""
        return self.paths >= _PATHS

    def judge(self, path: Sequence[Step]) -> bool:
        """Whether to stop."""
        self.paths += 1
        certain, self.decision = self._judge(path)
        self.all_certain = self.all_certain and certain
        return self.decision is not None or self.is_full
