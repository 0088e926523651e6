"""Values that have no name in the program, in words: results of calls, and copies that an expression makes.

Lowering keeps them in temporaries. People do not know these, and their numbers change with edits.
"""

from __future__ import annotations

import re

from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.spelling import POSTFIX, spell_effect, spell_expr

LONGEST = 60
"""The characters of an expression in a message, at most."""

_STORED_RESULT = re.compile(r"^\$\d+ = ")
_TEMPORARY = re.compile(r"(?<![\w$])\$\d+\b")
_UNKNOWN = "the result"


def origin(cfa: Cfa, temporary: str) -> str | None:
    """What a temporary holds, in C: the call whose result it is, the lvalue that it is a copy of, or `... ? a : b` where it is
    one of two. None where it is something else, or where that rests on other temporaries."""
    written = [edge.effect for edge in cfa.edges if _target(edge.effect) == temporary]
    texts = list(dict.fromkeys(map(_text_of, written)))
    if not all(texts) or (len(texts) == 1 and len(written) > 1 and isinstance(written[0], ir.Call)):
        return None
    match texts:
        case [text]:
            found = text
        case [one, other] if len(written) == 2:
            found = f"... ? {one} : {other}"
        case _:
            return None
    return found if not _TEMPORARY.search(found) and len(found) <= LONGEST else None


def _text_of(written: ir.Effect) -> str:
    """The call, or the lvalue that is copied; empty for other effects."""
    match written:
        case ir.Call() as call:
            return _STORED_RESULT.sub("", spell_effect(call))
        case ir.Assign(_, value):
            while isinstance(value, ir.Cast):
                value = value.operand
            return spell_expr(value, POSTFIX) if isinstance(value, ir.LVALUES) else ""
    return ""


def _target(effect: ir.Effect) -> str | None:
    match effect:
        case ir.Assign(ir.Var(name)) | ir.Call(result=ir.Var(name)):
            return name
    return None


def without_temporaries(text: str) -> str:
    """The text of an effect or expression, with `the result` in place of each temporary."""
    return _TEMPORARY.sub(_UNKNOWN, _STORED_RESULT.sub("", text))


def has_temporaries(text: str) -> bool:
    """Whether the text of an effect uses temporaries, and does more than to store a result in one."""
    return _TEMPORARY.search(_STORED_RESULT.sub("", text)) is not None


def with_origins(text: str, cfa: Cfa, longest: int = LONGEST) -> str:
    """The text of an effect or expression of a function, with what is known of each temporary in its place (`origin`). If that is
    longer than `longest` characters, the same as `without_temporaries`."""
    spelled = _TEMPORARY.sub(lambda found: origin(cfa, found[0]) or _UNKNOWN, _STORED_RESULT.sub("", text))
    return spelled if len(spelled) <= longest else without_temporaries(text)
