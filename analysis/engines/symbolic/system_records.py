"""What a system writes into the structures that its functions return (`readdir`, `getpwnam`): pointers that lead somewhere, and
names of files that are names. A run that finds something else there is no run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from analysis.c.functions import known
from analysis.c.layout import Layout
from analysis.cfa.graph import Program
from analysis.interpreter.inputs import Fresh, InputValue, Question
from analysis.interpreter.outcome import Replayed
from analysis.model.c_types import DataModel, Integer, Pointer, Record

_NAME = {"readdir": "d_name"}
"""Functions, with the member that holds a name of a file."""
_ANY_NUMBER = {"readdir": ("d_ino", "d_type"), "getpwnam": ("pw_uid", "pw_gid"), "getpwuid": ("pw_uid", "pw_gid")}
"""Functions, with the members that may hold any number."""
LONGEST_NAME = 255  # bytes, with the zero behind it one more (POSIX NAME_MAX, on most systems)
SLASH = ord("/")
"""A character that no name of a file has."""


class _Returned(NamedTuple):
    function: str
    record: Record


def is_file_name(function: str) -> bool:
    """Whether what characters there are in the structure that a function returns are those of the name of a file."""
    return function in _NAME


def record_doubt(program: Program, replayed: Replayed, model: DataModel) -> str:
    """What the run needs of structures that functions of the system return, and that a system need not write there; empty if
    nothing."""
    layout = Layout(model, program.records.get)
    for question, value, returned in _read(replayed):
        if not _is_possible(layout, returned, question, value):
            return f"{returned.function}() gives what the run needs"
    return ""


def _read(replayed: Replayed) -> Iterator[tuple[Question, InputValue, _Returned]]:
    """What the run read of the structures."""
    found: dict[str, _Returned] = {}
    made = 0
    for question, value in replayed.asked:
        if question.kind == "memory" and question.name in found:
            yield question, value, found[question.name]
        if isinstance(value, Fresh):
            target = question.type.target if isinstance(question.type, Pointer) else None
            function = known(question.name) if question.kind == "result" and isinstance(target, Record) else None
            if function is not None and function.result == "static" and isinstance(target, Record):
                found[f"fresh {made}"] = _Returned(function.name, target)
            made += 1


def _is_possible(layout: Layout, returned: _Returned, question: Question, value: InputValue) -> bool:
    if isinstance(question.type, Pointer):
        return value != 0
    name = _NAME.get(returned.function)
    start = None if name is None else layout.offset(returned.record, name)
    if start is not None and question.offset >= start and isinstance(question.type, Integer) and question.type.bits == 8:
        at = question.offset - start
        return value == 0 if at == LONGEST_NAME else at < LONGEST_NAME and value != SLASH and (value != 0 or at > 0)
    numbers = _ANY_NUMBER.get(returned.function, ())
    return any(layout.offset(returned.record, member) == question.offset for member in numbers)
