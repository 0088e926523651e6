"""A program whose functions can be emptied and put back, as edits would do it: for `benchmarks.incremental`.

An emptied function keeps its name, type and parameters and returns 0, or nothing; all that the program has as a whole (globals,
declarations, whose address is taken) stays. Ids go from revision to revision by `cfa.revisions.match`, as they do in a session.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from analysis.cfa.building.cfa_building import LoweredFunction
from analysis.cfa.callgraph import callees, callers
from analysis.cfa.edge_places import ProgramPlaces
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cfa.linking.link import link
from analysis.cfa.revisions.match import match_function
from analysis.frontend.lowering.local_declarations import zero
from analysis.frontend.text.source_columns import FileMap
from analysis.model import ir
from analysis.model.c_types import Void
from analysis.model.digest import digest_value
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.rules.automaton import Rule
from analysis.rules.load import load_rules
from analysis.session.entries import choose_entries
from analysis.session.files.program_files import find_program
from analysis.session.files.texts import Texts
from analysis.session.units.program_units import Units
from benchmarks.sources import FetchError


class Traits(msgspec.Struct, frozen=True):
    """What may matter for the time of a step: edges, calls below the entry, numbers of callers and callees."""

    edges: int
    depth: int
    callers: int
    callees: int


class Edited:
    """One program, from revision to revision."""

    def __init__(
        self,
        program: Program,
        functions: Mapping[str, LoweredFunction],
        maps: Mapping[str, FileMap],
        rules: tuple[Rule, ...],
        entries: tuple[str, ...],
        limits: Limits,
        lines: int,
    ) -> None:
        self.program = program
        self.rules = rules
        self.entries = entries
        self.limits = limits
        self.lines = lines
        self._maps = maps
        self._whole = dict(functions)
        self._now = dict(functions)
        self.traits = _traits(program, entries)

    @property
    def places(self) -> ProgramPlaces:
        """Where the edges of the present revision are."""
        return ProgramPlaces({name: function.source for name, function in self._now.items()}, self._maps)

    def empty(self, names: Iterable[str]) -> None:
        """The next revision: the functions are stubs."""
        self._replace({name: stub(self._whole[name]) for name in names})

    def put_back(self, names: Iterable[str]) -> None:
        """The next revision: the functions are what they were at first, with new ids for what comes back."""
        self._replace({name: self._whole[name] for name in names})

    def is_empty(self, name: str) -> bool:
        """Whether a function is a stub as it is, so that emptying it changes nothing."""
        whole = self._whole[name]
        return stub(whole).cfa.digest == whole.cfa.digest

    def kept(self) -> tuple[Program, dict[str, LoweredFunction]]:
        """The present revision, for `go_back`."""
        return self.program, self._now

    def go_back(self, kept: tuple[Program, dict[str, LoweredFunction]]) -> None:
        """Forgets the revisions since."""
        self.program, self._now = kept

    def _replace(self, new: dict[str, LoweredFunction]) -> None:
        self._now = self._now | {name: match_function(function, self._now[name]) for name, function in new.items()}
        old = self.program
        functions = {name: function.cfa for name, function in self._now.items()}
        self.program = Program(functions, old.globals, old.externals, old.records, old.address_taken)


def read(commands: Path, entries: tuple[str, ...] = (), names: Sequence[str] = ()) -> Edited:
    """Reads the program of a compile_commands.json, or the named files of it. Raises FetchError."""
    options = Options(compile_commands=str(commands), entries=entries)
    found = find_program(names, options)
    units = Units(options, Texts(), jobs=1).revise(found.files, found.flags, None, None) or []
    linked = link([unit.kept.unit for unit in units])
    chosen, missing = choose_entries(linked.program, entries)
    if missing or not linked.program.functions:
        raise FetchError(missing[0].text if missing else f"{commands} names nothing that parses")
    functions: dict[str, LoweredFunction] = {}
    for unit in units:
        for function in unit.kept.unit.functions:
            name = function.cfa.name
            functions.setdefault(name, msgspec.structs.replace(function, cfa=linked.program.functions[name]))
    lines = sum(Path(path).read_bytes().count(b"\n") for path in found.files)
    maps = {unit.path: unit.places for unit in units}
    return Edited(linked.program, functions, maps, load_rules(options)[0], chosen, options.limits, lines)


def stub(function: LoweredFunction) -> LoweredFunction:
    """The function with nothing in it but a return."""
    whole = function.cfa
    result = whole.type.result
    value = None if isinstance(result, Void) else zero(result)
    edges = (Edge(0, 0, 1, ir.Return(value)),)
    cfa = Cfa(
        name=whole.name,
        path=whole.path,
        type_=whole.type,
        parameters=whole.parameters,
        entry=0,
        exit_=1,
        edges=edges,
        digest=digest_value([whole.type, whole.parameters, [(e.source, e.target, e.effect) for e in edges]]),
    )
    source = msgspec.structs.replace(function.source, sites={0: function.source.end_site})
    return msgspec.structs.replace(function, cfa=cfa, source=source)


def _traits(program: Program, entries: Iterable[str]) -> dict[str, Traits]:
    """The traits of the functions that calls lead to from the entries, in breadth-first order."""
    called, calling = callees(program), callers(program)
    depths = dict.fromkeys(entries, 0)
    waiting = deque(depths)
    while waiting:
        name = waiting.popleft()
        for target in called[name]:
            if target in program.functions and target not in depths:
                depths[target] = depths[name] + 1
                waiting.append(target)
    return {
        name: Traits(
            len(program.functions[name].edges),
            depth,
            len(calling[name]),
            sum(1 for target in called[name] if target in program.functions),
        )
        for name, depth in depths.items()
    }
