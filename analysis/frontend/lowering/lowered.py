"""Lowering put together: one `Lowering` turns one function, or the declarations of a file, into effects."""

from __future__ import annotations

from analysis.c.attributes import strange_in_body
from analysis.frontend.declarations.attribute_reading import attributes, pragma_of
from analysis.frontend.declarations.scope import ObjectEntry
from analysis.frontend.declarations.types import adjust_parameter
from analysis.frontend.declarations.volatile import NONE, Levels
from analysis.frontend.lowering.calls import Calls
from analysis.frontend.lowering.conditions import Conditions
from analysis.frontend.lowering.expressions import Expressions
from analysis.frontend.lowering.initialisers import Initialisers
from analysis.frontend.lowering.statements import Statements
from analysis.frontend.syntax.parser import Node
from analysis.model import ir
from analysis.model.c_types import INT, Function, Type, Void


class Lowering(Statements, Conditions, Calls, Initialisers, Expressions):
    """All parts of lowering in one object; make one for each function."""

    def function_body(self, node: Node, type_: Function, parameters: Node | None) -> tuple[ir.Var, ...]:
        """Lowers a function definition into `flow`; returns its parameters."""
        self.result_type = type_.result
        self.names.enter()
        found = self._parameters(parameters)
        body = node.child_by_field_name("body")
        if body is not None:
            self.body = body
            self._look_at_attributes(body)
            for child in body.named_children:
                self.statement(child)
            self.leave_scope(0, body)
            self.flow.edge_to(self.exit, ir.Return(None), body.end_byte - 1, body.end_byte)
            self.end_jumps(body)
            strange = self.nested_function or (self.ambiguous_label and f"two labels named {self.ambiguous_label}")
            if strange:
                self.flow.begin_with(ir.Unsupported(strange), body.start_byte)
        self.names.leave()
        return found

    def _look_at_attributes(self, body: Node) -> None:
        """What is not understood inside a body can be about any of its statements."""
        start, end = body.start_byte, body.end_byte
        strange = strange_in_body(attributes(text for _, _, text in self.tree.attributes_in(start, end)))
        pragmas = (pragma_of(text).strange for _, _, text in self.tree.pragmas_in(start, end))
        strange = strange or next(filter(None, pragmas), "")
        if strange:
            self.emit(ir.Unsupported(strange), body)

    def _parameters(self, node: Node | None) -> tuple[ir.Var, ...]:
        if node is None:
            return ()
        old_style = {
            name: (type_, levels)
            for declaration in self.tree.old_style.get(node.start_byte, ())
            for name, type_, levels in self._old(declaration)
        }
        found: list[ir.Var] = []
        names_only = self.names_only(node)
        for child in node.named_children:
            if names_only and child.type in ("identifier", "parameter_declaration"):
                name = self.source(child)
                type_, levels = old_style.get(name, (INT, NONE))
            elif child.type == "parameter_declaration":
                declared = self.parameter(child)
                if declared.name is None and isinstance(declared.type, Void):
                    continue
                name, type_, levels = declared.name or "", declared.type, declared.volatile
            else:
                continue
            var = ir.Var(self.names.unique(name or "(unnamed)"), "parameter", type_)
            if name:
                self.names.declare(name, ObjectEntry(var, volatile=levels))
            found.append(var)
        return tuple(found)

    def _old(self, declaration: Node) -> list[tuple[str, Type, Levels]]:
        misread = self.misread_declaration(declaration)
        if misread is not None and misread[0].name is not None:
            return [(misread[0].name, adjust_parameter(misread[0].type), misread[0].volatile)]
        specifiers = self.specifiers(declaration)
        found = []
        for position, child in enumerate(declaration.children):
            if declaration.field_name_for_child(position) == "declarator":
                declared = self.declarator(child, specifiers.type, specifiers.volatile)
                if declared.name is not None:
                    found.append((declared.name, adjust_parameter(declared.type), declared.volatile))
        return found
