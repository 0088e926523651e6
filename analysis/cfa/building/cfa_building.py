"""From one function's syntax to its CFA and the table of its sites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from analysis.cfa.addresses_taken import taken_among
from analysis.cfa.graph import Cfa, Edge, FunctionSource
from analysis.frontend.declarations.declarators import Declarator
from analysis.frontend.declarations.scope import Answer, FileScope, Names
from analysis.frontend.lowering.context import TOO_DEEP, MisreadError, StaticLocal
from analysis.frontend.lowering.earlier_values import earlier_values
from analysis.frontend.lowering.flow import Flow
from analysis.frontend.lowering.lowered import Lowering
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.syntax.parser import Node, SyntaxTree
from analysis.model import ir
from analysis.model.c_types import DataModel, Function, RecordDefinition
from analysis.model.digest import digest_value
from analysis.model.limits import Limits
from analysis.model.places import Site
from analysis.model.unordered import Unordered

PASSED_DECLARATION = ", whose declaration a jump may pass"
"""How the reason ends that an edge has there."""


class LoweredFunction(msgspec.Struct, frozen=True):
    """A function's CFA and what lowering it found out besides.

    `used` are the file-level answers that the lowering rests on; `text_key` is a digest of its text. The same key and
    answers mean the same CFA. `implicit` and `externs` are what it calls or names without a declaration at file level.
    """

    cfa: Cfa
    source: FunctionSource
    text_key: str
    used: dict[tuple[str, str], Answer]
    statics: tuple[StaticLocal, ...] = ()
    implicit: tuple[ir.Var, ...] = ()
    externs: tuple[ir.Var, ...] = ()
    records: dict[str, RecordDefinition] = {}
    address_taken: frozenset[str] = frozenset()


class FunctionPart(msgspec.Struct, frozen=True):
    """A function definition in the tree, its declarator read: what `build_function` starts from."""

    node: Node
    name: str
    linkage: str
    declarator: Declarator
    text_key: str


def build_function(
    part: FunctionPart, tree: SyntaxTree, file: FileScope, model: DataModel, path: str, limits: Limits
) -> LoweredFunction:
    """Lowers one function definition that has no syntax errors. Never fails: see ir.Unsupported."""
    names = Names(file, part.name)
    lowering = Lowering(tree, names, model, path, limits)
    type_ = part.declarator.type
    if not isinstance(type_, Function):
        raise ValueError(f"{part.name} is no function")
    node = part.node
    try:
        parameters = lowering.function_body(node, type_, part.declarator.parameters)
    except (RefusedError, MisreadError, RecursionError) as refused:  # in the parameters; statements look after themselves
        parameters = ()
        reason = TOO_DEEP if isinstance(refused, RecursionError) else str(refused) or "parameters"
        lowering.flow.current = lowering.flow.entry
        lowering.emit(ir.Unsupported(reason), node)
    cfa, sites = _number(lowering, part, type_, parameters, path)
    return LoweredFunction(
        cfa=cfa,
        source=function_source(part, tree, path, sites),
        text_key=part.text_key,
        used=names.used,
        statics=tuple(lowering.statics),
        implicit=tuple(lowering.implicit.values()),
        externs=tuple(lowering.local_externs.values()),
        records=names.records,
        address_taken=frozenset(lowering.address_taken),
    )


def function_source(part: FunctionPart, tree: SyntaxTree, path: str, sites: dict[int, Site]) -> FunctionSource:
    """Where the function's text is in this revision, with the sites of its edges."""
    start, end = part.node.start_byte, part.node.end_byte
    name = part.declarator.name_node or part.node
    return FunctionSource(
        unit=path,
        start=start,
        sites=sites,
        name_site=Site(name.start_byte - start, name.end_byte - start),
        end_site=Site(end - 1 - start, end - start),
    )


def _number(
    lowering: Lowering, part: FunctionPart, type_: Function, parameters: tuple[ir.Var, ...], path: str
) -> tuple[Cfa, dict[int, Site]]:
    """Numbers locations and edges in source order: the entry is 0, the exit 1."""
    flow, start = lowering.flow, part.node.start_byte
    numbers = {flow.find(flow.entry): 0}
    numbers.setdefault(flow.find(lowering.exit), 1)
    edges: list[Edge] = []
    sites: dict[int, Site] = {}
    inside: dict[int, tuple[int, ...]] = {}
    reachable = flow.reachable_edges()
    earlier = earlier_values(flow, reachable, lowering.names.blocks)
    for position, raw in enumerate(reachable):
        source = numbers.setdefault(raw.source, len(numbers))
        if position in earlier:
            numbers[~position] = between = len(numbers)
            effect = ir.Unsupported(f"{earlier[position]}{PASSED_DECLARATION}")
            sites[len(edges)] = Site(raw.start - start, raw.end - start)
            inside[len(edges)] = raw.blocks
            edges.append(Edge(len(edges), source, between, effect))
            source = between
        target = numbers.setdefault(raw.target, len(numbers))
        sites[len(edges)] = Site(raw.start - start, raw.end - start)
        inside[len(edges)] = raw.blocks
        edges.append(Edge(len(edges), source, target, raw.effect))
    blocks = _blocks(edges, lowering.names.blocks)
    unordered = tuple(_placed(lowering.order.groups, flow, numbers))
    parts: list[object] = [type_, parameters, [(e.source, e.target, e.effect) for e in edges]]
    if unordered:
        parts.append(unordered)
    digest = digest_value([*parts, sorted(blocks.items()), list(inside.values())] if blocks else parts)
    cfa = Cfa(
        name=part.linkage,
        path=path,
        type_=type_,
        parameters=parameters,
        entry=0,
        exit_=numbers[flow.find(lowering.exit)],
        edges=tuple(edges),
        digest=digest,
        blocks=blocks,
        inside=inside if blocks else None,
        unordered=unordered,
    )
    return cfa, sites


def _placed(groups: Iterable[Unordered], flow: Flow, numbers: Mapping[int, int]) -> Iterator[Unordered]:
    """The unordered operands that control comes to, with their locations as they are numbered."""
    for group in groups:
        location, end = flow.find(group.location), -1 if group.end < 0 else flow.find(group.end)
        if location in numbers:
            yield Unordered(numbers[location], group.operands, -1 if end == location else numbers.get(end, -1))


def _blocks(edges: Sequence[Edge], placed: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """The blocks of variables (graph.Cfa), if anything could outlive one of them: an address in an inner block."""
    if not any(placed.values()):
        return {}
    parts = [part for edge in edges for expr in ir.expressions(edge.effect) for part in ir.walk(expr)]
    if not any(placed.get(var.name) for var in taken_among(parts)):
        return {}
    named = {part.name for part in parts if isinstance(part, ir.Var)}
    return {name: block for name, block in placed.items() if name in named and (block or name.startswith("$"))}
