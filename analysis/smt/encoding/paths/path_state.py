"""Where a path is: its memory, the calls that are open, and what was constrained on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analysis.c.aliasing import scalar_class
from analysis.cfa.bit_layout import BitLayout
from analysis.cfa.graph import Edge, Program
from analysis.frontend.declarations.literal_values import is_wide, string_bytes
from analysis.model import ir
from analysis.model.c_types import CHAR, Array, DataModel, Floating, Integer, Pointer, Type, is_scalar
from analysis.smt.encoding.numbers import scalar_terms
from analysis.smt.encoding.numbers.bits import Bits
from analysis.smt.encoding.numbers.formula import Input, InputKind, Ledger, Mode
from analysis.smt.encoding.numbers.integers import Integers, SignedOverflow
from analysis.smt.encoding.paths.frames import Frame, address_taken
from analysis.smt.encoding.storage.bit_patterns import Patterns
from analysis.smt.encoding.storage.content import ANY_TAG, FillKind, Tag
from analysis.smt.encoding.storage.lvalues import Places
from analysis.smt.encoding.storage.path_memory import Memory
from analysis.smt.encoding.storage.regions import Alternatives, Spot
from analysis.smt.logic.term_building import TRUE, symbol
from analysis.smt.logic.terms import BOOL, Term

_MOST_CHARACTERS = 4096
_Copied = tuple[int, int, Type, Tag]  # a scalar of a copy: its offset and its width in bits, its type, and how it is read


class State:
    """What `PathEncoder` works on; `fork` copies it."""

    def __init__(self, program: Program, mode: Mode, model: DataModel, signed_overflow: SignedOverflow) -> None:
        self.program = program
        self.model = model
        self.size_type = Integer(model.pointer_bits, False, "unsigned long")
        self.ledger = Ledger()
        layout = BitLayout.of(program, model)
        arithmetic = Integers(model, self.ledger, signed_overflow) if mode == "int" else Bits(model, self.ledger, signed_overflow)
        self._bind(arithmetic, Memory(arithmetic, self.ledger, layout))
        self.memory.statics_are_known = bool(address_taken(program))
        self.frames: list[Frame] = []  # copies share those below the last one, which change only when they are the last again
        self.steps = 0
        self._asked = 0
        self._frames_opened = 0
        self._globals: dict[str, int] = {}
        self._strings: dict[str, int] = {}
        self.globals_known = True

    def _bind(self, arithmetic: Integers | Bits, memory: Memory) -> None:
        self.arithmetic = arithmetic
        self.memory = memory
        self.places = Places(arithmetic, self.ledger, memory, self.region_of, self._unknown)
        self._patterns = Patterns(arithmetic)

    def fork(self) -> State:
        """An independent copy."""
        other = object.__new__(State)
        other.program, other.model, other.size_type = self.program, self.model, self.size_type
        other.ledger = self.ledger.copy()
        arithmetic = self.arithmetic.with_ledger(other.ledger)
        other._bind(arithmetic, self.memory.copy(arithmetic, other.ledger))
        other.frames = [*self.frames[:-1], *(frame.copy() for frame in self.frames[-1:])]
        other.steps, other._asked, other._frames_opened = self.steps, self._asked, self._frames_opened
        other._globals, other._strings = dict(self._globals), dict(self._strings)
        other.globals_known = self.globals_known
        return other

    def next_step(self) -> None:
        """Counts an edge."""
        self.steps += 1
        self._asked = 0
        self.memory.clock = self.steps
        self.memory.fills.step = self.steps

    def inputs(self) -> tuple[Input, ...]:
        """The inputs so far."""
        return tuple(self.memory.fills.inputs.values())

    # -- inputs -------------------------------------------------------------------------------------------------

    def _unknown(self, expr: ir.Expr) -> Term:
        """A value that the program does not determine."""
        kind: InputKind = "undefined" if isinstance(expr, ir.Undefined) else "unknown"
        return self.fresh_input(expr.type, kind, kind)

    def fresh_input(self, type_: Type, kind: InputKind, name: str) -> Term:
        """An input that is asked for at this step."""
        if not isinstance(type_, Integer | Floating | Pointer):
            type_ = Integer(32, True, "int")
        self._asked += 1
        full = f"{name}@{self.steps}.{self._asked}:{scalar_terms.kind(type_)}"
        return self.memory.fills.symbol(full, type_, kind, self.steps, name)

    def allocation(self, name: str) -> Term:
        """The condition that an allocation finds memory."""
        self._asked += 1
        term = symbol(f"{name}@{self.steps}.{self._asked}", BOOL)
        self.memory.fills.inputs[term] = Input(term, "allocation", name, Integer(32, True, "int"), self.steps)
        return term

    # -- objects ------------------------------------------------------------------------------------------------

    def region_of(self, leaf: ir.Var | ir.StringConst) -> int:
        """The object of a variable, a function or a string literal; made when it is first asked for."""
        if isinstance(leaf, ir.StringConst):
            return self._string(leaf.text)
        if leaf.scope in ("global", "function"):
            known = self._globals.get(leaf.name)
            return known if known is not None else self._new_static(leaf)
        frame = self.frames[-1]
        known = frame.variables.get(leaf.name)
        if known is None:
            known = self.memory.new_region(leaf.name, "local", leaf.type, self.memory.layout.bytes(leaf.type), "undefined")
            frame.variables[leaf.name] = known
        return known

    def _new_static(self, var: ir.Var) -> int:
        if var.scope == "function":
            number = self.memory.new_region(var.name, "function", None, 1, "unknown")
            self._globals[var.name] = number
            return number
        known = self.program.globals.get(var.name)
        type_ = known.var.type if known is not None else var.type
        initial = known.initial if known is not None and self.globals_known else ir.Unknown(type_)
        parts = known.parts if known is not None and self.globals_known else ()
        is_zero = isinstance(initial, ir.Zero) or (isinstance(initial, ir.Unknown) and bool(parts))
        is_constant = not isinstance(initial, ir.Zero | ir.Unknown)
        size = self.memory.layout.bytes(type_)
        number = self.memory.new_region(
            var.name, "global", type_, size, "zero" if is_zero else "undefined" if is_constant else "unknown"
        )
        self._globals[var.name] = number
        if is_constant:
            self.assign_value(var, initial)
        for part in parts:
            self.assign_value(part.target, part.value)
        if known is not None and known.constant:
            self.memory.protect(number)
        if var.name in address_taken(self.program):
            self.memory.escapes_from_start(number)
        return number

    def _string(self, text: str) -> int:
        known = self._strings.get(text)
        if known is None:
            content = literal_bytes(text)
            if content is None:
                known = self.memory.new_region(text[:20], "string", None, None, "unknown")
            else:
                known = self.memory.new_region(text[:20], "string", Array(CHAR, len(content)), len(content), "zero")
                self._write_characters(known, content)
            self.memory.protect(known)
            self._strings[text] = known
        return known

    def _write_characters(self, number: int, content: bytes) -> None:
        for position, character in enumerate(content):
            value = self.arithmetic.constant(character - 256 if character > 127 else character, CHAR)
            self.memory.store(((TRUE, Spot(number, 8 * position)),), 8, CHAR, value, Tag("char"))

    def forget_globals(self) -> set[int]:
        """Notes that globals that were not used so far may hold anything; gives the objects of the others."""
        self.globals_known = False
        return set(self._globals.values())

    def forget_everything(self, sentence: str) -> None:
        """After something that is not modelled: every object may hold anything."""
        self.ledger.approximate(sentence)
        self.forget_globals()
        for region in self.memory.regions:
            if region.kind not in ("function", "string") and self.memory.is_known(region.number):
                self.memory.refill(region.number, "unknown")

    # -- assignments --------------------------------------------------------------------------------------------

    def assign_value(self, target: ir.Expr, value: ir.Expr) -> None:
        """An assignment of any type."""
        if isinstance(value, ir.Undefined | ir.Unknown | ir.Zero) and not is_scalar(target.type):
            kinds: dict[type, FillKind] = {ir.Undefined: "undefined", ir.Unknown: "unknown", ir.Zero: "zero"}
            self.fill(target, kinds[type(value)])
        elif isinstance(value, ir.Undefined) and isinstance(target, ir.Var):
            self.memory.refill(self.region_of(target), "undefined")
        elif isinstance(value, ir.Zero):
            self.assign(target, self.arithmetic.constant(0, target.type))
        elif is_scalar(target.type):
            self.assign(target, self.places.expressions.value(value))
        elif isinstance(value, ir.StringConst) and isinstance(target.type, Array):
            self._assign_string(target, value)
        elif isinstance(value, ir.LVALUES):
            self.copy_object(target, value)
        else:
            self.ledger.approximate("a value of a type that is not followed is assigned")
            self.fill(target, "unknown")

    def assign(self, target: ir.Expr, value: Term) -> None:
        """Assigns a value of the target's type to a scalar lvalue."""
        tag = self.places.tag(target)
        self.memory.store(self.places.spots(target, tag), self.places.width(target), target.type, value, tag)

    def fill(self, target: ir.Expr, kind: FillKind) -> None:
        """Fills an object evenly."""
        self.memory.fill(self.places.spots(target, ANY_TAG), self.memory.layout.bytes(target.type), kind)

    def _assign_string(self, target: ir.Expr, value: ir.StringConst) -> None:
        """An array that a string literal initialises: what is left of it is zero (C11 6.7.9p14, p21)."""
        content = literal_bytes(value.text)
        length = target.type.length if isinstance(target.type, Array) else None
        is_char = isinstance(target.type, Array) and isinstance(target.type.element, Integer) and target.type.element.bits == 8
        if content is None or not is_char or length is None or len(content) > _MOST_CHARACTERS:
            self.ledger.approximate("a long or wide string that initialises an array is not followed")
            self.fill(target, "unknown")
            return
        self.fill(target, "zero")
        for _, spot in self.places.spots(target, ANY_TAG):
            for position, character in enumerate(content[:length]):
                constant = self.arithmetic.constant(character - 256 if character > 127 else character, CHAR)
                self.memory.store(((TRUE, spot._replace(bits=spot.bits + 8 * position)),), 8, CHAR, constant, Tag("char"))

    # -- copies -------------------------------------------------------------------------------------------------

    def copy_object(self, target: ir.Expr, source: ir.Expr) -> None:
        """An assignment of a structure, union or array."""
        size = self.memory.layout.bytes(target.type)
        spots = self.places.spots(target, ANY_TAG), self.places.spots(source, ANY_TAG)
        self.copy_memory(spots[0], spots[1], size, target.type, 1 << 16)

    def copy_memory(self, target: Alternatives, source: Alternatives, size: int | None, element: Type | None, most: int) -> None:
        """Copies bytes, scalar by scalar: as the source has them where that is known, else as `element` says."""
        values = None if size is None or size > most else self._scalars(source, 8 * size, element)
        if values is None:
            self.ledger.approximate("what a copy of unknown or large size writes is not followed")
            self.memory.fill(target, size, "unknown")
            return
        for offset, width, type_, term in values:
            moved = tuple((condition, spot._replace(bits=spot.bits + offset)) for condition, spot in target)
            self.memory.store(moved, width, type_, term, ANY_TAG)

    def _scalars(self, source: Alternatives, bits: int, element: Type | None) -> list[tuple[int, int, Type, Term]] | None:
        """What a range of memory holds, as scalars: offset in bits, width, type and value."""
        plan = self._known_scalars(source, bits) if len(source) == 1 else None
        if plan is None:
            plan = self._typed_scalars(bits, element)
        if plan is None:
            return None
        found = []
        for offset, width, type_, tag in plan:
            moved = tuple((condition, spot._replace(bits=spot.bits + offset)) for condition, spot in source)
            found.append((offset, width, type_, self.memory.load(moved, width, type_, tag)))
        return found

    def _known_scalars(self, source: Alternatives, bits: int) -> list[_Copied] | None:
        """The cells of the source, if they make up all of it."""
        spot = source[0][1]
        if spot.symbolic is not None or not self.memory.is_known(spot.region):
            return None
        at, plan = 0, list[_Copied]()
        cells = self.memory.layer(spot.region).cells
        while at < bits:
            cell = cells.get(spot.bits + at)
            if cell is None or at + cell.width > bits:
                return None
            plan.append((at, cell.width, cell.type, _tag(cell.type, cell.width)))
            at += cell.width
        return plan

    def _typed_scalars(self, bits: int, element: Type | None) -> list[_Copied] | None:
        """The scalars of as many elements of a type as fit, and what lies between them: other members of a union are there, and
        bytes that are accessed as characters."""
        size = None if element is None else self.memory.layout.size(element)
        leaves = None if element is None else self.memory.layout.leaves(element)
        if not size or leaves is None or bits % size:
            leaves, size = ((0, Integer(8, False, "unsigned char")),), 8
        plan = list[_Copied]()
        for start in range(0, bits, size):
            at = start
            for offset, type_ in leaves:
                width = self.memory.layout.size(type_) or 8
                plan += _between(at, start + offset)
                plan.append((start + offset, width, type_, _tag(type_, width)))
                at = start + offset + width
            plan += _between(at, start + size)
        return plan

    def set_bytes(self, target: Alternatives, byte: Term, size: int) -> None:
        """Writes one byte many times."""
        type_ = Integer(8, False, "unsigned char")
        for position in range(size):
            moved = tuple((condition, spot._replace(bits=spot.bits + 8 * position)) for condition, spot in target)
            self.memory.store(moved, 8, type_, byte, ANY_TAG)

    # -- calls --------------------------------------------------------------------------------------------------

    def handed_over(self, arguments: Iterable[ir.Expr]) -> list[Term]:
        """The values of arguments that can lead to objects, and those within structures that are passed by value."""
        found: list[Term] = []
        for argument in arguments:
            if isinstance(argument.type, Pointer | Integer | Array):
                found.append(self.places.expressions.value(argument))
            elif isinstance(argument, ir.LVALUES) and not isinstance(argument.type, Floating):
                spots = self.places.spots(argument, ANY_TAG)
                found += self.memory.held({spot.region for _, spot in spots})
        return found

    def open_frame(self, function: str, call: Edge | None) -> Frame:
        """A new innermost call."""
        self._frames_opened += 1
        frame = Frame(self.program.functions[function], call, self._frames_opened)
        self.frames.append(frame)
        return frame

    def close_frame(self) -> None:
        """Goes back from the innermost call."""
        self.frames.pop()
        self.frames[-1:] = [frame.copy() for frame in self.frames[-1:]]


def literal_bytes(text: str) -> bytes | None:
    """The characters of a string literal, with the zero at its end; None for wide ones."""
    return None if is_wide(text) else string_bytes(text)


def _tag(type_: Type, width: int) -> Tag:
    """What a copy says about a scalar that it reads. What is small can be a part of anything."""
    return Tag(scalar_class(type_)) if width > 8 else ANY_TAG


def _between(low: int, high: int) -> Iterator[_Copied]:
    """The bytes between two scalars, and parts of bytes."""
    while low < high:
        width = min(8 - low % 8, high - low)
        yield low, width, Integer(width, False, f"bits{width}"), ANY_TAG
        low += width
