"""Lowering of statements and of declarations in blocks (C11 6.7, 6.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from analysis.c.failing import can_fail
from analysis.frontend.declarations.scope import ObjectEntry
from analysis.frontend.declarations.types import promote
from analysis.frontend.lowering import operators
from analysis.frontend.lowering.context import MisreadError, children, field_of
from analysis.frontend.lowering.local_declarations import LocalDeclarations
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.syntax.parser import Node
from analysis.model import ir
from analysis.model.c_types import INT, VOID, Pointer, Type, Void

_NO_CODE = frozenset(
    (
        ";",
        "comment",
        "preproc_call",
        "preproc_def",
        "preproc_include",
        "preproc_function_def",
        "static_assert_declaration",
        "attribute_declaration",
    )
)
_ASSEMBLER = "inline assembler"
_TYPES_ONLY = frozenset(("struct_specifier", "union_specifier", "enum_specifier"))


class Statements(LocalDeclarations):
    """Statements, blocks and their declarations."""

    def __init__(self, *args: object, **named: object) -> None:
        super().__init__(*args, **named)
        self.exit = self.flow.location()
        self._breaks: list[int] = []
        self._continues: list[int] = []
        self._labels: dict[str, int] = {}
        self._labelled: dict[str, int] = {}
        self._addressed: dict[str, None] = {}  # labels whose addresses are taken
        self._computed: int | None = None  # where all computed gotos lead to
        self.ambiguous_label = ""
        self.nested_function = ""
        self._cases: dict[int, int] = {}

    def statement(self, node: Node) -> None:
        """Lowers one statement; what cannot be lowered becomes an Unsupported edge in its place."""
        kind = node.type
        handler = _STATEMENTS.get(kind)
        if handler is None:
            if kind in _TYPES_ONLY:
                self._types_only(node)
            elif kind not in _NO_CODE:
                reason = f"statement {kind.replace('_', ' ')}"
                self._refuse(node, reason)
                if kind == "function_definition":  # may be called where control does not come over it
                    self.nested_function = reason
            return
        state = self.depth, self.flow.current, len(self.flow.edges), self.names.level(), self.names.mark(), len(self.cleanups)
        order = self.order.state()
        self.depth += 1
        try:
            self.check_depth()
            handler(self, node)
        except RefusedError as refused:
            self._back_to(*state)
            self.order.back_to(order)
            self._refuse(node, refused.reason)
        except MisreadError:
            self._back_to(*state)
            self.order.back_to(order)
            again = self.reread(node)
            if again is None:
                self._refuse(node, "a cast that could also be an operator")
            else:
                self.statement(again)
        self.depth = state[0]
        self.order.sequence_point(order.pending)

    def probe(self, lower: Callable[[Node], ir.Expr], node: Node) -> ir.Expr:
        """See `Context`. Jumps of statement expressions go to places that nothing else of the function goes to."""
        kept = self._labels, self._breaks, self._continues, self._cases

        def lowered(inner: Node) -> ir.Expr:
            self._labels, self._cases = {}, {}
            self._breaks, self._continues = ([self.flow.location() for _ in places] for places in kept[1:3])
            return lower(inner)

        try:
            return super().probe(lowered, node)
        finally:
            self._labels, self._breaks, self._continues, self._cases = kept

    def _back_to(self, depth: int, current: int, edges: int, blocks: int, mark: int, cleanups: int) -> None:
        """Undoes what lowering a statement did."""
        self.depth, self.flow.current = depth, current
        del self.flow.edges[edges:], self.cleanups[cleanups:]
        self.names.unwind(blocks)
        self.names.reset(mark)

    def _refuse(self, node: Node, reason: str) -> None:
        if self.probing:
            raise RefusedError(reason)
        for label in self._labels_inside(node):  # control may still jump into it
            self.flow.join(label)
        self.emit(ir.Unsupported(reason, tuple(sorted(self._variables_inside(node)))), node)
        if self._ends_here(node):
            self.flow.stop()

    def _ends_here(self, node: Node) -> bool:
        """Whether a statement does nothing but call a function that does not return. What it passes may be anything, but no
        statement, which could jump."""
        called = node.named_children[0] if node.type == "expression_statement" and node.named_children else node
        if called.type != "call_expression" or self.cast_types(called):
            return False
        has_statement = any(one.type == "compound_statement" for one in _all(called))
        return not has_statement and self.does_not_return(field_of(called, "function"))

    def _variables_inside(self, node: Node) -> set[str]:
        """The names of the variables that a statement mentions."""
        names = set[str]()
        for here in _all(node):
            if here.type in ("identifier", "type_identifier"):  # a variable in parentheses can read as a type
                entry = self.names.lookup(self.source(here))
                if isinstance(entry, ObjectEntry) and entry.var.scope != "function":
                    names.add(entry.var.name)
        return names

    def _labels_inside(self, node: Node) -> Iterator[int]:
        """The locations of the labels and cases in a statement."""
        waiting = [node]
        while waiting:
            here = waiting.pop()
            if here.type == "labeled_statement":
                yield self._label(self.source(field_of(here, "label")))
            elif here.type == "case_statement" and here.start_byte in self._cases:
                yield self._cases[here.start_byte]
            waiting.extend(reversed(here.named_children))

    def _types_only(self, node: Node) -> None:
        try:
            self.specified_type(node)
        except RefusedError as refused:
            self._refuse(node, refused.reason)

    def _block(self, node: Node) -> None:
        self.names.enter()
        depth = len(self.cleanups)
        for child in node.named_children:
            self.statement(child)
        self.leave_scope(depth, node)
        self.names.leave()

    def _block_of(self, node: Node) -> None:
        """What depends on a condition is a block, also without braces (C11 6.8.4p3, 6.8.5p5)."""
        self.names.enter()
        self.statement(node)
        self.names.leave()

    def block_value(self, node: Node) -> ir.Expr:
        """A statement expression: the value of its last statement, if that is an expression."""
        self.names.enter()
        level, depth = self.names.level(), len(self.cleanups)
        try:
            statements = children(node)
            for child in statements[:-1]:
                self.statement(child)
            if not statements:
                return ir.Unknown(Void())
            last = statements[-1]
            while last.type == "labeled_statement":
                self._start_label(last)
                last = children(last)[-1]
            if last.type != "expression_statement" or not children(last):
                self.statement(last)
                self.leave_scope(depth, node)
                return ir.Unknown(Void())
            value = self.value(children(last)[0])
            if isinstance(value.type, Void):
                self.leave_scope(depth, node)
                return value
            result = self.temporary(value.type)
            self.names.place(result.name, above=1)
            self.emit(ir.Assign(result, value), last)
            self.leave_scope(depth, node)
            return result
        finally:
            del self.cleanups[depth:]
            self.names.unwind(level - 1)

    def _expression_statement(self, node: Node) -> None:
        declared = self.misread_declaration(node)
        if declared is not None:
            self.declare(declared[0], frozenset(), declared[1], node)
            return
        for child in children(node):
            if child.type == "gnu_asm_expression":
                self._asm_statement(child)
            else:
                self.discard(child)

    def _asm_statement(self, node: Node) -> None:
        code = node.child_by_field_name("assembly_code")
        empty = code is not None and not self.source(code).replace('"', "").strip()
        outputs = node.child_by_field_name("output_operands")
        if not (empty and (outputs is None or not children(outputs))):
            self._unknown_asm(node, () if outputs is None else children(outputs))
            return
        inputs = node.child_by_field_name("input_operands")
        before = len(self.flow.edges)
        values = [self.value(field_of(operand, "value")) for operand in (() if inputs is None else children(inputs))]
        if len(self.flow.edges) > before or any(map(can_fail, values)):
            raise RefusedError("an operand of inline assembler with effects")

    def _unknown_asm(self, node: Node, outputs: Sequence[Node]) -> None:
        """Assembler that does something: nothing is proved behind it, and its outputs have any value."""
        if self.probing:
            raise RefusedError(_ASSEMBLER)
        self.emit(ir.Unsupported(_ASSEMBLER), node)
        for operand in outputs:
            target = self.expression(field_of(operand, "value"))
            if isinstance(target, ir.LVALUES):
                self.emit(ir.Assign(target, ir.Unknown(target.type)), operand)

    def _if(self, node: Node) -> None:
        end = self.flow.location()
        following: Node | None = node
        while following is not None and following.type == "if_statement":  # else-if chains can be long
            yes, no = self.flow.location(), self.flow.location()
            self.branch(field_of(following, "condition"), yes, no)
            self.flow.current = yes
            self._block_of(field_of(following, "consequence"))
            self.flow.join(end)
            self.flow.current = no
            other = following.child_by_field_name("alternative")
            following = None if other is None else children(other)[0] if children(other) else None
        if following is not None:
            self._block_of(following)
        self.flow.join(end)

    def _preprocessor_choice(self, node: Node) -> None:
        """`#if` in text that is not preprocessed: either part can be there, unless the condition is a constant."""
        condition, alternative = node.child_by_field_name("condition"), node.child_by_field_name("alternative")
        known = self.constant(condition) if condition is not None and condition.type == "number_literal" else None
        yes, no, end = self.flow.location(), self.flow.location(), self.flow.location()
        if known is None:
            self.branch_value(ir.Unknown(INT), node, yes, no)
        else:
            self.flow.go(yes if known else no)
        skipped = {n.id for n in (condition, alternative, node.child_by_field_name("name")) if n is not None}
        self.flow.current = yes
        for child in children(node):
            if child.id not in skipped:
                self.statement(child)
        self.flow.join(end)
        self.flow.current = no
        if alternative is not None and alternative.type == "preproc_else":
            for child in children(alternative):
                self.statement(child)
        elif alternative is not None:
            self._preprocessor_choice(alternative)
        self.flow.join(end)

    def _loop_body(self, node: Node, start: int, after: int, again: int) -> None:
        self._breaks.append(after)
        self._continues.append(again)
        self.leads_out(after, again)
        self.flow.current = start
        self._block_of(node)
        self.flow.go(again)
        self._breaks.pop()
        self._continues.pop()

    def _while(self, node: Node) -> None:
        head, body, after = self.flow.location(), self.flow.location(), self.flow.location()
        self._start_head(head, node)
        self.branch(field_of(node, "condition"), body, after)
        self._loop_body(field_of(node, "body"), body, after, head)
        self.flow.current = after

    def _do(self, node: Node) -> None:
        body, test, after = self.flow.location(), self.flow.location(), self.flow.location()
        self._start_head(body, node)
        self._loop_body(field_of(node, "body"), body, after, test)
        self.flow.current = test
        self.branch(field_of(node, "condition"), body, after)
        self.flow.current = after

    def _for(self, node: Node) -> None:
        self.names.enter()
        depth = len(self.cleanups)
        initialiser = node.child_by_field_name("initializer")
        if initialiser is not None:
            if initialiser.type == "declaration":
                self.declaration(initialiser)
            else:
                self.discard(initialiser)
        head, body, step, after = (self.flow.location() for _ in range(4))
        self._start_head(head, node)
        condition, update = node.child_by_field_name("condition"), node.child_by_field_name("update")
        if condition is None:
            self.flow.go(body)
        else:
            self.branch(condition, body, after)
        self._loop_body(field_of(node, "body"), body, after, step)
        self.flow.current = step
        if update is not None:
            self.discard(update)
        self.flow.go(head)
        self.flow.current = after
        self.leave_scope(depth, node)
        self.names.leave()

    def _switch(self, node: Node) -> None:
        value = self.value(field_of(node, "condition"))
        value = operators.convert(value, promote(value.type))
        body, after = field_of(node, "body"), self.flow.location()
        default = after
        for case in _cases(body):
            label = self.flow.location()
            self._cases[case.start_byte] = label
            tested = case.child_by_field_name("value")
            if tested is None:
                default = label
            else:
                self._test_case(value, case, tested, label)
        self.flow.go(default)
        self._breaks.append(after)
        self.leads_out(after)
        self._block_of(body)
        self._breaks.pop()
        self.flow.go(after)
        self.flow.current = after

    def _test_case(self, value: ir.Expr, case: Node, tested: Node, label: int) -> None:
        """`value == tested` goes to the label; `tested ... last` is two tests. `value` is promoted."""
        other = self.flow.location()
        last = self.tree.case_ends.get(case.start_byte)
        start = self._case_constant(tested, value.type)
        if last is None:
            self._decide(operators.binary("==", value, start, self.model, self.layout.size), tested, label, other)
        else:
            above = self.flow.location()
            self._decide(operators.binary(">=", value, start, self.model, self.layout.size), tested, above, other)
            self.flow.current = above
            end = self._case_constant(last, value.type)
            self._decide(operators.binary("<=", value, end, self.model, self.layout.size), tested, label, other)
        self.flow.current = other

    def _case_constant(self, node: Node, controlling: Type) -> ir.Expr:
        """The constant of a label, converted to the promoted type of the controlling expression (C11 6.8.4.2p5)."""
        return operators.convert(operators.constant(self.value(node)), controlling)

    def _decide(self, condition: ir.Expr, node: Node, yes: int, no: int) -> None:
        constant = operators.constant_truth(condition)
        if constant is None:
            self.branch_value(condition, node, yes, no)
        else:
            self.flow.go(yes if constant else no)

    def _case(self, node: Node) -> None:
        label = self._cases.get(node.start_byte)
        if label is None:
            raise RefusedError("case outside switch")
        self.flow.join(label)
        self.flow.label()
        value = node.child_by_field_name("value")
        for child in children(node):
            if child != value:
                self.statement(child)

    def _label(self, name: str) -> int:
        if name not in self._labels:
            self._labels[name] = self.flow.location()
            self.flow.keep_apart(self._labels[name])
        return self._labels[name]

    def _start_label(self, node: Node) -> None:
        name = self.source(field_of(node, "label"))
        if self._labelled.setdefault(name, node.start_byte) != node.start_byte:  # local labels of GNU C, of two blocks
            self.ambiguous_label = name
        self.flow.join(self._label(name), node.start_byte)
        self.flow.label()

    def _start_head(self, head: int, node: Node) -> None:
        """Control goes on at the head of a loop, or at a label, apart from other heads: who counts the rounds of a loop counts
        jumps back to its head."""
        self.flow.keep_apart(head)
        self.flow.join(head, node.start_byte)

    def _labeled(self, node: Node) -> None:
        self._start_label(node)
        for child in children(node)[1:]:
            self.statement(child)

    def _goto(self, node: Node) -> None:
        if node.start_byte in self.tree.computed_gotos:
            self._computed_goto(node)
            return
        self.order.jumps += 1
        name = self.source(field_of(node, "label"))
        self.leave_for_label(name, node)
        self.flow.go(self._label(name))

    def _computed_goto(self, node: Node) -> None:
        """Which label the operand is the address of is not followed. What looks for defects goes on at all of them, over an edge
        behind which nothing is proved or confirmed."""
        self.emit(ir.Unsupported("computed goto"), node)
        if self._computed is None:
            self._computed = self.flow.location()
            self.flow.keep_apart(self._computed)
        self.order.jumps += 1
        self.flow.join(self._computed)
        self.flow.stop()

    def label_address(self, name: str) -> ir.Expr:
        """`&&name` (GCC manual, "Labels as Values"): no two labels of a function have to differ, so that it can be any value."""
        self._addressed[name] = None
        return ir.Unknown(Pointer(VOID))

    def end_jumps(self, body: Node) -> None:
        """Lets the computed gotos of a body lead to each label whose address is taken in it; no other one may be meant."""
        if self._computed is not None:
            self.flow.current = self._computed
            for name in self._addressed:
                self.flow.edge_to(self._label(name), ir.Assume(ir.IntConst(1, INT), True), body.start_byte, body.start_byte)
            self.flow.stop()

    def _jump(self, targets: list[int], node: Node) -> None:
        if not targets:
            raise RefusedError(f"{node.type.split('_')[0]} outside a loop")
        self.order.jumps += 1
        self.leave_for(targets[-1], node)
        self.flow.go(targets[-1])

    def _return(self, node: Node) -> None:
        given = children(node)
        value: ir.Expr | None = None
        if given:
            if self.result_type is None or isinstance(self.result_type, Void):
                self.discard(given[0])
            else:
                value = operators.convert(self.value(given[0]), self.result_type)
        if value is not None and self.cleanups:  # which may change what the value is computed from
            result = self.temporary(value.type)
            self.emit(ir.Assign(result, value), node)
            value = result
        self.leave_all(node)
        self.flow.edge_to(self.exit, ir.Return(value), node.start_byte, node.end_byte)
        self.flow.stop()


def _all(node: Node) -> Iterator[Node]:
    """A node and all in it."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        yield here
        waiting += here.named_children


