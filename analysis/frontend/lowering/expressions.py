"""Lowering of expressions: every kind but calls, initialisers and conditions, which have modules of their own.

Lowering goes from left to right; where C leaves the order open, `unsequenced` notes it.
A value with a side effect leaves edges in the flow; what is returned is free of them.
"""

from __future__ import annotations

from collections.abc import Callable

from analysis.c.failing import can_fail
from analysis.frontend.declarations.arithmetic_types import basic_type
from analysis.frontend.declarations.literal_values import character, is_utf8, is_wide, number, string, string_length
from analysis.frontend.declarations.scope import ConstantEntry, ObjectEntry, TypedefEntry
from analysis.frontend.declarations.side_effects import has_effects, may_fail
from analysis.frontend.declarations.volatile import Levels, behind
from analysis.frontend.lowering import operators
from analysis.frontend.lowering.assignments import Assignments
from analysis.frontend.lowering.context import MisreadError, children, field_of, inside, inside_arguments
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.syntax.parser import Node
from analysis.model import ir
from analysis.model.c_types import BOOL, CHAR, INT, Array, Pointer, Record, Type, Void

_FUNCTION_NAMES = frozenset(("__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"))
# expressions whose first operand, not they themselves, is what a cast in front of them applies to
_SPREADING = frozenset(("binary_expression", "conditional_expression", "assignment_expression", "comma_expression"))
_LOOK_AHEAD = 8  # levels of parentheses and negations that are looked through; only the form of the result depends on it
_STRINGS = frozenset(("string_literal", "concatenated_string"))
_CASTS = frozenset(("parenthesized_expression", "call_expression", "cast_expression"))
_ASSIGNING = frozenset(("assignment_expression", "update_expression"))


