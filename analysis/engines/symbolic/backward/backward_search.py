"""The search from a violation against the edges, until no state is left or one cannot be excluded.

- A state is given up as soon as its conditions cannot hold together, and where a weaker one was at the same place.
- Where a loop begins, conditions that change from round to round are dropped after some rounds (the loop invariants of [THRESHER]
  section 3.3), so that the search ends.
- Calls are gone into, from their end, only where they can change what a condition reads.
- At first, branches count only if they say something about what is asked for; if that is not enough, all of them do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from analysis.c.control import TWICE
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cfa.linking.obstacle_words import described
from analysis.cfa.open_functions import is_main
from analysis.cpa.effects.state_places import base_of, onto
from analysis.cpa.effects.writes import WholeProgram, Writes
from analysis.cpa.framework.algorithm import Cancellation
from analysis.engines.symbolic.backward.preimage import RESULT, Preimage, nonnull, parameters, place_of
from analysis.engines.symbolic.backward.preimage_formulas import Formulas, spelled
from analysis.engines.symbolic.backward.rewriting import (
    TooLargeError,
    equality,
    is_symbol,
    text_of,
)
from analysis.engines.symbolic.backward.states import TRUE, Conditions, Open, PathSuffix, State, essential, steps, touches
from analysis.engines.symbolic.backward.statics import Statics
from analysis.model import clock, ir
from analysis.model.assumptions import BOUNDS, TYPES
from analysis.model.c_types import DataModel, Floating, Integer, Pointer
from analysis.model.spelling import display_name
from analysis.model.verifiers import is_assumption

_ROUNDS = 3  # of a loop, before conditions are dropped
_ENTRIES = 16  # states at the entry of a function, before conditions are dropped
_DEEP = 4  # calls that are open at a time
_CONDITIONS = 24  # in a state; more are only taken in if they speak of what the others do
_INNER_STATES = 500  # of a search from the writes to static variables
_PATHS = 2  # from the entry of the function, that are handed out
_MILLISECONDS = 200  # for a question to the solver


Steps = tuple[tuple[str, int], ...]


class Answer(msgspec.Struct, frozen=True):
    """Whether the violation is refuted. If not, `reason` says what was not excluded. `paths` are some paths to
    it from the entry of its function, as edges in order, with calls opened or stepped over; `start` is such a
    path from the start of the program, if the search got there. `up`: how many calls up the search went;
    `functions` are those that it went through."""

    refuted: bool
    reason: str = ""
    paths: tuple[Steps, ...] = ()
    start: Steps | None = None
    states: int = 0
    checks: int = 0
    up: int = 0
    functions: frozenset[str] = frozenset()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the answer takes for given, but that nothing undefined happens before."""
        return (BOUNDS.sentence, TYPES.sentence)


class Question(msgspec.Struct, frozen=True):
    """A violation at an edge of a function: one of the suspects is null or zero there, or, without any, the edge is reached.
    `entries`: where the program begins."""

    program: Program
    function: str
    edge: Edge
    suspects: tuple[ir.Expr, ...]
    entries: tuple[str, ...]
    model: DataModel


class _NotExcludedError(Exception):
    """A state that nothing excludes; for a person."""


class _EndedError(Exception):
    """The budget is used up, or the search was cancelled."""


def _refuse_obstacles(cfa: Cfa) -> None:
    """Raises _NotExcludedError where a function has statements, or is compiled in a way, that nobody follows."""
    for edge in cfa.unsupported:
        raise _not_understood(cfa.name, edge.effect)


def _not_understood(name: str, effect: ir.Effect) -> _NotExcludedError:
    assert isinstance(effect, ir.Unsupported)
    return _NotExcludedError(f"{display_name(name)}() {described(effect.reason)}")


