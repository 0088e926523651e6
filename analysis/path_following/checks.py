"""What on an edge can violate one of some rules, asked along a path: formulas over the path so far
(`smt.encoding.paths.failures`).

What no formula says (`uncertain`) is taken for possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, get_args

from analysis.c.blocks import ALLOCATIONS, CLOSES, ENDING, HEAP, RELEASES, STREAMS
from analysis.c.control import FAILED_ASSERTIONS
from analysis.c.failing import goes_on
from analysis.c.operators import rules_of
from analysis.cfa.graph import Edge, Program
from analysis.cpa.obstacles.lifetimes import outlived
from analysis.cpa.obstacles.violable import deeds
from analysis.cpa.predicates.definedness import was_jumped_past
from analysis.cpa.predicates.violations import has_float_division, moves_pointer
from analysis.model import ir
from analysis.model.assumptions import LAST_ARRAYS
from analysis.model.c_types import Function, Integer, Pointer, Record
from analysis.model.spelling import display_name
from analysis.model.verifiers import CHECKS
from analysis.smt.encoding.numbers.formula import FailureKind
from analysis.smt.encoding.paths.path import PathEncoder
from analysis.smt.logic.term_building import FALSE, distinct, eq, number
from analysis.smt.logic.terms import Term

_KINDS: tuple[FailureKind, ...] = get_args(FailureKind)
FOLLOWED = ALLOCATIONS | RELEASES
_REMAINING = frozenset({"memory-leak", "memory-cleanup"})
RULES = frozenset(_KINDS) | _REMAINING
"""What is asked about along paths and at their end."""


class Check(NamedTuple):
    """A possible violation: it happens if the formulas `more` hold together with those of the path. `uncertain`:
    they can hold although the rule is not violated."""

    rule: str
    more: tuple[Term, ...]
    uncertain: bool = False


class EdgeChecks:
    """What can happen on the edges of a program."""

    def __init__(self, program: Program, rules: frozenset[str]) -> None:
        self._program = program
        self.rules = self._rules = rules
        self._kinds = tuple(kind for kind in _KINDS if kind in rules)
        self._relevant: dict[int, tuple[FailureKind, ...]] = {}
        self.unfollowed = sorted(rules - RULES)

    def is_error(self, edge: Edge) -> bool:
        """Whether the edge is a call that is an assertion's failure by itself, whatever the program defines it to do."""
        name = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) else None
        return name is not None and display_name(name) in FAILED_ASSERTIONS

    def at(self, encoder: PathEncoder, edge: Edge) -> Iterator[Check]:
        """What can happen on an edge that the path takes next."""
        for kind in self._relevant_kinds(edge):
            if kind == "assertion":
                yield from self._assertion(encoder, edge)
                continue
            condition = encoder.condition_at(edge, kind)
            if condition is not None:
                more = condition.formula.conjuncts[len(encoder.conjuncts()) :]
                if FALSE not in more:
                    yield Check(kind, more)
            if self._is_open(encoder, edge, kind):
                yield Check(kind, (), uncertain=True)
        if "null-dereference" in self._rules:
            yield from self._null_call(encoder, edge)
            yield from self._from_null(encoder, edge)

    def _is_open(self, encoder: PathEncoder, edge: Edge, kind: FailureKind) -> bool:
        """Whether a rule can be violated on the edge so that no formula says when."""
        if kind == "division-by-zero":
            return has_float_division(edge.effect)
        if kind == "uninitialized-read" and was_jumped_past(self._program.functions[encoder.function], edge):
            return True
        if kind in ("uninitialized-read", "use-after-scope") and self._may_be_gone(encoder, edge):
            return True
        if kind in ("array-bounds", "use-after-free", "use-after-scope") and encoder.reaches_unknown(edge):
            return True
        if kind in ("double-free", "invalid-free", "use-after-free") and self.unfollowed_release(edge):
            return True
        if kind == "invalid-free" and encoder.ends_unknown(edge):
            return True
        return encoder.may_fail_inside(edge, kind)

    def _may_be_gone(self, encoder: PathEncoder, edge: Edge) -> bool:
        """Whether the edge may access a variable through a pointer that can be there after the variable's block."""
        found = outlived(self._program)
        return bool(found) and any(name in found.get(function, ()) for function, name in encoder.reached_variables(edge))

    def unfollowed_release(self, edge: Edge) -> bool:
        """Whether the edge may end a block that the program has by a function that formulas do not follow, or through a
        pointer to one that they do. What an external function does is known for those of an allow list."""
        call = edge.effect
        if not isinstance(call, ir.Call):
            return False
        is_direct = ir.direct_callee(call) is not None
        outside = (name for name in self._program.targets(call) if name not in self._program.functions)
        ends = any("free" in deeds(name) and not (is_direct and name in FOLLOWED | CLOSES) for name in outside)
        return ends and any(map(_may_lead_to_block, call.arguments))

    def unfollowed_blocks(self, edge: Edge) -> str:
        """The function of an edge that may give or end a block which formulas do not know of, if that matters; else empty."""
        if not isinstance(edge.effect, ir.Call) or not self._rules & _REMAINING:
            return ""
        direct = ir.direct_callee(edge.effect)
        called = (name for name in self._program.targets(edge.effect) if name not in self._program.functions)
        names = (name for name in called if name in HEAP or (name not in STREAMS and "allocate" in deeds(name)))
        return next((name for name in names if direct is None or name not in FOLLOWED), "")

    def _null_call(self, encoder: PathEncoder, edge: Edge) -> Iterator[Check]:
        """A call through a null pointer."""
        if isinstance(edge.effect, ir.Call) and ir.direct_callee(edge.effect) is None:
            value = encoder.value(edge.effect.callee)
            is_null = eq(value, number(0, value.sort))
            if is_null is not FALSE:
                yield Check("null-dereference", (is_null,))

    def _from_null(self, encoder: PathEncoder, edge: Edge) -> Iterator[Check]:
        """An address computed from a null pointer, which is not null itself: `p + 1`, `&p->member`."""
        for part in (part for expr in ir.expressions(edge.effect) for part in ir.walk(expr)):
            if moves_pointer(part):
                assert isinstance(part, ir.Binary)
                pointer, more = part.left, [encoder.value(part.right)]
            elif isinstance(part, ir.AddressOf) and isinstance(part.lvalue, ir.Field | ir.Index):
                root = ir.root(part.lvalue)
                if not isinstance(root, ir.Deref):
                    continue
                pointer, more = root.pointer, []
            else:
                continue
            value = encoder.value(pointer)
            terms = (eq(value, number(0, value.sort)), *(distinct(one, number(0, one.sort)) for one in more))
            if FALSE not in terms:
                yield Check("null-dereference", terms, uncertain=True)

    def at_end(self, encoder: PathEncoder) -> Iterator[Check]:
        """What the end of the program can violate. Of what is not followed, a run of the path tells."""
        for rule in self.unfollowed:
            yield Check(rule, (), uncertain=True)
        for rule in sorted(self._rules & _REMAINING):
            left = encoder.remaining()
            if left is not FALSE:
                yield Check(rule, (left,), uncertain=rule == "memory-leak")

    def _assertion(self, encoder: PathEncoder, edge: Edge) -> Iterator[Check]:
        if self.is_error(edge):
            yield Check("assertion", ())
        elif isinstance(edge.effect, ir.Call) and ir.direct_callee(edge.effect) is None:
            value = encoder.value(edge.effect.callee)
            for name in filter(self._is_check, self._program.targets(edge.effect)):
                type_ = self._program.function_type(name)
                if type_ is not None:
                    function = ir.AddressOf(ir.Var(name, "function", type_), Pointer(type_))
                    leads = eq(value, encoder.value(function))
                    if leads is not FALSE:
                        yield Check("assertion", (leads,), uncertain=display_name(name) not in FAILED_ASSERTIONS)
        elif self.asserted(edge) is not None:
            value = encoder.value(self.asserted(edge) or ir.IntConst(0, Integer(32, True, "int")))
            failed = eq(value, number(0, value.sort))
            if failed is not FALSE:
                yield Check("assertion", (failed,))

    def _is_check(self, name: str) -> bool:
        """Whether a call of the function is, or can be, the failure of an assertion."""
        return display_name(name) in FAILED_ASSERTIONS or name in CHECKS - self._program.functions.keys()

    def asserted(self, edge: Edge) -> ir.Expr | None:
        """The argument of a call that fails if it is zero."""
        call = edge.effect
        if not isinstance(call, ir.Call) or not call.arguments:
            return None
        return call.arguments[0] if ir.direct_callee(call) in CHECKS - self._program.functions.keys() else None

    def may_violate(self, edge: Edge, rule: str) -> bool:
        """Whether an edge can violate a rule, by its form."""
        if rule == "assertion":
            return isinstance(edge.effect, ir.Call) and any(map(self._is_check, self._program.targets(edge.effect)))
        kind = next((kind for kind in _KINDS if kind == rule), None)
        if kind in ("double-free", "invalid-free"):
            return isinstance(edge.effect, ir.Call) and ir.direct_callee(edge.effect) in (None, *ENDING)
        if kind is None:  # what the end of the program shows
            return isinstance(edge.effect, ir.Call) and ir.direct_callee(edge.effect) not in self._program.functions
        return self._is_relevant(edge, kind)

    def assumed(self, edge: Edge) -> Iterator[str]:
        """What `at` assumes of an edge, as sentences."""
        if "array-bounds" in self._relevant_kinds(edge):
            parts = (part for expr in ir.expressions(edge.effect) for part in ir.walk(expr) if isinstance(part, ir.Index))
            if any(goes_on(part, self._program.records.get) for part in parts):
                yield LAST_ARRAYS.sentence

    def _relevant_kinds(self, edge: Edge) -> tuple[FailureKind, ...]:
        found = self._relevant.get(id(edge))
        if found is None:
            found = self._relevant[id(edge)] = tuple(kind for kind in self._kinds if self._is_relevant(edge, kind))
        return found

    def _is_relevant(self, edge: Edge, kind: FailureKind) -> bool:
        """Whether anything on the edge can violate the rule, by its form."""
        is_call = isinstance(edge.effect, ir.Call)
        parts = [part for expr in ir.expressions(edge.effect) for part in ir.walk(expr)]
        match kind:
            case "assertion" | "double-free" | "invalid-free":
                return is_call
            case "null-dereference" | "use-after-free" | "use-after-scope":
                return is_call or any(isinstance(part, ir.Deref) for part in parts)
            case "array-bounds":
                return is_call or any(isinstance(part, ir.Deref | ir.Index) for part in parts)
            case "division-by-zero":
                return has_float_division(edge.effect) or any(kind in rules_of(part) for part in parts)
            case "shift-range":
                return any(kind in rules_of(part) for part in parts)
        return any(isinstance(part, ir.Binary | ir.Unary | ir.Var | ir.Deref) for part in parts)


def _may_lead_to_block(argument: ir.Expr) -> bool:
    """Whether a function may find a block through what it is passed. What else it could find it in are global variables; that it
    leaves them alone is an assumption of its own (`assumptions.GIVEN`)."""
    bare = ir.strip_casts(argument)
    if isinstance(bare, ir.StringConst):
        return False
    return isinstance(bare.type, Record) or (isinstance(bare.type, Pointer) and not isinstance(bare.type.target, Function))
