"""Control-flow automata, and the program that links them.

A CFA has integer locations and edges with exactly one effect each: an assignment, a branch condition, a call,
a return, or what is not supported. Locations and edges have ids that survive edits: `cfa.revisions.match` gives the CFA
of a new revision the ids of the old one wherever they correspond. Nothing here knows where text is (invariant
I3); `FunctionSource` does, in a table of its own.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple, Protocol

import msgspec

from analysis.c.functions import Function, described, known
from analysis.model import c_types, ir
from analysis.model.compatible import fits, is_compatible
from analysis.model.places import Place, Site
from analysis.model.unordered import Unordered


class Edge(msgspec.Struct, frozen=True):
    """An edge from location `source` to location `target`; `id` is unique in the function and survives edits."""

    id: int
    source: int
    target: int
    effect: ir.Effect


class Cfa:
    """The control-flow automaton of one function. Immutable after construction.

    `name` is the linkage name (`f`, or `file.c::f` for a static function), `path` the file of the definition as
    the user gave it. `edges` are in source order. `digest` depends on the parameters and the graph up to the
    numbering of ids, and on nothing else: not on layout, comments or position.

    `blocks` has, for each local variable that is gone before the function ends, the blocks around its declaration, outermost
    first, by numbers that mean nothing else (C11 6.2.4p5); of temporaries those that are objects or values of statement
    expressions. `inside` has the blocks around each edge, by its id, numbered alike. Both are empty where no address is taken of
    any such variable, as they say nothing then.

    `unordered` has the operands whose order C leaves open, where it could matter (`cfa.linking.open_order` tells whether it
    does).

    `next_location` and `next_edge` are above every id that the function had in any revision so far, so that no retired id is
    given out again; `follows` is the CFA of the revision before that the ids were taken from, while it is alive.

    `unobstructed` is the same function without the edge `Unsupported` that leads from its entry to all the rest, if
    `cfa.linking.obstructed` put one there; None else. All edges have the same ids in it.
    """

    def __init__(
        self,
        *,
        name: str,
        path: str,
        type_: c_types.Function,
        parameters: tuple[ir.Var, ...],
        entry: int,
        exit_: int,
        edges: tuple[Edge, ...],
        digest: str,
        next_location: int | None = None,
        next_edge: int | None = None,
        blocks: Mapping[str, tuple[int, ...]] | None = None,
        inside: Mapping[int, tuple[int, ...]] | None = None,
        unordered: tuple[Unordered, ...] = (),
        unobstructed: Cfa | None = None,
    ) -> None:
        self.name = name
        self.path = path
        self.type = type_
        self.parameters = parameters
        self.entry = entry
        self.exit = exit_
        self.edges = edges
        self.digest = digest
        self.blocks: Mapping[str, tuple[int, ...]] = blocks or {}
        self.inside: Mapping[int, tuple[int, ...]] = inside or {}
        self.unordered = unordered
        self.next_location = self.locations[-1] + 1 if next_location is None else next_location
        self.next_edge = max((edge.id for edge in edges), default=-1) + 1 if next_edge is None else next_edge
        self.unobstructed = unobstructed
        self._follows: weakref.ref[Cfa] | None = None

    @property
    def follows(self) -> Cfa | None:
        """The CFA that `match` took the ids from, None if there is none or it is gone."""
        return None if self._follows is None else self._follows()

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_follows": None, "unobstructed": None}

    def renumbered(
        self,
        entry: int,
        exit_: int,
        edges: tuple[Edge, ...],
        next_location: int,
        next_edge: int,
        follows: Cfa,
        names: Mapping[str, str],
        unordered: tuple[Unordered, ...],
    ) -> Cfa:
        """The same CFA with other ids, taken from `follows`, and other `names` of variables; for `cfa.revisions.match`."""
        copy = Cfa(
            name=self.name,
            path=self.path,
            type_=self.type,
            parameters=self.parameters,
            entry=entry,
            exit_=exit_,
            edges=edges,
            digest=self.digest,
            next_location=next_location,
            next_edge=next_edge,
            blocks={names.get(name, name): block for name, block in self.blocks.items()},
            inside={new.id: self.inside[old.id] for old, new in zip(self.edges, edges, strict=True) if old.id in self.inside},
            unordered=unordered,
        )
        copy._follows = weakref.ref(follows)
        return copy

    def with_edges(self, edges: tuple[Edge, ...], inside: Mapping[int, tuple[int, ...]] | None = None) -> Cfa:
        """The function with other edges, and the blocks around them, if these are others; the digest stays that of its own."""
        return Cfa(
            name=self.name,
            path=self.path,
            type_=self.type,
            parameters=self.parameters,
            entry=self.entry,
            exit_=self.exit,
            edges=edges,
            digest=self.digest,
            blocks=self.blocks,
            inside=self.inside if inside is None else inside,
            unordered=self.unordered,
        )

    @cached_property
    def outgoing(self) -> Mapping[int, tuple[Edge, ...]]:
        """The edges that leave each location, in source order; locations without any are absent."""
        table: dict[int, list[Edge]] = {}
        for edge in self.edges:
            table.setdefault(edge.source, []).append(edge)
        return {location: tuple(edges) for location, edges in table.items()}

    @cached_property
    def incoming(self) -> Mapping[int, tuple[Edge, ...]]:
        """The edges that enter each location, in source order; locations without any are absent."""
        table: dict[int, list[Edge]] = {}
        for edge in self.edges:
            table.setdefault(edge.target, []).append(edge)
        return {location: tuple(edges) for location, edges in table.items()}

    @cached_property
    def parts(self) -> Mapping[int, tuple[ir.Expr, ...]]:
        """The expressions of each edge and all their subexpressions, by the edge's id, operands first; each part once."""
        table: dict[int, tuple[ir.Expr, ...]] = {}
        for edge in self.edges:
            found: dict[int, ir.Expr] = {}
            for expr in ir.expressions(edge.effect):
                found.update((id(part), part) for part in ir.walk(expr))
            table[edge.id] = tuple(found.values())
        return table

    @cached_property
    def by_id(self) -> Mapping[int, Edge]:
        """The edges by id."""
        return {edge.id: edge for edge in self.edges}

    @cached_property
    def positions(self) -> Mapping[int, int]:
        """The place of each edge in source order, by its id. Unlike ids, places do not depend on earlier revisions."""
        return {edge.id: place for place, edge in enumerate(self.edges)}

    @cached_property
    def locations(self) -> tuple[int, ...]:
        """All locations, ascending."""
        found = {self.entry, self.exit}
        for edge in self.edges:
            found.add(edge.source)
            found.add(edge.target)
        return tuple(sorted(found))

    @cached_property
    def reverse_postorder(self) -> Mapping[int, int]:
        """The place of each location that is reached from the entry in the reverse postorder of a depth-first search: before
        all that comes after it, loops aside. Forward analyses that go by it come to rest soonest."""
        left: list[int] = []
        seen = {self.entry}
        stack = [(self.entry, iter(self.outgoing.get(self.entry, ())))]
        while stack:
            location, edges = stack[-1]
            target = next((edge.target for edge in edges if edge.target not in seen), None)
            if target is None:
                left.append(location)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(self.outgoing.get(target, ()))))
        return {location: place for place, location in enumerate(reversed(left))}

    @cached_property
    def unsupported(self) -> tuple[Edge, ...]:
        """The edges that lowering does not model."""
        return tuple(edge for edge in self.edges if isinstance(edge.effect, ir.Unsupported))

    @cached_property
    def calls(self) -> tuple[Edge, ...]:
        """The edges whose effect is a call."""
        return tuple(edge for edge in self.edges if isinstance(edge.effect, ir.Call))


