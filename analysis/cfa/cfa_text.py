"""CFAs and call graphs as text and as Graphviz, for `everproof dump` and for tests."""

from __future__ import annotations

from analysis.cfa.graph import Cfa, Program
from analysis.frontend.syntax.parser import Node, SyntaxTree
from analysis.model import ir
from analysis.model.spelling import spell_effect


def dump_cfa(cfa: Cfa) -> str:
    """One line an edge: `source -> target  effect`."""
    parameters = ", ".join(p.name for p in cfa.parameters)
    lines = [f"{cfa.name}({parameters}): entry {cfa.entry}, exit {cfa.exit}"]
    lines += [f"  {edge.source} -> {edge.target}  {effect_text(edge.effect)}" for edge in cfa.edges]
    return "\n".join(lines) + "\n"


def dot_cfa(cfa: Cfa) -> str:
    """The CFA for Graphviz."""
    lines = [f"digraph {quoted(cfa.name)} {{", "  node [shape=circle];", f"  {cfa.exit} [shape=doublecircle];"]
    lines += [f"  {edge.source} -> {edge.target} [label={quoted(effect_text(edge.effect))}];" for edge in cfa.edges]
    return "\n".join([*lines, "}"]) + "\n"


def dump_callgraph(program: Program) -> str:
    """One line a function: its name and what it can call, in the order of the calls."""
    lines = []
    for name, cfa in program.functions.items():
        lines.append(f"{name}: {', '.join(_callees(program, cfa))}".rstrip())
    return "\n".join(lines) + "\n"


def dot_callgraph(program: Program) -> str:
    """The call graph for Graphviz; external functions are dashed."""
    lines = ["digraph calls {"]
    lines += [f"  {quoted(name)};" for name in program.functions]
    called: dict[str, None] = {}
    edges = []
    for name, cfa in program.functions.items():
        for callee in _callees(program, cfa):
            called.setdefault(callee)
            edges.append(f"  {quoted(name)} -> {quoted(callee)};")
    lines += [f"  {quoted(name)} [style=dashed];" for name in called if name not in program.functions]
    return "\n".join([*lines, *edges, "}"]) + "\n"


def dump_ast(tree: SyntaxTree) -> str:
    """The syntax tree, one named node a line, indented by depth, leaves with their text."""
    lines: list[str] = []
    waiting: list[tuple[Node, int]] = [(tree.root, 0)]
    while waiting:
        node, depth = waiting.pop()
        inner = node.named_children
        text = "" if inner else " " + tree.text[node.start_byte : node.end_byte].decode("utf-8", "replace")
        lines.append(f"{'  ' * depth}{node.type}{text}")
        waiting.extend((child, depth + 1) for child in reversed(inner))
    return "\n".join(lines) + "\n"


def _callees(program: Program, cfa: Cfa) -> list[str]:
    found: dict[str, None] = {}
    for edge in cfa.calls:
        if isinstance(edge.effect, ir.Call):
            for name in program.targets(edge.effect):
                found.setdefault(name)
    return list(found)


def effect_text(effect: ir.Effect) -> str:
    """An effect in one line, conditions of branches in brackets."""
    text = spell_effect(effect)
    return f"[{text}]" if isinstance(effect, ir.Assume) else text


def quoted(text: str) -> str:
    """The text as a string of Graphviz."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
