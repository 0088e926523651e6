"""z3 as the solver: the only module that imports it.

It goes through z3's C interface (`z3core`), since building the objects of z3's Python interface takes longer than most checks.
Every solver has a context of its own, so that solvers of different threads, and their interrupts, have nothing to do with each
other. A context takes longer to make than most checks: solvers that are made for one answer can share theirs (`Sharing`).
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import z3  # type: ignore[import-untyped]  # it has no stubs
from z3 import z3core

from analysis.model import clock
from analysis.smt.logic.term_building import not_, or_, symbol
from analysis.smt.logic.terms import BOOL, Sort, Term
from analysis.smt.solving.budget_watch import Watch, last_resort
from analysis.smt.solving.solver import INTERRUPTED, SAT, UNSAT, Answer, Budget, Model, Reason, Value

_CACHED = 200_000  # translated terms that are kept; beyond it all are forgotten
_DEFAULT = Budget()
_UNBOUNDED = 4_294_967_295
_COUNTED = 2**32  # units of work, of which a limit has to be less
_SPACER_PATIENCE = 10  # times the seconds of the processor, since its own clock is on the wall
_MOST_SPARE = 2  # contexts, and so many that are not ended yet: each takes 17 MB
_INTERRUPT_AGAIN = 0.001  # seconds: z3 forgets an interrupt that comes before its check has begun

_NARY = {"and": z3core.Z3_mk_and, "or": z3core.Z3_mk_or, "+": z3core.Z3_mk_add, "*": z3core.Z3_mk_mul}
_PLAIN: dict[str, Callable[..., Any]] = {
    "not": z3core.Z3_mk_not,
    "=": z3core.Z3_mk_eq,
    "ite": z3core.Z3_mk_ite,
    "<=": z3core.Z3_mk_le,
    ">=": z3core.Z3_mk_ge,
    "<": z3core.Z3_mk_lt,
    ">": z3core.Z3_mk_gt,
    "div": z3core.Z3_mk_div,
    "mod": z3core.Z3_mk_mod,
    "to_real": z3core.Z3_mk_int2real,
    "select": z3core.Z3_mk_select,
    "store": z3core.Z3_mk_store,
    "concat": z3core.Z3_mk_concat,
    "bvnot": z3core.Z3_mk_bvnot,
    "bvneg": z3core.Z3_mk_bvneg,
    "bvsub": z3core.Z3_mk_bvsub,
    "bvmul": z3core.Z3_mk_bvmul,
    "bvudiv": z3core.Z3_mk_bvudiv,
    "bvurem": z3core.Z3_mk_bvurem,
    "bvsdiv": z3core.Z3_mk_bvsdiv,
    "bvsrem": z3core.Z3_mk_bvsrem,
    "bvand": z3core.Z3_mk_bvand,
    "bvor": z3core.Z3_mk_bvor,
    "bvxor": z3core.Z3_mk_bvxor,
    "bvshl": z3core.Z3_mk_bvshl,
    "bvlshr": z3core.Z3_mk_bvlshr,
    "bvashr": z3core.Z3_mk_bvashr,
    "bvult": z3core.Z3_mk_bvult,
    "bvule": z3core.Z3_mk_bvule,
    "bvslt": z3core.Z3_mk_bvslt,
    "bvsle": z3core.Z3_mk_bvsle,
}


_spare: list[z3.Context] = []
_left: list[z3.Context] = []  # of translations that are gone


def make_ready() -> bool:
    """Ends a context that nobody has any more, or makes one that nothing was asked in for a solver to come; whether there is more
    of that to do. To be called where nobody waits: each of them takes longer than most checks. What a solver answers does not
    depend on when its context was made."""
    if _left:
        _left.pop()
    elif len(_spare) < _MOST_SPARE:
        _spare.append(z3.Context())
    return bool(_left) or len(_spare) < _MOST_SPARE


def _fresh_context() -> z3.Context:
    with contextlib.suppress(IndexError):  # there is none, or another thread has taken the last one
        return _spare.pop()
    return z3.Context()


class _Translation:
    """Terms as objects of one z3 context. It holds a reference to each object that it made, until `tidy`.

    `left` has what solvers and models that are gone had: the function that gives z3 a reference back, and the reference. They may
    end in any thread, and in any order if Python finds them in a cycle, so that only `tidy` gives references back. What is left
    at the end goes with the context."""

    def __init__(self) -> None:
        self.left: list[tuple[Callable[[Any, Any], None], Any]] = []
        self.context = _fresh_context()
        self.ref = self.context.ref()
        self.worked = 0  # what z3 has counted so far
        self._sorts: dict[Sort, Any] = {}
        self._terms: dict[Term, Any] = {}
        self._inner: list[Any] = []

    def __del__(self, left: list[z3.Context] = _left, most: int = _MOST_SPARE) -> None:
        if hasattr(self, "context") and len(left) < most:
            left.append(self.context)  # until nobody waits

    def sort(self, sort: Sort) -> Any:
        """The sort of z3."""
        known = self._sorts.get(sort)
        if known is None:
            known = self._made_sort(sort)
            z3core.Z3_inc_ref(self.ref, z3core.Z3_sort_to_ast(self.ref, known))
            self._sorts[sort] = known
        return known

    def _made_sort(self, sort: Sort) -> Any:
        match sort.kind:
            case "Bool":
                return z3core.Z3_mk_bool_sort(self.ref)
            case "Int":
                return z3core.Z3_mk_int_sort(self.ref)
            case "Real":
                return z3core.Z3_mk_real_sort(self.ref)
            case "BitVec":
                return z3core.Z3_mk_bv_sort(self.ref, sort.width)
            case "Array":
                assert sort.index is not None
                assert sort.element is not None
                return z3core.Z3_mk_array_sort(self.ref, self.sort(sort.index), self.sort(sort.element))

    def term(self, term: Term) -> Any:
        """The expression of z3."""
        cache = self._terms
        known = cache.get(term)
        if known is not None:
            return known
        stack = [term]
        while stack:
            top = stack[-1]
            if top in cache:
                stack.pop()
                continue
            missing = [a for a in top.args if a not in cache]
            if missing:
                stack.extend(missing)
                continue
            clock.work(clock.TERM)
            made = self._made(top, [cache[a] for a in top.args])
            z3core.Z3_inc_ref(self.ref, made)
            cache[top] = made
            stack.pop()
        return cache[term]

    def _made(self, term: Term, args: list[Any]) -> Any:
        op = term.op
        if op == "symbol":
            name = z3core.Z3_mk_string_symbol(self.ref, str(term.data))
            return z3core.Z3_mk_const(self.ref, name, self.sort(term.sort))
        if op == "value":
            return self._value(term)
        if op in _NARY:
            return _NARY[op](self.ref, len(args), (z3.Ast * len(args))(*args))
        if op == "const":
            assert term.sort.index is not None
            return z3core.Z3_mk_const_array(self.ref, self.sort(term.sort.index), args[0])
        if op == "extract" and isinstance(term.data, tuple):
            return z3core.Z3_mk_extract(self.ref, term.data[0], term.data[1], args[0])
        if op in ("zero_extend", "sign_extend") and isinstance(term.data, tuple):
            make = z3core.Z3_mk_zero_ext if op == "zero_extend" else z3core.Z3_mk_sign_ext
            return make(self.ref, term.data[0], args[0])
        if op == "bvadd":
            return self._sum(args)
        if op == "bvsmulo":
            return self._product_overflows(*args)
        return _PLAIN[op](self.ref, *args)

    def _product_overflows(self, one: Any, other: Any) -> Any:
        below = self._kept(z3core.Z3_mk_bvmul_no_underflow(self.ref, one, other))
        above = self._kept(z3core.Z3_mk_bvmul_no_overflow(self.ref, one, other, True))
        fits = self._kept(z3core.Z3_mk_and(self.ref, 2, (z3.Ast * 2)(below, above)))
        return z3core.Z3_mk_not(self.ref, fits)

    def _kept(self, made: Any) -> Any:
        """An object that no term stands for, with a reference."""
        z3core.Z3_inc_ref(self.ref, made)
        self._inner.append(made)
        return made

    def _sum(self, args: list[Any]) -> Any:
        """A sum of bit-vectors, which z3 adds in pairs."""
        total = args[0]
        for argument in args[1:]:
            total = self._kept(z3core.Z3_mk_bvadd(self.ref, total, argument))
        return total

    def _value(self, term: Term) -> Any:
        if term.sort is BOOL or term.sort.kind == "Bool":
            return z3core.Z3_mk_true(self.ref) if term.data else z3core.Z3_mk_false(self.ref)
        text = f"{term.data[0]}/{term.data[1]}" if isinstance(term.data, tuple) else str(term.data)
        return z3core.Z3_mk_numeral(self.ref, text, self.sort(term.sort))

    def tidy(self) -> None:
        """Gives back what is left, and forgets the translated terms when there are too many; those in use z3 keeps itself."""
        while self.left:
            give_back, reference = self.left.pop()
            give_back(self.ref, reference)
        if len(self._terms) > _CACHED:
            for made in (*self._terms.values(), *self._inner):
                z3core.Z3_dec_ref(self.ref, made)
            self._terms.clear()
            self._inner.clear()


class Z3Model:
    """A model of z3. It is read at once by `value`, so it must not outlive its solver."""

    def __init__(self, translation: _Translation, model: Any) -> None:
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
        self._translation = _Translation()
        self._outer: list[_Translation | None] = []

    def __enter__(self) -> None:
        outer: _Translation | None = getattr(_OF_THREAD, "translation", None)
        self._outer.append(outer)
        _OF_THREAD.translation = outer or self._translation

    def __exit__(self, *_: object) -> None:
        _OF_THREAD.translation = self._outer.pop()


_WATCH = Watch(z3core.Z3_get_estimated_alloc_size)


class Z3Solver:
    """A `solver.Solver`. The memory that a budget bounds is what z3 has taken in the whole process. `checks` counts the checks of
    all solvers."""

    checks = 0

    def __init__(self, translation: _Translation | None = None) -> None:
        """`translation`: see `near`."""
        self._stack: list[list[Term]] = [[]]
        self._has_inner_scope = False
        self._answer: Answer | None = None
        self._assumptions: dict[Term, Term] = {}
        self._stopped = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self._interrupting = threading.Lock()  # an interrupt must not meet a solver that is freed after its check
        self._open(translation or _Translation())

    @classmethod
    def near(cls) -> Z3Solver:
        """A new solver of this thread, which is to use it alone. With the others that are made so inside the same `Sharing`, it
        shares what terms are translated to, and nothing else. So it is made in a fraction of the time."""
        return cls(getattr(_OF_THREAD, "translation", None))

    def _open(self, translation: _Translation) -> None:
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
        _WATCH.begin(self, budget or _DEFAULT)
        try:
            self._answer = INTERRUPTED if self._stopped.is_set() else self._checked(literals)
            clock.work(clock.CHECK)
        finally:
            with self._interrupting:
                self._idle.set()
            _WATCH.end(self)
        return self._answer

    def _close_check(self) -> None:
        """Forgets the last check."""
        self._answer = None
        if self._has_inner_scope:
            z3core.Z3_solver_pop(self._ref, self._solver, 1)
            self._has_inner_scope = False
        if self._is_spent:
            z3core.Z3_solver_dec_ref(self._ref, self._solver)
            self._open(_Translation())

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
        done = _work_of(self._ref, z3core.Z3_solver_get_statistics(self._ref, self._solver))
        if done is None:
            return 0
        new = (done - self._translation.worked) % _COUNTED
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
        work = _work_in(budget)
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
            _interrupt(self._ref, self._solver)
            return True

    def run_out(self, reason: Reason) -> None:
        """Ends the check that is running because it took too much time or memory."""
        self._over = reason
        _interrupt(self._ref, self._solver)

    def resume(self) -> None:
        """See solver.Solver."""
        self._stopped.clear()


def _interrupt(ref: Any, solver: Any) -> None:
    """Interrupts what another thread has z3 do. The error that z3 may have by then is that thread's, which sees it, too."""
    with contextlib.suppress(z3.Z3Exception):
        z3core.Z3_solver_interrupt(ref, solver)


