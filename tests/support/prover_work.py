"""Work for provers, to test them with: it computes something, and what else a solver may do to its process."""

from __future__ import annotations

import os
import signal
from typing import NamedTuple

from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.question import Question


class Factor(NamedTuple):
    """The smallest prime factor of a number."""

    number: int


class DieOnce(NamedTuple):
    """Its process is killed, unless the file is there; else the file's content."""

    file: str


class Die(NamedTuple):
    """Its process is killed."""


class Raise(NamedTuple):
    """An exception."""

    text: str


class Spin(NamedTuple):
    """Does not end, in Python; writes its process id into the file first."""

    file: str


class Slow(NamedTuple):
    """Writes its process id into the first file, ends when the second is there."""

    file: str
    go: str


class Weigh(NamedTuple):
    """How much this is, and so many bytes more."""

    ballast: bytes
    more: int


class Deaf(NamedTuple):
    """Writes its process id into the file. Then it runs for ever and ignores cancellations and SIGTERM."""

    file: str


class Solve(NamedTuple):
    """Has z3 factor a number, bit by bit, in one call; writes its process id into the file first."""

    number: int
    bits: int
    file: str


class Eat(NamedTuple):
    """Takes memory without end."""


def do(task: object) -> object:
    """Does a task."""
    match task:
        case Factor(number):
            return next((factor for factor in range(2, int(number**0.5) + 1) if number % factor == 0), number)
        case DieOnce(file):
            if os.path.exists(file):
                with open(file) as found:
                    return found.read()
            with open(file, "w") as new:
                new.write("the second time")
            os.kill(os.getpid(), signal.SIGKILL)
        case Die():
            os.kill(os.getpid(), signal.SIGKILL)
        case Raise(text):
            raise ValueError(text)
        case Spin(file):
            _announce(file)
            while True:
                pass
        case Slow(file, go):
            _announce(file)
            while not os.path.exists(go):
                pass
            return "went"
        case Weigh(ballast, more):
            return len(ballast), b"y" * more
        case Deaf(file):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            _announce(file)
            while True:
                signal.pause()
        case Solve(number, bits, file):
            return _solve(number, bits, file)
        case Eat():
            eaten = []
            while True:
                eaten.append(bytearray(10_000_000))
    raise AssertionError(task)


def _announce(file: str) -> None:
    with open(file + ".new", "w") as new:
        new.write(str(os.getpid()))
    os.replace(file + ".new", file)


def _solve(number: int, bits: int, file: str) -> tuple[int, int] | None:
    import z3

    left, right = z3.BitVecs("left right", 2 * bits)
    solver = z3.Solver()
    solver.add(left * right == number, z3.ULT(1, left), z3.ULE(left, right), z3.ULT(right, 1 << bits))
    _announce(file)
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    return model[left].as_long(), model[right].as_long()


def left_open(question: Question) -> Decided:
    """What a prover says that went through the function of the finding only, in vain."""
    return Decided("possible", final=False, reason="not found", looked=(question.about.function or "",))


def busy(question: Question) -> Decided:
    """Does not end, and computes."""
    while True:
        pass


def idle(question: Question) -> Decided:
    """Does not end, and computes nothing."""
    while True:
        signal.pause()


def in_vain(question: Question) -> Decided:
    """Has looked for an answer all the time that it was given."""
    return Decided("possible", final=False, tried=question.seconds, reason="not found")
