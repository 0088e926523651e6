"""The symbols of state variables, the ranges of their values, and where objects in memory are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from analysis.c.aliasing import scalar_class
from analysis.cfa.graph import Program
from analysis.model import ir
from analysis.model.c_types import DataModel, Integer, Pointer, Type, Void
from analysis.smt.encoding.numbers.bits import Bits
from analysis.smt.encoding.numbers.formula import Ledger, Mode
from analysis.smt.encoding.numbers.integers import Integers
from analysis.smt.logic.term_building import TRUE, and_, number, or_, symbol
from analysis.smt.logic.terms import INT, Sort, Term, array, bit_vector, symbols
from analysis.smt.transitions.object_cells import Objects
from analysis.smt.transitions.transition_state import Inputs, StateVariable

_CONTEXT_OBJECTS = 1 << 12  # objects of one activation
_FIRST_CONTEXT = 1 << 20  # in slots
ADDRESS_BITS = 64  # of pointers: what number an address is, programs cannot tell here
INSTANCE = "@@"  # what separates the name of a symbol from the number of its instance on a path


class TooLargeError(Exception):
    """There is no room for the objects of the program in the addresses that the encoding gives out."""


class Vocabulary(Mapping[StateVariable, Term]):
    """Symbols by state variable. `mode` is the encoding of integers; signed arithmetic wraps in both, as it does on the machine
    and under gcc's -fwrapv: so nothing is assumed about overflow."""

    def __init__(self, program: Program, mode: Mode, model: DataModel, exposed: Collection[str]) -> None:
        self.program, self.mode, self.model = program, mode, model
        self.objects = Objects(program, model, exposed)
        wide = DataModel(model.name, model.long_bits, ADDRESS_BITS)
        self.arithmetic: Integers | Bits = Integers(wide, Ledger(), "wrap") if mode == "int" else Bits(wide, Ledger(), "wrap")
        self.inputs = Inputs()
        self._symbols: dict[StateVariable, Term] = {}
        self._types: dict[str, Type] = {}
        self._ranges: dict[Term, tuple[Type, Term]] = {}
        self.statics: dict[str, int] = {}
        self._locals: dict[str, dict[str, int]] = {}
        names = [*(f"@{name}" for name in self.objects.in_memory("")), *(f"&{name}" for name in self._functions())]
        self.statics = {name: position for position, name in enumerate(names)}
        kept: list[Type] = [Integer(bits, True, f"int{bits}") for bits in (8, 16, 32, 64, 128)]
        self._heaps = {
            scalar_class(type_): StateVariable(f"heap:{scalar_class(type_)}", type_, is_array=True)
            for type_ in (*kept, Pointer(Void()))
        }
        self._named = {variable.name: variable for variable in self._heaps.values()}
        if len(names) >= _FIRST_CONTEXT - 16:
            raise TooLargeError("too many objects with static storage")

    def _functions(self) -> list[str]:
        return sorted({*self.program.functions, *self.program.externals})

    # -- symbols ------------------------------------------------------------------------------------------------

    @property
    def pointer_sort(self) -> Sort:
        """The sort of addresses, and of the indices of arrays."""
        return INT if self.mode == "int" else bit_vector(ADDRESS_BITS)

    def sort(self, variable: StateVariable) -> Sort:
        """The sort of a variable's symbol."""
        plain = self.arithmetic.sort(variable.type)
        return array(self.pointer_sort, plain) if variable.is_array else plain

    def __getitem__(self, variable: StateVariable) -> Term:
        known = self._symbols.get(variable)
        if known is None:
            known = self._symbols[variable] = symbol(variable.name, self.sort(variable))
            if not variable.is_array:
                self._types[variable.name] = variable.type
                self.arithmetic.in_range(known, variable.type)  # tells the intervals, which is why `axioms` must say it
        return known

    def variable(self, name: str, type_: Type, *, is_array: bool = False) -> StateVariable:
        """The variable of a name: the first one that was asked for, whatever type is asked for later."""
        return self._named.setdefault(name, StateVariable(name, type_, is_array))

    def __iter__(self) -> Iterator[StateVariable]:
        return iter(self._symbols)

    def __len__(self) -> int:
        return len(self._symbols)

    def input(self, type_: Type) -> Term:
        """Any value of a scalar type."""
        name = self.inputs.name("input")
        self.inputs.types[name] = type_
        term = symbol(name, self.arithmetic.sort(type_))
        self.arithmetic.in_range(term, type_)
        return term

    def any_array(self, variable: StateVariable) -> Term:
        """Any content of an array."""
        return symbol(self.inputs.name("content"), self.sort(variable))

    def axioms(self, terms: Iterable[Term]) -> list[Term]:
        """The condition that the symbols in the terms, and in what was made of them by numbering instances,
        have values of their types."""
        found = []
        for term in symbols(terms):
            name = str(term.data).partition(INSTANCE)[0]
            type_ = self._types.get(name) or self.inputs.types.get(name)
            if type_ is not None and term.sort.kind != "Array":
                said = self._range(term, type_)
                if said is not TRUE:
                    found.append(said)
        return found

    def _range(self, term: Term, type_: Type) -> Term:
        """That the value of a symbol is one of its type; made once for those of state variables, which stay."""
        known = self._ranges.get(term)
        if known is not None and known[0] is type_:
            return known[1]
        said = self.arithmetic.in_range(term, type_)
        if term.data in self._types:
            self._ranges[term] = type_, said
        return said

    def without_ranges(self, term: Term) -> Term:
        """A formula over state variables without the parts of it that their types say."""
        return _without(term, {part for said in self.axioms((term,)) for part in (said, *said.args)})

    # -- memory -------------------------------------------------------------------------------------------------

    def heap(self, type_: Type) -> StateVariable:
        """The memory that holds scalars of the class of a type: signed and unsigned ones are one class (C11 6.5p7)."""
        return self._heaps[scalar_class(type_)]

    @property
    def heaps(self) -> tuple[StateVariable, ...]:
        """All memory."""
        return tuple(self._heaps.values())

    def address(self, context: int, leaf: ir.Var, function: str) -> Term:
        """The address of an object of a context, of a global, or of a function. Raises TooLargeError."""
        if leaf.scope == "function":
            place = self.statics[f"&{leaf.name}"]
        elif leaf.scope == "global":
            place = self.statics[f"@{leaf.name}"]
        else:
            names = self._locals.get(function)
            if names is None:
                names = {name: position for position, name in enumerate(self.objects.in_memory(function))}
                self._locals[function] = names
            if len(names) >= _CONTEXT_OBJECTS or context >= 1 << 18:
                raise TooLargeError("too many objects with automatic storage")
            place = _FIRST_CONTEXT + context * _CONTEXT_OBJECTS + names[leaf.name]
        size = self.objects.layout.bytes(leaf.type)
        if (size or 0) >= self.slot // 2:
            raise TooLargeError("an object is too large")
        return number((place + 16) * self.slot + self.slot // 4, self.pointer_sort)

    @property
    def slot(self) -> int:
        """Objects are so many bytes apart."""
        return 1 << 32

    @property
    def first_block(self) -> int:
        """The address of the first allocated block; no other object is above it."""
        return 1 << (ADDRESS_BITS - 1)


def _without(term: Term, known: Collection[Term]) -> Term:
    if term in known:
        return TRUE
    parts = [_without(part, known) for part in term.args] if term.op in ("and", "or") else []
    return term if not parts else and_(*parts) if term.op == "and" else or_(*parts)