def _literal(formula: Term) -> Term:
    """A literal that stands for the formula, itself if it is one: z3 takes no others as assumptions."""
    atom = formula.args[0] if formula.op == "not" else formula
    return formula if atom.op == "symbol" else symbol(f"assumed!{formula.digest.hex()}", BOOL)


def _work_in(budget: Budget) -> int | None:
    """How much z3 may do in its own units; None: as much as it likes."""
    wanted = math.inf if budget.milliseconds is None else budget.milliseconds * clock.SECOND // 1000
    most = min(wanted, clock.left())
    return None if most == math.inf else min(max(1, int(most // clock.SOLVING)), _COUNTED - 1)


def _work_of(context: Any, statistics: Any) -> int | None:
    """What a context has done so far, in z3's units; None if z3 does not say."""
    z3core.Z3_stats_inc_ref(context, statistics)
    try:
        last = z3core.Z3_stats_size(context, statistics) - 1
        named = (index for index in range(last, -1, -1) if z3core.Z3_stats_get_key(context, statistics, index) == "rlimit count")
        index = next(named, None)
        if index is None:
            return None
        if z3core.Z3_stats_is_uint(context, statistics, index):
            return int(z3core.Z3_stats_get_uint_value(context, statistics, index))
        return int(z3core.Z3_stats_get_double_value(context, statistics, index))  # what has no room in 32 bits
    finally:
        z3core.Z3_stats_dec_ref(context, statistics)


def _was_interrupted(reason: str) -> bool:
    return any(word in reason for word in ("interrupt", "cancel", "timeout"))


@contextlib.contextmanager
def _without_errors() -> Iterator[None]:
    """Without what z3 itself writes to standard error: with guidance, it tells there of a defect of its own (in
    spacer_global_generalizer.cpp), and goes on with an exception. Nobody else has anything to say meanwhile."""
    sys.stderr.flush()
    kept = os.dup(2)
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


class Z3Horn:
    """Constrained Horn clauses, solved by Spacer. Clauses and solutions are SMT-LIB text.

    With `guidance`, Spacer looks at its lemmas together: it conjectures what several of them are instances of, and gives up what
    it tries to block with ever more of them [GLOBAL-GUIDANCE].

    With `qel`, it projects by equalities first, which solves more. But on arrays that need not end, and no interrupt ends it."""

    def __init__(self, *, guidance: bool = False, qel: bool = True) -> None:
        self._guidance = guidance
        self._qel = qel
        self._context = z3.Context()
        self._ref = self._context.ref()
        self._solver: Any = None

    def solve(self, script: str, budget: Budget) -> str | None:
        """Solves the clauses that a script asserts (logic HORN, without `check-sat`). Returns definitions of its
        predicates, or None if there is no solution or none was found within the budget."""
        z3.set_param("smt.qsat_use_qel", self._qel)  # there is no such setting of one solver
        logic = z3core.Z3_mk_string_symbol(self._ref, "HORN")
        self._solver = z3core.Z3_mk_solver_for_logic(self._ref, logic)
        z3core.Z3_solver_inc_ref(self._ref, self._solver)
        self._set_up(budget)
        _WATCH.begin(self, budget)
        try:
            z3core.Z3_solver_from_string(self._ref, self._solver, script)
            with _without_errors() if self._guidance else contextlib.nullcontext():
                is_solved = z3core.Z3_solver_check(self._ref, self._solver) == 1
            if not is_solved:
                return None
            return str(z3core.Z3_model_to_string(self._ref, z3core.Z3_solver_get_model(self._ref, self._solver)))
        except z3.Z3Exception:
            return None
        finally:
            _WATCH.end(self)
            clock.work(clock.CLAUSES)
            with contextlib.suppress(z3.Z3Exception):
                done = _work_of(self._ref, z3core.Z3_solver_get_statistics(self._ref, self._solver))
                clock.work(clock.SOLVING * (done or 0))
            z3core.Z3_solver_dec_ref(self._ref, self._solver)

    def _set_up(self, budget: Budget) -> None:
        """Has no predicate put in the place of others: solutions would get quantifiers. In some of its phases Spacer looks at its
        own clock only, which is the last resort."""
        parameters = z3core.Z3_mk_params(self._ref)
        z3core.Z3_params_inc_ref(self._ref, parameters)
        for name in ("xform.inline_eager", "xform.inline_linear"):
            z3core.Z3_params_set_bool(self._ref, parameters, z3core.Z3_mk_string_symbol(self._ref, f"fp.{name}"), False)
        for name, value in (("global", self._guidance), ("gg.concretize", False)):  # which does not pay
            z3core.Z3_params_set_bool(self._ref, parameters, z3core.Z3_mk_string_symbol(self._ref, f"fp.spacer.{name}"), value)
        if budget.milliseconds is not None:
            for name, most in (
                ("rlimit", _work_in(budget) or 0),
                ("timeout", round(_SPACER_PATIENCE * 1000 * last_resort(budget))),
            ):
                z3core.Z3_params_set_uint(self._ref, parameters, z3core.Z3_mk_string_symbol(self._ref, name), most)
        z3core.Z3_solver_set_params(self._ref, self._solver, parameters)
        z3core.Z3_params_dec_ref(self._ref, parameters)

    def run_out(self, reason: Reason) -> None:
        """See `budget_watch`."""
        _interrupt(self._ref, self._solver)
