"""Checks claims about what functions need. It follows each function that matters by itself, believes nothing but what the claim
says that callers keep, and finds each call that must keep it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from analysis.certificate.nonzero.callee_contracts import Needs, followed_pointers
from analysis.certificate.nonzero.claims import Requirements
from analysis.certificate.nonzero.followed import Followed
from analysis.certificate.nonzero.needed_values import RULES, Rule
from analysis.certificate.nonzero.transfer import Missing
from analysis.certificate.nonzero.values import is_stable, open_streams
from analysis.certificate.nonzero.walk import Walked
from analysis.certificate.ownership.kept_by_callers import hidden_calls, unseen_calls
from analysis.certificate.refusal import RefusedError
from analysis.cfa.callgraph import callers
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.linking.evaluation_order import assumptions_of
from analysis.cfa.marks import marked
from analysis.cpa.obstacles.beside import beside
from analysis.cpa.obstacles.completeness import KEEPS_ERRNO, called_outside, keeps_errno
from analysis.cpa.obstacles.kept_buffers import keeping_buffers, may_use_buffers
from analysis.frontend.declarations.file_level import UNSEEN
from analysis.model import ir
from analysis.model.assumptions import BEFORE, INSIDE, OPEN_STREAMS, OUTSIDE, TYPES
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
    needs = _needs(program, claim)
    if needs.get(claim.entry) and not claim.runs_from:
        raise RefusedError("it needs something of its callers")
    about = _with_callers(program, claim.entry, needs) if claim.runs_from else (claim.entry,)
    reason = obstacle(program, about)
    if reason:
        raise RefusedError(reason)
    followed = Followed(program, rule)
    for group in followed.groups_below(about):
        followed.follow(group, lambda name: needs.get(name, ()))
    found = followed.found
    why = open_place(program, claim.entry, found[claim.entry]) or kept(program, about, needs, found, claim.runs_from)
    if why:
        raise RefusedError(f"{claim.rule} is not excluded in {display_name(claim.entry)}(): {why}")
    return RequirementsChecked(assumptions(program, about), sum(one.steps for one in found.values()))


def _needs(program: Program, claim: Requirements) -> Mapping[str, Needs]:
    """What the claim says that functions need. RefusedError for what callers could not be asked for."""
    found: dict[str, Needs] = {}
    for one in claim.functions:
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
            return why or f"nothing is seen to call {display_name(name)}()"
        for caller in calling[name]:
            if found[caller].broken:
                return f"{display_name(caller)}() calls {display_name(name)}(), and is not followed"
            broken = next((one for one in found[caller].missing if one.callee == name), None)
            if broken is not None:
                return said(program, caller, broken)
    return ""


def _with_callers(program: Program, entry: str, needs: Mapping[str, Needs]) -> tuple[str, ...]:
    """A function, and all from which it is seen that what it needs is kept."""
    calling, found, waiting = callers(program), {entry: None}, [entry]
    while waiting:
        name = waiting.pop()
        for caller in calling.get(name, ()) if needs.get(name) else ():
            if caller not in found:
                found[caller] = None
                waiting.append(caller)
    return tuple(found)


def assumptions(program: Program, functions: tuple[str, ...]) -> tuple[str, ...]:
    """What a proof rests on, as sentences."""
    calls_others = not all(map(program.knows, called_outside(program, functions)))
    more = [one.sentence for one, holds in ((OUTSIDE, calls_others), (OPEN_STREAMS, bool(open_streams(program)))) if holds]
    return tuple(dict.fromkeys((*assumptions_of(program), BEFORE.sentence, INSIDE.sentence, TYPES.sentence, *more)))
