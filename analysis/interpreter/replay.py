"""Replaying a counterexample: the program must take the claimed path on the inputs, and the violation must happen there."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.cfa.graph import Edge, Program
from analysis.interpreter.inputs import Inputs
from analysis.interpreter.leaks import lost_blocks, missing
from analysis.interpreter.machine import Machine
from analysis.interpreter.memory import Block
from analysis.interpreter.outcome import (
    DEFAULT_BOUNDS,
    LOST_HERE,
    Bounds,
    Diverged,
    End,
    Exited,
    Kind,
    Losses,
    NoInput,
    NotModelled,
    Observation,
    RanOut,
    Replayed,
    ReplayedStep,
    Returned,
    Start,
    Step,
    Stuck,
)
from analysis.interpreter.program_code import code_of
from analysis.interpreter.shown import Shown, look, moved, read_by, written_by
from analysis.model import ir
from analysis.model.spelling import display_name, spell_effect

_ARRIVED = Stuck("the end of the path")


def replay(
    program: Program,
    start: Start,
    path: Sequence[Step],
    inputs: Inputs,
    kind: Kind | None,
    bounds: Bounds = DEFAULT_BOUNDS,
    *,
    losses: Losses = LOST_HERE,
) -> Replayed | Diverged:
    """Executes the path, all the edges in the order they are taken, through the calls of defined functions too.

    The violation `kind` must happen during the last step. If it happens in the condition of a branch, either edge will do. A leak
    happens on the edge after which nothing points to the block; `losses` says which count. What a program should not leave
    behind is violated on its last edge. With `kind` None the path need only be taken to its end.
    Raises KeyError if the program does not define the function of the start.
    """
    return _Replay(program, start, path, inputs, kind, bounds, losses).result()


class _Replay:
    """Watches a run before each of its edges, and compares it with the path."""

    def __init__(
        self,
        program: Program,
        start: Start,
        path: Sequence[Step],
        inputs: Inputs,
        kind: Kind | None,
        bounds: Bounds,
        losses: Losses,
    ) -> None:
        self._machine = Machine(code_of(program, start), start, inputs, bounds)
        self._claimed = tuple(path)
        self._kind = kind
        self._losses = losses
        self._known: list[Block] = []
        self._taken: list[Step] = []
        self._diverged: Diverged | None = None
        self._values: list[dict[str, str]] = []
        self._depths: list[int] = []
        self._shown: dict[Step, tuple[tuple[Shown, ...], tuple[Shown, ...]]] = {}
        self._open: list[tuple[Edge, list[object]]] = []

    def result(self) -> Replayed | Diverged:
        """Runs and judges."""
        if not self._claimed:
            return Diverged(0, "the path has no step")
        run = self._machine.run(path=self._taken, watch=self._watch)
        if self._diverged is not None:
            return self._diverged
        last = len(self._claimed) - 1
        compared = self._compare_taken(min(len(self._taken), len(self._claimed)))
        if isinstance(run.end, Observation):
            if run.end.step != last or run.end.kind != self._kind:
                return Diverged(run.end.step, f"{run.end.kind}: {run.end.text}")
            return self._replayed(run.end, finished=False)
        if compared is not None:
            return compared
        if run.end is not _ARRIVED and (run.steps <= last or not isinstance(run.end, Returned | Exited)):
            return Diverged(max(0, run.steps - 1), described_end(run.end))
        if self._kind is None:
            return self._replayed(None)
        if self._machine.running and (between := self._machine.between) is not None:
            return Diverged(last, between.reason)
        ended = isinstance(run.end, Returned | Exited)
        found = missing(self._machine, self._kind, ended=ended, known=self._known, made=self._losses.made)
        if found is not None:
            return self._replayed(Observation(self._kind, found.text, last, found.made))
        return Diverged(last, f"no {self._kind} happens")

    def _replayed(self, observation: Observation | None, *, finished: bool = True) -> Replayed:
        machine = self._machine
        if finished:  # the last step
            self._after_step()
        elif len(self._depths) < len(self._claimed):  # a call that stores its result, which no edge comes before
            self._depths.append(len(machine.frames))
            self._values.append({})
        steps = [
            ReplayedStep(step.function, step.edge, depth, values)
            for step, depth, values in zip(self._claimed, self._depths, self._values, strict=True)
        ]
        return Replayed(tuple(steps), observation, tuple(machine.asked), tuple(machine.assumptions), machine.memory.by_address)

    def _watch(self) -> End | None:
        """Before each edge: the step before must have been the claimed one, and the claimed next one must be possible."""
        machine, at = self._machine, len(self._taken)
        self._diverged = self._compare_taken(at)
        if self._diverged is not None:
            return _ARRIVED
        self._after_step()
        if at == len(self._claimed):
            return _ARRIVED
        step = self._claimed[at]
        edge = machine.current.cfa.by_id.get(step.edge) if step.function == machine.current.name else None
        if edge is None or edge.source != machine.location:
            self._diverged = Diverged(at, f"the program is in {display_name(machine.current.name)}, at another place")
            return _ARRIVED
        if self._kind is not None and at == len(self._claimed) - 1 and not self._losses.earlier:
            self._known = lost_blocks(machine, self._kind)
        self._before_step(step, edge)
        return None

    def _compare_taken(self, count: int) -> Diverged | None:
        """Compares the last of the steps taken with the path."""
        if not 0 < count <= len(self._claimed) or self._taken[count - 1] == self._claimed[count - 1]:
            return None
        step = self._taken[count - 1]
        edge = self._machine.code.functions[step.function].by_id[step.edge]
        return Diverged(count - 1, f"the program goes on with: {spell_effect(edge.effect)}")

    # the values shown

    def _before_step(self, step: Step, edge: Edge) -> None:
        machine = self._machine
        self._depths.append(len(machine.frames))
        values: dict[str, str] = {}
        look(machine, self._shown_at(step, edge)[0], machine.registers, values)
        self._values.append(values)
        self._open.append((edge, machine.registers))

    def _after_step(self) -> None:
        """Adds the values that the last step wrote, and those that it read and that did not exist before it."""
        if not self._open:
            return
        machine = self._machine
        edge, registers = self._open.pop()
        step, values = self._claimed[len(self._values) - 1], self._values[-1]
        if isinstance(edge.effect, ir.Return):
            self._after_return(values)
            return
        if not machine.running or machine.registers is not registers:
            return  # a call: its result is shown where it returns
        read, written = self._shown_at(step, edge)
        elsewhere = moved(read, written)
        for text in elsewhere:
            values.pop(text, None)
        kept = {*elsewhere, *(shown.text for shown in written)}
        look(machine, [shown for shown in read if shown.text not in kept], registers, values)
        look(machine, written, registers, values, again=True)

    def _after_return(self, values: dict[str, str]) -> None:
        """What the caller's variable for the result holds now. Where `main` has returned, what runs next has called nothing."""
        machine = self._machine
        if machine.running and len(machine.frames) < self._depths[-1]:
            caller = machine.current
            result = caller.edges[machine.last_call]
            look(machine, self._shown_at(Step(caller.name, result.id), result)[1], machine.registers, values, again=True)

    def _shown_at(self, step: Step, edge: Edge) -> tuple[tuple[Shown, ...], tuple[Shown, ...]]:
        found = self._shown.get(step)
        if found is None:
            code = self._machine.code_of(step.function)
            found = self._shown[step] = read_by(code, edge), written_by(code, edge)
        return found


def described_end(end: End) -> str:
    """How a run ended, in one sentence."""
    match end:
        case Observation(kind, text):
            return f"{kind}: {text}"
        case Returned(value):
            return "the program returns" if value is None else f"the program returns {value}"
        case Exited(status):
            return "the program aborts" if status is None else f"the program exits with status {status}"
        case RanOut(of):
            return f"the bound of {of} is reached"
        case Stuck(reason) | NotModelled(reason):
            return reason
        case NoInput(question):
            return f"no input for {question.kind} {question.name}".rstrip()
