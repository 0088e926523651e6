"""The program that is open: its files with the texts that they hold now, its rules, and its units.

A unit is taken from the revision before when its file, its flags and every header it includes hold what they held. Of a unit
that is built again, functions whose text did not change keep their CFA; the others get the old ids of whatever corresponds. A
function that does not parse now takes part with its last good CFA, marked stale.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from analysis.c.project_functions import ProjectFunctions
from analysis.cfa.edge_places import ProgramPlaces
from analysis.cfa.graph import Places, Program
from analysis.cfa.linking.link import LinkedProgram, link
from analysis.frontend.syntax.parser import SyntaxTree, parse
from analysis.model.options import Options
from analysis.model.report import Message
from analysis.rules.automaton import Rule
from analysis.rules.function_files import load_functions
from analysis.rules.load import load_rules
from analysis.session.checking import is_unreadable, own_functions
from analysis.session.contracts.declarations import Declarations
from analysis.session.files.program_files import ProgramFiles, find_program, find_workspace
from analysis.session.files.texts import Texts
from analysis.session.keeping.reopening import Question
from analysis.session.unit_messages import unit_messages
from analysis.session.units.program_units import Progress, Stop, Units
from analysis.session.units.unit_view import UnitView


class Inspection(NamedTuple):
    """A program before it is checked: its files' preprocessed texts, and its CFAs with their places.

    `unparsed` are functions that do not parse, as they are named in the text; `system` the linkage names of those that a header
    of the system's defines. `declarations` are as they are written. `failed`: nothing could be read, or not all.
    """

    texts: tuple[bytes, ...]
    program: Program
    messages: tuple[Message, ...]
    places: Places
    unparsed: frozenset[str]
    system: frozenset[str]
    declarations: Declarations
    failed: bool = False

    @property
    def trees(self) -> tuple[SyntaxTree, ...]:
        """The files' syntax trees."""
        return tuple(map(parse, self.texts))


class _Rules(NamedTuple):
    """The rules that are checked, what there is to say of them, and the names of all."""

    checked: tuple[Rule, ...]
    messages: tuple[Message, ...]
    names: frozenset[str]


class OpenProgram:
    """What is checked, and on which terms (`options`). `contracts`: what the project says of functions that it calls and does not
    define. Rules are read when they are asked for: who only looks at a program needs none."""

    def __init__(self, options: Options, jobs: int, *, expects_edits: bool = False) -> None:
        self.options = options
        self.texts = Texts()
        self.units = Units(options, self.texts, jobs, expects_edits=expects_edits)
        self._rules: _Rules | None = None
        self._linked: LinkedProgram | None = None  # when the program was inspected last
        self.contracts: ProjectFunctions = {}
        self._contract_messages: tuple[Message, ...] = ()
        self._named = ProgramFiles()
        self._asked: tuple[str, ...] = ()
        self.load_rules()

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the program, as the user spelled them."""
        return self._named.files

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that are checked."""
        return self._known_rules().checked

    @property
    def rule_names(self) -> frozenset[str]:
        """The names of all rules, which a comment may name."""
        return self._known_rules().names

    @property
    def rule_messages(self) -> tuple[Message, ...]:
        """What there is to say of rules."""
        return self._known_rules().messages

    def _known_rules(self) -> _Rules:
        if self._rules is None:
            checked, messages = load_rules(self.options)
            everything, _ = load_rules(msgspec.structs.replace(self.options, rules=("all",)))
            self._rules = _Rules(checked, messages, frozenset(rule.name for rule in everything))
        return self._rules

    @property
    def messages(self) -> tuple[Message, ...]:
        """What there is to say of the names of files, of rules and of contracts."""
        return (*self._named.messages, *self.rule_messages, *self._contract_messages)

    @property
    def question(self) -> Question:
        """What a check is asked: with the texts, all that its answer depends on."""
        return Question(self._asked, self._named, self.options, self.rules, self.messages, self.contracts)

    def open(self, paths: Sequence[str]) -> None:
        """Sets what the program is made of; empty: what the current folder suggests (docs/guide.md, "What is a program")."""
        self._named = find_program(paths, self.options)
        self._asked = ("paths", os.getcwd(), *paths)

    def open_workspace(self, folder: str, extra: Sequence[str], role: str = "") -> bool:
        """Sets the program to that of a folder of a workspace, with files in it that may not be on the disk yet; whether it is
        another than before. Results of another `role` than the folder's own are kept apart from those."""
        before, self._named = self._named, find_workspace(folder, extra, self.options)
        self._asked = ("folder", os.path.abspath(folder), *([role] if role else ()))
        return self._named != before

    def open_part(self, program: OpenProgram, path: str) -> None:
        """Makes the program one file of another one, with the texts that this has."""
        named = program._named
        self._named = ProgramFiles((path,), {path: named.flags[path]})
        self._asked = ("part", path)
        self.texts.copy(program.texts)

    def load_rules(self) -> None:
        """Reads the rules and contracts again."""
        self._rules = None
        self.contracts, self._contract_messages = load_functions(self.options)

    def forget(self) -> None:
        """Drops everything that was built, but not what the program is made of."""
        self.units.forget()
        self._linked = None

    def revise(self, progress: Progress | None = None, stop: Stop | None = None) -> Sequence[UnitView] | None:
        """The units as the texts are now; None if `stop` ended it."""
        return self.units.revise(self.files, self._named.flags, progress, stop)

    def make_ready(self) -> None:
        """Has the macros of open files at hand."""
        self.units.make_ready(self._named.flags)

    def inspect(self) -> Inspection:
        """The program as the front end sees it, without checking anything."""
        units = self.revise() or []
        linked = self._linked = link([unit.kept.unit for unit in units], self._linked, self.contracts)
        texts = tuple(unit.built.preprocessed.text for unit in units)
        asked = (*self._named.messages, *self._contract_messages)
        messages = (*asked, *(m for unit in units for m in unit_messages(unit)), *linked.messages)
        places = ProgramPlaces(linked.sources, {unit.path: unit.places for unit in units})
        unparsed = frozenset(broken.name for unit in units for broken in unit.kept.unit.broken if broken.name is not None)
        system = frozenset(linked.program.functions).difference(*(own_functions(unit) for unit in units))
        failed = not units or any(map(is_unreadable, units))
        declarations = Declarations(units, linked.sources)
        return Inspection(texts, linked.program, messages, places, unparsed, system, declarations, failed)
