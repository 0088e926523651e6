"""One edge of a function, taken from one memory state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analysis.certificate.ownership.memory_state import Memory
from analysis.certificate.ownership.obligations import HOLDS_NONE, LEAKS, Condition, Obligations
from analysis.certificate.ownership.open_descriptors import opens_descriptors
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cfa.marks import marked
from analysis.model.c_types import Array, Floating, Function, Integer, Record, Type


class Step(NamedTuple):
    """What is needed to take an edge: `names` are the tracked variables; `memory` changes with what happens."""

    program: Program
    cfa: Cfa
    names: frozenset[str]
    edge: Edge
    memory: Memory
    found: Obligations

    def forked(self) -> Step:
        """The same step in a state of its own: something else may happen from here."""
        return self._replace(memory=self.memory.copy())

    @property
    def place(self) -> str:
        """Where this is, for people."""
        return marked(self.program, self.cfa.name, self.edge.id)

    def refuse(self, rules: Iterable[str], why: str) -> None:
        """The rules are not proved, because of what happens here."""
        self.found.refuse(rules, f"{why} at {self.place}")

    def refuse_unless(self, rules: Iterable[str], why: str, condition: Condition) -> None:
        """The rules are not proved, because of what happens here, unless a condition is met."""
        if condition.what in ("never ends", "holds none"):  # else it is the called function that could violate them
            self.meet(rules)
        self.found.refuse_unless(rules, f"{why} at {self.place}", condition)

    def leave(self, why: str) -> None:
        """Something is called that is not followed: blocks may come from there, and it may jump to somewhere else."""
        self.refuse(LEAKS, why)
        self.found.leaves = self.found.leaves or f"{why} at {self.place}"
        self.end_others()

    def misuse(self, rules: Iterable[str], why: str) -> None:
        """What has ended is used, or something is ended that cannot be, whatever the caller passes."""
        self.refuse(rules, why)
        self.take_ended()
        self.found.misuses = self.found.misuses or f"{why} at {self.place}"

    def end_others(self, *, is_known: bool = False) -> None:
        """Something may end here that is not the function's own. `is_known`: callers are told what it is."""
        self.found.ending.add(self.edge.id)
        self.found.ends_others |= not is_known

    def take_ended(self) -> None:
        """A pointer may be used here, or go elsewhere, that leads to what has ended."""
        self.found.stale.add(self.edge.id)
        self.end_others()

    def use(self, rules: Iterable[str], *, is_passed: bool) -> None:
        """Something is used here that is not the function's own. `is_passed`: a parameter leads there."""
        for rule in rules:
            self.found.used.setdefault(rule, set()).add(self.edge.id)
            if not is_passed:
                self.found.used_unknown.setdefault(rule, set()).add(self.edge.id)

    def lose(self, rules: Iterable[str], why: str) -> None:
        """A block is lost here, and nobody else has it."""
        self.found.lose(rules, f"{why} at {self.place}")

    def meet(self, rules: Iterable[str]) -> None:
        """Something here could violate the rules, and does not."""
        self.found.met.update(rules)

    def change_contents(self, parameter: str, rules: Iterable[str], why: str, condition: Condition) -> None:
        """What the block of a parameter led to could be lost here, unless a condition is met, or callers keep that it led to
        nothing."""
        if condition.what != "below":
            self.meet(rules)
        for rule in rules:
            self.found.contents.setdefault((parameter, rule), f"{why} at {self.place}")
            self.found.lost.setdefault(rule, {}).setdefault(condition, f"{why} at {self.place}")
            self.found.requires.setdefault((rule, parameter, HOLDS_NONE[rule]), f"{why} at {self.place}")

    def require(self, rules: Iterable[str], parameter: str, need: str, why: str) -> None:
        """The rules hold here if callers keep a requirement."""
        self.meet(rules)
        for rule in rules:
            self.found.requires.setdefault((rule, parameter, need), f"{why} at {self.place}")

    def may_hold_pointer(self, type_: Type) -> bool:
        """Whether an object of the type has a pointer in it, as far as the type says."""
        return any(not isinstance(part, Integer | Floating | Function) for part in self._parts(type_))

    def may_hold_descriptor(self, type_: Type) -> bool:
        """Whether an object of the type has a number in it, by which a file may be known to the system."""
        return opens_descriptors(self.program) and any(not isinstance(part, Floating | Function) for part in self._parts(type_))

    def _parts(self, type_: Type) -> Iterator[Type]:
        """The types of the scalars in an object of a type; one that is not known is its own."""
        waiting, seen = [type_], set[str]()
        while waiting:
            match waiting.pop():
                case Array(element):
                    waiting.append(element)
                case Record(_, key) as record:
                    definition = self.program.records.get(key)
                    if definition is None:
                        yield record
                    elif key not in seen:
                        seen.add(key)
                        waiting.extend(member.type for member in definition.members)
                case scalar:
                    yield scalar
