"""What an edit did to the contract of a function, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.session.contracts import words
from analysis.session.contracts.expected_blocks import without_null
from analysis.session.contracts.function_contract import Clause, FunctionContract
from analysis.session.contracts.related_clauses import is_related
from analysis.session.contracts.result_bounds import is_bounds
from analysis.session.contracts.sentences import kept_by, places_text

_MOST = 2  # changes that are said; more are counted
_EXPECTS = f"now {words.EXPECTS}"
_ALWAYS = {"free": "frees", "close": "closes", "keep": "keeps"}


def change_text(before: FunctionContract, now: FunctionContract, callers: int, kept: int | None) -> str:
    """What is other than before, in one line, what callers have to keep first; empty if nothing is. There are so many
    `callers`, of whom so many have `kept` what is required, if that is known."""
    said = [*_changes(before, now), *_added(before, now)] or list(_removed(before, now))
    if not said:
        return ""
    more = [] if len(said) <= _MOST else [f"{len(said) - _MOST} more"]
    if said[0].startswith(_EXPECTS) and callers and kept is not None:
        needed = [one for one in said if one.startswith(_EXPECTS)]
        others = [one for one in said if not one.startswith(_EXPECTS)]
        rest = [*others[: _MOST - 1], *([f"{len(others) - _MOST + 1} more"] if len(others) >= _MOST else [])]
        return "; ".join([f"contract changed: {_joined(needed)}: {kept_by(kept, callers, 'it')}", *rest])
    behind = f" — {words.counted(callers, 'caller')}" if callers else ""
    return f"contract changed: {'; '.join([*said[:_MOST], *more])}{behind}"


def unchanged_text(callers: int) -> str:
    """That the contract is as before, and for how many callers. It says nothing of values: another number that is returned, or
    stored, can still matter to them."""
    return f"contract unchanged for {words.counted(callers, 'caller')}" if callers else "contract unchanged"


def _joined(needed: Sequence[str]) -> str:
    return _EXPECTS + " and ".join(one.removeprefix(_EXPECTS) for one in needed)


def _changes(before: FunctionContract, now: FunctionContract) -> Iterator[str]:
    old, new = ({one.formula: one.text for one in contract.requires} for contract in (before, now))
    yield from (f"{_EXPECTS}{text}" for formula, text in new.items() if formula not in old)
    yield from _returns(before, now)
    yield from (f"no longer {words.EXPECTS}{text}" for formula, text in old.items() if formula not in new)
    if before.returns and now.returns:
        yield from _ended(_texts(before.ownership), _texts(now.ownership))
        written = list(_written(before.writes, now.writes))
        yield from written
        yield from (text for text in _related(before, now) if not (written and text.startswith("no longer sets")))


def _related(before: FunctionContract, now: FunctionContract) -> Iterator[str]:
    """What is other of how what it returns and writes relates to what was there before."""
    old, new = ([one.text for one in contract.ensures if is_related(one)] for contract in (before, now))
    yield from (f"now {text}" for text in new if text not in old)
    yield from (f"no longer {text}" for text in old if text not in new)


def _added(before: FunctionContract, now: FunctionContract) -> Iterator[str]:
    """What callers have to keep of blocks now, and had not to before."""
    yield from (f"now also {text}" for text in _unsaid(_expected(now), _texts(before.blocks)))


def _removed(before: FunctionContract, now: FunctionContract) -> Iterator[str]:
    """What callers have to keep no longer of blocks. Mostly it follows from what is done no longer: then that is said alone."""
    yield from (f"no longer {text}" for text in _unsaid(_expected(before), _texts(now.blocks)))


def _unsaid(texts: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """What sentences say that others do not say, of some of their parameters or of all."""
    known = {without_null(one) for text in others for one in words.of_each(text)}
    for text in texts:
        parts = words.of_each(text)
        new = [one for one in parts if without_null(one) not in known]
        yield from (text,) if len(new) == len(parts) else new


def _expected(contract: FunctionContract) -> list[str]:
    """What callers have to keep of blocks. That it frees what it finds is only said where nothing else is."""
    return [text for text in _texts(contract.blocks) if text != words.FREES_FOUND]


def _returns(before: FunctionContract, now: FunctionContract) -> Iterator[str]:
    if before.returns != now.returns:
        yield "may return now" if now.returns else "does not return any more"
        return
    old, new = _null(before), _null(now)
    if new == words.MAY_BE_NULL != old:
        yield "may now return NULL"
    elif new == words.NEVER_NULL != old:
        yield "now never returns NULL"
    elif old == words.NEVER_NULL != new:
        yield "no longer proved never to return NULL"
    made, makes = _made(before), _made(now)
    if makes and makes != made:
        yield f"now returns {makes}"
    elif made and not makes:
        yield f"no longer returns {made}"
    yield from _bounds(before, now)
    zero = [any(one.text == words.NEVER_ZERO for one in contract.ensures) for contract in (before, now)]
    if zero[0] != zero[1]:
        yield "now never returns 0" if zero[1] else "no longer proved never to return 0"


def _bounds(before: FunctionContract, now: FunctionContract) -> Iterator[str]:
    """What is other of the bounds of the result."""
    old, new = (next(filter(is_bounds, _texts(contract.ensures)), "") for contract in (before, now))
    if new and new != old:
        yield f"now {new}"
    elif old and not new:
        yield f"no longer {old}"


def _null(contract: FunctionContract) -> str:
    """What is known of NULL as the result: one of the words for it, or nothing."""
    texts = _texts((*contract.ownership, *contract.ensures))
    if any(text.startswith(words.NULL_OR) for text in texts):
        return words.MAY_BE_NULL
    if any(words.new_result(text) for text in texts):
        return words.NEVER_NULL
    return next((text for text in texts if text in (words.MAY_BE_NULL, words.NEVER_NULL)), "")


def _made(contract: FunctionContract) -> str:
    return next(filter(None, map(words.new_result, _texts(contract.ownership))), "")


def _texts(clauses: Sequence[Clause]) -> list[str]:
    return [clause.text for clause in clauses]


def _ended(old: list[str], new: list[str]) -> Iterator[str]:
    """What happens to the blocks and streams that it is passed."""
    acts, acted = ({_always(text) for text in texts if not text.startswith("returns ")} for texts in (new, old))
    for text in new:
        if not text.startswith("returns ") and text not in old:
            yield f"may now {text.removeprefix('may ')}" if text.startswith("may ") else f"now {text}"
    yield from (f"no longer {text}" for text in sorted(acted - acts))


def _always(text: str) -> str:
    """The same of every call, where something is said of some: `frees` for `may free`."""
    verb, _, what = text.removeprefix("may ").removesuffix(words.PASSED_ON).partition(" ")
    return f"{_ALWAYS.get(verb, verb)} {what}"


def _written(old: Sequence[Clause], new: Sequence[Clause]) -> Iterator[str]:
    anything, before = words.ANYTHING in _texts(new), words.ANYTHING in _texts(old)
    if anything or before:
        if anything and not before:
            yield f"may now write {words.ANYTHING}"
        elif before and not anything:
            yield f"now writes only {places_text(new)}" if _texts(new) != [words.NOTHING] else f"now writes {words.NOTHING}"
        return
    more = [one for one in new if one.text not in _texts(old) and one.text != words.NOTHING]
    less = [one for one in old if one.text not in _texts(new) and one.text != words.NOTHING]
    if more:
        yield f"now writes {places_text(more)}"
    if less:
        yield f"no longer writes {places_text(less)}"
