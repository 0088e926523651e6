"""Checks claims about what functions need. It follows each function that matters by itself, believes nothing but what the claim
says that callers keep, and finds each call that must keep it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import msgspec

from analysis.certificate.hidden_calls import hidden_calls
from analysis.certificate.nonzero.callee_contracts import Needs, followed_pointers
from analysis.certificate.nonzero.claims import FunctionNeeds, Requirements
from analysis.certificate.nonzero.data_invariants import NONE, Invariant, Invariants
from analysis.certificate.nonzero.followed import Followed
from analysis.certificate.nonzero.needed_values import RULES, Rule
from analysis.certificate.nonzero.transfer import Missing
from analysis.certificate.nonzero.values import is_stable, open_streams
from analysis.certificate.nonzero.walk import Walked
from analysis.certificate.ownership.kept_by_callers import unseen_calls
from analysis.certificate.refusal import RefusedError
from analysis.cfa.callgraph import callees, callers
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.linking.evaluation_order import assumptions_of
from analysis.cfa.marks import marked
from analysis.cpa.obstacles.beside import beside
from analysis.cpa.obstacles.completeness import KEEPS_ERRNO, called_outside, calls_unknown, keeps_errno
from analysis.cpa.obstacles.kept_buffers import keeping_buffers, may_use_buffers
from analysis.frontend.declarations.file_level import UNSEEN
from analysis.model import ir
from analysis.model.assumptions import BEFORE, INSIDE, OPEN_STREAMS, OUTSIDE, OWN_KINDS, TYPES
from analysis.model.c_types import Pointer
from analysis.model.report import IF_KEPT
from analysis.model.spelling import display_name, spell_expr


class RequirementsChecked(NamedTuple):
    """What an accepted claim rests on, and how many edges were taken."""

    assumptions: tuple[str, ...]
    steps: int


def check_requirements(program: Program, claim: Requirements) -> RequirementsChecked:
    """Accepts the claim, or raises RefusedError. KeyError if it speaks of functions that the program does not have."""
    if claim.rule not in RULES:
        raise RefusedError(f"what functions need proves nothing about {claim.rule}")
    rule: Rule = msgspec.convert(claim.rule, Rule)
    needs = checked_needs(program, claim.functions)
    about = functions_about(program, claim.entry, needs, claim.runs_from)
    reason = obstacle(program, about)
    if reason:
        raise RefusedError(reason)
    found = shown(program, rule, needs, about).found
    why = open_reason(program, needs, found, claim.entry, claim.runs_from)
    if why:
        raise RefusedError(f"nothing rules out {claim.rule} in {display_name(claim.entry)}(): {why}")
    return RequirementsChecked(assumptions(program, about), sum(one.steps for one in found.values()))


class Shown(NamedTuple):
    """What following functions of one program showed, if each gets what it `needs`; and how, for programs after it."""

    needs: Mapping[str, Needs] = {}
    followed: Followed | None = None

    @property
    def found(self) -> Mapping[str, Walked]:
        """What is shown of each function."""
        return {} if self.followed is None else self.followed.found


def shown(
    program: Program,
    rule: Rule,
    needs: Mapping[str, Needs],
    about: tuple[str, ...],
    before: Shown = Shown(),  # noqa: B008 - immutable
    same: Collection[str] | None = None,
) -> Shown:
    """What following these functions, and all that they call, shows, if each gets what it needs. `before` is what was shown of an
    earlier program, and `same` are functions of which nothing that this follows from is other than there, but for what functions
    need: where that is the same too, a function is not followed again. None: more may differ than bodies of functions."""
    followed, called = Followed(program, rule), callees(program)
    kept = set[str]()
    if before.followed is not None and same is not None:
        followed.take_over(before.followed, ())
    unchanged = {name for name in same or () if name in before.found and needs.get(name, ()) == before.needs.get(name, ())}
    for group in followed.groups_below(about):
        below = {one for name in group for one in called[name] if one in program.functions}.difference(group)
        if below <= kept and unchanged.issuperset(group):
            kept.update(group)
            followed.found.update((name, before.found[name]) for name in group)
        else:
            followed.follow(group, lambda name: needs.get(name, ()))
    return Shown(needs, followed)


def relied_on(program: Program, found: Mapping[str, Walked], name: str) -> Invariants:
    """The invariants that what is shown of a function rests on, also those for what it calls."""
    called, seen, waiting = callees(program), {name}, [name]
    relied = set[Invariant]()
    while waiting:
        one = waiting.pop()
        relied |= found[one].relies if one in found else NONE
        new = {callee for callee in called.get(one, ()) if callee in found} - seen
        seen |= new
        waiting += new
    return frozenset(relied)


def open_reason(
    program: Program, needs: Mapping[str, Needs], found: Mapping[str, Walked], entry: str, runs_from: tuple[str, ...]
) -> str:
    """Why what was shown of functions does not prove the rule in one of them; empty if it does: in runs from these functions, or
    else whoever calls it."""
    why = open_place(program, entry, found[entry])
    if why or not needs.get(entry):
        return why
    if not runs_from:
        return required(needs[entry])
    return kept(program, functions_about(program, entry, needs, runs_from), needs, found, runs_from)


def checked_needs(program: Program, functions: Iterable[FunctionNeeds]) -> Mapping[str, Needs]:
    """What is claimed that functions need. RefusedError for what callers could not be asked for."""
    found: dict[str, Needs] = {}
    for one in functions:
        cfa = program.functions[one.function]
        if one.function in found or not all(is_need(cfa, need) for need in one.needs):
            raise RefusedError(f"what {display_name(one.function)}() needs is not said clearly")
        found[one.function] = one.needs
    return found


def is_need(cfa: Cfa, need: ir.Expr) -> bool:
    """Whether an expression is about the parameters of a function: one of them, or what they lead to."""
    parameters = {one.name: one for one in cfa.parameters}
    is_path = isinstance(need, ir.LVALUES) and not any(isinstance(part, ir.Index) for part in ir.walk(need))
    return is_path and is_stable(need) and all(parameters.get(one.name) == one for one in ir.variables(need))


def obstacle(program: Program, functions: tuple[str, ...]) -> str:
    """Why nothing is proved of these functions; empty if something may be."""
    if UNSEEN in program.externals:
        return "attributes make functions run before or after main, or give them other names"
    if keeps_errno(program):
        return KEEPS_ERRNO
    keeping = keeping_buffers(program)
    if keeping and may_use_buffers(called_outside(program, functions)):
        return f"functions of the library may write to what {display_name(keeping)}() kept"
    return beside(program).obstacle(functions) or ""


def open_place(program: Program, name: str, found: Walked) -> str:
    """Why a function may violate the rule, as a sentence with its first place; empty if it does not."""
    if found.broken:
        return found.broken
    first = next(iter(found.missing), None)
    return "" if first is None else said(program, name, first)


def said(program: Program, function: str, missing: Missing) -> str:
    """What is missing, as a sentence."""
    where = marked(program, function, missing.edge)
    if missing.why:
        return f"{missing.why}, at {where}"
    needing = f", which {display_name(missing.callee)}() needs," if missing.callee else ""
    value = "null" if is_pointer(missing.expr) else "zero"
    return f"`{spell_expr(missing.expr)}`{needing} may be {value} at {where}"


def required(needs: Needs) -> str:
    """What a function needs of its callers, as the reason why it is not proved without them."""
    return IF_KEPT + " and ".join(f"`{condition}`" for condition in conditions(needs))


def conditions(needs: Needs) -> tuple[str, ...]:
    """What a function needs, as conditions in C. Nothing is needed of what a null pointer would have to lead to."""
    found = []
    for need in needs:
        guards = [f"{spell_expr(pointer)} == NULL" for pointer in followed_pointers(need) if pointer not in needs]
        found.append(" || ".join([*guards, f"{spell_expr(need)} != {'NULL' if is_pointer(need) else '0'}"]))
    return tuple(found)


def is_pointer(expr: ir.Expr) -> bool:
    """Whether it is a pointer, and no number."""
    return isinstance(expr.type, Pointer)


def kept(
    program: Program, about: Iterable[str], needs: Mapping[str, Needs], found: Mapping[str, Walked], runs_from: tuple[str, ...]
) -> str:
    """Why callers may not keep what these functions need, in runs from the entries; empty if they do, or nothing is needed."""
    needing = [name for name in about if needs.get(name)]
    hidden = hidden_calls(program, runs_from) if needing else ""
    if hidden:
        return hidden
    calling = callers(program)
    for name in needing:
        why = unseen_calls(program, name, runs_from)
        if why or not calling.get(name):
            return why or f"no call of {display_name(name)}() was found"
        for caller in calling[name]:
            if caller not in found or found[caller].broken:
                return f"{display_name(caller)}() calls {display_name(name)}(), and is not followed"
            broken = next((one for one in found[caller].missing if one.callee == name), None)
            if broken is not None:
                return said(program, caller, broken)
    return ""


def functions_about(program: Program, entry: str, needs: Mapping[str, Needs], runs_from: tuple[str, ...]) -> tuple[str, ...]:
    """A function, and in runs from others all from which it is seen that what it needs is kept."""
    calling, found, waiting = callers(program), {entry: None}, [entry] if runs_from else []
    while waiting:
        name = waiting.pop()
        for caller in calling.get(name, ()) if needs.get(name) else ():
            if caller not in found:
                found[caller] = None
                waiting.append(caller)
    return tuple(found)


def assumptions(program: Program, functions: tuple[str, ...], relied: Invariants = NONE) -> tuple[str, ...]:
    """What a proof rests on, as sentences. `relied`: the invariants that it rests on."""
    calls_others = calls_unknown(program, functions)
    rows = (OUTSIDE, calls_others), (OPEN_STREAMS, bool(open_streams(program))), (OWN_KINDS, bool(relied))
    more = [one.sentence for one, holds in rows if holds]
    return tuple(dict.fromkeys((*assumptions_of(program), BEFORE.sentence, INSIDE.sentence, TYPES.sentence, *more)))
