"""Single paths of a program, exact to the bit and for memory (`smt.encoding.paths.path`): each is followed with its own
encoder, what
can violate a rule is reported before each edge, and where a path branches, it is forked. What becomes of possible
violations, and in which order paths are followed, is decided by the engine that follows them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from analysis.c.blocks import ALLOCATIONS, STACK_ALLOCATIONS
from analysis.c.calls import leaves_values
from analysis.c.control import NEVER_RETURN, UNREACHABLE
from analysis.cfa.graph import Edge, Program
from analysis.cfa.marks import marked
from analysis.cpa.obstacles.completeness import is_known, may_write_globals
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.clock import STATE, work
from analysis.path_following.checks import Check, EdgeChecks
from analysis.smt.encoding.paths.path import PathEncoder
from analysis.smt.encoding.paths.unfollowed_calls import WRITERS
from analysis.smt.encoding.storage.path_memory import WRITES_CONSTANT
from analysis.smt.logic.term_building import FALSE, distinct, number
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Answer, Budget
from analysis.smt.solving.z3_backend import Z3Solver

_SPLIT = ALLOCATIONS - STACK_ALLOCATIONS

Edges = tuple[tuple[str, int], "Edges"] | None


class Call(NamedTuple):
    """An open call: where it returns to, and the calls below it."""

    function: str
    edge: Edge
    below: Call | None


class Path:
    """One path: where it is, its encoder, the edges it took (last one first), how often it took each branch that could go
    either way."""

    __slots__ = ("asked", "calls", "edges", "encoder", "forks", "function", "location")

    def __init__(self, encoder: PathEncoder, function: str, location: int) -> None:
        self.encoder = encoder
        self.function = function
        self.location = location
        self.calls: Call | None = None
        self.edges: Edges = None
        self.forks: dict[tuple[str, int], int] = {}
        self.asked = 0  # how many of the conjuncts are known to be possible together

    def fork(self) -> Path:
        """An independent copy."""
        other = Path(self.encoder.fork(), self.function, self.location)
        other.calls, other.edges, other.asked = self.calls, self.edges, self.asked
        other.forks = self.forks
        return other

    def taken(self, edge: Edge) -> None:
        """Notes an edge."""
        self.edges = ((self.function, edge.id), self.edges)
        self.location = edge.target

    @property
    def steps(self) -> list[tuple[str, int]]:
        """The edges from the start on, by function and id."""
        found: list[tuple[str, int]] = []
        edges = self.edges
        while edges is not None:
            found.append(edges[0])
            edges = edges[1]
        found.reverse()
        return found


class Questions:
    """Asks the solver about paths; what two questions after each other have in common stays asserted."""

    def __init__(self, milliseconds: int) -> None:
        self._budget = Budget(milliseconds)
        self._asserted: list[Term] = []
        self.count = 0

    @cached_property
    def solver(self) -> Z3Solver:
        """Made when it is asked first: that takes some milliseconds, and a defect is often found without."""
        return Z3Solver()

    def ask(self, conjuncts: Sequence[Term], more: Sequence[Term] = ()) -> Answer:
        """Whether they can hold together. A model can be read until the next question."""
        wanted = [*conjuncts, *more]
        common = 0
        for known, term in zip(self._asserted, wanted, strict=False):
            if known is not term:
                break
            common += 1
        if common < len(self._asserted):
            self.solver.pop(len(self._asserted) - common)
        for term in wanted[common:]:
            self.solver.push()
            self.solver.add(term)
        self._asserted = wanted
        self.count += 1
        return self.solver.check(budget=self._budget)


class PathFollower(ABC):
    """Follows the paths of a program from one of its functions. `fails`: whether allocations can fail, `outside` whether
    external functions can write to globals. `reasons`: what is left out, so that paths without a violation are no proof;
    `paths` counts those that ended."""

    def __init__(
        self, program: Program, checks: EdgeChecks, encoder: PathEncoder, milliseconds: int, *, fails: bool, outside: bool
    ) -> None:
        self._program = program
        self._checks = checks
        self._fails = fails
        self._outside_writes = outside
        self._bounds = None if "array-bounds" in checks.rules else EdgeChecks(program, frozenset({"array-bounds"}))
        self.questions = Questions(milliseconds)
        self.paths = 0
        self.reasons: dict[str, None] = {}
        self._written: dict[int, tuple[Edge, Edge]] = {}  # calls by identity, with the assignments of their results
        self.assumptions: dict[str, None] = {}
        cfa = program.functions[encoder.function]
        self.first = Path(encoder, cfa.name, cfa.entry)

    @abstractmethod
    def judge(self, path: Path, check: Check, edge: Edge | None) -> bool:
        """Called for a violation that may be possible on the edge that a path takes next (None: at its end).
        True ends the exploration."""

    # -- one location -------------------------------------------------------------------------------------------

    def advance(self, path: Path) -> tuple[list[Path], bool]:
        """The paths after one more edge, and whether the exploration is over."""
        work(STATE)
        cfa = self._program.functions[path.function]
        edges = cfa.outgoing.get(path.location, ())
        if not edges:
            self._end(path)
            return [], False
        for edge in _conditions(edges):
            if any(self.judge(path, check, edge) for check in self._checks.at(path.encoder, edge)):
                return [], True
            self.assumptions.update(dict.fromkeys(self._checks.assumed(edge)))
            self._stays_inside(path, edge)
        effect = edges[0].effect
        if isinstance(effect, ir.Assume):
            self._compares_addresses(path, edges)
            return self._branch(path, edges), False
        if isinstance(effect, ir.Call):
            return self._call(path, edges[0], effect)
        path.encoder.take(edges[0])
        path.taken(edges[0])
        if isinstance(effect, ir.Return):
            return self._return(path)
        return self._alive([path]), False

    def _stays_inside(self, path: Path, edge: Edge, encoder: PathEncoder | None = None) -> None:
        """Notes an access that may leave its object, where its bounds are known: what it reads or changes is not followed."""
        if self._bounds is None or self.reasons:
            return
        for check in self._bounds.at(encoder or path.encoder, edge):
            if not check.uncertain and self.questions.ask(path.encoder.conjuncts(), check.more).status != "unsat":
                where = marked(self._program, path.function, edge.id)
                self.reasons[f"an access may be outside of its object at {where}"] = None
                return

    def _compares_addresses(self, path: Path, edges: Sequence[Edge]) -> None:
        """Notes a branch that depends on where objects lie: formulas know only one of the possibilities."""
        for edge in _conditions(edges):
            condition = edge.effect.condition if isinstance(edge.effect, ir.Assume) else None
            if not isinstance(condition, ir.Binary) or condition.operator not in ("<", "<=", ">", ">="):
                continue
            if isinstance(condition.left.type, Pointer) and not path.encoder.same_object(condition.left, condition.right):
                where = marked(self._program, path.function, edge.id)
                self.reasons[f"the comparison of pointers at {where} depends on where objects lie in memory"] = None

    def _end(self, path: Path) -> None:
        self.paths += 1
        if WRITES_CONSTANT in path.encoder.formula().approximations:
            self.reasons[WRITES_CONSTANT] = None
        self.assumptions.update(dict.fromkeys(path.encoder.formula().assumptions))

    def _alive(self, paths: Sequence[Path]) -> list[Path]:
        """Those of the paths whose conjuncts are not false by their form."""
        return [path for path in paths if FALSE not in path.encoder.conjuncts(path.asked)]

    def _branch(self, path: Path, edges: Sequence[Edge]) -> list[Path]:
        at = (path.function, path.location)
        followed: list[Path] = []
        for edge in edges:
            one = path if edge is edges[-1] else path.fork()
            one.encoder.take(edge)
            one.taken(edge)
            followed.append(one)
        followed = self._alive(followed)
        if len(followed) < 2:
            return followed
        possible = self.possible(followed)
        if len(possible) > 1:
            for one in possible:
                one.forks = {**one.forks, at: one.forks.get(at, 0) + 1}
        return possible

    def possible(self, paths: Sequence[Path]) -> list[Path]:
        """Those of several next edges that may be feasible: at least one is, if what led here is."""
        found = [one for one in paths[:-1] if self._is_possible(one)]
        if not found or self._is_possible(paths[-1]):
            found.append(paths[-1])
        return found

    def _is_possible(self, path: Path) -> bool:
        conjuncts = path.encoder.conjuncts()
        answer = self.questions.ask(conjuncts)
        if answer.status == "sat":
            path.asked = len(conjuncts)
        return answer.status != "unsat"

    # -- calls --------------------------------------------------------------------------------------------------

    def _call(self, path: Path, edge: Edge, call: ir.Call) -> tuple[list[Path], bool]:
        if self._checks.is_error(edge) and ir.direct_callee(call) not in self._program.functions:
            self._end(path)
            return [], False
        targets = self._program.targets(call)
        self._note_unfollowed(path, edge, call, targets)
        if self._checks.asserted(edge) is not None:
            path.encoder.take(edge)
            path.taken(edge)
            return self._alive([path]), False
        bodies = [name for name in targets if name in self._program.functions]
        outside = [name for name in targets if name not in self._program.functions]
        returning = [name for name in outside if not self._never_returns(name)]
        ending = [name for name in outside if name not in returning]
        goes_over = bool(returning) or not targets
        followed = self._entered(path, edge, bodies, is_used=goes_over or bool(ending))
        if goes_over:
            followed.extend(self._outside(path.fork() if ending else path, edge, call, returning))
        if ending and self._ended(path, edge, ending):
            return [], True
        followed = self._alive(followed)
        if len(followed) > 1:
            followed = self.possible(followed)
        return followed, False

    def _entered(self, path: Path, edge: Edge, names: Sequence[str], *, is_used: bool) -> list[Path]:
        """The path in each of these functions. The last one is the path itself, if nothing else `is_used` for it."""
        followed = []
        for left, name in zip(reversed(range(len(names))), names, strict=True):
            one = path.fork() if left or is_used else path
            one.encoder.enter(edge, name)
            one.taken(edge)
            one.calls = Call(path.function, edge, path.calls)
            one.function, one.location = name, self._program.functions[name].entry
            followed.append(one)
        return followed

    def _note_unfollowed(self, path: Path, edge: Edge, call: ir.Call, targets: Sequence[str]) -> None:
        """Notes what is not followed of a call: functions that a pointer may lead to, and memory that the call gives."""
        if ir.direct_callee(call) is None:
            self._reaches_only(path, call, targets)
        if unfollowed := self._checks.unfollowed_blocks(edge):
            self.reasons[f"the memory that {unfollowed}() gives is not followed"] = None

    def _reaches_only(self, path: Path, call: ir.Call, targets: Sequence[str]) -> None:
        """Notes if a pointer may lead to what is no function that is known."""
        value = path.encoder.value(call.callee)
        others = [distinct(value, number(0, value.sort))]
        for name in targets:
            type_ = self._program.function_type(name)
            if type_ is not None:
                function = ir.AddressOf(ir.Var(name, "function", type_), Pointer(type_))
                others.append(distinct(value, path.encoder.value(function)))
        if FALSE not in others and self.questions.ask(path.encoder.conjuncts(), others).status != "unsat":
            self.reasons["a call through a pointer may lead to a function that is not known"] = None

    def _never_returns(self, name: str) -> bool:
        external = self._program.externals.get(name)
        return name in NEVER_RETURN or (external is not None and external.noreturn)

    def _ended(self, path: Path, edge: Edge, names: Sequence[str]) -> bool:
        """In an external function that does not return; whether the exploration is over."""
        path.taken(edge)
        if all(name in ("abort", UNREACHABLE) for name in names):
            self._end(path)
            return False
        return self._over(path)[1]

    def _outside(self, path: Path, edge: Edge, call: ir.Call, names: Sequence[str]) -> list[Path]:
        """After a call of one of these external functions; of none, where it is not known which one it is."""
        for name in names or ("",):
            if self._outside_writes and not is_known(name):
                self.reasons[may_write_globals(name)] = None
            if "uninitialized-read" in self._checks.rules and _may_leave_undefined(name, call):
                function = f"{name}()" if name else "a function called through a pointer"
                self.reasons[f"{function} is external, and need not give a value to what it is passed the address of"] = None
        paths = [path]
        choices: list[bool | None] = [None]
        if ir.direct_callee(call) in _SPLIT:
            choices = [True, False] if self._fails else [True]
            paths = [path, *(path.fork() for _ in choices[1:])]
        for one, found in zip(paths, choices, strict=True):
            one.encoder.take(edge, found)
            one.taken(edge)
        return paths

    def _return(self, path: Path) -> tuple[list[Path], bool]:
        calls = path.calls
        if calls is None:
            return self._over(path)
        path.function = calls.function
        if self._writes_badly(path, calls):
            return [], True
        path.encoder.leave()
        path.location, path.calls = calls.edge.target, calls.below
        return self._alive([path]), False

    def _writes_badly(self, path: Path, calls: Call) -> bool:
        """Reports what can go wrong where the result of a call is stored, which is looked up after the call.
        Whether the exploration is over."""
        effect = calls.edge.effect
        assert isinstance(effect, ir.Call)
        if effect.result is None or isinstance(effect.result, ir.Var):
            return False
        written = self._written.get(id(calls.edge))
        if written is None:
            edge = calls.edge
            assigned = Edge(edge.id, edge.source, edge.target, ir.Assign(effect.result, ir.Unknown(effect.result.type)))
            written = self._written[id(edge)] = edge, assigned
        encoder = path.encoder.before_result()
        if any(self.judge(path, check, calls.edge) for check in self._checks.at(encoder, written[1])):
            return True
        self._stays_inside(path, written[1], encoder)
        return False

    def _over(self, path: Path) -> tuple[list[Path], bool]:
        """The program has ended."""
        self._end(path)
        found = any(self.judge(path, check, None) for check in self._checks.at_end(path.encoder))
        return [], found


def _may_leave_undefined(name: str, call: ir.Call) -> bool:
    """Whether what a function is given may have no value after it, though formulas say that it has any (as with `scanf`)."""
    if leaves_values(name, call) or name in ALLOCATIONS or name in NEVER_RETURN or name in WRITERS:
        return False
    return any(isinstance(argument.type, Pointer) for argument in call.arguments)


def _conditions(edges: Sequence[Edge]) -> Iterator[Edge]:
    """One edge for each different condition of a branch."""
    seen: list[ir.Expr] = []
    for edge in edges:
        if isinstance(edge.effect, ir.Assume):
            if edge.effect.condition in seen:
                continue
            seen.append(edge.effect.condition)
        yield edge