class FunctionSource(msgspec.Struct, frozen=True):
    """Where one function's text is in the present revision. Changes with every edit above it; holds no analysis data.

    `start` is the byte offset of the function in the preprocessed text of translation unit `unit`; `sites` maps
    edge ids to sites relative to it; `name_site` is the function's name in its definition, `end_site` its closing brace.
    """

    unit: str
    start: int
    sites: dict[int, Site]
    name_site: Site
    end_site: Site


class Global(msgspec.Struct, frozen=True, cache_hash=True, weakref=True):
    """A variable with static storage. `initial` is the constant that it starts with: its initialiser where that
    is a scalar constant or an address, `Zero` or 0 when there is none, `Unknown` when it is defined nowhere in the program.

    `parts`: where `initial` is `Unknown` because the initialiser is an array's or record's, what it does, in order: the whole is
    `Zero`, then parts get their values. Empty for a variable that is defined nowhere, and where the constants are not known.
    `constant`: it is declared `const`, so that writing to it is undefined (C11 6.7.3p6). `open`: it has an initialiser whose
    value is not known, so that it does not start with just any value.
    """

    var: ir.Var
    path: str
    initial: ir.Expr
    parts: tuple[ir.Assign, ...] = ()
    constant: bool = False
    open: bool = False


class External(msgspec.Struct, frozen=True):
    """A function that is declared or called but not defined in the program.

    `noreturn` and `nonnull` (argument indices from 0) come from attributes and `_Noreturn`, or from a contract of the project;
    `system` says that it is the system's: declared in a header of it, or by the name and type of a function of the C library
    (`analysis.c.declared.is_library`). `row` is what a contract of the project says of it, as a row like those
    of `analysis.c.functions`; empty if there is none. `guess` is a row that the declarations of the program make likely
    (`linking.allocator_pairs`).
    """

    name: str
    type: c_types.Function
    noreturn: bool = False
    nonnull: tuple[int, ...] = ()
    system: bool = False
    row: str = ""
    guess: str = ""

    @property
    def contract(self) -> Function | None:
        """What a contract of the project says of the function; None if there is none."""
        return described(self.row) if self.row else None

    @property
    def believed(self) -> Function | None:
        """What a contract says of the function, or else what is likely: good for finding defects, and for no proof."""
        row = self.row or self.guess
        return described(row) if row else None


