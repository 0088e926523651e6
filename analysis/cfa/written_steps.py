"""Steps of a trace as the user wrote them: `malloc(sizeof(struct item))`, where the effect of the edge is `malloc(24)`.

What an edge does is not always what stands at its place. A branch can be taken on its other side, a case stands there without
what it is compared with, a declaration with stars, a call without the variable that its result goes to. So the text is taken over
only where it has the form of the effect, is short, and is in one piece; else the effect is spelled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from analysis.cfa.graph import Cfa
from analysis.cfa.unnamed_values import has_temporaries, with_origins
from analysis.model import ir
from analysis.model.c_types import Floating, Pointer
from analysis.model.comparisons import NEGATED
from analysis.model.spelling import spell_effect, spell_expr

LONGEST = 120
"""The characters of a step, at most, that is taken over as it is written."""

_TOKEN = re.compile(
    # a literal that does not end takes the rest: or each quotation mark would be tried to the end
    r"""\s+|[A-Za-z_$][\w$]*|\.?\d[\w.]*|"(?:[^"\\]++|\\[\s\S])*+(?:"|\\?\Z)|'(?:[^'\\]++|\\[\s\S])*+(?:'|\\?\Z)"""
    r"""|->|\+\+|--|<<=|>>=|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|."""
)
_LOOSE = frozenset(("&&", "||", "?", ":", ",", "=", "&", "|", "^", *(f"{sign}=" for sign in "+-*/%&|^"), "<<=", ">>="))
_DECLARATOR = re.compile(r"\A(?:\*|\s|\b(?:const|restrict|volatile)\b)*")
_POSTFIX = re.compile(r"[\w$.\[\]()]|->")


def written_step(effect: ir.Effect, source: str | None, cfa: Cfa) -> tuple[str, bool]:
    """The effect of an edge of the function as a step for people, as it is written where that can be shown. And whether this
    rests on other edges of the function. `source` is what is written at the place of the edge: see `Places.written`."""
    text = spell_effect(effect)
    known = None if source is None or len(source) > LONGEST or not _is_whole(source) else _written(effect, source)
    if known is not None and not has_temporaries(known):
        return known, False
    return with_origins(text, cfa, LONGEST), has_temporaries(text)


def _written(effect: ir.Effect, source: str) -> str | None:
    """The text with the form of the effect; None if it has another one."""
    match effect:
        case ir.Call():
            return _call(effect, source)
        case ir.Assume(condition, truth):
            return _condition(condition, source, truth=truth)
        case ir.Assign(target, value) if not isinstance(value, ir.Undefined):
            return _assignment(target, source)
        case ir.Return() if source.startswith("return"):
            return source.rstrip("; ")
    return None


def _is_whole(source: str) -> bool:
    """Whether all parentheses in it are closed: where a macro stands for `if`, only a part of the condition can be told."""
    tokens = [match.group() for match in _TOKEN.finditer(source)]
    return all(tokens.count(opening) == tokens.count(closing) for opening, closing in ("()", "[]", "{}"))


def _call(call: ir.Call, source: str) -> str | None:
    callee = spell_expr(call.callee)
    if not source.startswith(callee) or not source[len(callee) :].lstrip().startswith("(") or not source.endswith(")"):
        return None
    named = call.result is not None and not (isinstance(call.result, ir.Var) and call.result.scope == "temporary")
    return f"{spell_expr(call.result)} = {source}" if named and call.result is not None else source


def _condition(condition: ir.Expr, source: str, *, truth: bool) -> str | None:
    """The condition that holds on this side of a branch."""
    bare = ir.strip_casts(condition)
    if source.startswith("case "):
        return _case(bare, source.removeprefix("case "), truth=truth)
    outer = list(_outer(source))
    comparisons = [(at, token) for at, token in outer if token in NEGATED]
    is_loose = any(token in _LOOSE for _, token in outer)
    if isinstance(bare, ir.Binary) and bare.operator in NEGATED and not comparisons:
        return None
    if truth:
        return source
    if len(comparisons) == 1 and not is_loose and not _is_floating(bare):
        [(at, token)] = comparisons
        return f"{source[:at]}{NEGATED[token]}{source[at + len(token) :]}"
    if source.startswith("!") and _is_postfix(source[1:]):
        return source[1:]
    if not _is_postfix(source):
        return f"!({source})"
    return f"{source} == NULL" if isinstance(getattr(bare, "type", None), Pointer) else f"!{source}"


def _case(compared: ir.Expr, label: str, *, truth: bool) -> str | None:
    """A label of a switch stands alone: what it is compared with is spelled. Not a range of labels."""
    if not isinstance(compared, ir.Binary) or compared.operator != "==" or "..." in label:
        return None
    return f"{spell_expr(compared.left, 7)} {'==' if truth else '!='} {label}"


def _is_floating(condition: ir.Expr) -> bool:
    """Whether the opposite of a comparison is not its other side: both can be false of what is not a number."""
    return isinstance(condition, ir.Binary) and isinstance(condition.left.type, Floating)


def _assignment(target: ir.Expr, source: str) -> str | None:
    name = spell_expr(target)
    if isinstance(target, ir.Var):
        source = _DECLARATOR.sub("", source, count=1)
    is_step = source.startswith(("++", "--")) or source.endswith(("++", "--"))
    has_sign = any(token == "=" or (token.endswith("=") and token in _LOOSE) for _, token in _outer(source))
    last = re.findall(r"\w+", name)
    return source if last and re.search(rf"\b{last[-1]}\b", source) and (is_step or has_sign) else None


def _outer(source: str) -> Iterator[tuple[int, str]]:
    """The tokens that are in no parentheses, with where they begin."""
    depth = 0
    for match in _TOKEN.finditer(source):
        token = match.group()
        depth -= token in ")]}"
        if depth == 0 and not token.isspace():
            yield match.start(), token
        depth += token in "([{"


def _is_postfix(source: str) -> bool:
    """Whether it binds stronger than `!` and `==`: a name with what follows it."""
    tokens = [token for _, token in _outer(source)]
    are_words = [bool(re.fullmatch(r"[\w$]+", token)) for token in tokens]
    is_sequence = any(one and other for one, other in pairwise(are_words))  # `sizeof n`
    return not is_sequence and all(word or _POSTFIX.fullmatch(token) for token, word in zip(tokens, are_words, strict=True))
