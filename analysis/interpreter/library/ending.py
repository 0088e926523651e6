"""Functions that do not come back (C11 7.13.2, 7.22.4, 7.2), and those by which programs speak to verifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from analysis.c.control import ERRORS, UNREACHABLE
from analysis.interpreter.halting import EndError, JumpError, ViolationError
from analysis.interpreter.library.strings import string_at
from analysis.interpreter.outcome import Exited, Stuck
from analysis.interpreter.running_machine import RunningMachine
from analysis.model.c_types import Type
from analysis.model.verifiers import CHECKS

Types = tuple[Type, ...]


def _exit(_machine: RunningMachine, arguments: list[Any], _types: Types) -> NoReturn:
    raise EndError(Exited(arguments[0] & 255 if arguments else 0))


def _exit_at_once(machine: RunningMachine, arguments: list[Any], types: Types) -> NoReturn:
    """What `atexit` was given is not called (C11 7.22.4.5p2, 7.22.4.7p2)."""
    machine.at_exit.clear()
    _exit(machine, arguments, types)


def _abort(_machine: RunningMachine, _arguments: list[Any], _types: Types) -> NoReturn:
    raise EndError(Exited(None))


def _assertion_fails(machine: RunningMachine, arguments: list[Any], _types: Types) -> NoReturn:
    text = "the assertion"
    if arguments and machine.memory.find(arguments[0]) is not None:
        text = string_at(machine, arguments[0]).decode("utf-8", "replace")
    raise ViolationError("assertion", f"{text} does not hold")


def _error(name: str) -> Callable[[RunningMachine, list[Any], Types], NoReturn]:
    def fail(_machine: RunningMachine, _arguments: list[Any], _types: Types) -> NoReturn:
        raise ViolationError("assertion", f"{name} is called")

    return fail


def _check(name: str) -> Callable[[RunningMachine, list[Any], Types], Any]:
    def run(_machine: RunningMachine, arguments: list[Any], _types: Types) -> None:
        if not arguments or arguments[0] == 0:
            raise ViolationError("assertion", f"{name}(0)")

    return run


def assumption(name: str) -> Callable[[RunningMachine, list[Any], Types], Any]:
    """A function that comes back only if its argument is not zero."""

    def run(_machine: RunningMachine, arguments: list[Any], _types: Types) -> None:
        if not arguments or arguments[0] == 0:
            raise EndError(Stuck(f"{name}(0)"))

    return run


def _unreachable(_machine: RunningMachine, _arguments: list[Any], _types: Types) -> NoReturn:
    raise EndError(Stuck("a place that the program says is never reached"))


def _longjmp(_machine: RunningMachine, arguments: list[Any], _types: Types) -> NoReturn:
    raise JumpError(arguments[0], arguments[1])


def _atexit(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    machine.at_exit.append(arguments[0])
    return 0


MODELS: dict[str, Callable[[RunningMachine, list[Any], Types], Any]] = {
    "exit": _exit,
    "_exit": _exit_at_once,
    "_Exit": _exit_at_once,
    "quick_exit": _exit_at_once,
    "abort": _abort,
    "__builtin_trap": _abort,
    UNREACHABLE: _unreachable,
    "atexit": _atexit,
    "__assert_fail": _assertion_fails,
    "__assert": _assertion_fails,
    "__assert_perror_fail": _assertion_fails,
    "_assert": _assertion_fails,
    "__assert_rtn": _error("__assert_rtn"),
    "longjmp": _longjmp,
    "_longjmp": _longjmp,
    "siglongjmp": _longjmp,
    **{name: _error(name) for name in ERRORS},
    **{name: _check(name) for name in CHECKS},
}