class Expressions(Assignments):
    """Values, lvalues and effects of expressions."""

    def __init__(self, *args: object, **named: object) -> None:
        super().__init__(*args, **named)  # type: ignore[arg-type]
        self._casts_before: dict[int, tuple[tuple[Type, ...], str]] = {}

    def expression(self, node: Node) -> ir.Expr:
        """Lowers an expression without decay."""
        handler = _KINDS.get(node.type)
        if handler is None:
            raise RefusedError(f"expression {node.type.replace('_', ' ')}")
        self.depth += 1
        self.check_depth()
        pending = None
        if self._casts_before and node.type not in _SPREADING:
            pending = self._casts_before.pop(node.start_byte, None)
        found = self._understood(handler(self, node))
        self.depth -= 1
        if pending is not None:
            return _converted(self._apply_unary(pending[1], found), pending[0])
        return found

    def _understood(self, expr: ir.Expr) -> ir.Expr:
        """The expression, if its type is understood (`c_types.RecordDefinition`)."""
        if isinstance(expr.type, Record) and not self.probing:
            strange = self.names.strange(expr.type.key)
            if strange:
                raise RefusedError(f"a type with the {strange}")
        is_flexible = isinstance(expr, ir.Field) and isinstance(expr.type, Array) and expr.type.length is None
        if is_flexible and isinstance(ir.root(expr), ir.Var) and not self.probing:  # only an initialiser tells how long it is
            raise RefusedError("a flexible array member of a variable")
        return expr

    def value(self, node: Node) -> ir.Expr:
        """Lowers an expression to its value."""
        found = self.expression(node)
        if node.type not in _ASSIGNING:  # the value of an assignment is what was assigned
            found = self.read(found, node)
        return operators.decay(self._noting(found))

    def _noting(self, expr: ir.Expr) -> ir.Expr:
        if isinstance(expr, ir.Var) and expr.scope == "function":
            self.address_taken.add(expr.name)
        return expr

    def discard(self, node: Node) -> None:
        """Lowers an expression for its effects."""
        kind = node.type
        if kind == "call_expression":
            self.call(node, None, wanted=False)
        elif kind == "update_expression":
            self.update(node, wanted=False)
        elif kind == "comma_expression":
            pending = self.order.pending
            for part in _separated(node):
                self.order.sequence_point(pending)
                self.discard(part)
        elif kind == "parenthesized_expression":
            self.discard(inside(node))
        elif kind == "compound_statement":
            self.statement(node)
        elif kind == "cast_expression" and self._casts_to_void(node):
            self.discard(field_of(node, "value"))
        elif kind == "conditional_expression" or (kind == "binary_expression" and self._operator(node) in ("&&", "||")):
            self.discard_branches(node)
        else:
            found = self.value(node)
            is_kept = can_fail(found) or any(isinstance(part, ir.Index) for part in ir.walk(found))
            if kind != "assignment_expression" and is_kept and not isinstance(found.type, Void):
                self.emit(ir.Assign(self.temporary(found.type), found), node)

    def discard_branches(self, node: Node) -> None:
        """`?:`, `&&` or `||` for the effects of the operands."""
        end = self.flow.location()
        if node.type == "conditional_expression":
            yes, no = self.flow.location(), self.flow.location()
            self.branch(field_of(node, "condition"), yes, no)
            consequence = node.child_by_field_name("consequence")
            for start, arm in ((yes, consequence), (no, field_of(node, "alternative"))):
                self.flow.current = start
                if arm is not None:
                    self.discard(arm)
                self.flow.join(end)
            return
        yes, operator = self.flow.location(), self._operator(node)
        self.branch(field_of(node, "left"), *((yes, end) if operator == "&&" else (end, yes)))
        self.flow.current = yes
        self.discard(field_of(node, "right"))
        self.flow.join(end)

    def _operator(self, node: Node) -> str:
        return field_of(node, "operator").type

    def _named_or(self, node: Node, literal: ir.Expr) -> ir.Expr:
        """`NULL`, `true`, `false`: the program's own meaning if it declares them, else the usual one."""
        return self._identifier(node) if self.names.lookup(self.source(node)) is not None else literal

    def _identifier(self, node: Node) -> ir.Expr:
        name = self.source(node)
        entry = self.names.lookup(name)
        if isinstance(entry, ObjectEntry):
            if entry.volatile:
                self.volatiles[entry.var.name] = entry.volatile
            if entry.open and not self.probing:  # a condition that asks for its address has no edge
                address = operators.address(entry.var)
                self.emit(ir.Assign(self.temporary(address.type), address), node)
            return entry.var
        if isinstance(entry, ConstantEntry):
            if entry.constant is None:
                raise RefusedError(f"the value or type of the enumeration constant {name}")
            return entry.constant
        if name in _FUNCTION_NAMES:
            return string(f'"{self.names.function or ""}"')
        if entry is not None:
            raise RefusedError(f"type {name} used as a value")
        raise RefusedError(f"undeclared identifier {name}")

    def _number(self, node: Node) -> ir.Expr:
        text = self.source(node)
        found = number(text.lstrip("+-"), self.model)
        if found is None:
            raise RefusedError(f"number {text}")
        return operators.unary(text[0], found) if text[0] in "+-" else found  # the grammar takes signs in

    def _character(self, node: Node) -> ir.Expr:
        found = character(self.source(node))
        if found is None:
            raise RefusedError("a character constant that is wide or out of range")
        return found

    def _string(self, node: Node) -> ir.Expr:
        text = self.source(node)
        if is_wide(text):
            raise RefusedError("a string of wide characters")
        if is_utf8(text):  # of char, or of unsigned characters (C11 6.4.5p6, C23 6.4.6p6)
            raise RefusedError("a string of UTF-8 characters")
        return string(text)

    def _parenthesized(self, node: Node) -> ir.Expr:
        return self.expression(inside(node))

    def _field(self, node: Node) -> ir.Expr:
        argument, name = field_of(node, "argument"), self.source(field_of(node, "field"))
        arrow = field_of(node, "operator").type == "->"
        casts = self.cast_types(argument)
        if casts:  # (T)(p)->f is (T)((p)->f)
            record = self._record_of(inside_arguments(argument), arrow)
            return _converted(self._member(record, name), casts)
        return self._member(self._record_of(argument, arrow), name)

    def _record_of(self, argument: Node, arrow: bool) -> ir.Expr:
        return operators.dereference(self.value(argument)) if arrow else self.expression(argument)

    def _member(self, record: ir.Expr, name: str) -> ir.Expr:
        found = operators.member(self._understood(record), name, self.names.record)
        if found is None:
            raise RefusedError(f"unknown member {name}")
        return found

    def _subscript(self, node: Node) -> ir.Expr:
        argument = field_of(node, "argument")
        casts = self.cast_types(argument)
        if casts:  # (T)(p)[i] is (T)((p)[i])
            start = self.mark()
            index = self.value(field_of(node, "index"))
            middle = self.mark()
            array = self.expression(inside_arguments(argument))
            self.unordered((start, middle, self.mark()), index, operators.decay(array))
            found = operators.element(array, index, self.model)
            return _converted(found, casts)
        start = self.mark()
        base = self.read(self.expression(argument), argument)
        middle = self.mark()
        index = self.value(field_of(node, "index"))
        self.unordered((start, middle, self.mark()), operators.decay(base), index)
        if isinstance(index.type, Pointer):
            base, index = index, operators.decay(base)
        return operators.element(base, index, self.model)

    def _pointer(self, node: Node) -> ir.Expr:
        return self._prefix(field_of(node, "operator").type, field_of(node, "argument"))

    def _prefix(self, operator: str, argument: Node) -> ir.Expr:
        if operator == "&" and argument.type in _STRINGS:
            return self.value(argument)
        if operator == "&" and argument.type == "pointer_expression" and field_of(argument, "operator").type == "&":
            return self.label_address(self.source(field_of(argument, "argument")))  # an address is no operand of `&`
        operand = self.expression(argument)
        return self._apply_unary(operator, operand if operator == "&" else self.read(operand, argument))

    def _apply_unary(self, operator: str, operand: ir.Expr) -> ir.Expr:
        if operator == "*":
            return operators.dereference(operators.decay(operand))
        if operator == "&":
            if not isinstance(operand, ir.LVALUES):
                return operators.decay(operand)
            return operators.address(self._noting(operand))
        return operators.unary(operator, operators.decay(self._noting(operand)))

    def _unary(self, node: Node) -> ir.Expr:
        operator, argument = field_of(node, "operator").type, field_of(node, "argument")
        if operator == "!" and _is_logical(argument):
            return self._logical(node)
        return self._prefix(operator, argument)

    def _logical(self, node: Node) -> ir.Expr:
        """`&&`, `||` or `!` of them as a value: a temporary that is 1 on one branch and 0 on the other."""
        yes, no, end = self.flow.location(), self.flow.location(), self.flow.location()
        result = self.temporary(INT)
        self.branch(node, yes, no)
        live = [(at, value) for at, value in ((yes, 1), (no, 0))]
        for start, value in live:
            self.flow.current = start
            self.emit(ir.Assign(result, ir.IntConst(value, INT)), node)
            self.flow.join(end)
        return result

    def _binary(self, node: Node) -> ir.Expr:
        operator = self._operator(node)
        left, right = field_of(node, "left"), field_of(node, "right")
        if operator in ("&&", "||"):
            constant = self._constant_logical(node) if self.probing else None
            return self._logical(node) if constant is None else constant
        if operator in ("*", "&", "-", "+") and left.type in _CASTS:
            casts = self._casts_in(left)
            if casts:  # (T)*p is a cast, but reads as a product
                self._casts_before[right.start_byte] = (casts, operator)
                return self.expression(right)
        elif operator in ("*", "&", "-", "+") and left.type == "binary_expression":
            casts = self._casts_at_end(left, right)
            if casts:  # a + (T)-b is a sum, but reads as (a + T) - b
                self._casts_before[right.start_byte] = (casts, operator)
                return self._two(self._operator(left), field_of(left, "left"), right)
        return self._two(operator, left, right)

    def _two(self, operator: str, left: Node, right: Node) -> ir.Expr:
        start = self.mark()
        one = self.value(left)
        middle = self.mark()
        other = self.value(right)
        self.unordered((start, middle, self.mark()), one, other)
        return operators.binary(operator, one, other, self.model, self.layout.size)

    def _casts_at_end(self, left: Node, right: Node) -> tuple[Type, ...]:
        """The types T of a left operand `a + (T)`, whose casts end with the operand `right`."""
        casts = self._casts_in(field_of(left, "right"))
        if casts and right.type == "binary_expression":
            raise RefusedError("a cast that could also be an operator")
        return casts

    def _casts_in(self, node: Node) -> tuple[Type, ...]:
        """The types, outermost first, if the node is nothing but casts whose operand was read as something else: `(T)`, and
        `(T)(U)`, which reads as a call or as a cast of `(U)`. Empty if it is anything else."""
        if node.type == "parenthesized_expression":
            cast = self._typedef_in(node)
            return () if cast is None else (cast,)
        if node.type == "cast_expression":
            inner = self._casts_in(field_of(node, "value"))
            return (self.type_name(field_of(node, "type")), *inner) if inner else ()
        if node.type != "call_expression":
            return ()
        arguments = children(field_of(node, "arguments"))
        cast = self._type_named(arguments[0]) if len(arguments) == 1 else None
        outer = () if cast is None else self._casts_in(field_of(node, "function"))
        return (*outer, cast) if outer and cast is not None else ()

    def _constant_logical(self, node: Node) -> ir.Expr | None:
        """`&&` and `||` of constants, in constant expressions."""
        left = operators.constant_truth(self.value(field_of(node, "left")))
        if left is None:
            return None
        if left == (self._operator(node) == "||"):
            return ir.IntConst(int(left), INT)
        right = operators.constant_truth(self.value(field_of(node, "right")))
        return None if right is None else ir.IntConst(int(right), INT)

    def _typedef_in(self, node: Node) -> Type | None:
        """The type, if the node is a type name in parentheses that was read as an expression."""
        return self._type_named(inside(node))

    def _type_named(self, node: Node) -> Type | None:
        """The type, if the node is an identifier that names one."""
        if node.type != "identifier":
            return None
        name = self.source(node)
        entry = self.names.lookup(name)
        if entry is None:  # _Bool is a keyword that the grammar does not know
            return basic_type(name, self.model)
        return entry.type if isinstance(entry, TypedefEntry) else None

    def cast_types(self, node: Node) -> tuple[Type, ...]:
        """The types T and U, outermost first, if the node is `(T)(e)` or `(T)(U)(e)`, which read as calls; else empty."""
        return self._casts_in(field_of(node, "function")) if node.type == "call_expression" else ()

    def _cast(self, node: Node) -> ir.Expr:
        if self.casts_to_no_type(node):
            raise MisreadError
        type_, levels = self.type_and_levels(field_of(node, "type"))
        found = self.cast(type_, field_of(node, "value"))
        return self._marked(found, levels, node) if behind(levels) and isinstance(found.type, Pointer) else found

    def _marked(self, pointer: ir.Expr, levels: Levels, node: Node) -> ir.Expr:
        """A temporary with the pointer, to know it by."""
        if self.probing:
            return pointer
        result = self.temporary(pointer.type)
        self.volatiles[result.name] = levels
        self.emit(ir.Assign(result, pointer), node)
        return result

    def cast(self, type_: Type, operand: Node) -> ir.Expr:
        """`(type) operand`."""
        if operand.type == "initializer_list":
            return self._literal(type_, operand)
        if isinstance(type_, Void):
            self.discard(operand)
            return ir.Unknown(type_)
        return operators.convert(self.value(operand), type_)

    def _casts_to_void(self, node: Node) -> bool:
        return not self.casts_to_no_type(node) and isinstance(self.type_name(field_of(node, "type")), Void)

    def _comma(self, node: Node) -> ir.Expr:
        *before, last = _separated(node)
        pending = self.order.pending
        for part in before:
            self.discard(part)
            self.order.sequence_point(pending)
        return operators.decay(self.expression(last))  # no lvalue (C11 6.5.17p2): an array is a pointer

    def _sizeof(self, node: Node) -> ir.Expr:
        size = self._sizeof_operand(node)
        if isinstance(size, ir.Unknown) and has_effects(node):  # the operand is evaluated (C11 6.5.3.4p2)
            raise RefusedError("sizeof a variable-length array with side effects")
        value = node.child_by_field_name("value")
        if isinstance(size, ir.Unknown) and value is not None and may_fail(value):
            raise RefusedError("sizeof a variable-length array that is computed")
        return size

    def _sizeof_operand(self, node: Node) -> ir.Expr:
        type_node = node.child_by_field_name("type")
        if type_node is not None:
            return self._size(self.type_name(type_node))
        value = field_of(node, "value")
        if value.type == "parenthesized_expression" and (named := self._typedef_in(value)) is not None:
            return self._size(named)
        inner = value
        while inner.type == "parenthesized_expression":
            inner = inside(inner)
        if inner.type == "identifier" and self.source(inner) in _FUNCTION_NAMES:
            return self._size(Array(CHAR, len((self.names.function or "").encode()) + 1))
        if inner.type in _STRINGS and is_wide(self.source(inner)):
            return ir.Unknown(self.model.unsigned_long)
        if inner.type in _STRINGS:
            return self._size(Array(CHAR, string_length(self.source(inner))))
        return self._size(self.probe_type(value))

    def _size(self, type_: Type) -> ir.Expr:
        size = self.layout.size(type_)
        return ir.Unknown(self.model.unsigned_long) if size is None else ir.IntConst(size, self.model.unsigned_long)

    def _alignof(self, node: Node) -> ir.Expr:
        type_node = node.child_by_field_name("type")
        if type_node is None:  # of a variable, which may be aligned otherwise than its type
            return ir.Unknown(self.model.unsigned_long)
        type_ = self.type_name(type_node)
        if isinstance(type_, Record) and self.layout.size(type_) is None:
            return ir.Unknown(self.model.unsigned_long)
        is_standard = node.children[0].type in ("_Alignof", "alignof")
        alignment = self.layout.alignment(type_) if is_standard else self.layout.preferred_alignment(type_)
        return ir.IntConst(alignment, self.model.unsigned_long)

    def _offsetof(self, node: Node) -> ir.Expr:
        type_ = self.type_name(field_of(node, "type"))
        name = self.source(field_of(node, "member"))
        offset = self.layout.offset(type_, name) if isinstance(type_, Record) else None
        if offset is None:
            return ir.Unknown(self.model.unsigned_long)
        return ir.IntConst(offset, self.model.unsigned_long)

    def _compound_literal(self, node: Node) -> ir.Expr:
        return self._literal(self.type_name(field_of(node, "type")), field_of(node, "value"))

    def _literal(self, type_: Type, value: Node) -> ir.Expr:
        if isinstance(type_, Array) and type_.length is None:
            type_ = Array(type_.element, self.initialised_length(type_.element, value))
        result = self.temporary(type_)
        self.names.place(result.name)
        self.flow.declares(result.name)
        self.initialise(result, value, value)
        return result

    def _asm(self, node: Node) -> ir.Expr:
        raise RefusedError("inline assembler")


