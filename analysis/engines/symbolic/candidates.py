"""A path through CFAs as a question to the solver: is there a run that takes it and violates the rule at its end?

The encoding errs to one side (`smt.encoding.numbers.formula`): "unsat" means that there is none, "sat" gives inputs to try.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from analysis.c.blocks import ENDING
from analysis.cfa.graph import Edge, Program
from analysis.cfa.open_functions import is_main
from analysis.engines.symbolic.choices import MakeInputs, Solved
from analysis.engines.symbolic.task import Target
from analysis.interpreter.outcome import Step
from analysis.model import clock, ir
from analysis.model.assumptions import ADDRESSES
from analysis.model.c_types import DataModel, Integer, Pointer
from analysis.model.spelling import display_name, spell_expr
from analysis.path_following.checks import EdgeChecks
from analysis.smt.encoding.numbers.formula import FailureKind, Formula, Input
from analysis.smt.encoding.paths.path import PathEncoder
from analysis.smt.logic.term_building import FALSE, and_, distinct, eq, number, or_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import UNDECIDED, Answer, Budget, Model, Value
from analysis.smt.solving.z3_backend import Z3Solver

IMPOSSIBLE = "one path to it is impossible (others were not decided)"
"""What is said of a single path; it does not refute a finding, to which others may lead."""

_FAILURES: frozenset[str] = frozenset(get_args(FailureKind))
_OF_FREE = ("double-free", "invalid-free")
_OF_OBJECTS = ("array-bounds", "use-after-free", "use-after-scope")  # what depends on the size or the life of an object
_MAKING = 4  # times the seconds for a question, for making its formula
_ARGUMENTS = 8  # how many words a command line has at most


class Found(NamedTuple):
    """What is known of a path. `sat`: `make` gives the inputs that a model chose. `given`: what the callers of the entry would
    have to do for it, if it rests on nothing else. `unknown`: `reason` says why. `assumptions` are the encoding's."""

    status: Literal["sat", "unsat", "unknown"]
    make: MakeInputs | None = None
    given: str = ""
    reason: str = ""
    assumptions: tuple[str, ...] = ()