class Reached(NamedTuple):
    """The functions that a call through a pointer can reach, and those of them that the program assigns to the pointer: others
    can get there from outside, or by their types. In alphabetical order."""

    targets: tuple[str, ...]
    assigned: tuple[str, ...]


class Program:
    """One revision of a whole program: the linked CFAs of all its translation units. Immutable.

    `address_taken` are the names of functions whose address is used as a value anywhere (a static initialiser
    included); a call through a pointer can reach those of a fitting type.

    `exposed`: this is a part of a program, and pointers that come from the rest of it may lead to these variables with static
    storage; None if it is no part (`analysis.cpa.obstacles.exposed_variables` says then which these are).

    `called`: what calls through pointers reach, where more is known of it than their types (`cfa.function_values`); None for all
    that proves something.

    `edges`: how many edges all functions have, where that is known; it is counted else.
    """

    def __init__(
        self,
        functions: Mapping[str, Cfa],
        globals_: Mapping[str, Global],
        externals: Mapping[str, External],
        records: Mapping[str, c_types.RecordDefinition],
        address_taken: Iterable[str],
        exposed: frozenset[str] | None = None,
        called: Mapping[ir.Call, Reached] | None = None,
        edges: int | None = None,
    ) -> None:
        self.exposed = exposed
        self.called = called
        self.functions = dict(functions)
        self.globals = dict(globals_)
        self.externals = dict(externals)
        self.records = dict(records)
        self.address_taken = frozenset(address_taken)
        self._edges = edges
        self._fitting: dict[c_types.Type, tuple[str, ...]] = {}

    def targets(self, call: ir.Call) -> tuple[str, ...]:
        """The names of the functions that the call can reach, defined or external, in alphabetical order.

        A direct call reaches the function it names. A call through a pointer reaches every function whose
        address is taken and whose type is compatible with the pointer's; where there is none, those whose type fits it well
        enough (model.compatible).
        """
        direct = ir.direct_callee(call)
        if direct is not None:
            return (direct,)
        if self.called is not None and (reached := self.called.get(call)) is not None:
            return reached.targets
        type_ = getattr(call.callee, "type", None)
        if isinstance(type_, c_types.Pointer):
            type_ = type_.target
        if not isinstance(type_, c_types.Function):
            return ()
        if type_ not in self._fitting:
            types = {name: known for name in sorted(self.address_taken) if (known := self.function_type(name)) is not None}
            exact = tuple(name for name, known in types.items() if is_compatible(type_, known))
            self._fitting[type_] = exact or tuple(name for name, known in types.items() if fits(type_, known))
        return self._fitting[type_]

    def only_target(self, call: ir.Call) -> str | None:
        """The one function that the call can reach: the one that it names, or the only one that the program assigns to the
        pointer. What others assign to it from outside is not known."""
        assigned = self.assigned(call)
        return assigned[0] if len(assigned) == 1 else None

    def assigned(self, call: ir.Call) -> tuple[str, ...]:
        """The function that a call names, or all that the program assigns to its pointer, in alphabetical order, if it is known
        through which values they come."""
        direct = ir.direct_callee(call)
        if direct is not None:
            return (direct,)
        reached = None if self.called is None else self.called.get(call)
        return () if reached is None else reached.assigned

    def known(self, name: str) -> Function | None:
        """What an external function does, by the table of library functions or a contract of the project; None if nothing is
        known of it, or if the program defines a function of that name."""
        if name in self.functions:
            return None
        external = self.externals.get(name)
        return known(name) or (None if external is None else external.contract)

    def believed(self, name: str) -> Function | None:
        """The same, or what is likely of it (`External.believed`)."""
        if name in self.functions:
            return None
        external = self.externals.get(name)
        return known(name) or (None if external is None else external.believed)

    def knows(self, name: str) -> bool:
        """Whether it is known of an external function all that it does."""
        function = self.known(name)
        return function is not None and function.is_complete

    @property
    def edges(self) -> int:
        """How many edges all functions have."""
        if self._edges is None:
            self._edges = sum(map(len, map(attrgetter("edges"), self.functions.values())))
        return self._edges

    @cached_property
    def contracts(self) -> tuple[Function, ...]:
        """What contracts of the project say of external functions, by name."""
        rows = sorted(external.row for external in self.externals.values() if external.row)  # each begins with the name
        return tuple(map(described, rows))

    def without_contracts(self) -> Program:
        """The program as if no contract of the project said what external functions do; the same one where none does."""
        if not self.contracts:
            return self
        externals = {name: msgspec.structs.replace(one, row="") for name, one in self.externals.items()}
        return Program(self.functions, self.globals, externals, self.records, self.address_taken, self.exposed)

    def function_type(self, name: str) -> c_types.Function | None:
        """The type of a defined or declared function."""
        if name in self.functions:
            return self.functions[name].type
        external = self.externals.get(name)
        return None if external is None else external.type


class Places(Protocol):
    """Resolves edges to places in the user's files, for one revision; made by `cfa.edge_places` over the front end's maps."""

    def place(self, function: str, edge_id: int) -> Place:
        """The place of an edge."""

    def name_place(self, function: str) -> Place:
        """The place of the function's name in its definition."""

    def end_place(self, function: str) -> Place:
        """The place of the function's closing brace."""

    def source(self, function: str) -> tuple[bytes, FunctionSource]:
        """The preprocessed text of the file with the function's definition, and where that is in it."""

    def written(self, function: str, edge_id: int) -> str | None:
        """What stands at the place of an edge, in one line, with `case` before a label; None in the expansion of a macro, or
        where it is not in one piece."""

    def version(self, function: str) -> object:
        """Something that is the same object as long as no place in the function can be another."""
