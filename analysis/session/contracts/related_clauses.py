"""What is said of how what a function returns and writes relates to what was there before: "sets `*out` to `v`"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from analysis.certificate.nonzero.writes import Objects, Place
from analysis.certificate.relations.differences import Difference
from analysis.certificate.relations.relation_contract import RelationContract, result_of
from analysis.cfa.graph import Cfa, Program
from analysis.cpa.obstacles.beside import runs_alone
from analysis.model import ir
from analysis.model.c_types import INT, Integer, Pointer, Type, spell
from analysis.model.ranges import is_signed, keeps
from analysis.model.spelling import spell_expr
from analysis.session.contracts.function_contract import Clause, Status
from analysis.session.contracts.readable_terms import is_readable, unclear_names

_FROM = "all that it does before it returns"
_MOST_CELLS = 4
_MOST_BOUNDS = 2
_OPERAND = 8  # binds stronger than any comparison
_BOUNDS = {
    (True, 0): ("at most", "<="),
    (True, -1): ("less than", "<"),
    (False, 0): ("at least", ">="),
    (False, -1): ("more than", ">"),
}


def is_related(clause: Clause) -> bool:
    """Whether a clause says how something relates to what was there before."""
    return clause.from_ == _FROM


class RelatedClauses:
    """The clauses about one function. `named`: another revision of it, whose parameters' names are used."""

    def __init__(self, program: Program, cfa: Cfa, named: Cfa, contract: RelationContract) -> None:
        pairs = zip(cfa.parameters, named.parameters, strict=True)
        self._names: Mapping[ir.Expr, ir.Expr] = {old: ir.Var(new.name, old.scope, old.type) for old, new in pairs}
        self._objects, self._contract, self._cfa = Objects(program, cfa), contract, cfa
        self._unclear = unclear_names(program, named)
        self._is_alone = runs_alone(program)

    def clauses(self, status: Status) -> Iterator[Clause]:
        """What is said of the result first; nothing where a parameter has the name that stands for it."""
        if not self._contract.returns or "result" in self._unclear:
            return
        result = self._contract.result
        if result is not None and not isinstance(result, ir.IntConst) and self._is_shown(result):
            yield Clause(f"returns {self._said(result)}", f"result == {self._spelled(result, _OPERAND)}", status, _FROM)
        said = sorted(filter(None, map(self._bound, self._contract.bounds)), key=lambda one: (len(one[1]), one))
        yield from (Clause(text, formula, status, _FROM) for text, formula in said[:_MOST_BOUNDS])
        # a handler or another thread may have written there since, also where the function reads nothing that these write
        written = self._contract.cells if self._is_alone else ()
        shown = (one for one in written if self._is_shown(one[0]) and self._is_shown(one[1]))
        cells = sorted(shown, key=lambda one: (_is_global(one[0]), self._named(one[0])))
        for place, held in cells[:_MOST_CELLS]:
            name = self._named(place)
            yield Clause(
                f"sets `{name}` to {self._held(place, held)}", f"{name} == {self._spelled(held, _OPERAND)}", status, _FROM
            )

    def basis(self) -> tuple[object, ...]:
        """All of it that callers may rely on."""
        cells = frozenset((self._renamed(place), self._renamed(held)) for place, held in self._contract.cells)
        bounds = frozenset((self._renamed(one.left), self._renamed(one.right), one.most) for one in self._contract.bounds)
        result = None if self._contract.result is None else self._renamed(self._contract.result)
        return result, cells, bounds

    def _bound(self, one: Difference) -> tuple[str, str] | None:
        is_left = one.left == result_of(self._cfa.type.result)
        other = one.right if is_left else one.left
        if isinstance(other, ir.IntConst):
            return None  # bounds by numbers are said by themselves
        words, operator = _BOUNDS[is_left, one.most]
        smaller = "result" if is_left else self._spelled(other, _OPERAND)
        is_safe = not _is_made_unsigned(one.left.type, one.right.type)
        anyway = "" if is_safe else f"{smaller} < 0 || "  # the comparison would make another number of it
        return f"returns {words} {self._said(other)}", f"{anyway}result {operator} {self._spelled(other, _OPERAND)}"

    def _is_shown(self, term: ir.Expr) -> bool:
        """Whether a term reads as it is meant. An address is read in the state at the return, where what leads there may be
        another object than it was."""
        addresses = (part.lvalue for part in ir.walk(term) if isinstance(part, ir.AddressOf))
        led = (part for lvalue in addresses for part in ir.walk(lvalue) if part is not lvalue and isinstance(part, ir.LVALUES))
        return is_readable(term, self._unclear) and not any(map(self._may_change, led))

    def _held(self, place: ir.Expr, held: ir.Expr) -> str:
        """What an object holds afterwards, in words."""
        match held:
            case ir.Binary("+" | "-" as operator, old, ir.IntConst() as added) if old == place:
                return f"its old value {'plus' if operator == '+' else 'minus'} {spell_expr(added)}"
        return self._said(held)

    def _said(self, term: ir.Expr) -> str:
        """A term in words: what an object held, where it may hold something else now."""
        is_changed = isinstance(term, ir.LVALUES) and self._may_change(term)
        return f"what `{self._named(term)}` was" if is_changed else f"`{self._spelled(term)}`"

    def _named(self, expr: ir.Expr) -> str:
        return spell_expr(self._renamed(expr))

    def _spelled(self, term: ir.Expr, precedence: int = 0) -> str:
        """A term as a C expression, in which `old(x)` is what x held at the entry."""
        return spell_expr(self._renamed(_without_outer(term), is_old=True), precedence)

    def _renamed(self, expr: ir.Expr, *, is_old: bool = False) -> ir.Expr:
        if expr in self._names:
            return self._names[expr]
        if is_old and isinstance(expr, ir.LVALUES):
            is_changed = self._may_change(expr)
            return ir.Var(f"old({self._named(expr)})", "local", expr.type) if is_changed else self._renamed(expr)
        match expr:
            case ir.Deref(pointer, type_):
                return ir.Deref(self._renamed(pointer, is_old=is_old), type_)
            case ir.Field(record, name, type_):
                return ir.Field(self._renamed(record, is_old=is_old), name, type_)
            case ir.Index(array, index, type_):
                index = _without_outer(index)
                return ir.Index(self._renamed(array, is_old=is_old), self._renamed(index, is_old=is_old), type_)
            case ir.AddressOf(lvalue, type_):
                return ir.AddressOf(self._renamed(lvalue), type_)
            case ir.Unary(operator, operand, type_):
                return ir.Unary(operator, self._renamed(operand, is_old=is_old), type_)
            case ir.Binary(operator, left, right, type_):
                sides = (_without_implicit(left, right), _without_implicit(right, left))
                one, other = (self._renamed(side, is_old=is_old) for side in sides)
                return ir.Binary(operator, one, other, type_)
            case ir.Cast(operand, type_):
                shown = f"({spell(type_)})"  # that is how it is spelled: left out, it would be another value
                return ir.Unary(shown, self._renamed(operand, is_old=is_old), type_)  # type: ignore[arg-type]
        return expr

    def _may_change(self, lvalue: ir.Expr) -> bool:
        """Whether an object, or what leads there, may have been written to."""
        read = self._objects.reads(lvalue)
        return any(isinstance(one, Place) and _meets(one, self._contract.written) for one in read)


