"""A contract in sentences, for hovers and for `everproof contracts`: what matters most first, nothing that another implies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analysis.session.contracts import words
from analysis.session.contracts.function_contract import Clause, FunctionContract, Status

_STATUS: dict[Status, str] = {
    "proved": "proved",
    "assumed": "assumed",
    "given": "from the table of library functions",
    "described": "from a contract of the project",
    "seen": "seen in the code",
}


class Sentence(NamedTuple):
    """One thing that a contract says, and how it is known, both in words."""

    text: str
    known: str


def sentences(contract: FunctionContract) -> tuple[Sentence, ...]:
    """What a contract says."""
    found = [*_never_returns(contract), *_required(contract), *_returned(contract), *_ended(contract), *_written(contract)]
    found += [(f"relies on: {one.text}", one.status) for one in contract.relies]
    return tuple(dict.fromkeys(Sentence(text, _STATUS[status]) for text, status in found))


def callers_sentence(contract: FunctionContract) -> str:
    """How many of the functions that call it keep what it expects; how many there are, if it expects nothing. Empty where the
    program calls it nowhere."""
    kept, of = contract.callers_discharging
    if not of:
        return ""
    if not contract.requires:
        return f"called by {words.counted(of, 'function')}"
    if contract.blocks:
        return kept_by(kept, of, "what it expects, blocks and streams aside")
    return safely_called(kept, of) if kept == of else kept_by(kept, of, "what it expects")


def safely_called(kept: int, of: int) -> str:
    """That all callers keep what is required: in each call, or where it matters for that call."""
    return "the only caller calls it safely" if of == 1 else f"{'both' if of == 2 else f'all {kept}'} callers call it safely"


def kept_by(kept: int, of: int, what: str) -> str:
    """How many callers keep `what` is required."""
    if of == 1:
        return f"the only caller {'keeps' if kept else 'is not proved to keep'} {what}"
    if kept == of:
        return f"{'both' if of == 2 else f'all {of}'} callers keep {what}"
    if kept == 0:
        return f"{'neither' if of == 2 else 'none'} of the {of} callers is proved to keep {what}"
    left = of - kept
    return f"{left} of {of} callers {'is' if left == 1 else 'are'} not proved to keep {what}"


def _never_returns(contract: FunctionContract) -> Iterator[tuple[str, Status]]:
    yield from ((one.text, one.status) for one in contract.ensures if one.text == words.NEVER_RETURNS)


def _required(contract: FunctionContract) -> Iterator[tuple[str, Status]]:
    """What callers have to keep: of parameters themselves in one line, of what each of them leads to in one line more."""
    if contract.closed and not contract.requires and not contract.blocks:
        yield words.EXPECTS_NOTHING, "proved"
    unnamed = [one.formula for one in contract.requires if words.is_unnamed(one.formula)]
    if unnamed:
        yield words.arguments_not_null(unnamed, _verb(contract.requires[0])), contract.requires[0].status
    left = {one.formula: one for one in contract.requires if one.formula not in unnamed}
    lines: dict[str, list[Clause]] = {}
    for formula, clause in left.items():
        if not any(_implies(other, formula) for other in left):
            value = formula.partition(" ")[0]
            lines.setdefault("" if value.isidentifier() and "||" not in formula else _parameter(value), []).append(clause)
    for clauses in (lines[value] for value in sorted(lines, key=bool)):
        yield f"{_verb(clauses[0])}{', '.join(one.text for one in clauses)}", clauses[0].status
    yield from ((one.text, one.status) for one in contract.blocks)


def _verb(clause: Clause) -> str:
    """A table or a contract of the project says what is necessary; what is proved is that it is enough."""
    return words.REQUIRES if clause.status in ("given", "described") else words.EXPECTS


def _implies(one: str, other: str) -> bool:
    """Whether a condition says another one, too: a pointer that is followed in it is not null."""
    if one == other:
        return False
    pointer = other.removesuffix(" != NULL")
    is_followed = "||" not in one and pointer != other and one.startswith((f"{pointer}->", f"{pointer}[", f"*{pointer} "))
    return is_followed or frozenset(one.split(" || ")) < frozenset(other.split(" || "))


def _parameter(lvalue: str) -> str:
    """The parameter that an lvalue starts at."""
    bare = lvalue.lstrip("*(&")
    return bare[: next((at for at, one in enumerate(bare) if not (one.isalnum() or one in "_$")), len(bare))]


def _returned(contract: FunctionContract) -> Iterator[tuple[str, Status]]:
    """What is known of the result. Whoever says what is returned says of NULL, too."""
    if not contract.returns:
        return
    said = [one for one in (*contract.ownership, *contract.ensures) if one.text.startswith("returns ")]
    yield from ((one.text, one.status) for one in said)
    for clause in contract.ensures:
        if clause not in said and not (said and clause.text in (words.MAY_BE_NULL, words.NEVER_NULL)):
            yield clause.text, clause.status


def _ended(contract: FunctionContract) -> Iterator[tuple[str, Status]]:
    """What happens to the blocks and streams that it is passed."""
    others = [one for one in contract.ownership if not one.text.startswith("returns ")]
    kept = [one for one in others if one.text.endswith(words.PASSED_ON)]
    yield from ((one.text, one.status) for one in others if one not in kept)
    if kept:
        yield words.all_kept([one.text for one in kept]), kept[0].status


def _written(contract: FunctionContract) -> Iterator[tuple[str, Status]]:
    if not contract.returns or not contract.writes:
        return
    status = contract.writes[0].status
    if any(one.text == words.ANYTHING for one in contract.writes):
        yield f"may write {words.ANYTHING}", status
        return
    is_nothing = [one.text for one in contract.writes] == [words.NOTHING]
    yield f"writes {'' if is_nothing else 'at most '}{places_text(contract.writes)}", status


def places_text(written: Sequence[Clause]) -> str:
    """Several places in one list: the members of one type together."""
    single = sorted((one.text for one in written if " of `" not in one.text), key=lambda text: not text.startswith("`"))
    members: dict[str, list[str]] = {}
    for clause in written:
        name, of, record = clause.text.partition(" of `")
        if of:
            members.setdefault(record, []).append(name)
    groups = [", ".join(single)] if single else []
    return "; ".join([*groups, *(f"{', '.join(names)} of `{record}" for record, names in members.items())])
