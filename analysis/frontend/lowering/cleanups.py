"""Variables whose scope ends with a call: `__attribute__((cleanup(f)))` (GCC manual, "Common Variable Attributes").

The call gets the address of the variable, and comes wherever control leaves its scope: at the end of its block, and before a
`return`, `break`, `continue` or `goto` that leads out. Nothing is proved of such a function (`c.attributes`), since what a
`longjmp` or a computed `goto` leaves is not followed. The calls are for those who look for defects: without them, each block that
is freed so would be a leak.
"""

from __future__ import annotations

from typing import NamedTuple

from analysis.frontend.declarations.attribute_reading import attributes
from analysis.frontend.declarations.scope import ObjectEntry
from analysis.frontend.lowering import operators
from analysis.frontend.lowering.context import Context
from analysis.frontend.syntax.parser import Node
from analysis.model import ir
from analysis.model.c_types import Function

_BLOCKS = frozenset(("compound_statement", "for_statement"))
_NOT_AUTOMATIC = frozenset(("typedef", "extern", "static"))


class _Cleanup(NamedTuple):
    """A variable in scope, the function that is called for it, and where its scope begins and ends."""

    variable: ir.Var
    function: ir.Var
    noreturn: bool
    start: int
    end: int


class Cleanups(Context):
    """The variables in scope with such an attribute, those that were declared last at the end. `body` is that of the function."""

    def __init__(self, *args: object, **named: object) -> None:
        super().__init__(*args, **named)  # type: ignore[arg-type]
        self.cleanups: list[_Cleanup] = []
        self.body: Node | None = None
        self._depths: dict[int, int] = {}  # of places that jumps lead to: the number of cleanups in whose scope they are
        self._labels_at: dict[str, int] = {}

    def note_cleanup(self, name: str, storage: frozenset[str], called: str, declarator: Node) -> None:
        """The variable of this name was declared with the attribute, whose argument is `called`."""
        variable, function = self.names.lookup(name), self.names.lookup(called.strip())
        if (
            not storage.isdisjoint(_NOT_AUTOMATIC)
            or not isinstance(variable, ObjectEntry)
            or not isinstance(function, ObjectEntry)
        ):
            return
        block = declarator.parent
        while block is not None and block.type not in _BLOCKS:
            block = block.parent
        if block is not None and isinstance(function.var.type, Function) and not isinstance(variable.var.type, Function):
            scope = declarator.start_byte, block.end_byte
            self.cleanups.append(_Cleanup(variable.var, function.var, function.noreturn, *scope))

    def cleanup_of(self, beside: list[tuple[int, bytes]], declarator: Node, first: int) -> str:
        """The function that is called for what a declarator declares, by the attributes beside its declaration; empty if there is
        none. What stands before the `first` declarator is about all of them (GCC manual, "Attribute Syntax")."""
        value = declarator.child_by_field_name("value")
        before, after = declarator.prev_sibling, declarator.next_sibling
        begins = declarator.start_byte if before is None or before.type != "," else before.end_byte
        ends = value.start_byte if value is not None else declarator.end_byte if after is None else after.start_byte
        texts = [text for start, text in beside if start < first or begins <= start < ends]
        return next((one.arguments for one in attributes(texts) if one.name == "cleanup"), "")

    def leave_scope(self, depth: int, node: Node) -> None:
        """Control comes to the end of a block, before which there were so many cleanups."""
        self._call(self.cleanups[depth:], node.end_byte - 1, node.end_byte)
        del self.cleanups[depth:]

    def leave_all(self, node: Node) -> None:
        """Control leaves the function."""
        self._call(self.cleanups, node.start_byte, node.end_byte)

    def leads_out(self, *places: int) -> None:
        """Jumps to these places lead out of the scope of what is declared from now on."""
        self._depths.update(dict.fromkeys(places, len(self.cleanups)))

    def leave_for(self, place: int, node: Node) -> None:
        """Control jumps to a place."""
        self._call(self.cleanups[self._depths.get(place, len(self.cleanups)) :], node.start_byte, node.end_byte)

    def leave_for_label(self, name: str, node: Node) -> None:
        """Control jumps to a label: out of the scopes that it is not in."""
        at = self._place_of(name) if self.cleanups else None
        if at is not None:
            stays = next((number for number, one in enumerate(self.cleanups) if not one.start < at < one.end), len(self.cleanups))
            self._call(self.cleanups[stays:], node.start_byte, node.end_byte)

    def _place_of(self, name: str) -> int | None:
        """Where a label is in the body of the function."""
        waiting = [] if self._labels_at or self.body is None else [self.body]
        while waiting:
            here = waiting.pop()
            label = here.child_by_field_name("label") if here.type == "labeled_statement" else None
            if label is not None:
                self._labels_at[self.source(label)] = here.start_byte
            waiting += here.named_children
        return self._labels_at.get(name)

    def _call(self, ended: list[_Cleanup], start: int, end: int) -> None:
        for one in reversed(ended):
            address = operators.address(one.variable)
            parameters = one.function.type.parameters if isinstance(one.function.type, Function) else ()
            given = operators.convert(address, parameters[0]) if parameters else address
            self.flow.emit(ir.Call(one.function, (given,), None), start, end)
            if one.noreturn:
                self.flow.stop()
