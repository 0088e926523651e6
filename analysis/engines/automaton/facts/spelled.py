"""Facts and paths in words, for messages and hovers."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.cfa.graph import Cfa
from analysis.cfa.unnamed_values import origin
from analysis.engines.automaton.facts.facts import Fact
from analysis.engines.automaton.functions.access_paths import CALLER, RESULT, Path
from analysis.engines.automaton.functions.entry_values import before_entry
from analysis.model.spelling import display_name
from analysis.rules.automaton import Rule


def spell_path(path: Path, cfa: Cfa | None = None) -> str:
    """The path as C text. With `cfa`, that of the function, the result of a call is spelled as that call, that of
    `p++` as `p`."""
    root, origin_ = path[0], before_entry(path)
    if origin_ is not None:
        return f"what {spell_path(origin_, cfa)} held"
    if root == RESULT:
        return "the result"
    if root.startswith("$"):
        text = "the result" if cfa is None else origin(cfa, root) or "the result"
    else:
        text = display_name(root.removeprefix("@"))
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
