"""A rule: a property as an automaton over C patterns ([ORION] section 2, with states parametrised by the tracked value).

The automaton runs on values. In state `start` nothing is tracked; a transition from `start` begins to track the value
that the rule's `tracks` metavariable stands for, in a state of its own; the value is then known by its access paths,
which assignments, calls and returns change. Further transitions fire where a pattern matches with the metavariable standing for
one of these paths. `stop` means: this value is of no more interest. A transition with a `message` is into the error state.

A rule without `tracks` has only transitions from `start` into the error state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from analysis.model.intervals import Interval
from analysis.model.report import Severity
from analysis.model.spelling import display_name
from analysis.rules.patterns import Name, Pattern

START = "start"
STOP = "stop"
ERROR = "error"

EventKind = Literal["pattern", "lost", "leave", "nonnull", "passed", "takes-local", "returns-local", "returned", "begin"]


class Trigger(msgspec.Struct, frozen=True):
    """What a transition waits for.

    pattern: the pattern matches at an edge. lost: the last access path to the value goes away. leave: the function in which the
    value came to its state is left. nonnull: the value is passed for a parameter that must not be null (declared so).
    passed: the value is passed to a function outside of the program, of which neither the library's table nor a contract says
    anything, or goes to the `...` of a function of the program.
    takes-local: a place holds from then on the address of a variable of the function, or of a part of one, which ends with it,
    also as the result of a library function that was passed it; or a block that `alloca` gave.
    returns-local: the function returns the address of a variable of its own, or of a part of one; it ends with the call.
    returned: the function in which the value came to its state returns it, a structure that holds it, or a pointer into it.
    begin: the program starts; every global that the pattern matches anywhere in the program is tracked from then on.
    """

    kind: EventKind
    pattern: Pattern | None = None


class Transition(msgspec.Struct, frozen=True):
    """From a state to a state. `if_function_has`: only in functions where one of these patterns matches some edge, with the
    tracked metavariable standing for the value. `decided`: only where the branch before it is known to be taken (`assert`)."""

    source: str
    target: str
    trigger: Trigger
    message: str = ""
    if_function_has: tuple[Pattern, ...] = ()
    result: Interval | None = None
    decided: bool = False


class Documentation(msgspec.Struct, frozen=True):
    """What the rule says to a person: markdown."""

    what: str
    why: str
    example: str
    fix: str


class Rule(msgspec.Struct, frozen=True):
    """A rule as loaded from its file. `names` limits callee metavariables, `kinds` has the kinds of library functions
    that some of them stand for (`library_names`); `ownership`: storing the value
    where others reach it, or passing it to code that is not known, ends its tracking, and losing the last
    path is an event. `keeps`: library functions that keep or take over what they are passed (for ownership
    rules). `about_object`: the states are those of the object that the value leads to, so that a function
    which changes the state of its argument changes it for its caller; otherwise they are knowledge of the
    value. `local_states`: states that are evidence only inside the function where they arose (a test for null
    says nothing about the caller's other paths). `failure_states`: states of values that are null in some runs
    because something failed, whatever callers do; a function that returns null while it holds one, and has not found
    it to be otherwise, fails as well, and its result is in that state. `member_states`: three states of what an object owns, by
    what the whole program does with it: as the object ends, as a function leaves it that frees other parts of the object, and of
    the null in the place of what could not be resized (`engines.automaton.functions.owned_members`). They say nothing to callers.
    `returned_states`: those in which the rule reports a value where the function returns it in which it came to the state.
    `provers_only`: there are no transitions; what violates the rule is a condition on single steps that provers know by the
    rule's name."""

    name: str
    summary: str
    severity: Severity
    cwe: int | None
    help: Documentation
    tracks: str | None
    ownership: bool
    about_object: bool
    local_states: frozenset[str]
    names: Mapping[str, frozenset[str]]
    keeps: frozenset[str]
    transitions: tuple[Transition, ...]
    default: bool = True
    shipped: bool = True
    provers_only: bool = False
    kinds: Mapping[str, str] = {}
    failure_states: frozenset[str] = frozenset()
    member_states: tuple[str, ...] = ()
    returned_states: frozenset[str] = frozenset()

    @property
    def found_by_words(self) -> str:
        """What looks for the rule, as sentences for people."""
        if self.provers_only:
            return "Only provers look for it: each finding was seen in a run, and `safe` means proved."
        return "It is looked for while you type; provers then try to confirm or refute what is found."

    def is_lost_in(self, function: str, state: str) -> bool:
        """Whether the state of an object is unknown after an external function, other than those that
        the rule is about, was given it: the function may do what ends the state. (What was freed stays freed.)"""
        if self.ownership or not self.about_object or self._names(function):
            return False
        return any(one.source == state and one.target != ERROR for one in self.transitions)

    def _names(self, function: str) -> bool:
        """Whether the rule has the name of the function, given by its linkage name, in a list or in a pattern."""
        name = display_name(function)
        if any(name in names for names in self.names.values()):
            return True
        patterns = (one.trigger.pattern for one in self.transitions)
        return any(pattern is not None and pattern.callee == Name(name) for pattern in patterns)

    def is_last(self, state: str) -> bool:
        """Whether nothing but an error or the end follows the state of an object, wherever it is known: what was freed, not what
        was closed and can be opened again."""
        following = [one for one in self.transitions if one.source == state]
        plain = all(one.target in (ERROR, STOP) and one.trigger.kind in ("pattern", "nonnull", "passed") for one in following)
        return plain and self.about_object and not self.ownership

    def markdown(self) -> str:
        """The rule's page."""
        link = f"[CWE-{self.cwe}](https://cwe.mitre.org/data/definitions/{self.cwe}.html)"
        weakness = "" if self.cwe is None else f" ({link})"
        asked = "On by default." if self.default else f"Off by default: ask for it with `--rule {self.name}` or `--rule all`."
        return (
            f"# {self.name}\n\n{self.summary}{weakness}. Severity: {self.severity}.\n\n"
            f"{asked} {self.found_by_words}\n\n## What\n\n{self.help.what.strip()}\n\n"
            f"## Why\n\n{self.help.why.strip()}\n\n## Example\n\n```c\n{self.help.example.strip()}\n```\n\n"
            f"## Fix\n\n{self.help.fix.strip()}\n"
        )
