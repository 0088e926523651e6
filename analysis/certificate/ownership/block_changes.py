"""What becomes of blocks: they are allocated, ended, given away, and lost."""

from __future__ import annotations

from analysis.certificate.ownership.memory_state import (
    ENDED,
    FIXED,
    GIVEN,
    GONE,
    NULL,
    OTHER,
    OWN_VARIABLE,
    at,
    block_of,
    is_in_front,
    is_own,
    is_start,
)
from analysis.certificate.ownership.obligations import FREES, INSIDE_HEAP, LEAKS, RULES, USES, Condition
from analysis.certificate.ownership.step import Step
from analysis.model import ir
from analysis.model.c_types import Pointer, Type, Void
from analysis.model.spelling import display_name

_ENDED_AS = {"heap": "freed", INSIDE_HEAP: "freed", "stream": "closed", "directory": "closed"}
_MADE = {"heap": "allocated", "stream": "opened", "directory": "opened"}
_ENDS = {"heap": FREES, INSIDE_HEAP: FREES, "stream": FREES | USES, "directory": FREES | USES}
_LEAKS = {"heap": frozenset(("memory-leak",))}


def leaks_of(kind: str) -> frozenset[str]:
    """The rules that the loss of a block violates. A stream is memory, too."""
    return _LEAKS.get(kind, LEAKS)


def allocate(step: Step, kind: str) -> str:
    """A new block; a pointer to it."""
    block = str(step.edge.id)
    if block in step.memory.blocks:
        step.refuse(leaks_of(step.memory.blocks[block]), "a block that was allocated here before may still be there")
        step.memory.replace(block, OTHER)
    step.memory.blocks[block] = kind
    step.meet(leaks_of(kind))
    return at(block)


def end(step: Step, value: str, kind: str, name: str, pointer: ir.Expr) -> None:
    """A block of a kind is ended through a pointer, which is `name` in the program. One to numbers leads to no other block.
    `INSIDE_HEAP`: a block of memory is freed whose start is computed from the pointer."""
    rules, ended = _ENDS[kind], _ENDED_AS[kind]
    value = step.memory.current(value)
    block = block_of(value)
    if kind == "heap" and is_in_front(value):
        kind = INSIDE_HEAP
    if value == NULL and kind != INSIDE_HEAP:
        step.meet(rules)
    elif block is not None and is_own(block):
        if kind == INSIDE_HEAP or not is_start(value):
            step.refuse(
                rules | leaks_of(step.memory.blocks[block]), f"{name} is {ended}, and points into the block, not to its start,"
            )
        elif step.memory.blocks[block] != kind:
            step.refuse(RULES, f"{name} is {ended}, and was not made by a function whose results are to be {ended},")
        step.meet(rules)
        if kind != "heap" or not is_start(value):  # what the library made of a stream ends with it
            step.end_others()
        del step.memory.blocks[block]
        step.memory.replace(block, GONE)
    elif block is not None:
        step.change_contents(
            block,
            _held(step, pointer) | _held_by_parameter(step, block),
            f"{name} comes from the caller and is {ended}, and may have held the last pointer to another block,",
            holds_none(pointer),
        )
        step.end_others(is_known=is_start(value) and kind == "heap")
        if kind == INSIDE_HEAP:
            step.require(
                rules, block, kind, f"{name} is {ended}, and may not be the start of a block that the caller has not freed,"
            )
        elif is_start(value):
            step.require(rules, block, kind, f"{name} is {ended}, and comes from the caller, who may have {ended} it before,")
        else:
            step.misuse(rules, f"{name} is {ended}, and points into the block, not to its start,")
        step.memory.blocks[block] = ENDED + kind if kind == INSIDE_HEAP or is_start(value) else GIVEN
        step.found.touched.add(block)
        step.memory.replace(block, GONE)
    elif value == GONE:
        step.misuse(FREES | USES, f"{name} is {ended} again")
    elif value in (FIXED, OWN_VARIABLE):
        step.refuse(rules, f"{name} is {ended}, and was not allocated,")
    else:
        step.found.ends_unknown = True
        step.end_others()
        step.refuse(rules, f"{name} is {ended}, and what it points to is not followed,")
        why = f"{name} is {ended}, and may have held the last pointer to another block,"
        step.refuse_unless(_held(step, pointer), why, holds_none(pointer))


def holds_none(pointer: ir.Expr) -> Condition:
    """That what a pointer leads to leads to nothing that could be lost."""
    return Condition("holds none", ir.Deref(pointer, Void()))


def _held(step: Step, pointer: ir.Expr) -> frozenset[str]:
    """The rules about leaks that what a pointer leads to may matter for, if it is the last to say where that is."""
    bare = ir.strip_casts(pointer)
    if not isinstance(bare.type, Pointer):
        return LEAKS
    root = ir.root(bare.lvalue) if isinstance(bare, ir.AddressOf) else None
    return _lost_with(step, bare.type.target if root is None else root.type)


def _held_by_parameter(step: Step, name: str) -> frozenset[str]:
    """The same, of what a parameter leads to by its declaration: the pointer may lead to a part of that, which has no pointer."""
    types = (one.type for one in step.cfa.parameters if one.name == name)
    return frozenset[str]().union(*(_lost_with(step, type_.target) for type_ in types if isinstance(type_, Pointer)))


def _lost_with(step: Step, type_: Type) -> frozenset[str]:
    """The rules about leaks that the end of an object of a type may violate."""
    if step.may_hold_pointer(type_):
        return LEAKS
    return frozenset(("resource-leak",)) if step.may_hold_descriptor(type_) else frozenset()


def give_away(step: Step, value: str, how: str) -> None:
    """A pointer goes where it is not followed: others may use the block, and end it."""
    value = step.memory.current(value)
    block = block_of(value)
    if value == GONE:
        step.take_ended()
    if block is None:
        return
    if is_own(block):
        step.refuse(leaks_of(step.memory.blocks[block]), f"{_named(step, block)} {how}")
        del step.memory.blocks[block]
    else:
        step.memory.blocks[block] = GIVEN
        step.found.touched.add(block)
    step.memory.replace(block, OTHER)


def _named(step: Step, block: str) -> str:
    """A block, by a variable that leads to it, if there is one."""
    names = sorted(display_name(name) for name in step.memory.holders(block) if not name.startswith("$"))
    return f"what `{names[0]}` points to" if names else "a new block"


def drop_lost(step: Step, read_later: frozenset[str]) -> None:
    """Own blocks that nothing leads to any more are lost. Temporaries count as long as they can still be used, as they do for
    runs; variables of the program always."""
    for block, kind in list(step.memory.blocks.items()):
        if is_own(block) and not any(_counts(name, read_later) for name in step.memory.holders(block)):
            step.lose(leaks_of(kind), f"nothing points any more to what was {_MADE[kind]}, and not {_ENDED_AS[kind]},")
            step.memory.replace(block, OTHER)
            del step.memory.blocks[block]


def _counts(name: str, read_later: frozenset[str]) -> bool:
    return not name.startswith("$") or name in read_later


def drop_at_return(step: Step, returned: str) -> None:
    """When the function returns, it must have ended all its blocks but the one that it returns a pointer to, or into."""
    for block, kind in list(step.memory.blocks.items()):
        if is_own(block) and block_of(returned) != block:
            step.lose(
                leaks_of(kind), f"the function returns, and {_named(step, block)} is not {_ENDED_AS[kind]}, on a path that ends"
            )
            step.memory.replace(block, OTHER)
            del step.memory.blocks[block]
