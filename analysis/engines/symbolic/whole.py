"""Decides a property of a whole program: `decide_program`.

Where `decide` asks about one edge, this asks about all edges at once: a run counts whatever it violates, wherever. In this order:

1. The program is run: on all its inputs where they are few, then on random ones.
2. `path_tree`: exact, path by path. Each violation that a formula says is possible is tried in a run.
3. `explore`: symbolic execution in which states cover each other, which ends on many programs whose paths do not. Only where all
   that can be violated has a condition on an edge's operands (`violation_branches`).

2 and 3 take turns, with growing shares of the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from analysis.c.undefined import OBSERVED
from analysis.cfa.graph import Edge
from analysis.cfa.linking.evaluation_order import assumptions_of
from analysis.cfa.linking.obstructed import MAIN
from analysis.cpa.framework.algorithm import Cancellation
from analysis.cpa.obstacles.completeness import address_number, called_outside, depends_on_compiler, hidden_flow, is_known
from analysis.cpa.obstacles.lifetimes import outlived
from analysis.cpa.symbolic_values.condition_formulas import Mode
from analysis.engines.symbolic.candidates import Kept, plausible
from analysis.engines.symbolic.choices import (
    Choosing,
    MakeInputs,
    Solved,
    next_choices,
    unread_parameters,
)
from analysis.engines.symbolic.distance import Distance
from analysis.engines.symbolic.explore import Exploration
from analysis.engines.symbolic.path_tree import PathExploration
from analysis.engines.symbolic.program_runs import ProgramRuns
from analysis.engines.symbolic.random_inputs import mentioned_inputs
from analysis.engines.symbolic.runs import described
from analysis.engines.symbolic.task import Confirmed, Decision, ProgramTask, Refuted, Spent, Undecided, one_if
from analysis.engines.symbolic.violation_branches import Everywhere, violating_everywhere
from analysis.interpreter.outcome import Exited, Replayed, Returned, Step, Stuck
from analysis.model import clock
from analysis.model.assumptions import BOUNDS, TYPES
from analysis.model.report import NOT_REPEATED
from analysis.path_following.checks import Check, EdgeChecks
from analysis.path_following.following import Path, Questions
from analysis.smt.encoding.paths.path import PathEncoder
from analysis.smt.solving.solver import UNDECIDED

_RUN_SHARE = 0.2  # of the seconds, for runs on random inputs: they confirm early, or not at all
_LONG = 10  # so many times as long as others may the first run be: it can decide a program without inputs
_SHORT = 1_000  # steps that a run has where the time is over
_EDGES = 10  # along paths that may be taken for one abstract state that may be made
_TRIES = 12  # runs for one violation on one edge
_REASONS = 2  # that are reported
# until which shares of the time: paths, exploration with an encoding of integers (None: paths)
_TURNS: tuple[tuple[Mode | None, float], ...] = ((None, 0.15), ("int", 0.4), (None, 0.75), ("bv", 0.9), (None, 1.0))
_GONE = frozenset({"use-after-scope", "uninitialized-read"})  # what can happen to variables of blocks that have ended


def decide_program(task: ProgramTask, cancellation: Cancellation | None = None) -> Decision:
    """The answer to a task. `Refuted` says that no run violates any of the rules. Raises KeyError if there is no `main`."""
    return _Deciding(task, cancellation or Cancellation()).decide()


class _Deciding:
    def __init__(self, task: ProgramTask, cancellation: Cancellation) -> None:
        self._task, self._program, self._effort = task, task.program, task.effort
        self._main = task.program.functions[MAIN]
        self._cancellation = cancellation
        self._began = clock.spent()
        self._runs = ProgramRuns(task)
        self._checks = EdgeChecks(task.program, task.rules)
        self._tries: Counter[tuple[str, int, str]] = Counter()
        self._why: dict[str, None] = {}
        self._assumed: dict[str, None] = dict.fromkeys(assumptions_of(task.program))
        self._hidden = hidden_flow(task.program, (MAIN,))
        number = address_number(task.program, (MAIN,))
        if number is not None:
            self._hidden += (number,)
        self._found: Confirmed | None = None
        self._open = False  # whether something was possible by a formula and not seen in a run
        self._states = 0
        encoder = PathEncoder(task.program, "bv", task.model)
        encoder.start(MAIN)
        self._paths = PathExploration(
            task.program,
            self._checks,
            encoder,
            task.effort.query_milliseconds,
            fails=task.allocation_fails,
            outside=task.outside_writes,
        )

    def decide(self) -> Decision:
        unknown = sorted(self._task.rules - OBSERVED)
        if unknown:
            return self._undecided(f"runs cannot show violations of {unknown[0]}", final=True)
        found = self._try_all() or self._try_random()
        return found or self._in_turns()

    # -- runs ---------------------------------------------------------------------------------------------------

    def _try_all(self) -> Decision | None:
        """All runs of a program whose inputs are few and of few values."""
        choices: list[int] | None = []
        unread, by_address = unread_parameters(self._main), False
        steps = _LONG * self._effort.run_steps
        for _ in range(self._effort.runs):
            if choices is None or self._is_late(0.5):
                break
            recipe = Choosing(choices, unread)
            run, replayed = self._runs.run(recipe, steps)
            if replayed is not None:
                return self._confirmed(replayed)
            if recipe.first.open:
                return None
            if not isinstance(run.end, Returned | Exited | Stuck) or run.assumptions or self._runs.doubt:
                why = (
                    one_if(self._runs.doubt) if self._runs.doubt else f"a run could not be followed to its end: {described(run)}"
                )
                self._why[why] = None
                return None
            choices, by_address = next_choices(recipe.first.choices), by_address or run.by_address
        if choices is not None or by_address or depends_on_compiler(self._program, (MAIN,)):
            return None
        if self._task.rules & _GONE and outlived(self._program):
            self._why["the address of a variable may be used after its block has ended, which is not followed"] = None
            return None
        return Refuted((), self._spent())

    def _try_random(self) -> Decision | None:
        for make in mentioned_inputs(self._program, self._task.model, 4 * self._effort.runs):
            if self._is_late(_RUN_SHARE):
                return None
            _, replayed = self._runs.run(make, self._effort.run_steps // 5)
            if replayed is not None:
                return self._confirmed(replayed)
        return None

    # -- explorations -------------------------------------------------------------------------------------------

    def _in_turns(self) -> Decision:
        everywhere = violating_everywhere(self._program, self._task.rules, self._checks.may_violate)
        for mode, share in _TURNS:
            if self._cancellation.cancelled():
                return self._undecided("it was cancelled")
            if self._is_late(share):
                continue
            is_safe = self._by_paths(share) if mode is None else self._by_covering(mode, share, everywhere)
            if self._found is not None:
                return self._found
            if is_safe:
                return Refuted(tuple(self._assumed), self._spent())
        return self._undecided("; ".join(list(self._why)[:_REASONS]) or "no run with a violation was found within the budget")

    def _by_paths(self, share: float) -> bool:
        """Whether no path violates a rule."""
        most = _EDGES * self._effort.states
        ending = self._paths.run(self._judge, lambda: self._paths.edges >= most or self._is_late(share))
        self._why.update(dict.fromkeys(self._paths.reasons))
        self._why.update(dict.fromkeys(self._hidden))
        if ending != "finished" or self._open or self._paths.reasons or self._hidden or self._checks.unfollowed:
            return False
        self._assumed.update(self._paths.assumptions)
        return self._has_checks() or not self._calls_unknown()

    def _judge(self, path: Path, check: Check, edge: Edge | None, questions: Questions) -> bool:
        """Asks whether a violation is possible, and tries it."""
        key = path.function, -1 if edge is None else edge.id, check.rule
        if self._tries[key] >= _TRIES:
            return False
        answer = questions.ask(path.encoder.conjuncts(), check.more)
        if answer.status == "unsat":
            return False
        self._open = True
        self._tries[key] += 1
        inputs = path.encoder.inputs()
        expected = tuple(plausible(MAIN, [given for given in inputs if given.kind == "parameter"]))
        if answer.status == "sat" and expected:  # the environment keeps to more than the formula says (`start_of_main`)
            answer = questions.ask(path.encoder.conjuncts(), (*check.more, *expected))
            if answer.status == "unsat":
                answer = questions.ask(path.encoder.conjuncts(), check.more)
        if answer.status == "unknown":
            self._why[f"it was not decided whether a run can take a path to it{UNDECIDED[answer.reason]}"] = None
            return False
        model, steps = Kept(questions.solver.model(), inputs), [Step(*step) for step in path.steps]
        return self._try(lambda: Solved(self._program, steps, inputs, model))

    def _try(self, make: MakeInputs) -> bool:
        left = self._effort.seconds - (clock.spent() - self._began)
        possible = int(left * clock.SECOND / clock.RUN_STEP)  # it may read on and on
        steps = min(_LONG * self._effort.run_steps, max(_SHORT, possible))
        _, replayed = self._runs.run(make, steps)
        if replayed is None:
            self._why[one_if(self._runs.doubt) if self._runs.doubt else NOT_REPEATED] = None
            return False
        self._found = self._confirmed(replayed)
        return True

    def _by_covering(self, mode: Mode, share: float, everywhere: Everywhere) -> bool:
        """Whether no state reaches a violation."""
        if not everywhere.is_exact or self._hidden or self._checks.unfollowed:
            return False
        distance = Distance(everywhere.program, everywhere.locations)
        if not distance.enters(MAIN):
            return self._has_checks() or not self._calls_unknown()
        effort = msgspec.structs.replace(self._effort, recursion=8 * self._effort.recursion)
        exploration = Exploration(
            everywhere.program,
            everywhere.locations,
            MAIN,
            effort,
            self._task.model,
            distance,
            mode,
            allocation_fails=self._task.allocation_fails,
        )
        found: list[Sequence[Step]] = []
        until = self._began + share * self._effort.seconds
        ending = exploration.run(self._effort.states, until, _keep(found), self._cancellation, tree=False)
        self._states += exploration.states
        self._why.update(dict.fromkeys(exploration.reasons))
        is_safe = ending == "finished" and not exploration.reasons and not exploration.assumptions and not found
        self._assumed.update(dict.fromkeys((BOUNDS.sentence, TYPES.sentence) if is_safe else ()))
        return is_safe

    def _has_checks(self) -> bool:
        """Whether anything in the program could violate a rule, by its form: if not, what its properties are was not understood,
        where it calls functions that are not known."""
        edges = [edge for cfa in self._program.functions.values() for edge in cfa.edges]
        return any(self._checks.may_violate(edge, rule) for edge in edges for rule in self._task.rules)

    def _calls_unknown(self) -> bool:
        self._why["nothing in the program could violate these rules, but for external functions that are not known"] = None
        return any(not is_known(name) for name in called_outside(self._program, (MAIN,)))

    # -- answers ------------------------------------------------------------------------------------------------

    def _is_late(self, share: float) -> bool:
        """Whether this share of the seconds is over, or it was cancelled."""
        return self._cancellation.cancelled() or clock.spent() - self._began >= share * self._effort.seconds

    def _spent(self) -> Spent:
        return Spent(self._runs.count, self._states, self._paths.paths)

    def _undecided(self, reason: str, *, final: bool = False) -> Undecided:
        return Undecided(reason, Spent() if final else self._spent(), final)

    def _confirmed(self, replayed: Replayed) -> Confirmed:
        assert replayed.observation is not None
        return Confirmed(MAIN, replayed.steps, replayed.asked, replayed.observation, replayed.assumptions, self._spent())


def _keep(found: list[Sequence[Step]]) -> Callable[[Sequence[Step]], bool]:
    """Keeps a path, and ends the exploration with it."""

    def keep(steps: Sequence[Step]) -> bool:
        found.append(steps)
        return True

    return keep
