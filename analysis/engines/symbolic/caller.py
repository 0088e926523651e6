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
_NULL_RESULT = frozenset({"getenv", "fopen", "fdopen", "freopen", "tmpfile", "popen", "opendir", "readdir", "getcwd", "dlopen"})
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
        if entry != MAIN and question.kind == "memory" and not isinstance(value, Fresh):
            return f"{display_name(entry)} is called when {_memory(question)} is {_spelled(value)}"
        if entry != MAIN and question.kind == "parameter" and is_null:
            return f"{display_name(entry)} is called with {question.name} == NULL"
        if target.rule == "null-dereference" and question.kind == "result" and is_null and not _can_be_null(question.name):
            return f"{question.name}(), which has no body, returns NULL"
        if target.rule == "null-dereference" and question.kind == "memory" and is_null:
            return f"{_memory(question)} is NULL, which the program did not make"
    return ""


def _can_be_null(name: str) -> bool:
    """Whether the function returns null whatever its arguments are, if its surroundings are so."""
    return _CHOSEN in name or name in _NULL_RESULT


def _unmodelled(program: Program, replayed: Replayed) -> Iterator[str]:
    """Functions without a body from which the run takes what nobody says that they do: what the system's write, what any computes
    from arguments. (One without arguments is an input.)"""
    answered = {question.name for question, _ in replayed.asked if question.kind in ("result", "written")}
    for question, value in replayed.asked:
        if question.name in ("rand", "random") and isinstance(value, int) and value < 0:
            yield question.name
    for step in replayed.steps:
        effect = program.functions[step.function].by_id[step.edge].effect
        if not isinstance(effect, ir.Call):
            continue
        for name in program.targets(effect):
            is_open = f"what {name}() does, which has no body" in replayed.assumptions
            if not is_open or name in _ANY_RESULT or _can_be_null(name):
                continue
            external = program.externals.get(name)
            is_systems = name.startswith(_COMPILERS) or (external is not None and external.system)
            writes = is_systems and any(isinstance(argument.type, Pointer) for argument in effect.arguments)
            if writes or (name in answered and (is_systems or effect.arguments)):
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
