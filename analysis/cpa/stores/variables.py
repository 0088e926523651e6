"""What the value domains know of a program's variables without running it: types by root, which addresses are taken, liveness.

A local variable is *live* at a location if its value there can be read later in this activation (Aho, Lam, Sethi and Ullman,
section 9.2.5). A value that is not live is forgotten, so that states that differ in nothing that matters are equal. Variables
whose address is taken are always live.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.c.layout import Layout
from analysis.cfa.addresses_taken import pointed_statics, taken_by
from analysis.cfa.graph import Cfa, Program
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.cpa.stores.scalar_values import Value, bits_of
from analysis.cpa.stores.store_memory import Contents, Store
from analysis.model import ir
from analysis.model.c_types import DataModel, Type

RESULT = "<result>"


def local_root(function: str, depth: int, name: str) -> str:
    """Returns the root name of a local variable, in one activation of its function."""
    return f"{function}#{depth}:{name}"


def global_root(name: str) -> str:
    """The root of a variable with static storage."""
    return f"@{name}"


class Variables:
    """The variables of one program; if it is not `whole`, code that is not known has the addresses of all its globals that are
    not static."""

    def __init__(self, program: Program, model: DataModel, whole: bool) -> None:
        self.program = program
        self._whole = whole
        self.layout = Layout(model, lambda key: program.records.get(key))
        self.pointer_bits = model.pointer_bits
        self._locals: dict[str, Mapping[str, Type]] = {}
        self._live: dict[str, Mapping[int, frozenset[str]]] = {}
        self._types: dict[str, Type | None] = {}
        self._sizes: dict[str, int | None] = {}

    def of_function(self, function: str) -> Mapping[str, Type]:
        """The parameters, local variables and temporaries that the function's code mentions, with their types."""
        found = self._locals.get(function)
        if found is None:
            cfa = self.program.functions[function]
            table = {var.name: var.type for var in cfa.parameters}
            table.update({var.name: var.type for var in _mentioned(cfa) if var.scope not in ("global", "function")})
            table[RESULT] = cfa.type.result
            found = self._locals[function] = table
        return found

    def type_of(self, root: str) -> Type | None:
        """The type of the variable that a root names; None for other roots."""
        if root in self._types:
            return self._types[root]
        found: Type | None = None
        if root[0] == "@":
            known = self.program.globals.get(root[1:])
            found = None if known is None else known.var.type
        elif "#" in root and root[0] not in '"*' and not root.startswith("new "):
            function, _, name = root.rpartition("#")
            found = self.of_function(function).get(name.partition(":")[2])
        self._types[root] = found
        return found

    def size_of(self, root: str) -> int | None:
        """The size of the object in bytes, None if it is not known."""
        if root not in self._sizes:
            type_ = self.type_of(root)
            self._sizes[root] = None if type_ is None else self.layout.size(type_)
        return self._sizes[root]

    def load(self, store: Store, root: str, bit: int, width: int) -> Value:
        """What the store knows of a cell."""
        found: Any = store.map.get(root)
        if found is None:
            return None
        if type(found) is Contents:
            return found.get(bit, width)
        whole = self.type_of(root)
        fits = bit == 0 and whole is not None and bits_of(whole, self.pointer_bits) == width
        value: Value = found
        return value if fits else None

    def is_taken(self, root: str) -> bool:
        """Whether a pointer that the analysis does not know could point into the object: all but variables whose address is never
        taken."""
        if root[0] == "@":
            is_pointed = root[1:] in pointed_statics(self.program) or root[1:] in exposed(self.program)
            return is_pointed or not (self._whole or "::" in root)
        if self.type_of(root) is None:
            return True
        function, _, name = root.rpartition("#")
        return name.partition(":")[2] in self.taken(function)

    def taken(self, function: str) -> frozenset[str]:
        """The variables of a function whose address it takes."""
        return taken_by(self.program.functions[function]).own

    def live(self, function: str) -> Mapping[int, frozenset[str]]:
        """The variables of the function that are live at each of its locations."""
        found = self._live.get(function)
        if found is None:
            found = self._live[function] = _liveness(self.program.functions[function], self.taken(function))
        return found


def _mentioned(cfa: Cfa) -> Iterator[ir.Var]:
    for edge in cfa.edges:
        for part in cfa.parts[edge.id]:
            if isinstance(part, ir.Var):
                yield part


def _liveness(cfa: Cfa, taken: frozenset[str]) -> Mapping[int, frozenset[str]]:
    effects = {edge.id: _uses(edge.effect) for edge in cfa.edges}
    live: dict[int, frozenset[str]] = dict.fromkeys(cfa.locations, taken)
    waiting = dict.fromkeys(sorted(cfa.locations, key=lambda x: -cfa.reverse_postorder.get(x, 0)))
    while waiting:
        location = next(iter(waiting))
        del waiting[location]
        found = set(taken)
        for edge in cfa.outgoing.get(location, ()):
            used, written = effects[edge.id]
            found.update(used)
            found.update(name for name in live[edge.target] if name != written)
        if len(found) > len(live[location]):
            live[location] = frozenset(found)
            waiting.update(dict.fromkeys(edge.source for edge in cfa.incoming.get(location, ())))
    return live


def _uses(effect: ir.Effect) -> tuple[frozenset[str], str | None]:
    """The variables that an effect reads, and the one that it writes as a whole."""
    target = ir.target_of(effect)
    written = target.name if isinstance(target, ir.Var) and target.scope not in ("global", "function") else None
    used = {v.name for expr in ir.expressions_read(effect) for v in ir.variables(expr) if v.scope not in ("global", "function")}
    return frozenset(used), written
