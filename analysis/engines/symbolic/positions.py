"""Positions in files that a run takes for given (C11 7.21.9.4, POSIX `lseek`): where the end of a file is, nothing in a program
says, so that it can be anywhere. A run asks only once: what is said of other positions depends on that."""

from __future__ import annotations

from analysis.cfa.graph import Program
from analysis.interpreter.inputs import InputValue
from analysis.interpreter.outcome import Replayed
from analysis.model import ir

_FROM_END = 2  # SEEK_END, on all systems
_WHENCE = 2  # the number of the argument of `fseek`
_USING = frozenset(("fseek", "ftell", "rewind", "fread", "fgets", "fgetc", "getc"))
"""The functions that may change where a stream is, or say it."""


def told_once(program: Program, replayed: Replayed, name: str) -> bool:
    """Whether a function that says where a stream is says in this run only that it fails, or where the end of a file is, once."""
    if name != "ftell":
        return False
    results = _results(replayed, name)
    if any(not isinstance(value, int) or value < -1 for value in results):
        return False
    return all(value == -1 for value in results) or (len(results) == 1 and _goes_to_end(program, replayed))


def moved_end(program: Program, replayed: Replayed) -> str:
    """Why the end of a file is not where the run takes it to be: it is somewhere else at another time, or a descriptor without an
    end, such as a pipe, is moved. Empty if it is not."""
    ends = _results(replayed, "lseek")
    if len(set(ends)) > 1:
        return "lseek() returns another end of the file each time"
    return "lseek() moves what has no end" if -1 in ends and _calls(program, replayed, "lseek") > len(ends) else ""


def _calls(program: Program, replayed: Replayed, name: str) -> int:
    effects = (program.functions[step.function].by_id[step.edge].effect for step in replayed.steps)
    return sum(isinstance(effect, ir.Call) and name in program.targets(effect) for effect in effects)


def _results(replayed: Replayed, name: str) -> list[InputValue]:
    return [value for question, value in replayed.asked if question.kind == "result" and question.name == name]


def _goes_to_end(program: Program, replayed: Replayed) -> bool:
    """Whether the first of the calls in the run that use a position goes to the end of a file."""
    for step in replayed.steps:
        effect = program.functions[step.function].by_id[step.edge].effect
        if isinstance(effect, ir.Call) and ir.direct_callee(effect) in _USING:
            whence = effect.arguments[_WHENCE] if len(effect.arguments) > _WHENCE else None
            return ir.direct_callee(effect) == "fseek" and isinstance(whence, ir.IntConst) and whence.value == _FROM_END
    return False