class Candidates:
    """Asks about paths to one target. No path is begun after `until`, which is a time of `model.clock`."""

    def __init__(
        self, program: Program, target: Target, suspects: Sequence[ir.Expr], model: DataModel, budget: Budget, until: float
    ) -> None:
        self._program = program
        self._until = until
        self._target = target
        self._suspects = suspects
        self._model = model
        self._budget = budget
        self._edge = program.functions[target.function].by_id[target.edge]
        self._solver = Z3Solver()
        self._bounds = EdgeChecks(program, frozenset({"array-bounds"}))
        self.count = 0

    def ask(self, entry: str, path: Sequence[Step]) -> Iterator[Found]:
        """What is known of a path from the start of an entry to just before the target's edge, the likeliest inputs first; the
        last one says "unsat" only if no inputs at all lead over it to a violation."""
        self.count += 1
        encoder = self._started(entry)
        arguments = encoder.inputs()
        try:
            for _ in self._steps(encoder, path):
                pass
        except (KeyError, ValueError) as problem:
            yield Found("unknown", reason=f"its path cannot be followed: {problem}")
            return
        expected = tuple(plausible(entry, arguments))
        formulas = list(self._formulas(encoder))
        if not formulas:
            yield Found("unknown", reason=f"it is not known when {self._target.rule} happens here")
            return
        given = self._given(encoder)
        for restricted in (True, False) if expected else (False,):
            answers = self._answers(formulas, expected if restricted else (), encoder, path, given)
            settled = [a for a in answers if a.status == "sat"]
            yield from settled
            if not restricted and not settled:
                last = next((a for a in answers if a.status == "unknown"), answers[0])
                yield self._if_inside(last, entry, path)

    def _answers(
        self, formulas: Sequence[Formula], more: Sequence[Term], encoder: PathEncoder, path: Sequence[Step], given: str
    ) -> list[Found]:
        """What is known of the formulas, which all begin with that of the path; of the path alone, where that is infeasible or
        not decided. It is asserted once: that takes as long as it is large."""
        whole, solver = encoder.formula(), self._solver
        solver.push()
        try:
            solver.add(and_(*whole.conjuncts, *more))  # one by one, what they share would be simplified again and again
            answer = solver.check(budget=self._budget)
            if answer.status != "sat":
                return [self._found(whole, answer, encoder, path, given)]
            return [self._besides(formula, whole, encoder, path, given) for formula in formulas]
        finally:
            solver.pop()

    def _besides(self, formula: Formula, whole: Formula, encoder: PathEncoder, path: Sequence[Step], given: str) -> Found:
        """What is known of a formula, where that of the path is asserted and satisfiable."""
        solver, shared = self._solver, len(whole.conjuncts)
        rest = formula.conjuncts[shared:] if formula.conjuncts[:shared] == whole.conjuncts else formula.conjuncts
        solver.push()
        try:
            solver.add(*rest)
            return self._found(formula, solver.check(budget=self._budget), encoder, path, given)
        finally:
            solver.pop()

    def _started(self, entry: str) -> PathEncoder:
        encoder = PathEncoder(self._program, "bv", self._model)
        encoder.start(entry, globals_initialised=is_main(entry))
        return encoder

    def _steps(self, encoder: PathEncoder, path: Sequence[Step]) -> Iterator[Edge]:
        """Takes the steps of a path one by one, each after it was given. KeyError or ValueError if they are no path; ValueError
        if the formula takes much longer to make than the solver has for it: it would decide nothing."""
        until = min(self._until, clock.spent() + _MAKING * self._budget.seconds)
        edges = followed(encoder, self._program, path, Step(self._target.function, self._target.edge))
        while True:
            with clock.ending(until):  # a single edge can take as long as all the others
                clock.demand()
                edge = next(edges, None)
            if edge is None:
                return
            yield edge

    def _if_inside(self, found: Found, entry: str, path: Sequence[Step]) -> Found:
        """The answer, if no access on the path may leave its object: what that would read or change is not followed. The path is
        followed once more for that, which only few paths need."""
        if found.status != "unsat":
            return found
        encoder, solver, count = self._started(entry), self._solver, 0
        solver.push()
        try:
            for edge in self._steps(encoder, path):
                checks = [check for check in self._bounds.at(encoder, edge) if not check.uncertain]
                solver.add(*encoder.conjuncts(count))
                count = len(encoder.conjuncts())
                if any(self._may_hold(check.more) for check in checks):
                    return Found("unknown", reason=f"{IMPOSSIBLE}, unless an access before it is outside of its object")
        except ValueError as problem:
            return Found("unknown", reason=f"its path cannot be followed: {problem}")
        finally:
            solver.pop()
        return found

    def _may_hold(self, more: Sequence[Term]) -> bool:
        """Whether what is asserted allows these, too."""
        self._solver.push()
        try:
            self._solver.add(*more)
            return self._solver.check(budget=self._budget).status != "unsat"
        finally:
            self._solver.pop()

    def _formulas(self, encoder: PathEncoder) -> Iterator[Formula]:
        kind = self._target.rule
        condition = None
        if kind in _FAILURES:
            condition = encoder.condition_at(self._edge, _failure(kind))
            if condition is not None:
                yield condition.formula
            elif kind in _OF_FREE and self._is_free():
                path = encoder.formula()
                yield Formula((FALSE,), path.approximations, path.assumptions)
        is_open = kind in _FAILURES and encoder.may_fail_inside(self._edge, _failure(kind))
        if is_open or (kind in _OF_OBJECTS and encoder.reaches_unknown(self._edge)):
            yield encoder.formula()
        if self._suspects:
            path = encoder.formula()
            nulls = [eq(term, number(0, term.sort)) for e in self._suspects if (term := encoder.value(e)).sort.kind == "BitVec"]
            yield Formula((*path.conjuncts, or_(*nulls)), path.approximations, path.assumptions)
        elif kind not in _FAILURES:
            yield encoder.formula()

    def _is_free(self) -> bool:
        """Whether the edge is a call of which the encoding knows what it ends."""
        effect = self._edge.effect
        return isinstance(effect, ir.Call) and ir.direct_callee(effect) in ENDING

    def _found(self, formula: Formula, answer: Answer, encoder: PathEncoder, path: Sequence[Step], given: str) -> Found:
        """What the solver's last answer, to a formula, means."""
        if answer.status == "sat":
            inputs = encoder.inputs()
            model = Kept(self._solver.model(), inputs)
            return Found("sat", lambda: Solved(self._program, path, inputs, model), given, "", formula.assumptions)
        if answer.status == "unsat" and ADDRESSES.sentence in formula.assumptions:  # it may be feasible with others
            return Found("unknown", reason="the path depends on where objects lie in memory, which is not known")
        if answer.status == "unsat":
            return Found("unsat", assumptions=formula.assumptions)
        return Found(
            "unknown",
            reason=f"it was not decided whether a run can take its path{UNDECIDED[answer.reason]}",
            assumptions=formula.assumptions,
        )

    def _given(self, encoder: PathEncoder) -> str:
        """Names what is null or zero only by an input: an argument of the entry, or the result of an external function."""
        outside = {given.term: given for given in encoder.inputs()}
        for expr in self._suspects:
            source = outside.get(encoder.value(expr))
            if source is None:
                continue
            zero = "NULL" if isinstance(expr.type, Pointer) else "0"
            if source.kind == "parameter":
                return f"{display_name(self._target.function)} is entered with {spell_expr(expr)} == {zero}"
            if source.kind == "result" and isinstance(expr.type, Pointer):
                return f"{source.name} returns {zero}"
        return ""


