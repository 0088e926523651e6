"""What in a program could violate a rule, by its form alone: where there is nothing, no run violates the rule there.

This can be decided for three kinds of rules:

- A condition on a single edge (`predicates.violations`): a function has no *place* of the rule if none of its edges is one at
  which the condition could hold. These edges are over-approximated, whatever values there are.
- What only certain library functions make possible: without an allocation nothing leaks, without `free` nothing is used after
  it. `_NEEDED` says which deeds a rule needs. The program has a place of the rule unless *no* function that it calls does them.
  What an external function does is known for those of the tables in `analysis.c` (`deeds`); any other may do everything.
  `use-after-scope` needs the address of a local variable, or `alloca`.
- `returned-local` needs, in the function, the address of a variable of its own or a call of `alloca`, and a result that can be a
  pointer.

What is not understood may hide a place: an edge that is not supported, in the function (or, for deeds, anywhere); functions that
attributes make run or rename; a call through a pointer, for deeds. Then the rule has a place. Functions of system headers have no
verdict of their own, so a place in one of them counts for every function.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from typing import NamedTuple

import msgspec

from analysis.c.functions import Function, known
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.callgraph import callees, components
from analysis.cfa.graph import Cfa, Program
from analysis.cpa.predicates.violations import PROPERTIES, Property, violations_in
from analysis.frontend.declarations.file_level import UNSEEN
from analysis.model import ir
from analysis.model.c_types import Floating, Integer, Void
from analysis.model.kept_with import kept_with

EVERYTHING = frozenset({"allocate", "free", "open", "close", "lock", "alloca"})
_NEEDED: dict[str, frozenset[str]] = {
    "memory-leak": frozenset({"allocate"}),
    "memory-cleanup": frozenset({"allocate"}),
    "double-free": frozenset({"free"}),
    "invalid-free": frozenset({"free"}),
    "use-after-free": frozenset({"free", "close"}),
    "resource-leak": frozenset({"open"}),
    "use-after-close": frozenset({"close"}),
    "lock-discipline": frozenset({"lock"}),
    "lock-at-exit": frozenset({"lock"}),
    "use-after-scope": frozenset({"alloca"}),
}
_RETURNED_LOCAL = "returned-local"

STATE_RULES = frozenset(_NEEDED)
"""The rules about the state of blocks of memory, files, locks and variables that are gone. What functions do that only a project
describes is followed for them by closed sets of memory states alone (`certificate.ownership`)."""


@cache
def deeds(name: str) -> frozenset[str]:
    """What an external function may do to blocks of memory, files and locks; all of it if the tables have no row of it,
    whatever a project says."""
    return _deeds(known(name))


def _deeds(function: Function | None) -> frozenset[str]:
    if function is None or not function.is_complete:
        return EVERYTHING
    done = {
        "allocate": function.gives_block or "allocates" in function.besides or function.result in ("stream", "directory"),
        "free": function.frees or function.closes_block,
        "open": function.result in ("stream", "directory", "descriptor") or "opens" in function.besides,
        "close": bool(function.positions("closed")),
        "lock": bool(function.positions("lock")),
        "alloca": function.result == "stack",
    }
    return frozenset(deed for deed, is_done in done.items() if is_done)


@kept_with
def known_deeds(program: Program) -> dict[str, frozenset[str]]:
    """What each function does by the library functions that it calls, and that what it calls calls, as far as they are known."""
    called, found = callees(program), dict[str, frozenset[str]]()
    for group in components(program):
        below = {target for name in group for target in called[name]}
        done = (_library_deeds(program, target) | found.get(target, frozenset()) for target in below)
        found.update(dict.fromkeys(group, frozenset[str]().union(*done)))
    return found


def _library_deeds(program: Program, name: str) -> frozenset[str]:
    return frozenset() if name in program.functions or not program.knows(name) else _deeds(program.known(name))


def may_do(program: Program, function: str, rule: str) -> bool:
    """Whether a function, or what it calls, does what a rule needs, as far as library functions are known."""
    return not known_deeds(program)[function].isdisjoint(_NEEDED.get(rule, ()))


class _Form(NamedTuple):
    """What a function has in it: rules with places, names of called functions (None among them: through a pointer), whether it
    takes an address of its own variables, and whether it is understood. It holds while `callees` are the same objects."""

    cfa: Cfa
    callees: dict[str, Cfa | None]
    rules: frozenset[str]
    through_pointer: bool
    own_addresses: bool
    understood: bool


class Excluded:
    """What has no place in one revision of a program: `rules` anywhere, and those of `functions` in these."""

    def __init__(self, rules: frozenset[str] = frozenset(), functions: dict[str, frozenset[str]] | None = None) -> None:
        self.rules = rules
        self._functions = functions or {}

    def __call__(self, function: str, rule: str) -> bool:
        """Whether nothing in the function could violate the rule."""
        return rule in self.rules or rule in self._functions.get(function, ())


class Violable:
    """Looks at the functions of one program, revision by revision; what is known of those that did not change is kept."""

    def __init__(self) -> None:
        self._known: dict[str, _Form] = {}

    def excluded(self, program: Program, reported: Collection[str]) -> Excluded:
        """What has no place in the program, whatever contracts of the project say: answers without a proof list no assumptions.
        `reported` are the functions that have verdicts of their own."""
        program = program.without_contracts()
        self._look(program)
        self._known = {name: form for name, form in self._known.items() if name in program.functions}
        if UNSEEN in program.externals:
            return Excluded()
        forms = self._able_to_run(program, reported)
        silent = [form for name, form in forms.items() if name not in reported]
        if not all(form.understood for form in silent):
            return Excluded()
        hidden = frozenset[str]().union(*(form.rules for form in silent))
        known = PROPERTIES | {_RETURNED_LOCAL}
        functions = {name: known - form.rules - hidden for name, form in forms.items() if form.understood}
        return Excluded(_impossible(program, forms.values()), functions)

    def look(self, program: Program) -> None:
        """Looks at all that `excluded` will need, which takes a while the first time. If it is ended from outside, what was
        looked at is kept."""
        self._look(program.without_contracts())

    def _look(self, program: Program) -> None:
        for name, cfa in program.functions.items():
            callees = {t: program.functions.get(t) for edge in cfa.calls for t in _targets(program, edge.effect)}
            known = self._known.get(name)
            if known is None or known.cfa is not cfa or known.callees != callees:
                self._known[name] = _form(program, cfa, callees)

    def _able_to_run(self, program: Program, reported: Collection[str]) -> dict[str, _Form]:
        """The functions with all but static ones of system headers that nobody calls or takes the address of."""
        waiting = [n for n in self._known if n in reported or n in program.address_taken or "::" not in n]
        found: dict[str, _Form] = {}
        while waiting:
            name = waiting.pop()
            if name in self._known and name not in found:
                found[name] = self._known[name]
                waiting.extend(found[name].callees)
        return found


def _impossible(program: Program, forms: Collection[_Form]) -> frozenset[str]:
    """The rules for which no function of the program does what they need."""
    if any(form.through_pointer or not form.understood for form in forms):
        return frozenset()
    outside = {name for form in forms for name, cfa in form.callees.items() if cfa is None}
    outside |= {name for name in program.address_taken if name not in program.functions}
    done = frozenset[str]().union(*map(deeds, outside))
    found = {rule for rule, needed in _NEEDED.items() if done.isdisjoint(needed)}
    if any(form.own_addresses for form in forms):
        found.discard("use-after-scope")
    return frozenset(found)


def _form(program: Program, cfa: Cfa, callees: dict[str, Cfa | None]) -> _Form:
    rules = {rule for rule in PROPERTIES if any(True for _ in violations_in(program, cfa.name, msgspec.convert(rule, Property)))}
    own_addresses = bool(taken_by(cfa).own)
    may_end = own_addresses or any(map(_is_of_stack, _called(program, cfa)))
    if may_end and not isinstance(cfa.type.result, Void | Integer | Floating):
        rules.add(_RETURNED_LOCAL)
    return _Form(
        cfa=cfa,
        callees=callees,
        rules=frozenset(rules),
        through_pointer=any(isinstance(e.effect, ir.Call) and ir.direct_callee(e.effect) is None for e in cfa.calls),
        own_addresses=own_addresses,
        understood=not cfa.unsupported,
    )


def _called(program: Program, cfa: Cfa) -> Iterator[str]:
    return (name for edge in cfa.calls for name in _targets(program, edge.effect))


def _is_of_stack(name: str) -> bool:
    """Whether what a function gives ends with its caller, as that of `alloca`."""
    function = known(name)
    return function is not None and function.result == "stack"


def _targets(program: Program, effect: ir.Effect) -> tuple[str, ...]:
    return program.targets(effect) if isinstance(effect, ir.Call) else ()