def _converted(value: ir.Expr, types: tuple[Type, ...]) -> ir.Expr:
    """A value that is cast to these types, to the last one first."""
    for type_ in reversed(types):
        value = operators.convert(operators.decay(value), type_)
    return value


def _is_logical(node: Node) -> bool:
    """Whether the value is that of `&&` or `||`, perhaps negated a few times."""
    for _ in range(_LOOK_AHEAD):
        if node.type == "parenthesized_expression":
            node = inside(node)
        elif node.type == "unary_expression" and field_of(node, "operator").type == "!":
            node = field_of(node, "argument")
        else:
            break
    return node.type == "binary_expression" and field_of(node, "operator").type in ("&&", "||")


def _separated(node: Node) -> list[Node]:
    """The operands of commas, in order. There can be many of them: the tree leans to one side, as deep as it is long."""
    found, waiting = [], [node]
    while waiting:
        here = waiting.pop()
        if here.type == "comma_expression":
            waiting += (field_of(here, "right"), field_of(here, "left"))
        else:
            found.append(here)
    return found


# tables of the class, not of each object: bound methods would keep each object in a cycle, and with it its syntax tree
_KINDS: dict[str, Callable[[Expressions, Node], ir.Expr]] = {
    "identifier": Expressions._identifier,
    "number_literal": Expressions._number,
    "char_literal": Expressions._character,
    "string_literal": Expressions._string,
    "concatenated_string": Expressions._string,
    "parenthesized_expression": Expressions._parenthesized,
    "field_expression": Expressions._field,
    "subscript_expression": Expressions._subscript,
    "pointer_expression": Expressions._pointer,
    "unary_expression": Expressions._unary,
    "binary_expression": Expressions._binary,
    "assignment_expression": Expressions.assignment,
    "update_expression": lambda self, node: self.update(node, wanted=True),
    "call_expression": lambda self, node: self.call(node, None, wanted=True),
    "cast_expression": Expressions._cast,
    "conditional_expression": Expressions.conditional,
    "comma_expression": Expressions._comma,
    "sizeof_expression": Expressions._sizeof,
    "alignof_expression": Expressions._alignof,
    "offsetof_expression": Expressions._offsetof,
    "compound_literal_expression": Expressions._compound_literal,
    "compound_statement": lambda self, node: self.block_value(node),
    "null": lambda self, node: self._named_or(node, ir.IntConst(0, Pointer(Void()))),
    "true": lambda self, node: self._named_or(node, ir.IntConst(1, BOOL)),  # no name and no macro: a keyword (C23 6.4.5.6)
    "false": lambda self, node: self._named_or(node, ir.IntConst(0, BOOL)),
    "extension_expression": lambda self, node: self.expression(children(node)[0]),
    "gnu_asm_expression": Expressions._asm,
}
