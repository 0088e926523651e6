"""Which invariants all of a program keeps, from `main` on.

The greatest set that follows from itself is looked for: all candidates are relied on, every function is followed, those that some
edge may break are dropped, and so on until none is (Houdini). The checker does only the last step, for the set that is claimed.
What a function does is followed again only where something that it relies on is other than before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

from analysis.c.control import NAMED_CODE, SWITCHES
from analysis.certificate.hidden_calls import may_hide
from analysis.certificate.nonzero.callee_contracts import NOTHING_YET, Contract
from analysis.certificate.nonzero.concerned import Concerned
from analysis.certificate.nonzero.data_invariants import NONE, Invariant, Invariants
from analysis.certificate.nonzero.followed import MOST_WALKS, weaker
from analysis.certificate.nonzero.fresh_blocks import fresh_blocks
from analysis.certificate.nonzero.function_edges import Edges
from analysis.certificate.nonzero.invariant_candidates import candidates, running
from analysis.certificate.nonzero.needed_values import Rule
from analysis.certificate.nonzero.unfollowed_edges import broken_by
from analysis.certificate.nonzero.walk import Walked, walk
from analysis.cfa.callgraph import callees, components
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.linking.obstructed import MAIN
from analysis.cfa.open_functions import is_main
from analysis.cpa.obstacles.beside import beside
from analysis.cpa.obstacles.code_addresses import UNKNOWN
from analysis.cpa.obstacles.exposed_variables import is_closed
from analysis.frontend.declarations.file_level import UNSEEN
from analysis.model import ir
from analysis.model.c_types import Function
from analysis.model.spelling import display_name

_RULE: Rule = "null-dereference"  # runs go on only where pointers that are followed are not null
_MOST_KEPT = 24  # results for one function, with other invariants or contracts
_Called = tuple[str, Contract | None, Function | None, tuple[ir.Var, ...], bool]
_Key = tuple[Rule, Invariants, tuple[_Called, ...]]
_Done = tuple[Walked, Invariants]


def why_none(program: Program, entries: Collection[str]) -> str:
    """Why nothing is said to hold at all times of runs from `main`; empty if something may be. The program has all that `main`
    can run, and all variables. Where it may be entered elsewhere, too, other runs begin; but a further `main` is one of another
    program, whose variables these may be."""
    if MAIN not in entries or any(is_main(name) and name != MAIN for name in entries) or not is_closed(program):
        return "not all code of the program is known"
    if UNSEEN in program.externals:
        return "attributes make functions run before or after main, or give them other names"
    around = beside(program)
    if around.threads or UNKNOWN in around.handlers:
        return "other threads, or functions that are not known, may run beside it"
    for name in running(program):
        called = callees(program)[name]
        if any(map(may_hide, program.functions[name].unsupported)):
            return f"not all of {display_name(name)}() is supported"
        if not (NAMED_CODE | SWITCHES).isdisjoint(called):
            return f"{display_name(name)}() calls what is not known by name"
    return ""


class Followed(NamedTuple):
    """The invariants that some edge may break, and what following each function shows."""

    broken: Invariants
    found: Mapping[str, Walked]


class Walks:
    """Follows the functions of programs where invariants hold, and keeps what it found: these programs may differ in functions
    only. It goes on as long as `goes_on`."""

    def __init__(self) -> None:
        self.goes_on: Callable[[], bool] = lambda: True
        self.walked = 0
        self._program: Program | None = None
        self._edges: dict[tuple[str, Rule], Edges] = {}  # of this program
        self._known: WeakKeyDictionary[Cfa, dict[_Key, _Done]] = WeakKeyDictionary()

    def of(self, program: Program, relied: Invariants, rule: Rule = _RULE) -> Followed | None:
        """What following all functions that can run shows, if the invariants hold; None if the time is over."""
        if self._program is not program:
            self._program, self._edges = program, {}
        about, contracts = Concerned(program, relied), dict[str, Contract]()
        found, failed = dict[str, Walked](), set[Invariant]()
        names = running(program)
        for group in components(program):
            if group[0] in names:
                for name, done in self._group(about, group, contracts, rule).items():
                    found[name] = done[0]
                    failed |= done[1].union(one for one, _ in done[0].failed)
                if not self.goes_on():
                    return None
        return Followed(frozenset(failed & relied), found)

    def _group(self, about: Concerned, group: tuple[str, ...], found: dict[str, Contract], rule: Rule) -> Mapping[str, _Done]:
        """Follows functions that call each other; what they assume of each other follows from itself (`Followed.follow`)."""
        called = callees(about.program)
        assumed = dict.fromkeys(group, NOTHING_YET)
        waiting, left, done = dict.fromkeys(group), MOST_WALKS * len(group), dict[str, _Done]()
        while waiting:
            name = next(iter(waiting))
            del waiting[name]
            done[name] = self._one(about, name, {**found, **assumed}, rule)
            shown = weaker(assumed[name], done[name][0].contract)
            if shown != assumed[name]:
                assumed[name] = shown
                waiting.update((one, None) for one in group if name in called[one])
            left -= 1
            if left < 0:  # nothing is assumed of them
                assumed = dict.fromkeys(group, Contract())
                done = {one: self._one(about, one, {**found, **assumed}, rule) for one in group}
                break
        found.update((name, assumed[name] if left < 0 else done[name][0].contract) for name in group)
        return done

    def _one(self, about: Concerned, name: str, contracts: Mapping[str, Contract], rule: Rule) -> _Done:
        program, cfa = about.program, about.program.functions[name]
        relied = about.by(name)
        called = tuple(_called(program, one, contracts.get(one)) for one in callees(program)[name])
        known = self._known.setdefault(cfa, {})
        key = rule, relied, called
        if key in known:
            known[key] = known.pop(key)
        else:
            while len(known) >= _MOST_KEPT:
                del known[next(iter(known))]
            if (name, rule) not in self._edges:
                self._edges[name, rule] = Edges(program, cfa, rule, checks=True)
            edges = self._edges[name, rule].relying(relied)
            self.walked += 1
            walked = walk(edges, contracts, (), self.goes_on)
            done = walked, frozenset(broken_by(edges, walked.left, contracts))
            if not self.goes_on():
                return done  # it may have ended before it was through: nothing to keep
            known[key] = done
        return known[key]


def _called(program: Program, name: str, contract: Contract | None) -> _Called:
    """All that a call of a function depends on."""
    cfa = program.functions.get(name)
    parameters = () if cfa is None else cfa.parameters
    return name, contract, program.function_type(name), parameters, name in fresh_blocks(program)


def find(program: Program, entries: Collection[str], walks: Walks) -> Invariants | None:
    """The invariants that the program keeps; None if the time is over."""
    relied = NONE if why_none(program, entries) else candidates(program)
    while relied:
        followed = walks.of(program, relied)
        if followed is None:
            return None
        if not followed.broken:
            break
        relied -= followed.broken
    return relied


def are_kept(program: Program, entries: Collection[str], claimed: Invariants, walks: Walks) -> bool:
    """Whether invariants that are claimed hold at all times: nothing excludes them, and no edge breaks them."""
    if not claimed:
        return True
    if why_none(program, entries) or not claimed <= candidates(program):
        return False
    followed = walks.of(program, claimed)
    return followed is not None and not followed.broken