def _cases(node: Node) -> Iterator[Node]:
    """The case and default labels of a switch, in source order, without those of switches inside it."""
    for child in node.named_children:
        kind = child.type
        if kind == "case_statement":
            yield child
        if (kind.endswith("_statement") and kind != "switch_statement") or kind == "else_clause":
            yield from _cases(child)


# a table of the class, not of each object: see `expressions`
_STATEMENTS: dict[str, Callable[[Statements, Node], None]] = {
    "compound_statement": Statements._block,
    "expression_statement": Statements._expression_statement,
    "declaration": Statements.declaration,
    "type_definition": Statements.declaration,
    "if_statement": Statements._if,
    "while_statement": Statements._while,
    "do_statement": Statements._do,
    "for_statement": Statements._for,
    "switch_statement": Statements._switch,
    "case_statement": Statements._case,
    "labeled_statement": Statements._labeled,
    "goto_statement": Statements._goto,
    "break_statement": lambda self, node: self._jump(self._breaks, node),
    "continue_statement": lambda self, node: self._jump(self._continues, node),
    "return_statement": Statements._return,
    "preproc_if": Statements._preprocessor_choice,
    "preproc_ifdef": Statements._preprocessor_choice,
    "attributed_statement": lambda self, node: self.statement(children(node)[-1]),
}