def refute(question: Question, deadline: float, most: int, cancellation: Cancellation) -> Answer:
    """Whether the violation cannot happen; `deadline` of `model.clock`, `most` states."""
    whole = WholeProgram(question.program, bool(question.entries) and all(map(is_main, question.entries)))
    obstacle = whole.obstacle()
    if obstacle:
        return Answer(False, obstacle)
    formulas = Formulas(question.program, question.model, _MILLISECONDS)
    answer = Answer(False)
    states = 0
    for is_thorough in (False, True):
        search = _Search(question, whole, formulas, deadline, most, cancellation, is_thorough, Statics(whole))
        reason, is_over = "", False
        try:
            search.run()
        except _NotExcludedError as found:
            reason = str(found)
        except _EndedError as found:
            reason, is_over = str(found), True
        except TooLargeError:
            reason, is_over = "an expression is too large", True
        states += search.states
        paths = (*search.paths, *answer.paths)  # those that were found last keep to more branches
        start = search.start or answer.start
        up, functions = max(answer.up, search.up), answer.functions | search.functions
        answer = Answer(not reason, reason, paths, start, states, formulas.checks, up, functions)
        if answer.refuted or is_over:
            break
    return answer


class _Search:
    def __init__(
        self,
        question: Question,
        whole: WholeProgram,
        formulas: Formulas,
        deadline: float,
        most: int,
        cancellation: Cancellation,
        is_thorough: bool,
        statics: Statics | None,
    ) -> None:
        self._question = question
        self._program = question.program
        self._whole = whole
        self._formulas = formulas
        self._deadline = deadline
        self._most = most
        self._cancellation = cancellation
        self._is_thorough = is_thorough
        self._statics = statics
        self._settled: dict[tuple[str, Conditions], bool] = {}
        self._waiting: list[State] = []
        self._seen: dict[object, list[Conditions]] = {}
        self._heads: dict[str, frozenset[int]] = {}
        self.states = 0
        self.up = 0
        self.paths: list[Steps] = []
        self.start: Steps | None = None
        self.functions: set[str] = set()

    def run(self) -> None:
        """Returns if no run leads to the violation."""
        for state in self._starts():
            self._push(state, TRUE)
        self._search()

    def run_from(self, writes: Iterable[tuple[State, Edge]]) -> None:
        """The same for states that are each reached over one edge only."""
        for state, edge in writes:
            _refuse_obstacles(self._program.functions[state.function])
            for before in self._before(state, edge):
                self._push(before, state.conditions)
        self._search()

    def _search(self) -> None:
        while self._waiting:
            if self._cancellation.cancelled():
                raise _EndedError("it was cancelled")
            if self.states >= self._most or clock.spent() > self._deadline:
                raise _EndedError("not all that leads to it was followed within the budget")
            self.states += 1
            clock.work(clock.STATE)
            self._expand(self._waiting.pop())

    def _starts(self) -> Iterator[State]:
        question = self._question
        _refuse_obstacles(self._program.functions[question.function])
        base = State((), question.function, question.edge.source, TRUE, 0)
        start = Preimage(self._whole, (question.function,), question.edge, TRUE)
        for suspect in question.suspects:
            value = start.own(suspect)
            found = {equality(value, ir.IntConst(0, value.type))} | nonnull(ir.Return(suspect), 0)
            yield base._replace(conditions=frozenset(found))
        if not question.suspects:
            yield base

    # -- states -------------------------------------------------------------------------------------------------

    def _push(self, state: State, before: Conditions) -> None:
        """Takes in a state, if it is possible, and says something new; `before` are conditions that are known to be possible."""
        conditions = frozenset(c for c in state.conditions if not isinstance(c, ir.IntConst) or c.value == 0)
        if any(isinstance(c, ir.IntConst) for c in conditions):
            return
        if not conditions <= before:
            if not self._formulas.possible(conditions):
                return
            conditions = essential(conditions)
        seen = self._seen.setdefault(state.place, [])
        if any(other <= conditions for other in seen):
            return
        if len(seen) >= self._bound(state):
            most = max(seen, key=lambda other: len(other & conditions))
            conditions = essential(most & conditions)
        if not conditions and before and not self._is_thorough:
            raise _NotExcludedError(f"nothing is known of the value where it comes from, in {display_name(state.function)}")
        seen.append(conditions)
        self._waiting.append(state.at(state.location, conditions))

    def _bound(self, state: State) -> int:
        cfa = self._program.functions[state.function]
        if state.location in self._loops(cfa):
            return _ROUNDS
        return _ENTRIES if state.location == cfa.entry else 1 << 30

    def _loops(self, cfa: Cfa) -> frozenset[int]:
        """The locations that edges lead back to."""
        found = self._heads.get(cfa.name)
        if found is None:
            order = cfa.reverse_postorder
            back = (e.target for e in cfa.edges if e.source in order and order[e.source] >= order[e.target])
            found = self._heads[cfa.name] = frozenset(back)
        return found

    def _added(self, conditions: Conditions, more: Iterable[ir.Expr]) -> Conditions:
        """The conditions with those of a branch or an access, as far as they are of use."""
        found = conditions
        for c in sorted(more, key=text_of):
            if touches(c, found) or not found or (self._is_thorough and len(found) < _CONDITIONS):
                found |= {c}
        return found

    # -- steps --------------------------------------------------------------------------------------------------

    def _expand(self, state: State) -> None:
        cfa = self._program.functions[state.function]
        self.functions.add(state.function)
        if state.location not in cfa.reverse_postorder:
            return  # nothing leads there
        if state.location == cfa.entry:
            self._leave(state, cfa)
        for edge in cfa.incoming.get(state.location, ()):
            if edge.source in cfa.reverse_postorder:
                suffix = PathSuffix(state.function, edge.id, state.suffix)
                for before in self._before(state, edge):
                    is_end = len(before.stack) > len(state.stack)  # of a call, which is taken when its beginning is reached
                    self._push(before if is_end else before._replace(suffix=suffix), state.conditions)

    def _functions(self, state: State) -> tuple[str, ...]:
        """The functions of the open activations, by depth."""
        return (*(call.function for call in state.stack), state.function)

    def _before(self, state: State, edge: Edge) -> Iterator[State]:
        effect, depth = edge.effect, state.depth
        preimage = Preimage(self._whole, self._functions(state), edge, state.conditions)
        accessed = nonnull(effect, depth)
        match effect:
            case ir.Assume(test, truth):
                try:
                    implied = {preimage.implied(test, truth)}
                except TooLargeError:
                    implied = set()
                if any(isinstance(c, ir.IntConst) and c.value == 0 for c in implied):
                    return
                implied = {c for c in implied if not isinstance(c, ir.IntConst)}
                yield state.at(edge.source, self._added(state.conditions, implied | accessed))
            case ir.Assign(target, value):
                for found in self._assigned(preimage, target, value, state):
                    yield state.at(edge.source, self._added(found, accessed))
            case ir.Return(value):
                if value is None:
                    yield state.at(edge.source, state.conditions)
                    return
                for found in self._assigned(preimage, ir.Var(RESULT, "temporary", value.type), value, state):
                    yield state.at(edge.source, self._added(found, accessed))
            case ir.Call() as call:
                for before in self._before_call(state, edge, call, preimage):
                    if before.stack == state.stack:
                        before = before.at(before.location, self._added(before.conditions, accessed))
                    yield before
            case ir.Unsupported():
                raise _not_understood(state.function, effect)

    def _assigned(self, preimage: Preimage, target: ir.Expr, value: ir.Expr, state: State) -> Iterator[Conditions]:
        try:
            given = None if isinstance(value, ir.Unknown | ir.Undefined) else preimage.own(value)
        except TooLargeError:
            given = None
        into = preimage.own(target)
        return preimage.assigned(into, given, state.conditions)

    # -- calls --------------------------------------------------------------------------------------------------

    def _before_call(self, state: State, edge: Edge, call: ir.Call, preimage: Preimage) -> Iterator[State]:
        if self._whole.is_open(call):
            writes = self._whole.unknown()
            for target in self._program.targets(call):
                if target in self._program.functions:
                    writes = writes.joined(self._whole.writes(target))
            yield from self._over(state, edge, call, preimage, writes)
            return
        for target in self._program.targets(call):
            if not self._whole.returns(target):
                continue
            if target in self._program.functions:
                yield from self._before_defined(state, edge, call, target, preimage)
            elif target in TWICE:
                yield state.at(edge.source, TRUE)  # whoever jumps here left anything behind
            elif is_assumption(target) and len(call.arguments) == 1:
                yield from self._before(state, Edge(edge.id, edge.source, edge.target, ir.Assume(call.arguments[0], True)))
            else:
                for found in preimage.external(target, call, state.conditions):
                    yield state.at(edge.source, found)

    def _over(self, state: State, edge: Edge, call: ir.Call, preimage: Preimage, writes: Writes) -> Iterator[State]:
        """Before a call that can return anything, and give what it writes any values."""
        given: Sequence[Conditions] = [state.conditions]
        if call.result is not None:
            given = list(preimage.assigned(preimage.own(call.result), None, state.conditions))
        for found in given:
            yield state.at(edge.source, preimage.changed(writes, found))

    def _before_defined(self, state: State, edge: Edge, call: ir.Call, target: str, preimage: Preimage) -> Iterator[State]:
        callee, writes = self._program.functions[target], self._whole.writes(target)
        given: Sequence[Conditions] = [state.conditions]
        result = ir.Var(f"{state.depth + 1}|{RESULT}", "temporary", callee.type.result)
        if call.result is not None:
            value: ir.Expr = result
            if call.result.type != result.type:
                value = ir.Cast(result, call.result.type)
            into = preimage.own(call.result)
            given = list(preimage.assigned(into, value, state.conditions))
        for found in given:
            if not self._concerns(found, writes, result.name, preimage):
                yield state.at(edge.source, found)
            elif state.depth < _DEEP and not callee.unsupported and self._open(state, target) < 2:
                stack = (*state.stack, Open(state.function, edge.id))
                yield State(stack, target, callee.exit, found, state.up, state.suffix)
            else:
                yield from self._over(state, edge, call, preimage, writes)

    def _open(self, state: State, function: str) -> int:
        return self._functions(state).count(function)

    def _concerns(self, conditions: Conditions, writes: Writes, result: str, preimage: Preimage) -> bool:
        """Whether a call matters to any condition: by its result, or by what it writes."""
        for c in conditions:
            for part in ir.walk(c):
                if isinstance(part, ir.Var) and part.name == result:
                    return True
                is_read = isinstance(part, ir.LVALUES) and not is_symbol(part)
                if is_read and getattr(part, "scope", "") != "function" and preimage.can_change(writes, part):
                    return True
        return False

    def _leave(self, state: State, cfa: Cfa) -> None:
        """From the entry of a function to where it is called."""
        if state.stack:
            call = state.stack[-1]
            edge = self._program.functions[call.function].by_id[call.edge]
            self._enter_caller(state, cfa, call.function, edge, state.stack[:-1])
            return
        if not state.up and len(self.paths) < _PATHS:
            self.paths.append(steps(state.suffix))
        if cfa.name not in self._question.entries and self._is_settled_by_writes(state):
            return
        if cfa.name in self._question.entries:
            self._at_start(state)
        elif self._whole.is_exposed(cfa.name):
            raise _NotExcludedError(f"{display_name(cfa.name)}() may be called from outside of the program")
        for name, edge_id in self._whole.callers(cfa.name):
            caller = self._program.functions[name]
            _refuse_obstacles(caller)
            self.up = max(self.up, state.up + 1)
            self._enter_caller(state, cfa, name, caller.by_id[edge_id], ())

    # -- static variables ---------------------------------------------------------------------------------------

    def _is_settled_by_writes(self, state: State) -> bool:
        """Whether no call of the function finds the static variables with the values that the conditions require."""
        names = frozenset[str]() if self._statics is None else self._statics.names(state.conditions)
        if not names:
            return False
        edge = Edge(-1, -1, -1, ir.Return(None))
        preimage = Preimage(self._whole, (state.function,), edge, state.conditions)

        def on_read(read: ir.Expr) -> ir.Expr:
            return read if isinstance(read, ir.Var) and read.name in names else preimage.any(read)

        asked = essential(preimage.mapped(state.conditions, on_read))
        key = state.function, asked
        if key not in self._settled:
            self._settled[key] = bool(asked) and self._is_excluded_by_writes(state.function, asked, names, preimage)
        return self._settled[key]

    def _is_excluded_by_writes(self, function: str, asked: Conditions, names: frozenset[str], preimage: Preimage) -> bool:
        initial = preimage.mapped(asked, self._initial)
        if self._is_possible(initial):
            return False
        assert self._statics is not None
        inner = _Search(
            self._question,
            self._whole,
            self._formulas,
            self._deadline,
            _INNER_STATES,
            self._cancellation,
            self._is_thorough,
            None,
        )
        try:
            inner.run_from((State((), name, edge.target, asked, 1), edge) for name, edge in self._statics.writes(names, function))
        except (_NotExcludedError, _EndedError):
            return False
        finally:
            self.states += inner.states
            self.functions |= inner.functions
        return True

    def _enter_caller(self, state: State, cfa: Cfa, name: str, edge: Edge, stack: tuple[Open, ...]) -> None:
        assert isinstance(edge.effect, ir.Call)
        depth = len(stack)
        preimage = Preimage(self._whole, self._functions(state), edge, state.conditions)
        passed = parameters(cfa, edge.effect, depth, preimage)

        def on_read(read: ir.Expr) -> ir.Expr:
            base = base_of(read)
            if not isinstance(base, ir.Var) or base.scope == "global" or place_of(base)[0] != state.depth:
                return read
            value, steps = passed.get(place_of(base)[1]), ir.steps(read)
            if value is None or (steps and not isinstance(value, ir.LVALUES)):
                return preimage.any(read)
            return onto(value, steps)

        def on_address(lvalue: ir.Expr) -> ir.Expr:
            base = base_of(lvalue)
            if not isinstance(base, ir.Var) or base.scope in ("global", "function") or place_of(base)[0] != state.depth:
                return lvalue
            return preimage.symbol(text_of(lvalue), Pointer(lvalue.type), address=True)

        found = self._added(preimage.mapped(state.conditions, on_read, on_address), nonnull(edge.effect, depth))
        up = state.up if state.stack else state.up + 1
        self._push(State(stack, name, edge.source, found, up, PathSuffix(name, edge.id, state.suffix)), TRUE)

    def _at_start(self, state: State) -> None:
        """Where the program begins: with a `main`, its variables have their initial values."""
        found = state.conditions
        if is_main(state.function):
            edge = Edge(-1, -1, -1, ir.Return(None))
            found = Preimage(self._whole, (state.function,), edge, found).mapped(found, self._initial)
        if self._is_possible(found):
            text = spelled(c for c in found if not isinstance(c, ir.IntConst))
            name = display_name(state.function)
            self.start = steps(state.suffix)
            if not text:
                raise _NotExcludedError(f"no condition at the start of {name}() excludes it")
            raise _NotExcludedError(f"{name}() can begin with {text}")

    def _is_possible(self, conditions: Conditions) -> bool:
        """Whether conditions, perhaps decided ones among them, can hold together."""
        left = frozenset(c for c in conditions if not isinstance(c, ir.IntConst) or c.value == 0)
        return not any(isinstance(c, ir.IntConst) for c in left) and self._formulas.possible(left)

    def _initial(self, read: ir.Expr) -> ir.Expr:
        known = self._program.globals.get(read.name) if isinstance(base := base_of(read), ir.Var) and base is read else None
        if known is None or known.parts or not isinstance(read.type, Integer | Pointer | Floating):
            return read
        if isinstance(known.initial, ir.Zero):
            return read if isinstance(read.type, Floating) else ir.IntConst(0, read.type)
        if isinstance(known.initial, ir.IntConst | ir.AddressOf | ir.StringConst) and known.initial.type == read.type:
            return known.initial
        return read
