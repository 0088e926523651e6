"""What callers of a function have to keep of the blocks and streams that its parameters lead to."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from analysis.certificate.ownership.closed_checker import hidden, without_callers
from analysis.certificate.ownership.obligations import HOLDS_NONE, INSIDE_HEAP, LIVE, RULES, USES, Obligations
from analysis.cfa.graph import Cfa, Program
from analysis.model.c_types import Record
from analysis.session.contracts import words
from analysis.session.contracts.function_contract import Clause, Status

_EXPECTED = {
    "heap": "a whole block of memory that nothing else frees",
    INSIDE_HEAP: "inside of a block of memory that nothing else frees, and whose start is computed from it",
    "stream": "an open stream that nothing else closes",
    "directory": "an open directory that nothing else closes",
    LIVE: "neither freed nor closed",
}
_LOSES_NOTHING = {
    "neither": "freed or closed",
    HOLDS_NONE["memory-leak"]: "freed",
    HOLDS_NONE["resource-leak"]: "closed",
}
_NULL = "null, or "


def expected_blocks(
    program: Program,
    cfa: Cfa,
    found: Obligations,
    parameters: Sequence[str],
    status: Status,
    required: Collection[str] = (),
) -> tuple[Clause, ...]:
    """What callers have to keep, so that each rule holds that does then, whatever else they do. `parameters`: their names;
    `required`: conditions that they have to keep anyway."""
    named = dict(zip((one.name for one in cfa.parameters), parameters, strict=True))
    expected: dict[str, dict[str, None]] = {}
    rules: dict[str, str] = {}
    for rule, parameter, need in sorted(found.requires):
        if rule in RULES and not without_callers(program, found, cfa.name, rule) and not hidden(program, rule):
            expected.setdefault(need, {})[named[parameter]] = None
            rules.setdefault(need, rule)
    no_block, no_file = HOLDS_NONE["memory-leak"], HOLDS_NONE["resource-leak"]
    if expected.get(no_block) == expected.get(no_file):
        expected["neither"], rules["neither"] = expected.pop(no_block, {}), rules.get(no_block, "")
        expected.pop(no_file, None)
    reaches = [one for one in sorted(USES & found.first.keys()) if not without_callers(program, found, cfa.name, one)]
    never_null = {name for name in parameters if any(_says_not_null(condition, name) for condition in required)}
    clauses = [Clause(text, "", status, rules[need]) for need, text in _texts(expected, never_null)]
    clauses += [Clause(words.REACHED_LIVE, "", status, rule) for rule in reaches[:1] if not hidden(program, rule)]
    is_passed_record = any(isinstance(one.type, Record) for one in cfa.parameters)
    if found.ends_unknown and is_passed_record and not required and not clauses:  # else nothing would seem to matter
        clauses.append(Clause(words.FREES_FOUND, "", status, "double-free"))
    return tuple(clauses)


def without_null(text: str) -> str:
    """What a clause says, whether or not it says that a parameter may be null."""
    return text.replace(f"to be {_NULL}", "to be ").replace(f"is {_NULL}points", "points")


def _says_not_null(condition: str, name: str) -> bool:
    """Whether a condition says that a parameter is not null, if only because it is followed there."""
    return "||" not in condition and condition.startswith((f"{name} != NULL", f"{name}->", f"{name}[", f"*{name} "))


def _texts(expected: Mapping[str, Mapping[str, None]], never_null: Collection[str]) -> Iterator[tuple[str, str]]:
    """Sentences for each need, for parameters that may be null and for others. What is a block or a stream is live."""
    kinds = {name for need, names in expected.items() if need in ("heap", INSIDE_HEAP, "stream", "directory") for name in names}
    for need in (*_EXPECTED, *_LOSES_NOTHING):
        names = [name for name in expected.get(need, ()) if need != LIVE or name not in kinds]
        for may_be_null in (False, True):
            some = [name for name in names if (name not in never_null) == may_be_null]
            if some:
                yield need, _text(need, words.each_of(some), may_be_null=may_be_null)


def _text(need: str, names: str, *, may_be_null: bool) -> str:
    null = _NULL if may_be_null and need != INSIDE_HEAP else ""
    if need in _EXPECTED:
        return f"{words.EXPECTS}{names} to be {null}{_EXPECTED[need]}"
    is_null = f"is {null}" if may_be_null else ""  # no duty: a caller that does not keep this may be right
    return f"{words.LEAKS_UNLESS}{names} {is_null}points to what leads to nothing that has to be {_LOSES_NOTHING[need]}"
