"""Links the units of a revision and runs the engine over the program."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

import msgspec

from analysis.c.project_functions import ProjectFunctions
from analysis.cfa.building.unit import Unit
from analysis.cfa.edge_places import ProgramPlaces
from analysis.cfa.graph import Places, Program
from analysis.cfa.linking.link import LinkedProgram, link
from analysis.engines.automaton import Algorithm, Analysis, AutomatonResult, Engine
from analysis.engines.automaton.report.drawing import draw
from analysis.model.derivation import FunctionDerivations
from analysis.model.interruption import Interrupted
from analysis.model.options import Options
from analysis.model.places import Place
from analysis.model.report import Finding, FunctionReport, Message, Rechecked, RuleVerdict, Work
from analysis.model.spelling import display_name
from analysis.rules.automaton import Rule
from analysis.session.entries import Entries, EntryChoice
from analysis.session.units.unit_view import UnitView

Restriction = Callable[[Program, Places, Sequence[str]], Program]
"""What is looked at of a program that is entered by these functions: a program with some of its edges."""
_ENGINE = "automaton"


class Checked(msgspec.Struct, frozen=True):
    """What one run of the engine answers. `failed`: an entry that was asked for does not exist. `ms` are the engine's
    milliseconds, `link_ms` those before it and `report_ms` those after it. `settled`: see `AutomatonResult`."""

    functions: tuple[FunctionReport, ...]
    findings: tuple[Finding, ...]
    messages: tuple[Message, ...]
    work: Work
    ms: float
    failed: bool = False
    rechecked: tuple[Rechecked, ...] = ()
    link_ms: float = 0.0
    report_ms: float = 0.0
    settled: bool = True


class _UnitReports(NamedTuple):
    """What was said of the functions of a unit. `alone`: no other unit defined any of them, so that all of them are its own."""

    unit: UnitView
    reports: dict[str, FunctionReport]
    alone: bool


class ProgramCheck:
    """Links and checks one revision after the other, or what a `restriction` leaves of them; keeps what the next one can use."""

    def __init__(self, algorithm: Algorithm = "incr-back", jobs: int = 1, restriction: Restriction | None = None) -> None:
        self._engine = Engine(algorithm, jobs)
        self._restriction = restriction
        self._whole: LinkedProgram | None = None
        self._linked: LinkedProgram | None = None
        self._places: ProgramPlaces | None = None
        self._own: dict[str, tuple[Unit, frozenset[str]]] = {}
        self._reports: dict[str, FunctionReport] = {}
        self._by_unit: dict[str, _UnitReports] = {}
        self._said: tuple[dict[str, dict[str, RuleVerdict]], dict[str, tuple[str, ...]]] = ({}, {})
        self._entries = EntryChoice()

    def forget(self) -> None:
        """Lets go of what is known: this is not used any more."""
        self._engine.forget()

    def packed(self) -> bytes | None:
        """What `resume` needs in another process, None if there is nothing."""
        return self._engine.packed()

    def resume(
        self, units: Sequence[UnitView], rules: Sequence[Rule], options: Options, data: bytes, contracts: ProjectFunctions
    ) -> None:
        """Goes on from what another process knew of a program of just these units; without it, if it cannot be understood."""
        linked = self._linked = self._whole = link([unit.kept.unit for unit in units], contracts=contracts)
        self._places = ProgramPlaces(linked.sources, {unit.path: unit.places for unit in units})
        entries, _ = self._choose_entries(linked.program, units, options)
        self._engine.resume(linked.program, tuple(rules), entries, options.limits, data)

    def derivations(self, path: str, function: str, line: int | None = None) -> FunctionDerivations | None:
        """What was derived in a function of a file, given as it is named in the text, or what of it leads to a line; None if it
        is not known or not reached."""
        analysis, places = self._engine.analysis, self._places
        if analysis is None or places is None:
            return None
        named = [name for name in analysis.program.functions if display_name(name) == function]
        here = [name for name in named if places.name_place(name).path == path]
        return draw(analysis, here[0], places, line) if here else None

    @property
    def scratch(self) -> str | None:
        """Why the last check began from nothing; None if it went on from the one before."""
        return self._engine.scratch

    @property
    def analysis(self) -> Analysis | None:
        """The engine's state for the program checked last."""
        return self._engine.analysis

    @property
    def linked(self) -> LinkedProgram | None:
        """The program checked last."""
        return self._linked

    @property
    def places(self) -> Places | None:
        """Where the parts of the program checked last are."""
        return self._places

    @property
    def reports(self) -> Mapping[str, FunctionReport]:
        """The last check's reports on the user's functions, by linkage name. They are the same objects as in its answer."""
        return self._reports

    @property
    def entries(self) -> tuple[str, ...]:
        """The entry functions of the program checked last."""
        return self._entries.last.names

    def run(
        self,
        units: Sequence[UnitView],
        rules: Sequence[Rule],
        options: Options,
        interruptible: AbstractContextManager[None],
        patient: bool = True,
        contracts: ProjectFunctions | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Checked:
        """Links the units to one program, with what the project's contracts say, and checks it against rules; for `interruptible`
        and `patient` see `Engine.check`. `stop` is asked once they are linked, as what came meanwhile interrupted nothing: raises
        Interrupted if it is true."""
        start = time.perf_counter()
        linked = self._whole = link([unit.kept.unit for unit in units], before=self._whole, contracts=contracts)
        places = ProgramPlaces(linked.sources, {unit.path: unit.places for unit in units}, self._places)
        self._places = places
        entries, messages = self._choose_entries(linked.program, units, options)
        if self._restriction is not None:
            left = self._restriction(linked.program, places, entries)
            linked = msgspec.structs.replace(linked, program=left)
        self._linked = linked
        if stop is not None and stop():
            raise Interrupted
        ready = time.perf_counter()
        result = self._engine.check(linked.program, tuple(rules), entries, options.limits, places, interruptible, patient)
        return self._checked(units, rules, result, linked, places, messages, (ready - start) * 1000)

    def again(self, units: Sequence[UnitView], rules: Sequence[Rule], interruptible: AbstractContextManager[None]) -> Checked:
        """The last check anew, after something was refuted. ValueError if there was none."""
        if self._linked is None or self._places is None:
            raise ValueError("no program was checked")
        result = self._engine.again(self._places, interruptible)
        return self._checked(units, rules, result, self._linked, self._places, self._entries.last.messages, 0.0)

    def _checked(
        self,
        units: Sequence[UnitView],
        rules: Sequence[Rule],
        result: AutomatonResult,
        linked: LinkedProgram,
        places: ProgramPlaces,
        messages: tuple[Message, ...],
        link_ms: float,
    ) -> Checked:
        began = time.perf_counter()
        mine = self._mine(units)
        functions = self._report(units, result, places, mine, linked.defined.shared)
        return Checked(
            functions=(*functions, *unparsed(units, rules)),
            findings=tuple(result.findings),
            messages=(*linked.messages, *messages, *result.messages),
            work=msgspec.structs.replace(result.work, edges=linked.program.edges),
            ms=result.ms,
            failed=bool(messages),
            rechecked=tuple(
                Rechecked(display_name(name), places.name_place(name).path, reason, display_name(other))
                for name, (reason, other) in result.rechecked.items()
                if name in mine
            ),
            link_ms=link_ms,
            report_ms=(time.perf_counter() - began) * 1000,
            settled=result.settled,
        )

    def _mine(self, units: Sequence[UnitView]) -> frozenset[str]:
        """The functions of the user's, by linkage name."""
        before, self._own = self._own, {}
        for unit in units:
            known = before.get(unit.path)
            if known is None or known[0] is not unit.kept.unit:
                known = unit.kept.unit, frozenset(own_functions(unit))
            self._own[unit.path] = known
        return frozenset().union(*(names for _, names in self._own.values()))

    def _choose_entries(self, program: Program, units: Sequence[UnitView], options: Options) -> Entries:
        of_system = program.functions.keys() - self._mine(units)
        return self._entries.choose(program, options.entries, of_system)

    def _report(
        self,
        units: Sequence[UnitView],
        result: AutomatonResult,
        places: ProgramPlaces,
        mine: frozenset[str],
        shared: frozenset[str],
    ) -> list[FunctionReport]:
        """What is said of each function, in the order of the units; the same as in the revision before if nothing differs.
        `mine` are the user's functions, `shared` those that several units define."""
        (verdicts, summaries), self._said = self._said, (result.verdicts, result.summaries)
        differ = _differing(verdicts, result.verdicts) | _differing(summaries, result.summaries)
        before, self._by_unit = self._by_unit, {}
        reports: dict[str, FunctionReport] = {}
        for unit in units:
            known = before.get(unit.path)
            alone = shared.isdisjoint(f.cfa.name for f in unit.kept.unit.functions) if shared else True
            is_same = known is not None and known.unit is unit and known.alone and alone
            if known is None or not is_same or not known.reports.keys().isdisjoint(differ):
                names = (f.cfa.name for f in unit.kept.unit.functions)
                own = [name for name in names if places.unit_of(name) == unit.path and name in mine]
                known = _UnitReports(unit, self._report_unit(unit, own, result, places), alone)
            self._by_unit[unit.path] = known
            reports.update(known.reports)
        self._reports = reports
        return list(reports.values())

    def _report_unit(
        self, unit: UnitView, names: Sequence[str], result: AutomatonResult, places: ProgramPlaces
    ) -> dict[str, FunctionReport]:
        reports: dict[str, FunctionReport] = {}
        for name in names:
            place, verdicts = places.name_place(name), result.verdicts.get(name, {})
            known, summary, is_stale = self._reports.get(name), result.summaries.get(name, ()), name in unit.kept.stale
            if (
                known is None
                or known.place is not place
                or known.verdicts is not verdicts
                or known.summary is not summary
                or known.stale != is_stale
            ):
                known = FunctionReport(name=display_name(name), place=place, verdicts=verdicts, stale=is_stale, summary=summary)
            reports[name] = known
        return reports


def _differing(old: Mapping[str, object], new: Mapping[str, object]) -> set[str]:
    """The functions of which something else is said."""
    return {name for name, said in new.items() if old.get(name) is not said} | (old.keys() - new.keys())


def own_functions(unit: UnitView) -> Iterator[str]:
    """The linkage names of the unit's functions, without those that a header of the system's defines."""
    is_system = unit.built.preprocessed.line_map.in_system_header
    return (f.cfa.name for f in unit.kept.unit.functions if not is_system(f.source.start))


def has_functions(unit: UnitView) -> bool:
    """Whether any function of the user's in the unit parses."""
    return any(True for _ in own_functions(unit))


def count_functions(unit: UnitView) -> int:
    """How many functions the unit has that are the user's; those that do not parse count, too."""
    own = {display_name(name) for name in own_functions(unit)}
    return len(own) + sum(1 for broken in unit.built.unit.broken if broken.name not in own)


def unparsed(units: Sequence[UnitView], rules: Sequence[Rule]) -> list[FunctionReport]:
    """Functions that do not parse and never did: unknown for every rule."""
    reports: list[FunctionReport] = []
    for unit in units:
        if not unit.kept.unit.broken:
            continue
        present = {display_name(function.cfa.name) for function in unit.kept.unit.functions}
        for broken in unit.kept.unit.broken:
            if broken.name and broken.name not in present:
                place = unit.places.place(broken.start, broken.start)
                reports.append(undecided(display_name(broken.name), place, rules, "its text does not parse"))
    return reports


def undecided(name: str, place: Place, rules: Sequence[Rule], reason: str) -> FunctionReport:
    """A function about which nothing is known, for one reason."""
    verdict = RuleVerdict("unknown", reason, (), _ENGINE)
    return FunctionReport(name, place, {rule.name: verdict for rule in rules})


def only_unfinished(units: Sequence[UnitView], rules: Sequence[Rule], reason: str) -> list[FunctionReport]:
    """What a check that was ended early can say: every function it got to know is unknown."""
    reports: list[FunctionReport] = []
    for unit in units:
        for function in unit.kept.unit.functions:
            source = function.source
            place = unit.places.place(source.start + source.name_site.start, source.start + source.name_site.end)
            reports.append(undecided(display_name(function.cfa.name), place, rules, reason))
    return reports


def is_unreadable(unit: UnitView) -> bool:
    """Whether the front end could get nothing out of the file, and said why."""
    preprocessed = unit.built.preprocessed
    return not preprocessed.text.strip() and any(message.severity == "error" for message in preprocessed.messages)


def nothing_parsed(units: Sequence[UnitView]) -> bool:
    """Whether there was text in the files, but none of it made sense. An empty file is no failure. A text such as `class A { };`
    has no place that the parser does not understand, but is no C all the same. Nor is one that the preprocessor reports an error
    in: a comment that is not ended can hide all of it."""
    return not units or not (all(unit.built.is_c for unit in units) or any(map(has_functions, units)))
