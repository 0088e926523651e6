"""Lowering of expressions: every kind but casts, sizes, assignments, calls and conditions, which have modules of their own.

Lowering goes from left to right; where C leaves the order open, `unsequenced` notes it.
A value with a side effect leaves edges in the flow; what is returned is free of them.
"""

from __future__ import annotations

from collections.abc import Callable

from analysis.c.failing import can_fail
from analysis.frontend.declarations.literal_values import character, is_utf8, is_wide, number, string
from analysis.frontend.declarations.scope import ConstantEntry, ObjectEntry
from analysis.frontend.lowering import operators
from analysis.frontend.lowering.context import children, field_of, inside, inside_arguments
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.lowering.sizes import FUNCTION_NAMES, STRINGS, Sizes
from analysis.frontend.syntax.parser import Node
from analysis.model import ir
from analysis.model.c_types import BOOL, INT, Array, Pointer, Record, Type, Void

# expressions whose first operand, not they themselves, is what a cast in front of them applies to
_SPREADING = frozenset(("binary_expression", "conditional_expression", "assignment_expression", "comma_expression"))
_LOOK_AHEAD = 8  # levels of parentheses and negations that are looked through; only the form of the result depends on it
_CASTS = frozenset(("parenthesized_expression", "call_expression", "cast_expression"))
_ASSIGNING = frozenset(("assignment_expression", "update_expression"))


class Expressions(Sizes):
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
        elif kind == "cast_expression" and self.casts_to_void(node):
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
        written = self.text[node.start_byte : node.end_byte]
        if written[:1].isdigit():  # behind `sizeof` (`frontend.syntax.signed_numbers`)
            return self._found_number(written.decode())
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
        if name in FUNCTION_NAMES:
            return string(f'"{self.names.function or ""}"', self.model)
        if entry is not None:
            raise RefusedError(f"type {name} used as a value")
        raise RefusedError(f"undeclared identifier {name}")

    def _number(self, node: Node) -> ir.Expr:
        text = self.source(node)
        found = self._found_number(text.lstrip("+-"))
        return operators.unary(text[0], found) if text[0] in "+-" else found  # the grammar takes signs in

    def _found_number(self, text: str) -> ir.Expr:
        found = number(text, self.model)
        if found is None:
            raise RefusedError(f"number {text}")
        return found

    def _character(self, node: Node) -> ir.Expr:
        found = character(self.source(node), self.model)
        if found is None:
            raise RefusedError("a character constant that is wide or out of range")
        return found

    def _string(self, node: Node) -> ir.Expr:
        text = self.source(node)
        if is_wide(text):
            raise RefusedError("a string of wide characters")
        if is_utf8(text):  # of char, or of unsigned characters (C11 6.4.5p6, C23 6.4.6p6)
            raise RefusedError("a string of UTF-8 characters")
        return string(text, self.model)

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
        if operator == "&" and argument.type in STRINGS:
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
            casts = self.casts_in(left)
            if casts:  # (T)*p is a cast, but reads as a product
                self._casts_before[right.start_byte] = (casts, operator)
                return self.expression(right)
        elif operator in ("*", "&", "-", "+") and left.type == "binary_expression":
            casts = self.casts_at_end(left, right)
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

    def _constant_logical(self, node: Node) -> ir.Expr | None:
        """`&&` and `||` of constants, in constant expressions."""
        left = operators.constant_truth(self.value(field_of(node, "left")))
        if left is None:
            return None
        if left == (self._operator(node) == "||"):
            return ir.IntConst(int(left), INT)
        right = operators.constant_truth(self.value(field_of(node, "right")))
        return None if right is None else ir.IntConst(int(right), INT)

    def _comma(self, node: Node) -> ir.Expr:
        *before, last = _separated(node)
        pending = self.order.pending
        for part in before:
            self.discard(part)
            self.order.sequence_point(pending)
        return operators.decay(self.expression(last))  # no lvalue (C11 6.5.17p2): an array is a pointer

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
    "cast_expression": Expressions.cast_expression,
    "conditional_expression": Expressions.conditional,
    "comma_expression": Expressions._comma,
    "sizeof_expression": Expressions.sizeof,
    "alignof_expression": Expressions.alignof,
    "offsetof_expression": Expressions.offsetof,
    "compound_literal_expression": Expressions.compound_literal,
    "compound_statement": lambda self, node: self.block_value(node),
    "null": lambda self, node: self._named_or(node, ir.IntConst(0, Pointer(Void()))),
    "true": lambda self, node: self._named_or(node, ir.IntConst(1, BOOL)),  # no name and no macro: a keyword (C23 6.4.5.6)
    "false": lambda self, node: self._named_or(node, ir.IntConst(0, BOOL)),
    "extension_expression": lambda self, node: self.expression(children(node)[0]),
    "gnu_asm_expression": Expressions._asm,
}
