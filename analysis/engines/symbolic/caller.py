"""What a run of a function takes for granted of those who call it.

A program without `main` is entered where nobody in it calls, with arguments that nobody chose. What holds for any arguments is
a finding; what needs a null pointer that nothing in the program passes, or a certain content of objects that the program did not
make, rests on the caller, and is not confirmed.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.cfa.graph import Program
from analysis.engines.symbolic.candidates import MAIN
from analysis.engines.symbolic.task import Target
from analysis.engines.witness.inputs import Fresh, InputValue, Object, Question
from analysis.engines.witness.outcome import Replayed
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.spelling import display_name

_CHOSEN = "nondet"
_COMPILERS = ("__builtin_", "__atomic_", "__sync_", "__c11_")
# functions of the system that can return any value of their type, as far as a program can know
_ANY_RESULT = frozenset({"getchar", "getc", "fgetc", "time", "clock", "getpid", "rand", "random"})


def doubts(program: Program, entry: str, replayed: Replayed, target: Target) -> str:
    """What the run needs that no caller or outside function need ever do; empty if nothing."""
    for name in _unmodelled(program, replayed):
        return f"{name}() can do what the run takes it to do"
    for question, value in replayed.asked:
        if question.kind == "expression" and question.step < len(replayed.steps) - 1:
            return f"{display_name(question.function)} can compute the value that the run takes for what is not modelled"
        is_null = isinstance(question.type, Pointer) and value == 0
        if entry != MAIN and question.kind == "memory":
            return f"{display_name(entry)} is called when {_memory(question)} is {_spelled(value)}"
        if entry != MAIN and question.kind == "parameter" and is_null:
            return f"{display_name(entry)} is called with {question.name} == NULL"
        if target.rule == "null-dereference" and question.kind == "result" and is_null and _CHOSEN not in question.name:
            return f"{question.name}(), which has no body, returns NULL"
    return ""


def _unmodelled(program: Program, replayed: Replayed) -> Iterator[str]:
    """Functions of the compiler or the system of which nobody says what they do, and from which the run takes something."""
    answered = {question.name for question, value in replayed.asked if question.kind in ("result", "written")}
    for question, value in replayed.asked:
        if question.name in ("rand", "random") and isinstance(value, int) and value < 0:
            yield question.name
    for step in replayed.steps:
        effect = program.functions[step.function].by_id[step.edge].effect
        for name in program.targets(effect) if isinstance(effect, ir.Call) else ():
            external = program.externals.get(name)
            is_systems = name.startswith(_COMPILERS) or (external is not None and external.system)
            is_open = f"what {name}() does, which has no body" in replayed.assumptions and name not in _ANY_RESULT
            writes = isinstance(effect, ir.Call) and any(isinstance(a.type, Pointer) for a in effect.arguments)
            if is_systems and is_open and (name in answered or writes):
                yield name


def claims(entry: str, replayed: Replayed) -> Iterator[str]:
    """How the entry is called, one sentence for each argument; nothing for `main`."""
    if entry == MAIN:
        return
    for question, value in replayed.asked:
        if question.kind == "parameter":
            yield f"{display_name(entry)} is called with {question.name} == {_spelled(value)}"


def _memory(question: Question) -> str:
    return f"{question.name} at byte {question.offset}" if question.offset else question.name


def _spelled(value: InputValue) -> str:
    match value:
        case Fresh():
            return "a pointer to an object of its own"
        case Object(name, offset):
            return f"a pointer to {name}" + (f" + {offset}" if offset else "")
    return str(value)
