"""Which steps of a path explain why it ends as it does: a dynamic slice of the path [DYNAMIC-SLICING].

The slice is made backward from the last step. A step is needed for one of these reasons, the strongest first:

- `value`: it makes the value that the path is about, changes what is known of it, returns it, or calls a function with such a
  step, or one of the library that writes the variable. Of a path that is about no value, those of the operands that are at fault
  in the last step, of all variables that it reads if that is not known, or, if it reads none, as the failure of an assertion
  does, of the branch that leads to it. Where operands are at fault, members of objects in memory are followed as well: to the
  last step that assigned such a member what was read;
- `kept`: a branch on whose other side such a value would have been assigned anew, or changed by a call;
- `decided`: it gives a variable on which a needed branch depends a constant, or the result of a call, or a library function
  writes it;
- `led`: the branch that decides whether a needed step is reached at all. Only the nearest one counts, and none that merely does
  not leave the function: what a test for bad input lets pass explains nothing.

The slice begins in the function that the steps with the value have in common: with its call, or with its entry. If there are
more than `ENOUGH`, branches that lead to the others and what decides them go, the first ones first: the whole path has them. Of
the others, there are at most `MOST`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from analysis.c.calls import copied, filled
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.model import ir
from analysis.model.c_types import Type
from analysis.model.spelling import spell_expr
from analysis.path_following.other_side import OtherSide

ENOUGH = 8
MOST = 12
Reason = Literal["value", "kept", "decided", "led"]
_Shown = TypeVar("_Shown")
_Member = tuple[Type, str]
_RANKS: tuple[tuple[Reason, int], ...] = (("led", ENOUGH), ("decided", ENOUGH), ("kept", MOST))


def _nothing(_edge: Edge) -> bool:
    return False


class Step(NamedTuple):
    """An edge of a path, taken in `function`, `depth` calls below its start; `edge` is -1 where a function is entered.
    `is_return`: it is the edge of a call a second time, when the path has come back from there. `is_value`: the value is made, or
    changes, here, but for that a function calls it by another name. `names` are the variables of the function that it is in
    before; `changes` says which calls would change what is known of it; `values` are what a run read and assigned here, by how it
    is spelled."""

    function: str
    depth: int
    edge: int
    is_return: bool = False
    is_value: bool = False
    names: frozenset[str] = frozenset()
    changes: Callable[[Edge], bool] = _nothing
    values: Mapping[str, str] = {}


class _Frame:
    """One call on the path. `call` is the number of its step, and `caller` the frame of that; None for where the path begins."""

    def __init__(self, call: int | None, caller: _Frame | None) -> None:
        self.call, self.caller = call, caller
        self.values: set[str] = set()  # variables whose assignments are needed
        self.deciding: set[str] = set()  # variables on which needed branches depend
        self.waiting: list[int] = []  # locations of needed steps whose nearest branch is not found yet
        self.later: set[int] = set()  # locations that the path comes to later
        self.returns: Reason | None = None  # the value that it returns is needed
        self.is_needed = False

    def callers(self) -> list[_Frame]:
        """The frame and those that it was called from, the innermost first."""
        found, at = [], self
        while at.caller is not None:
            found.append(at)
            at = at.caller
        return [*found, at]


def needed_steps(
    program: Program, path: Sequence[Step], about: Sequence[ir.Expr] | None = None, most: int = MOST
) -> tuple[int, ...]:
    """The numbers of the steps that explain the last one, in order, at most `most` and at least two if there are so many.
    `about`: the operands of the last step that are at fault; None: all that it reads may be (`at_fault`)."""
    return _Slicing(program, path, about).numbers(most)


def explained(program: Program, path: Sequence[Step], most: int = MOST) -> tuple[tuple[int, ...], int]:
    """The same, with the number of the first step that was looked at: the answer rests on nothing of the functions of those
    before it."""
    slicing = _Slicing(program, path, None)
    return slicing.numbers(most), slicing.first


def shortened(trace: Sequence[tuple[_Shown, bool]], limit: int) -> list[tuple[_Shown, bool]]:
    """At most `limit` steps of a trace, each with whether it explains the end: the first one and those that explain it, wherever
    they are, and the last ones. Where even these are too many, the last of them."""
    kept = {number for number, (_, is_needed) in enumerate(trace) if is_needed or not number}
    others = [number for number in reversed(range(len(trace))) if number not in kept]
    return [trace[number] for number in sorted(kept.union(others[: max(0, limit - len(kept))]))[-limit:]]


class _Slicing:
    """The slicing of one path."""

    def __init__(self, program: Program, path: Sequence[Step], about: Sequence[ir.Expr] | None) -> None:
        self._program, self._path, self._about = program, path, about
        self._frames = _frames(path)
        self._reasons: dict[int, Reason] = {}
        self._marked: set[tuple[int, int]] = set()  # branches, by frame and edge: a turn of a loop more explains nothing
        self._members: set[tuple[_Member, str | None]] = set()  # what was read of objects, if seen: who assigned it is needed
        self._sides: dict[str, OtherSide] = {}
        self.first = len(path) - 1  # the first step that was looked at
        self._ended_by: int | None = None  # the step behind the branches that the path is about, if it is about branches

    def numbers(self, most: int) -> tuple[int, ...]:
        last = len(self._path) - 1
        root, end, edge = self._root(), self._frames[last], self._edge(last)
        if edge is not None:
            end.later.add(edge.source)
            self._ask(last, self._asked(edge.effect))
        if not end.values and not self._has_value():
            self._ended_by = last
        self._need(last, "value")
        for number in range(last - 1, -1, -1):
            if number == root.call:
                if root.caller is None or not root.values:
                    break
                root = root.caller  # what it was passed is needed
            self.first = number
            if self._path[number].edge >= 0 and root in self._frames[number].callers():
                self._look(number)
        self._reasons[root.call or 0] = "value"
        self._leave_out_chains()
        return _strongest(self._reasons, most)

    def _has_value(self) -> bool:
        return any(step.is_value for step in self._path[:-1])

    def _asked(self, last: ir.Effect) -> Sequence[ir.Expr]:
        """The expressions of the last step that the path is about."""
        if self._about or (self._about is not None and self._has_value()):
            return self._about
        return () if self._path[-1].names else ir.expressions(last)

    def _ask(self, number: int, exprs: Iterable[ir.Expr]) -> None:
        """What gave the expressions of a step their values is needed."""
        exprs = tuple(exprs)
        self._frames[number].values.update(_names(exprs))
        if self._about:
            for part in (part for expr in exprs for part in ir.walk(expr)):
                if (member := _member(part)) is not None:
                    self._members.add((member, self._path[number].values.get(spell_expr(part))))

    def _leave_out_chains(self) -> None:
        """Of conditions that are tested one right after the other, as those of a switch are, the last one says enough."""
        weak = [number for number, reason in self._reasons.items() if reason in ("kept", "led")]
        sources = {(id(self._frames[number]), edge.source) for number in weak if (edge := self._edge(number)) is not None}
        for number in weak:
            edge = self._edge(number)
            if edge is not None and (id(self._frames[number]), edge.target) in sources:
                del self._reasons[number]

    def _root(self) -> _Frame:
        """The innermost call that all steps are in at which the value changes."""
        numbers = [number for number, step in enumerate(self._path) if step.is_value or number == len(self._path) - 1]
        common = self._frames[numbers[0]].callers()
        for number in numbers[1:]:
            others = self._frames[number].callers()
            common = [frame for frame in common if frame in others]
        return common[0]

    def _edge(self, number: int) -> Edge | None:
        step = self._path[number]
        return None if step.edge < 0 else self._cfa(number).by_id[step.edge]

    def _cfa(self, number: int) -> Cfa:
        return self._program.functions[self._path[number].function]

    def _need(self, number: int, reason: Reason) -> None:
        """The step is needed, and so is that the path comes there."""
        frame, edge = self._frames[number], self._edge(number)
        self._reasons.setdefault(number, reason)
        frame.is_needed = True
        if edge is not None and reason in ("value", "decided"):
            frame.waiting.append(edge.source)

    def _look(self, number: int) -> None:
        """Decides about a step, when all those after it are decided."""
        step, frame, edge = self._path[number], self._frames[number], self._edge(number)
        assert edge is not None
        after = self._frames[number + 1]
        if frame.caller is after and frame.call is not None and not self._path[number + 1].is_return:
            self._result(frame, after, frame.call)  # a run has no step of its own for coming back
        if step.is_return:
            self._result(self._frames[number - 1], frame, number)
        elif after.caller is frame and after.call == number:
            self._call(number, after, edge)
        elif isinstance(edge.effect, ir.Return):
            self._return(number, edge.effect)
        elif isinstance(edge.effect, ir.Assume):
            self._branch(number, edge, edge.effect)
        elif step.is_value:
            self._need(number, "value")
        else:
            self._assignment(number, edge.effect)
            if isinstance(edge.effect, ir.Call):
                self._filled(number, edge.effect)
        frame.later.update((edge.source, edge.target))

    def _result(self, callee: _Frame, caller: _Frame, number: int) -> None:
        """Coming back from a call: what it returned can be needed."""
        effect = self._cfa(number).by_id[self._path[number].edge].effect
        target = None if not isinstance(effect, ir.Call) else effect.result
        name = _name(target)
        comes_back = target is not None and self._path[number].is_return and self._path[number].is_value
        if comes_back or (name is not None and name in caller.values):
            callee.returns = "value"
        elif name is not None and name in caller.deciding:
            callee.returns = "decided"
        _forget(caller, target)

    def _call(self, number: int, callee: _Frame, edge: Edge) -> None:
        """A call that the path goes into. It is needed for what happens there."""
        if not callee.is_needed and not self._path[number].is_value:
            return
        self._need(number, "value")
        if isinstance(edge.effect, ir.Call):
            parameters = self._cfa(number + 1).parameters
            for parameter, argument in zip(parameters, edge.effect.arguments, strict=False):
                frame = self._frames[number]
                frame.values.update(_names((argument,)) if parameter.name in callee.values else ())
                frame.deciding.update(_names((argument,)) if parameter.name in callee.deciding else ())

    def _return(self, number: int, effect: ir.Return) -> None:
        frame = self._frames[number]
        returns, frame.returns = frame.returns, None
        value = () if effect.value is None else (effect.value,)
        if returns == "value":
            self._need(number, "value")
            if not self._path[number].is_value:
                frame.values.update(_names(value))
        elif returns == "decided" and value and _is_constant(value[0]):
            self._need(number, "decided")

    def _assignment(self, number: int, effect: ir.Effect) -> None:
        frame, target = self._frames[number], ir.target_of(effect)
        name = _name(target)
        if name is None:
            if target is not None and self._is_read_later(number, target):
                self._need(number, "value")
                self._ask(number, ir.values_of(effect))
            return
        if isinstance(target, ir.Var) and target.scope == "temporary":  # it stands for its value in what is shown
            for names in (frame.values, frame.deciding):
                if name in names:
                    names.remove(name)
                    names.update(_names(ir.values_of(effect)))
        elif name in frame.values:
            _forget(frame, target)
            self._need(number, "value")
            self._ask(number, ir.values_of(effect))
        elif isinstance(target, ir.Var) and name in frame.deciding:
            _forget(frame, target)
            if isinstance(effect, ir.Call) or (isinstance(effect, ir.Assign) and _is_constant(effect.value)):
                self._need(number, "decided")

    def _is_read_later(self, number: int, target: ir.Expr) -> bool:
        """Whether a step assigns to a member what a needed step reads. It is not looked for any further then."""
        assigned = self._path[number].values.get(spell_expr(target))
        found = {
            (member, read)
            for member, read in self._members
            if member == _member(target) and (read or assigned) == (assigned or read)
        }
        self._members -= found
        return bool(found)

    def _filled(self, number: int, call: ir.Call) -> None:
        """A library function that writes to a variable whose address it is passed, as `scanf` does, gives it a value. What it
        copies there is needed as well."""
        frame = self._frames[number]
        for target in filled(call):
            name = _name(target)
            reason: Reason = "value" if name in frame.values else "decided"
            needed = frame.values if reason == "value" else frame.deciding
            if name is not None and name in needed:
                self._need(number, reason)
                _forget(frame, target)
                needed.update(_names(copied(call)))

    def _branch(self, number: int, edge: Edge, effect: ir.Assume) -> None:
        step, frame = self._path[number], self._frames[number]
        side = self._sides.get(step.function)
        if side is None:
            side = self._sides[step.function] = OtherSide(self._cfa(number))
        reason: Reason | None = "value" if step.is_value else None
        led = [place for place in frame.waiting if side.decides(edge, place)]
        if self._ends_path(number, edge, side):
            reason, self._ended_by = "value", number
            frame.values.update(_names((effect.condition,)))
        if reason is None and side.changes(edge, frame.later, frame.values | frame.deciding | step.names, step.changes):
            reason = "kept"
        if reason is None and led:
            reason = "led"
        if led:
            frame.waiting = [place for place in frame.waiting if place not in led]
        key = id(frame), edge.id
        if reason is None or isinstance(effect.condition, ir.IntConst) or (reason != "value" and key in self._marked):
            return
        self._marked.add(key)
        self._need(number, reason)
        if reason != "value":
            frame.deciding.update(_names((effect.condition,)))

    def _ends_path(self, number: int, edge: Edge, side: OtherSide) -> bool:
        """Whether a branch is what the path is about: the last one that leads to its end, and the parts of its condition."""
        after = None if self._ended_by is None else self._edge(self._ended_by)
        if after is None or self._frames[number] is not self._frames[-1]:
            return False
        is_last = self._ended_by == len(self._path) - 1
        return side.avoids(edge, after.source) if is_last else side.is_part(edge, after)


def _frames(path: Sequence[Step]) -> list[_Frame]:
    """The frame of each step."""
    at = _Frame(None, None)
    depth, found = path[0].depth, list[_Frame]()
    for number, step in enumerate(path):
        if step.depth > depth:
            at = _Frame(number - 1, at)
        while step.depth < depth and at.caller is not None:
            at, depth = at.caller, depth - 1
        depth = step.depth
        found.append(at)
    return found


def _strongest(reasons: dict[int, Reason], most: int) -> tuple[int, ...]:
    """The steps that are left when there are too many: those with a weak reason go first, the first ones first."""
    left = sorted(reasons)
    for weak, enough in _RANKS:
        for number in [one for one in left if reasons[one] == weak]:
            if len(left) <= min(most, enough):
                break
            left.remove(number)
    return tuple(left) if len(left) <= most else (*left[:2], *left[len(left) - most + 2 :])


def _names(exprs: Iterable[ir.Expr]) -> set[str]:
    return {variable.name for expr in exprs for variable in ir.variables(expr) if variable.scope != "function"}


def _member(lvalue: ir.Expr) -> _Member | None:
    """The type and the name of a member of an object in memory."""
    if isinstance(lvalue, ir.Field) and isinstance(ir.root(lvalue), ir.Deref):
        return lvalue.record.type, lvalue.name
    return None


def _name(target: ir.Expr | None) -> str | None:
    """The variable that an lvalue is, or is a part of."""
    root = None if target is None else ir.root(target)
    return root.name if isinstance(root, ir.Var) else None


def _forget(frame: _Frame, target: ir.Expr | None) -> None:
    """What was assigned to a whole variable before is not needed."""
    if isinstance(target, ir.Var):
        frame.values.discard(target.name)
        frame.deciding.discard(target.name)


def _is_constant(value: ir.Expr) -> bool:
    while isinstance(value, ir.Cast):
        value = value.operand
    return isinstance(value, ir.IntConst)
