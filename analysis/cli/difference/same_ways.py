"""Findings of two versions that are reported elsewhere, and that the same way leads to: code was taken out into a function, or
back into its caller, or the value is used before it comes to where it was used.

The way of a finding are the steps that explain it. The same way leads to two findings if

- one of the functions that they are in has come, or is gone; the statement of the old one is not in its function any more; the
  messages are the same; and so are the steps in these functions: at least two of them, or one if the old function calls the new
  one on the way, or is gone;
- or the one way is the beginning of the other, of two steps or more, or up to the call of the function of both; or both have
  three steps in common: the last ones of one of them, one after the other; or in this order, half of the shorter one, with the
  last step of one of them. Then one of them has the variable that the other finding is about.
"""

from __future__ import annotations

import re
from collections.abc import Set

from analysis.model.report import Finding

_LEAST = 3
_ABOUT = re.compile(r"`([^`]*)`")
_WORD = re.compile(r"[A-Za-z_]\w*")

Way = list[tuple[str, str]]


def same_way(old: Finding, new: Finding, gone: Set[str], added: Set[str], *, stays: bool) -> bool:
    """Whether the same way leads to both. `gone` and `added`: names of functions of one version only. `stays`: the old
    statement is still in its function, so that it did not go elsewhere."""
    mine, theirs = _way(old), _way(new)
    if old.function != new.function:
        has_come = old.function in gone or new.function in added
        if has_come and not stays and _moved(old, new, needs_one=old.function in gone or _passes(theirs, old.function)):
            return True
        if not (_passes(mine, new.function) or _passes(theirs, old.function)):
            return False
    return _is_alike(mine, theirs, new.function) and _is_about_the_same(old, new, mine, theirs)


def begins_alike(old: Finding, new: Finding) -> bool:
    """Whether the first steps of both ways are the same: the value comes from one place."""
    mine, theirs = _way(old), _way(new)
    return bool(mine) and mine[:1] == theirs[:1]


def _moved(old: Finding, new: Finding, *, needs_one: bool) -> bool:
    """Whether code with a finding went to another function."""
    mine = [text for function, text in _way(old) if function == old.function]
    theirs = [text for function, text in _way(new) if function == new.function]
    return old.message == new.message and mine == theirs and len(mine) >= (1 if needs_one else 2)


def _is_alike(mine: Way, theirs: Way, function: str) -> bool:
    shorter, longer = sorted((mine, theirs), key=len)
    is_beginning = bool(shorter) and longer[: len(shorter)] == shorter
    if is_beginning and (len(shorter) > 1 or not _passes(shorter, function)):
        return True
    if _ends_in(mine, theirs) or _ends_in(theirs, mine):
        return True
    common = _common(mine, theirs)
    is_enough = len(common) >= _LEAST and 2 * len(common) >= len(shorter)
    return is_enough and (mine[-1] in common or theirs[-1] in common)


def _way(finding: Finding) -> Way:
    """The functions and texts of the steps that explain a finding, the error left out."""
    steps = [step for step in finding.explanation if step.kind not in ("entry", "error")]
    return [(step.function, step.text) for step in steps]


def _ends_in(way: Way, other: Way) -> bool:
    """Whether the last steps of a way follow each other in the other one."""
    last = way[-_LEAST:]
    return len(last) == _LEAST and any(other[at : at + _LEAST] == last for at in range(len(other)))


def _passes(way: Way, function: str) -> bool:
    return any(name == function for name, _ in way)


def _is_about_the_same(old: Finding, new: Finding, mine: Way, theirs: Way) -> bool:
    was, now = _about(old), _about(new)
    return was == now or now in _words(mine) or was in _words(theirs)


def _about(finding: Finding) -> str:
    """The first name of what the finding is about; empty if its message names nothing."""
    found = _ABOUT.search(finding.message)
    word = None if found is None else _WORD.search(found[1])
    return "" if word is None else word[0]


def _words(way: Way) -> set[str]:
    return {word for _, text in way for word in _WORD.findall(text)}


def _common(mine: Way, theirs: Way) -> Way:
    """The longest common subsequence."""
    best: list[list[Way]] = [[[]] * (len(theirs) + 1) for _ in range(len(mine) + 1)]
    for i, one in enumerate(mine, 1):
        for j, other in enumerate(theirs, 1):
            if one == other:
                best[i][j] = [*best[i - 1][j - 1], one]
            else:
                best[i][j] = max(best[i - 1][j], best[i][j - 1], key=len)
    return best[-1][-1]
