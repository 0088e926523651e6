"""A path through CFAs as a question to the solver: is there a run that takes it and violates the rule at its end?

The encoding errs to one side (`smt.encoding.numbers.formula`): "unsat" means that there is none, "sat" gives inputs to try.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from analysis.c.blocks import ENDING
from analysis.cfa.graph import Edge, Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.engines.symbolic.choices import MakeInputs, Solved
from analysis.engines.symbolic.task import Target
from analysis.interpreter.outcome import Step
from analysis.model import ir
from analysis.model.assumptions import ADDRESSES
from analysis.model.c_types import DataModel, Integer, Pointer
from analysis.model.spelling import display_name, spell_expr
from analysis.path_following.checks import EdgeChecks
from analysis.smt.encoding.numbers.formula import FailureKind, Formula, Input
from analysis.smt.encoding.paths.path import PathEncoder
from analysis.smt.logic.term_building import FALSE, distinct, eq, number, or_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Budget, Model, Value
from analysis.smt.solving.z3_backend import Z3Solver

_FAILURES: frozenset[str] = frozenset(get_args(FailureKind))
_OF_FREE = ("double-free", "invalid-free")
_OF_OBJECTS = ("array-bounds", "use-after-free", "use-after-scope")  # what depends on the size or the life of an object
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
    """Asks about paths to one target."""

    def __init__(self, program: Program, target: Target, suspects: Sequence[ir.Expr], model: DataModel, budget: Budget) -> None:
        self._program = program
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
        encoder = PathEncoder(self._program, "bv", self._model)
        encoder.start(entry, globals_initialised=entry == MAIN)
        arguments = encoder.inputs()
        try:
            leaving = follow(encoder, self._program, path, Step(self._target.function, self._target.edge), self._bounds)
        except (KeyError, ValueError) as problem:
            yield Found("unknown", reason=f"formulas cannot follow its path: {problem}")
            return
        expected = tuple(plausible(entry, arguments))
        formulas = list(self._formulas(encoder))
        if not formulas:
            yield Found("unknown", reason=f"formulas do not say when {self._target.rule} happens here")
            return
        given = self._given(encoder)
        for restricted in (True, False) if expected else (False,):
            answers = [self._solve(f, expected if restricted else (), encoder, path, given) for f in formulas]
            settled = [a for a in answers if a.status == "sat"]
            yield from settled
            if not restricted and not settled:
                last = next((a for a in answers if a.status == "unknown"), answers[0])
                yield self._if_inside(last, leaving)

    def _if_inside(self, found: Found, leaving: Sequence[Sequence[Term]]) -> Found:
        """The answer, if no access on the path may leave its object: what that would read or change is not followed."""
        for conjuncts in leaving if found.status == "unsat" else ():
            self._solver.push()
            try:
                self._solver.add(*conjuncts)
                if self._solver.check(budget=self._budget).status != "unsat":
                    return Found("unknown", reason="an access may be outside of its object on an otherwise infeasible path")
            finally:
                self._solver.pop()
        return found

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

    def _solve(self, formula: Formula, more: tuple[Term, ...], encoder: PathEncoder, path: Sequence[Step], given: str) -> Found:
        solver = self._solver
        solver.push()
        try:
            solver.add(*formula.conjuncts, *more)
            answer = solver.check(budget=self._budget)
            if answer.status == "sat":
                inputs = encoder.inputs()
                model = Kept(solver.model(), inputs)
                return Found("sat", lambda: Solved(self._program, path, inputs, model), given, "", formula.assumptions)
            if answer.status == "unsat" and ADDRESSES.sentence in formula.assumptions:  # it may be feasible with others
                return Found("unknown", reason="the path depends on the numbers of addresses, which are not known")
            if answer.status == "unsat":
                return Found("unsat", assumptions=formula.assumptions)
            return Found(
                "unknown",
                reason=f"the solver could not decide whether its path is feasible ({answer.reason})",
                assumptions=formula.assumptions,
            )
        finally:
            solver.pop()

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
        elif entry == MAIN and isinstance(given.type, Integer):
            yield or_(*(eq(given.term, number(count, given.term.sort)) for count in range(1, _ARGUMENTS + 1)))


def follow(encoder: PathEncoder, program: Program, path: Sequence[Step], end: Step, bounds: EdgeChecks) -> list[tuple[Term, ...]]:
    """Takes the steps of a path, after which `end` follows. A call of a defined function is entered if the next step is the first
    one of its body, and stepped over otherwise. Returns when, on the path, an access leaves its object. Raises KeyError or
    ValueError if the steps are no path."""
    leaving: list[tuple[Term, ...]] = []
    for position, step in enumerate(path):
        cfa = program.functions[step.function]
        edge = cfa.by_id[step.edge]
        leaving += [(*encoder.conjuncts(), *check.more) for check in bounds.at(encoder, edge) if not check.uncertain]
        callee = _entered(program, edge, path[position + 1] if position + 1 < len(path) else end)
        if callee is not None:
            encoder.enter(edge, callee)
            continue
        encoder.take(edge)
        if encoder.depth and isinstance(edge.effect, ir.Return):
            encoder.leave()
    return leaving


def _entered(program: Program, edge: Edge, following: Step) -> str | None:
    if not isinstance(edge.effect, ir.Call):
        return None
    callee = following.function
    if callee not in program.functions or callee not in program.targets(edge.effect):
        return None
    cfa = program.functions[callee]
    return callee if cfa.by_id[following.edge].source == cfa.entry else None
