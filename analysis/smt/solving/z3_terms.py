"""Terms as objects of z3, made through its C interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3  # type: ignore[import-untyped]  # it has no stubs
from z3 import z3core

from analysis.model import clock
from analysis.smt.logic.terms import BOOL, Sort, Term
from analysis.smt.solving.z3_contexts import fresh_context, leave

_CACHED = 200_000  # translated terms that are kept; beyond it all are forgotten

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


class Translation:
    """Terms as objects of one z3 context. It holds a reference to each object that it made, until `tidy`.

    `left` has what solvers and models that are gone had: the function that gives z3 a reference back, and the reference. They may
    end in any thread, and in any order if Python finds them in a cycle, so that only `tidy` gives references back. What is left
    at the end goes with the context."""

    def __init__(self) -> None:
        self.left: list[tuple[Callable[[Any, Any], None], Any]] = []
        self.context = fresh_context()
        self.ref = self.context.ref()
        self.worked = 0  # what z3 has counted so far
        self._sorts: dict[Sort, Any] = {}
        self._terms: dict[Term, Any] = {}
        self._inner: list[Any] = []

    def __del__(self, leave: Callable[[z3.Context], None] = leave) -> None:  # kept here: modules go first at the end
        if hasattr(self, "context"):
            leave(self.context)

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
