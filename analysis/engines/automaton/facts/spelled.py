"""Facts and paths in words, for messages and hovers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from analysis.engines.automaton.facts.facts import Fact
from analysis.engines.automaton.functions.access_paths import CALLER, RESULT, Path
from analysis.model.spelling import display_name
from analysis.rules.automaton import Rule

_TEMPORARY_RESULT = re.compile(r"^\$\d+ = ")
_TEMPORARY = re.compile(r"\$\d+")


def spell_path(path: Path) -> str:
    """The path as C text."""
    root = path[0]
    if root == RESULT:
        return "the result"
    text = "the result" if root.startswith("$") else display_name(root.removeprefix("@"))
    follows = False
    for operation in path[1:]:
        if operation == "&":
            text = f"&{text}" if not follows else f"&*{text}"
            follows = False
        elif operation[0] == "*":
            text = f"(*{text})" if follows else text
            follows = operation == "*"
            if operation != "*":
                text += _index(operation[1:])
        elif operation[0] == ".":
            text += f"->{operation[1:]}" if follows else operation
            follows = False
        else:
            text = f"(*{text})" if follows else text
            text += _index(operation)
            follows = False
    return f"*{text}" if follows else text


def _index(operation: str) -> str:
    return f"[{display_name(operation[1:-1].removeprefix('@'))}]"


def without_temporaries(text: str) -> str:
    """The text of an effect without names that lowering made up: people do not know them, and their numbers change with edits."""
    return _TEMPORARY.sub("the result", _TEMPORARY_RESULT.sub("", text))


def summary_line(entry: Fact, exit_: Fact, rules: Sequence[Rule], from_nothing: bool, to_nothing: bool) -> str:
    """An entry/exit pair of a function in words; empty when it says only that the function can return."""
    if to_nothing:
        return ""
    rule = rules[exit_.rule].name
    after = _places(exit_)
    if from_nothing:
        return f"{rule}: {after} can be {exit_.state}" if after else ""
    before = _places(entry)
    if not before:
        return ""
    if entry.state == exit_.state and before == after:
        return ""
    return f"{rule}: if {before} is {entry.state}, {after or 'it'} can be {exit_.state} on return"


def _places(fact: Fact) -> str:
    return ", ".join(spell_path(path) for path in fact.paths if path[0] != CALLER)
