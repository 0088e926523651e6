"""What a system never does to a program: the arguments of `main` (C11 5.1.2.2.1), and the results of functions that are the same
whenever they are called. A run that takes something else for them is no run.
"""

from __future__ import annotations

from collections import defaultdict

from analysis.c.functions import LIBRARY, known
from analysis.cfa.graph import Program
from analysis.engines.symbolic.choices import unread_parameters
from analysis.engines.symbolic.command_line import CommandLine
from analysis.interpreter.inputs import InputValue, Object
from analysis.interpreter.memory import FROM_OUTSIDE
from analysis.interpreter.outcome import Replayed
from analysis.model.c_types import DataModel, Integer, Pointer

_MOST_WORDS = 500_000  # with their addresses, such short words still fit into what systems pass to a program (`ARG_MAX`)
_MOST_DESCRIPTORS = 1 << 20  # that systems let a process have


def surroundings_doubt(program: Program, entry: str, replayed: Replayed, model: DataModel) -> str:
    """What the run needs that a system never does when it starts `entry`, which is `main`; empty if nothing."""
    unread = unread_parameters(program.functions[entry])
    is_counted = False
    for question, value in replayed.asked:
        if question.kind != "parameter":
            continue
        if isinstance(question.type, Integer) and not is_counted:
            is_count = isinstance(value, int) and 0 <= value <= _MOST_WORDS
            if not is_count and question.name not in unread:
                return f"main is called with {question.name} == {value}"
            is_counted = is_count
        if question.name in unread:
            continue
        if isinstance(question.type, Pointer) and value == 0:
            return f"main is called with {question.name} == NULL"
    return _open_twice(replayed) or _argument_doubt(replayed, model.pointer_bits // 8) or _result_doubt(replayed)


def _argument_doubt(replayed: Replayed, pointer_bytes: int) -> str:
    """Why the arguments of `main` in this run are not ones that a system passes: `argc` pointers to strings,
    then a null pointer, and each string ends with a zero. Empty if they are."""
    line = CommandLine(pointer_bytes)
    for question, value in replayed.asked:
        is_word = question.name in line.vectors and question.kind == "memory" and isinstance(question.type, Pointer)
        if is_word and (not line.is_asked(question) or not line.agrees(question, value)):
            return "the arguments of the program are those that the run needs"
        line.noted(question, value)
    seen = replayed.observation
    if seen is not None and seen.kind == "array-bounds" and f" of {FROM_OUTSIDE} " in seen.text:
        return "strings and objects from outside end where the run needs it"
    return ""


def _open_twice(replayed: Replayed) -> str:
    """Why the descriptors in this run are not ones that a system gives: each is -1, or the least that is not open (POSIX 2.14).
    None is taken to be closed here. Empty if they are."""
    greatest = -1
    for question, value in replayed.asked:
        function = known(question.name) if question.kind == "result" else None
        if function is not None and function.result == "descriptor" and value != -1:
            if not isinstance(value, int) or not greatest < value < _MOST_DESCRIPTORS:
                return f"{question.name}() returns {value}"
            greatest = value
    return ""


def _is_same(name: str) -> bool:
    """Whether the results of a function are the same in each call, for the same arguments, until the program changes what it
    says. After that they are not any either, but what the program made of them."""
    function = known(name)
    return function is not None and "same" in function.besides


def _result_doubt(replayed: Replayed) -> str:
    results: defaultdict[str, list[InputValue]] = defaultdict(list)
    for question, value in replayed.asked:
        if question.kind == "result" and _is_same(question.name):
            results[question.name].append(value)
    for name, values in results.items():
        if LIBRARY[name].arguments and len(values) > 1:  # for what it is passed, one of them
            return f"{name}() returns what the run needs"
        if any(value != values[0] for value in values) or isinstance(values[0], Object):
            return f"{name}() returns another value each time"
    return ""
