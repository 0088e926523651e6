"""What happens when a trap is compiled by gcc and run under AddressSanitizer, UndefinedBehaviorSanitizer and LeakSanitizer, or
under valgrind, for reads of values that are indeterminate and for locks."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.traps.programs import Trap

_SECONDS = 120
_FLAGS = ("-w", "-g", "-O0", "-pthread", "-fno-omit-frame-pointer")
_SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:fast_unwind_on_malloc=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=0",
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C",
}
# what is said, and the rule that it belongs to: the first one that is in the text
_MESSAGES: tuple[tuple[str, str], ...] = (
    ("Assertion `", "assertion"),
    ("shift exponent", "shift-range"),
    ("left shift of", "signed-overflow"),
    ("signed integer overflow", "signed-overflow"),
    ("negation of", "signed-overflow"),
    ("division of", "signed-overflow"),
    ("division by zero", "division-by-zero"),
    ("FPE on unknown address", "division-by-zero"),  # of elements of a vector, which no check is made of
    ("out of bounds", "array-bounds"),
    ("insufficient space", "array-bounds"),
    ("buffer-overflow", "array-bounds"),
    ("buffer-underflow", "array-bounds"),
    ("null pointer", "null-dereference"),
    ("SEGV on unknown address 0x000000000000", "null-dereference"),
    ("SEGV on unknown address 0x00000000 ", "null-dereference"),
    ("heap-use-after-free", "use-after-free"),
    ("stack-use-after", "use-after-scope"),
    ("double-free", "double-free"),
    ("not malloc()-ed", "invalid-free"),
    ("detected memory leaks", "memory-leak"),
    ("uninitialised value", "uninitialized-read"),
    ("Uninitialised byte", "uninitialized-read"),
    ("Attempt to re-lock", "lock-discipline"),
    ("unlocked a not-locked", "lock-discipline"),
    ("unlocked an invalid lock", "lock-discipline"),
    ("still holds", "lock-discipline"),
)
_JUMP = "Hint: pc points to the zero page"  # a call through a null pointer: no tool tells from where


class Ran(NamedTuple):
    """How a run ended. `rule`: what was violated, None if nothing was; `places`: file and line of the frames that the message
    names, the innermost first; `text`: what was said."""

    rule: str | None
    places: tuple[tuple[str, int], ...]
    text: str


def ran(trap: Trap, *, in_valgrind: bool = False) -> Ran:
    """Compiles a trap and runs it. `in_valgrind`: not with sanitizers but under valgrind (helgrind for locks)."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "trap"
        flags = (*_FLAGS, *(() if in_valgrind else _SANITIZED), *(("-m32",) if trap.model == "ILP32" else ()))
        compiled = ["gcc", *flags, *trap.flags, *(str(file) for file in trap.files), "-o", str(program), "-lm"]
        done = subprocess.run(compiled, capture_output=True, text=True, check=False)
        if done.returncode:
            return Ran("does not compile", (), done.stderr)
        command = [*(_valgrind(trap.rule) if in_valgrind else ()), str(program), *trap.words]
        try:
            run = subprocess.run(
                command,
                cwd=folder,
                env=_ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
            said, status = run.stderr.decode("latin-1"), run.returncode
        except subprocess.TimeoutExpired as late:
            said, status = (late.stderr or b"").decode("latin-1"), -1
    return _judged(said, status, frozenset(file.name for file in trap.files))


def _valgrind(rule: str) -> tuple[str, ...]:
    if rule == "lock-discipline":
        return ("valgrind", "-q", "--tool=helgrind", "--error-exitcode=99")
    return ("valgrind", "-q", "--error-exitcode=99", "--exit-on-first-error=yes", "--leak-check=no")


def _judged(said: str, status: int, files: frozenset[str]) -> Ran:
    found = [(said.find(text), rule) for text, rule in _MESSAGES if text in said]
    if not found:
        is_stopped = status < 0 or "ERROR" in said or "runtime error" in said
        return Ran(f"ended with status {status}" if is_stopped else None, (), said)
    at, rule = min(found)
    line_start = said.rfind("\n", 0, at) + 1
    report = said[line_start:]
    if rule == "memory-leak":
        return Ran(rule, _places(report, files), said)
    end = re.search(r"\n\s*\n|(?:is located|freed by|previously allocated|Address 0x)", report)
    return Ran(rule, _places(report[: end.start()] if end else report, files), said)


def _places(text: str, files: frozenset[str]) -> tuple[tuple[str, int], ...]:
    named = ((Path(m[1]).name, int(m[2])) for m in re.finditer(r"([\w./-]+\.c):(\d+)", text))
    return tuple(place for place in named if place[0] in files)


def problem(trap: Trap, run: Ran) -> str:
    """Why the run is not what the trap says of itself; empty if it is."""
    if not trap.is_defect:
        return "" if run.rule is None else f"{trap.name}: a twin violates nothing, and the run says {run.rule}: {run.text[:600]}"
    if run.rule != trap.rule:
        return f"{trap.name}: {trap.rule} is expected, the run says {run.rule}: {run.text[:600]}"
    if _JUMP not in run.text and not trap.places.intersection(run.places[: _frames(trap)]):
        return f"{trap.name}: the run says {run.rule} at {run.places[:3]}, not at {sorted(trap.places)}"
    return ""


def _frames(trap: Trap) -> int:
    """How many frames may name the marked line: library functions have frames of their own, but those are in no file of ours."""
    return 1 if trap.rule != "memory-leak" else 100