def _is_made_unsigned(smaller: Type, larger: Type) -> bool:
    """Whether a comparison may take a negative number for a large one (C11 6.3.1.8)."""
    both = isinstance(smaller, Integer) and isinstance(larger, Integer)
    return both and is_signed(smaller) and not is_signed(larger) and not keeps(larger, INT) and not keeps(larger, smaller)


def _without_outer(term: ir.Expr) -> ir.Expr:
    """A term without conversions around it that leave every value as it is."""
    while isinstance(term, ir.Cast) and _leaves(term.operand.type, term.type):
        term = term.operand
    return term


def _leaves(source: Type, target: Type) -> bool:
    are_pointers = isinstance(source, Pointer) and isinstance(target, Pointer)
    return are_pointers or (isinstance(source, Integer) and isinstance(target, Integer) and keeps(source, target))


def _without_implicit(operand: ir.Expr, other: ir.Expr) -> ir.Expr:
    """An operand without the conversions that C does anyway (C11 6.3.1.1, 6.3.1.8, 6.5.6p8)."""
    if isinstance(other.type, Pointer):
        return _without_outer(operand)
    if not isinstance(operand, ir.Cast) or not isinstance(operand.type, Integer) or not isinstance(operand.operand.type, Integer):
        return operand
    is_promoted = operand.type == INT and operand.operand.type.bits < INT.bits
    is_as_other = other.type == operand.type and not isinstance(other, ir.Cast | ir.IntConst)
    is_left_out = is_promoted or (is_as_other and keeps(operand.operand.type, operand.type))
    return operand.operand if is_left_out else operand


def _meets(place: Place, written: Iterable[Place]) -> bool:
    return any(place.meets(one) for one in written)


def _is_global(place: ir.Expr) -> bool:
    return isinstance(ir.root(place), ir.Var)
