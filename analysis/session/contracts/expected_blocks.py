"""What callers of a function have to keep of the blocks and streams that its parameters lead to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.certificate.ownership.closed_checker import hidden, without_callers
from analysis.certificate.ownership.obligations import HOLDS_NONE, LIVE, RULES, Obligations
from analysis.cfa.graph import Cfa, Program
from analysis.session.contracts import words
from analysis.session.contracts.function_contract import Clause, Status

_EXPECTED = {
    "heap": "a whole block of memory that nothing else frees",
    "stream": "an open stream that nothing else closes",
    "directory": "an open directory that nothing else closes",
    LIVE: "neither freed nor closed",
    "neither": "to point to what leads to nothing that has to be freed or closed",
    HOLDS_NONE["memory-leak"]: "to point to what leads to nothing that has to be freed",
    HOLDS_NONE["resource-leak"]: "to point to what leads to nothing that has to be closed",
}


def expected_blocks(
    program: Program, cfa: Cfa, found: Obligations, parameters: Sequence[str], status: Status
) -> tuple[Clause, ...]:
    """What callers have to keep, so that each rule holds that does then, whatever else they do. `parameters`: their names."""
    named = dict(zip((one.name for one in cfa.parameters), parameters, strict=True))
    expected: dict[str, dict[str, None]] = {}
    rules: dict[str, str] = {}
    for rule, parameter, need in sorted(found.requires):
        if rule in RULES and not without_callers(found, rule) and not hidden(program, rule):
            expected.setdefault(need, {})[named[parameter]] = None
            rules.setdefault(need, rule)
    no_block, no_file = HOLDS_NONE["memory-leak"], HOLDS_NONE["resource-leak"]
    if expected.get(no_block) == expected.get(no_file):
        expected["neither"], rules["neither"] = expected.pop(no_block, {}), rules.get(no_block, "")
        expected.pop(no_file, None)
    return tuple(Clause(text, "", status, rules[need]) for need, text in _texts(expected))


def _texts(expected: Mapping[str, Mapping[str, None]]) -> Iterator[tuple[str, str]]:
    """A sentence for each need. What is a block or a stream is live."""
    kinds = {name for need, names in expected.items() if need in ("heap", "stream", "directory") for name in names}
    for need, what in _EXPECTED.items():
        names = [name for name in expected.get(need, ()) if need != LIVE or name not in kinds]
        if names:
            yield need, f"{words.EXPECTS}{words.each_of(names)} to be null, or {what}"
