"""Calls of functions of the program, by their contracts."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.certificate.ownership.block_changes import allocate, end, give_away
from analysis.certificate.ownership.contracts import NEW, NEW_INSIDE, Contract, Outcome
from analysis.certificate.ownership.expression_values import lose_contents, moved, retyped
from analysis.certificate.ownership.library_calls import Ends
from analysis.certificate.ownership.memory_state import FIXED, GONE, KEPT, NULL, OTHER, OWN_VARIABLE, block_of, is_own, is_start
from analysis.certificate.ownership.obligations import FREES, INSIDE, LEAKS, USES, Condition, Passed
from analysis.certificate.ownership.step import Step
from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.spelling import display_name, spell_expr


def call_defined(step: Step, call: ir.Call, callee: Cfa, contract: Contract | None, given: Sequence[str]) -> Ends:
    """The ends of a call."""
    name = display_name(callee.name)
    untouched = frozenset[int]() if contract is None else contract.followed - contract.touched
    _note_passed(step, callee, given, untouched)
    if GONE in given:
        step.misuse(FREES | USES, f"{name}() is passed a pointer to freed memory or a closed stream")
    if contract is None or not untouched >= _shared(given) or max(contract.followed, default=-1) >= len(given):
        yield from _without_contract(step, name, given)
        return
    _take_over(step, callee, contract, given)
    blocks = (block_of(given[number]) for number in sorted(contract.touched))
    step.found.touched.update(block for block in blocks if block is not None and not is_own(block))  # also if it does not return
    for number, found in enumerate(given):
        if number not in contract.followed:
            give_away(step, found, f"is passed to {name}(), which does not take it as a pointer")
    for found, argument, parameter in zip(given, call.arguments, callee.parameters, strict=False):
        if isinstance(argument.type, Pointer) and isinstance(parameter.type, Pointer):
            retyped(
                step, found, argument, argument, argument.type.target, parameter.type.target
            )  # without a prototype, nothing converts it
    for number, rule in sorted(contract.contents):
        why = f"{name}() changes what it is passed, and may overwrite the last pointer to a block,"
        lose_contents(step, given[number], (rule,), why, Condition("below", callee=callee.name))
    for outcome in sorted(contract.outcomes, key=_order):
        if any(_is_own(given[number]) for number in outcome.absent):
            continue  # it is not null
        after = step.forked()
        yield after.memory, _outcome(after, call, name, outcome, given)


def _shared(given: Sequence[str]) -> frozenset[int]:
    """The numbers of the arguments that lead to the block of another one."""
    blocks = [block_of(found) for found in given]
    return frozenset(number for number, block in enumerate(blocks) if block is not None and blocks.count(block) > 1)


def _note_passed(step: Step, callee: Cfa, given: Sequence[str], untouched: frozenset[int]) -> None:
    """What the called function may require of its callers is seen from this. A block to which two arguments lead is not the
    called function's to end; it lives through the call if that touches neither (`untouched`)."""
    blocks, shared = [block_of(found) for found in given], _shared(given)
    for number in range(len(callee.parameters)):
        passed = Passed("other")
        if number < len(given):
            block, found = blocks[number], given[number]
            if found in (NULL, FIXED, OWN_VARIABLE, KEPT):
                passed = Passed(FIXED if found == KEPT else found)
            elif block is not None and (number not in shared or shared <= untouched):
                what, of = (step.memory.blocks[block], "") if is_own(block) else ("parameter", block)
                passed = Passed(what, of, is_start(found) and number not in shared)
        step.found.passed.setdefault((callee.name, number), {}).setdefault(passed, step.place)


def _take_over(step: Step, callee: Cfa, contract: Contract, given: Sequence[str]) -> None:
    """What is not known of the called function is not known of this one."""
    name = display_name(callee.name)
    for rule, why in contract.may_hand_over if contract.outcomes else ():
        step.found.refuse_unless((rule,), f"{name}{INSIDE}{why}", Condition("below", callee=callee.name))
    for rule, why in contract.hands_over if contract.outcomes else ():  # of what never returns nothing comes
        step.found.refuse((rule,), f"{name}{INSIDE}{why}")
    step.found.ends_unknown |= contract.ends_unknown
    if contract.ends_others:
        step.end_others()
    if contract.misuses and any(block_of(found) is not None for found in given):
        step.found.misuses = step.found.misuses or contract.misuses
        if any(map(_is_own, given)):
            why = f"{name}() is passed a block, and something there or below uses it wrongly: {contract.misuses}"
            step.found.refuse(FREES | USES, why)
    if contract.leaves:
        step.found.refuse(LEAKS, f"{name}{INSIDE}{contract.leaves}")
        step.found.leaves = step.found.leaves or contract.leaves


def _without_contract(step: Step, name: str, given: Sequence[str]) -> Ends:
    """What the function accesses through its parameters are its own places."""
    step.leave(f"{name}() is called, which is not followed,")
    if any(map(_is_own, given)):
        step.refuse(FREES | USES, f"{name}() is passed a block, and what it does with that is not followed,")
    for found in given:
        give_away(step, found, f"is passed to {name}(), which is not followed")
    yield step.memory, OTHER


def _is_own(found: str) -> bool:
    block = block_of(found)
    return block is not None and is_own(block)


def _order(outcome: Outcome) -> tuple[list[tuple[int, str]], list[int], list[int], str]:
    return sorted(outcome.ended), sorted(outcome.given), sorted(outcome.absent), outcome.result


def _outcome(step: Step, call: ir.Call, name: str, outcome: Outcome, given: Sequence[str]) -> str:
    """What happens if the function returns so; its result."""
    for number, kind in sorted(outcome.ended):
        argument = call.arguments[number]
        end(step, given[number], kind, f"`{spell_expr(ir.strip_casts(argument))}`, which is passed to {name}(),", argument)
    for number in sorted(outcome.given):
        give_away(step, given[number], f"is passed to {name}(), which may keep it")
    if outcome.result.startswith(NEW_INSIDE):
        return moved(allocate(step, outcome.result.removeprefix(NEW_INSIDE)))
    if outcome.result.startswith(NEW):
        return allocate(step, outcome.result.removeprefix(NEW))
    number_ = block_of(outcome.result)
    if number_ is not None:
        found = step.memory.current(given[int(number_)])
        return found if is_start(outcome.result) else moved(found)
    return outcome.result if outcome.result in (NULL, FIXED, GONE, KEPT) else OTHER
