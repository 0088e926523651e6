"""z3 as the solver. Only `z3_contexts`, `z3_terms`, `z3_work` and `z3_horn` import it beside this module.

It goes through z3's C interface (`z3core`), since building the objects of z3's Python interface takes longer than most checks.
Every solver has a context of its own, so that solvers of different threads, and their interrupts, have nothing to do with each
other. A context takes longer to make than most checks: solvers that are made for one answer can share theirs (`Sharing`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import z3  # type: ignore[import-untyped]  # it has no stubs
from z3 import z3core

from analysis.model import clock
from analysis.smt.logic.term_building import not_, or_, symbol
from analysis.smt.logic.terms import BOOL, Sort, Term
from analysis.smt.solving.solver import INTERRUPTED, SAT, UNSAT, Answer, Budget, Model, Reason, Value
from analysis.smt.solving.z3_terms import Translation
from analysis.smt.solving.z3_work import COUNTED, WATCH, interrupt, work_in, work_of

_DEFAULT = Budget()
_UNBOUNDED = 4_294_967_295
_INTERRUPT_AGAIN = 0.001  # seconds: z3 forgets an interrupt that comes before its check has begun


class Z3Model:
    """A model of z3. It is read at once by `value`, so it must not outlive its solver."""

    def __init__(self, translation: Translation, model: Any) -> None:
        self._translation = translation
        self._model = model
        z3core.Z3_model_inc_ref(translation.ref, model)

    def __del__(self) -> None:
        self._translation.left.append((z3core.Z3_model_dec_ref, self._model))

    def value(self, term: Term) -> Value:
        """See solver.Model."""
        if term.sort.kind == "Array":
            raise ValueError("the value of an array is asked for element by element")
        ref = self._translation.ref
        found = (z3.Ast * 1)()
        if not z3core.Z3_model_eval(ref, self._model, self._translation.term(term), True, found):
            raise ValueError(f"z3 gives no value for {term!r}")
        z3core.Z3_inc_ref(ref, found[0])
        try:
            return self._read(found[0], term.sort)
        finally:
            z3core.Z3_dec_ref(ref, found[0])

    def _read(self, found: Any, sort: Sort) -> Value:
        ref = self._translation.ref
        if sort.kind == "Bool":
            return bool(z3core.Z3_get_bool_value(ref, found) == 1)
        if z3core.Z3_is_algebraic_number(ref, found):
            found = z3core.Z3_get_algebraic_number_lower(ref, found, 20)
        text = z3core.Z3_get_numeral_string(ref, found)
        return Fraction(text) if sort.kind == "Real" else int(text)

    def values(self, terms: tuple[Term, ...]) -> Mapping[Term, Value]:
        """See solver.Model."""
        return {term: self.value(term) for term in terms}


_OF_THREAD = threading.local()


class Sharing:
    """Inside, the solvers that a thread makes by `Z3Solver.near` share a context, which is kept for the next time. It can be
    entered inside another one, whose context counts then. What z3 finds first depends on what its context has seen before: so
    the questions that share one must always come in the same order."""

    def __init__(self) -> None:
        self._translation = Translation()
        self._outer: list[Translation | None] = []

    def __enter__(self) -> None:
        outer: Translation | None = getattr(_OF_THREAD, "translation", None)
        self._outer.append(outer)
        _OF_THREAD.translation = outer or self._translation

    def __exit__(self, *_: object) -> None:
        _OF_THREAD.translation = self._outer.pop()


class Z3Solver:
    """A `solver.Solver`. The memory that a budget bounds is what z3 has taken in the whole process. `checks` counts the checks of
    all solvers."""

    checks = 0

    def __init__(self, translation: Translation | None = None) -> None:
        """`translation`: see `near`."""
        self._stack: list[list[Term]] = [[]]
        self._has_inner_scope = False
        self._answer: Answer | None = None
        self._assumptions: dict[Term, Term] = {}
        self._stopped = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self._interrupting = threading.Lock()  # an interrupt must not meet a solver that is freed after its check
        self._open(translation or Translation())

    @classmethod
    def near(cls) -> Z3Solver:
        """A new solver of this thread, which is to use it alone. With the others that are made so inside the same `Sharing`, it
        shares what terms are translated to, and nothing else. So it is made in a fraction of the time."""
        return cls(getattr(_OF_THREAD, "translation", None))

    def _open(self, translation: Translation) -> None:
        """Makes z3's solver, with all that was asserted so far."""
        self._translation = translation
        self._ref = self._translation.ref
        self._solver = z3core.Z3_mk_solver(self._ref)
        z3core.Z3_solver_inc_ref(self._ref, self._solver)
        self._budget: Budget | None = None
        self._most_work: int | None = None
        self._is_spent = False
        for level, formulas in enumerate(self._stack):
            if level:
                z3core.Z3_solver_push(self._ref, self._solver)
            self._assert(formulas)

    def __del__(self) -> None:
        if hasattr(self, "_solver"):
            self._translation.left.append((z3core.Z3_solver_dec_ref, self._solver))

    def push(self) -> None:
        """See solver.Solver."""
        self._close_check()
        z3core.Z3_solver_push(self._ref, self._solver)
        self._stack.append([])

    def pop(self, levels: int = 1) -> None:
        """See solver.Solver."""
        self._close_check()
        if not 0 <= levels < len(self._stack):
            raise ValueError(f"{levels} scopes to close, {len(self._stack) - 1} are open")
        z3core.Z3_solver_pop(self._ref, self._solver, levels)
        del self._stack[len(self._stack) - levels :]

    def add(self, *formulas: Term) -> None:
        """See solver.Solver."""
        self._close_check()
        self._stack[-1].extend(formulas)
        self._assert(formulas)

    def _assert(self, formulas: Iterable[Term]) -> None:
        for formula in formulas:
            z3core.Z3_solver_assert(self._ref, self._solver, self._translation.term(formula))

    def check(self, *assumptions: Term, budget: Budget | None = None) -> Answer:
        """See solver.Solver."""
        Z3Solver.checks += 1
        self._close_check()
        self._translation.tidy()
        if not clock.left():  # not even the assumptions are asserted, which may be many
            self._assumptions, self._answer = {}, INTERRUPTED if self._stopped.is_set() else Answer("unknown", "time")
            clock.work(clock.CHECK)
            return self._answer
        self._assumptions = {_literal(formula): formula for formula in assumptions}
        if any(literal is not formula for literal, formula in self._assumptions.items()):
            z3core.Z3_solver_push(self._ref, self._solver)  # for what the literals stand for
            self._has_inner_scope = True
            self._assert(or_(not_(literal), formula) for literal, formula in self._assumptions.items())
        literals = [self._translation.term(literal) for literal in self._assumptions]
        self._allow(budget or _DEFAULT)
        self._idle.clear()
        self._over: Reason = ""
        WATCH.begin(self, budget or _DEFAULT)
        try:
            self._answer = INTERRUPTED if self._stopped.is_set() else self._checked(literals)
            clock.work(clock.CHECK)
        finally:
            with self._interrupting:
                self._idle.set()
            WATCH.end(self)
        return self._answer

    def _close_check(self) -> None:
        """Forgets the last check."""
        self._answer = None
        if self._has_inner_scope:
            z3core.Z3_solver_pop(self._ref, self._solver, 1)
            self._has_inner_scope = False
        if self._is_spent:
            z3core.Z3_solver_dec_ref(self._ref, self._solver)
            self._open(Translation())

    def _checked(self, literals: list[Any]) -> Answer:
        answer, reason = self._checked_once(literals)
        worked = self._count_work()
        is_over = self._over or self._stopped.is_set() or (self._most_work is not None and worked >= self._most_work)
        if not is_over and _was_interrupted(reason):  # an interrupt that came after the check that it was for
            answer, reason = self._checked_once(literals)
            self._count_work()
        return answer

    def _count_work(self) -> int:
        """Counts the work since this was done last, in z3's units."""
        done = work_of(self._ref, z3core.Z3_solver_get_statistics(self._ref, self._solver))
        if done is None:
            return 0
        new = (done - self._translation.worked) % COUNTED
        self._translation.worked = done
        clock.work(clock.SOLVING * new)
        return new

    def _checked_once(self, literals: list[Any]) -> tuple[Answer, str]:
        """The answer, and what z3 says about one that is unknown."""
        try:
            if literals:
                assumed = (z3.Ast * len(literals))(*literals)
                result = z3core.Z3_solver_check_assumptions(self._ref, self._solver, len(literals), assumed)
            else:
                result = z3core.Z3_solver_check(self._ref, self._solver)
            reason = "" if result else z3core.Z3_solver_get_reason_unknown(self._ref, self._solver)
        except z3.Z3Exception as failed:
            result, reason = 0, str(failed)
        return SAT if result == 1 else UNSAT if result == -1 else self._failed(reason), reason

    def _failed(self, reason: str) -> Answer:
        if self._stopped.is_set():
            return INTERRUPTED
        if "memory" in reason or self._over == "memory":
            self._is_spent = True  # z3's solver would give this answer from now on, whatever its budget
            return Answer("unknown", "memory")
        if self._over == "time" or "resource limit" in reason or _was_interrupted(reason):
            return Answer("unknown", "time")
        return Answer("unknown", "incomplete")

    def _allow(self, budget: Budget) -> None:
        """Tells z3 of the work and the memory of the next check, if they are not those of the last. (Where z3 looks at its memory
        itself, it ends sooner.)"""
        work = work_in(budget)
        if (budget, work) != (self._budget, self._most_work):
            parameters = z3core.Z3_mk_params(self._ref)
            z3core.Z3_params_inc_ref(self._ref, parameters)
            memory = _UNBOUNDED if budget.megabytes is None else max(1, budget.megabytes)
            for name, most in (("max_memory", memory), ("rlimit", work or 0)):
                z3core.Z3_params_set_uint(self._ref, parameters, z3core.Z3_mk_string_symbol(self._ref, name), most)
            z3core.Z3_solver_set_params(self._ref, self._solver, parameters)
            z3core.Z3_params_dec_ref(self._ref, parameters)
            self._budget, self._most_work = budget, work

    def model(self) -> Model:
        """See solver.Solver."""
        if self._answer is not SAT:
            raise ValueError("there is a model only after a check that answered sat")
        return Z3Model(self._translation, z3core.Z3_solver_get_model(self._ref, self._solver))

    def core(self) -> tuple[Term, ...]:
        """See solver.Solver."""
        if self._answer is not UNSAT:
            raise ValueError("there is a core only after a check that answered unsat")
        ref = self._ref
        found = z3core.Z3_solver_get_unsat_core(ref, self._solver)
        z3core.Z3_ast_vector_inc_ref(ref, found)
        size = z3core.Z3_ast_vector_size(ref, found)
        needed = {z3core.Z3_get_ast_id(ref, z3core.Z3_ast_vector_get(ref, found, i)) for i in range(size)}
        z3core.Z3_ast_vector_dec_ref(ref, found)
        identity = {z3core.Z3_get_ast_id(ref, self._translation.term(literal)): literal for literal in self._assumptions}
        return tuple(self._assumptions[literal] for number, literal in identity.items() if number in needed)

    def interrupt(self) -> None:
        """See solver.Solver."""
        self._stopped.set()
        while self._interrupt_once():
            self._idle.wait(_INTERRUPT_AGAIN)

    def _interrupt_once(self) -> bool:
        """Interrupts the check that is running; whether there is one."""
        with self._interrupting:
            if self._idle.is_set():
                return False
            interrupt(self._ref, self._solver)
            return True

    def run_out(self, reason: Reason) -> None:
        """Ends the check that is running because it took too much time or memory."""
        self._over = reason
        interrupt(self._ref, self._solver)

    def resume(self) -> None:
        """See solver.Solver."""
        self._stopped.clear()


def _literal(formula: Term) -> Term:
    """A literal that stands for the formula, itself if it is one: z3 takes no others as assumptions."""
    atom = formula.args[0] if formula.op == "not" else formula
    return formula if atom.op == "symbol" else symbol(f"assumed!{formula.digest.hex()}", BOOL)


def _was_interrupted(reason: str) -> bool:
    return any(word in reason for word in ("interrupt", "cancel", "timeout"))
