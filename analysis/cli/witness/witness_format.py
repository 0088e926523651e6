"""A witness as data: what is read of it, and the specifications that it can be about.

The format is version 2.0 of the YAML format [WITNESS]: a list with one entry, an `invariant_set` or a `violation_sequence`, that
names the files of the program with their SHA-256 digests.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import WITNESS_BYTES
from analysis.rules.plain_yaml import PlainYamlError, read_plain_yaml

SPECIFICATIONS = {
    "G ! call(reach_error())": "assertion",
    "G ! overflow": "signed-overflow",
    "G valid-free": "double-free",
    "G valid-deref": "null-dereference",
    "G valid-memtrack": "memory-leak",
}
"""The rule that each specification of SV-COMP is checked by."""
RULES = {
    **{rule: said for said, rule in SPECIFICATIONS.items()},
    "array-bounds": "G valid-deref",
    "use-after-free": "G valid-deref",
    "invalid-free": "G valid-free",
}
"""The specification that a violation of a rule violates."""


def is_whole(rule: str) -> bool:
    """Whether a specification is about this rule alone, so that a proof of the rule is one of the specification."""
    return sum(said == RULES.get(rule) for said in RULES.values()) == 1


_Line = Annotated[int, Meta(ge=1, le=100_000_000)]


class WitnessError(Exception):
    """A witness that is of no use; the text is a clause in lower case without a full stop."""


class Location(msgspec.Struct, frozen=True):
    """A place in the program's text; the function is empty where it is not named."""

    file_name: str
    line: _Line
    column: _Line = 1
    function: str = ""


class Constraint(msgspec.Struct, frozen=True):
    """A condition, in C or ACSL."""

    value: str | bool | int
    format: str = "c_expression"


class Waypoint(msgspec.Struct, frozen=True):
    """What a run of a violation witness does on its way, or does not do."""

    type: Literal["assumption", "branching", "function_enter", "function_return", "target"]
    action: Literal["follow", "avoid"]
    location: Location
    constraint: Constraint | None = None


class _Step(msgspec.Struct, frozen=True):
    waypoint: Waypoint


class _Segment(msgspec.Struct, frozen=True):
    segment: tuple[_Step, ...]


class Invariant(msgspec.Struct, frozen=True):
    """What holds whenever a run comes to a place."""

    type: Literal["loop_invariant", "location_invariant"]
    location: Location
    value: str | bool | int
    format: Literal["c_expression"]


class _Stated(msgspec.Struct, frozen=True):
    invariant: Invariant


class Task(msgspec.Struct, frozen=True):
    """What the witness is about."""

    input_files: tuple[str, ...]
    input_file_hashes: dict[str, str]
    specification: str
    data_model: Literal["ILP32", "LP64"]
    language: Literal["C"]


class _Metadata(msgspec.Struct, frozen=True):
    format_version: str
    task: Task


class _Correctness(msgspec.Struct, frozen=True, tag_field="entry_type", tag="invariant_set"):
    metadata: _Metadata
    content: tuple[_Stated, ...]


class _Violation(msgspec.Struct, frozen=True, tag_field="entry_type", tag="violation_sequence"):
    metadata: _Metadata
    content: tuple[_Segment, ...]


class Witness(msgspec.Struct, frozen=True):
    """What was read. Of a correctness witness there are `invariants`; of a violation witness `waypoints`, in their order."""

    task: Task
    kind: Literal["correctness", "violation"]
    invariants: tuple[Invariant, ...] = ()
    waypoints: tuple[Waypoint, ...] = ()

    @property
    def rule(self) -> str:
        """The rule that its specification stands for; raises WitnessError."""
        for said, rule in SPECIFICATIONS.items():
            if said in self.task.specification:
                return rule
        raise WitnessError(f"its specification {self.task.specification[:80]!r} is not known")


def read_witness(path: str) -> Witness:
    """The witness in a file; raises WitnessError."""
    try:
        data: Any = read_plain_yaml(read_file(path, WITNESS_BYTES))
        if not isinstance(data, list) or len(data) != 1:
            raise WitnessError("it does not hold a list of exactly one entry")
        entry = msgspec.convert(data[0], _Correctness | _Violation)
    except UnreadableError as error:
        raise WitnessError(error.reason) from None
    except PlainYamlError as error:
        raise WitnessError(str(error)) from None
    except msgspec.ValidationError as error:
        raise WitnessError(f"it is no witness of version 2.0: {error}") from None
    if not entry.metadata.format_version.startswith("2."):
        raise WitnessError(f"it has version {entry.metadata.format_version[:20]!r}, not 2.0")
    if isinstance(entry, _Correctness):
        return Witness(entry.metadata.task, "correctness", tuple(one.invariant for one in entry.content))
    waypoints = tuple(step.waypoint for one in entry.content for step in one.segment)
    return Witness(entry.metadata.task, "violation", waypoints=waypoints)
