"""Facts and paths in words, for messages and hovers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from analysis.cfa.graph import Cfa
from analysis.engines.automaton.facts.facts import Fact
from analysis.engines.automaton.functions.access_paths import CALLER, RESULT, Path
from analysis.model import ir
from analysis.model.spelling import POSTFIX, display_name, spell_effect, spell_expr
from analysis.rules.automaton import Rule

_TEMPORARY_RESULT = re.compile(r"^\$\d+ = ")
_TEMPORARY = re.compile(r"\$\d+")
_LONGEST = 60  # characters of an expression in a message
_LONGEST_STEP = 120


def spell_path(path: Path, cfa: Cfa | None = None) -> str:
    """The path as C text. With `cfa`, that of the function, the result of a call is spelled as that call, that of
    `p++` as `p`."""
    root = path[0]
    if root == RESULT:
        return "the result"
    if root.startswith("$"):
        text = "the result" if cfa is None else _origin(cfa, root) or "the result"
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


def _origin(cfa: Cfa, temporary: str) -> str | None:
    """What a temporary holds, in C: the call whose result it is, or the lvalue that it is a copy of. None where several edges
    write it, where it is something else, or where that rests on other temporaries: people do not know these."""
    written = [edge.effect for edge in cfa.edges if _target(edge.effect) == temporary]
    if len(written) != 1:
        return None
    match written[0]:
        case ir.Call() as call:
            text = _TEMPORARY_RESULT.sub("", spell_effect(call))
        case ir.Assign(_, value):
            while isinstance(value, ir.Cast):
                value = value.operand
            text = spell_expr(value, POSTFIX) if isinstance(value, ir.LVALUES) else ""
        case _:
            return None
    return text if text and not _TEMPORARY.search(text) and len(text) <= _LONGEST else None


def _target(effect: ir.Effect) -> str | None:
    match effect:
        case ir.Assign(ir.Var(name)) | ir.Call(result=ir.Var(name)):
            return name
    return None


def _index(operation: str) -> str:
    return f"[{display_name(operation[1:-1].removeprefix('@'))}]"


def without_temporaries(text: str) -> str:
    """The text of an effect without names that lowering made up: people do not know them, and their numbers change with edits."""
    return _TEMPORARY.sub("the result", _TEMPORARY_RESULT.sub("", text))


def spell_step(effect: ir.Effect, cfa: Cfa) -> tuple[str, bool]:
    """An effect of the function as a step for people: a temporary is spelled as the call whose result it is, if that is known and
    short. And whether this rests on other edges of the function."""
    text = _TEMPORARY_RESULT.sub("", spell_effect(effect))
    origins = {name: _origin(cfa, name) or "the result" for name in set(_TEMPORARY.findall(text))}
    if not origins:
        return text, False
    spelled = _TEMPORARY.sub(lambda match: origins[match[0]], text)
    return (spelled if len(spelled) <= _LONGEST_STEP else without_temporaries(text)), True


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