class Kept:
    """The values of a model for the inputs of a path, kept when the solver goes on."""

    def __init__(self, model: Model, inputs: Sequence[Input]) -> None:
        terms = [given.term for given in inputs] + [given.address for given in inputs if given.address is not None]
        self._values = dict(model.values(tuple(term for term in terms if term.sort.kind != "Array")))

    def value(self, term: Term) -> Value:
        """The value of a term that was kept. KeyError for another one."""
        return self._values[term]

    def values(self, terms: tuple[Term, ...]) -> dict[Term, Value]:
        """The values of several."""
        return {term: self._values[term] for term in terms}


def _failure(kind: str) -> FailureKind:
    return next(known for known in get_args(FailureKind) if known == kind)


def plausible(entry: str, arguments: Sequence[Input]) -> Iterator[Term]:
    """What callers can be expected to keep to: pointers are not null; for `main`, that there are few words (C11 5.1.2.2.1)."""
    for given in arguments:
        if isinstance(given.type, Pointer):
            yield distinct(given.term, number(0, given.term.sort))
        elif is_main(entry) and isinstance(given.type, Integer):
            yield or_(*(eq(given.term, number(count, given.term.sort)) for count in range(1, _ARGUMENTS + 1)))


def followed(encoder: PathEncoder, program: Program, path: Sequence[Step], end: Step) -> Iterator[Edge]:
    """Takes the steps of a path, after which `end` follows, and gives the edge of each before it is taken. A call of a defined
    function is entered if the next step is the first one of its body, and stepped over otherwise. Raises KeyError or ValueError
    if the steps are no path."""
    for position, step in enumerate(path):
        edge = program.functions[step.function].by_id[step.edge]
        yield edge
        callee = _entered(program, edge, path[position + 1] if position + 1 < len(path) else end)
        if callee is not None:
            encoder.enter(edge, callee)
            continue
        encoder.take(edge)
        if encoder.depth and isinstance(edge.effect, ir.Return):
            encoder.leave()


def _entered(program: Program, edge: Edge, following: Step) -> str | None:
    if not isinstance(edge.effect, ir.Call):
        return None
    callee = following.function
    if callee not in program.functions or callee not in program.targets(edge.effect):
        return None
    cfa = program.functions[callee]
    return callee if cfa.by_id[following.edge].source == cfa.entry else None
