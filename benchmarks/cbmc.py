"""CBMC beside the engine of summaries: a C program asked of its command, and the answer in our words.

The command is what the caller names (`cbmc`, or more words before it). This was written for CBMC 5.12 and 6.6.

- Its bound counts how often the condition of a loop is looked at, ours how often a loop jumps back: it is asked with one more.
  Recursion goes one call deeper than ours then.
- Checks that the program calls and does not define (`reach_error`, `__VERIFIER_assert`) are defined before it, and so are
  assumptions. An empty `reach_error` is taken for one that it does not define. `abort` is defined as CBMC's own library has it,
  which takes 10 ms to read.
- Whatever other function has no body may return anything, an invalid pointer too, and changes nothing.
- `--no-self-loops-to-assumptions`: without it, version 5.12 takes `do x++; while (x < n);` for a loop that never ends, and leaves
  out what comes after it.
- Version 6 looks for undefined behaviour as well, and lets `malloc` fail, unless it is told not to.
"""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from analysis.model.verifiers import CHECKS, is_assumption
from benchmarks.processor_limit import limited

Answer = Literal["complete", "holds", "violated", "unknown"]

_MOST_SECONDS = 60.0
_MOST_KILOBYTES = 4 << 20
_LIMITED = ("/bin/sh", "-c", f'ulimit -v {_MOST_KILOBYTES}; exec "$@"', "sh")
_OPTIONS = ("--unwinding-assertions", "--no-self-loops-to-assumptions", "--no-built-in-assertions")
_SINCE_6 = ("--no-standard-checks", "--no-malloc-may-fail")
_RESULT = re.compile(r"^\[(\S+)\] (.*): (SUCCESS|FAILURE|ERROR|UNKNOWN)$", re.MULTILINE)
_UNREAD = re.compile(r"no body for (?:callee|function) ([A-Za-z_]\w*)")
_UNWINDING = re.compile(r"\.(unwind\.\d+|recursion)$")
_EMPTY = re.compile(r"\b(reach_error\s*\(\s*(?:void)?\s*\))\s*\{\s*\}")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_KNOWN = frozenset({"__CPROVER_assert", "__CPROVER_assume", "__VERIFIER_assume", "__VERIFIER_error"})


class Question(NamedTuple):
    """A program: its files, the text of the first one where that is another one, the folders of headers, macros (`NAME=TEXT`) and
    the data model. `is_preprocessed`: that text is one after preprocessing."""

    files: Sequence[Path]
    text: str | None = None
    includes: Sequence[str] = ()
    defines: Sequence[str] = ()
    model: Literal["LP64", "ILP32"] = "LP64"
    is_preprocessed: bool = False


class Said(NamedTuple):
    """`complete`: no run violates an assertion. `holds`: none within the bound. `why` it is unknown or violated, and the seconds;
    `unread`: functions that CBMC has no body for."""

    answer: Answer
    why: str
    seconds: float
    unread: frozenset[str] = frozenset()


@functools.cache
def version(command: tuple[str, ...]) -> str:
    """Of CBMC, as it says itself: "6.6.0"; "0" where it says nothing."""
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    found = re.match(r"\d+(?:\.\d+)*", done.stdout)
    return found[0] if found else "0"


def ask(
    command: Sequence[str],
    question: Question,
    bound: int,
    seconds: float = _MOST_SECONDS,
    only: str = "",
    by_contracts: Sequence[Sequence[str]] = (),
    processor: float | None = None,
) -> Said:
    """What CBMC says of a program within our `bound`. It is ended after so many `seconds`, and has 4 GB. The seconds that it took
    are those of the preprocessor as well. `only`: what the checks are named that count; else all do. `by_contracts`: the commands
    goto-cc and goto-instrument, which put the contracts of loops in the place of these loops. `processor`: after how many of its
    seconds CBMC is ended, too."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        files = []
        for number, file in enumerate(question.files):
            text = question.text if question.is_preprocessed and not number else None
            if text is None:
                text = preprocessed(file, question, None if number else question.text)
            if text is None:
                return Said("unknown", "the preprocessor failed", time.monotonic() - began)
            files.append(f"{number}.i")
            (Path(name) / files[-1]).write_text(text if number else with_checks(text))
        more = _SINCE_6 if int(version(tuple(command)).partition(".")[0]) >= 6 else ()
        try:
            if by_contracts:
                files = _with_contracts(by_contracts, question.model, files, name, seconds)
            ended = command if processor is None else limited(command, processor)
            words = [*_LIMITED, *ended, "--unwind", str(bound + 1), *_OPTIONS, *more, f"--{question.model}", *files]
            done = subprocess.run(words, cwd=name, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return Said("unknown", "ended from outside", time.monotonic() - began)
        except subprocess.CalledProcessError as error:
            said_last = f"{error.stdout}{error.stderr}".strip().splitlines()[-1:]
            return Said("unknown", f"contracts are not read: {''.join(said_last)[-200:]}", time.monotonic() - began)
    if done.returncode < 0:
        return Said("unknown", "ended from outside", time.monotonic() - began)
    unread = frozenset(_UNREAD.findall(done.stdout + done.stderr))
    return Said(*said(done.stdout, done.stderr, only), time.monotonic() - began, unread)


def _with_contracts(
    commands: Sequence[Sequence[str]], model: str, files: Sequence[str], folder: str, seconds: float
) -> list[str]:
    """The program with the contracts of its loops in their place. Raises subprocess.CalledProcessError, TimeoutExpired."""
    compiler, instrument = commands
    for words in (
        [*compiler, "-m32" if model == "ILP32" else "-m64", *files, "-o", "read.goto"],
        [*instrument, "--apply-loop-contracts", "read.goto", "asked.goto"],
    ):
        subprocess.run([*_LIMITED, *words], cwd=folder, capture_output=True, text=True, timeout=seconds, check=True)
    return ["asked.goto"]


def preprocessed(file: Path, question: Question, text: str | None, *options: str) -> str | None:
    """A file as our own front end would see it: the compiler of this machine knows no other data model than its own."""
    words = ["cc", "-E", *options, *(f"-D{define}" for define in question.defines)]
    for include in (*question.includes, str(file.parent)):
        words += ["-I", include]
    given = file.read_bytes() if text is None else text.encode()
    done = subprocess.run([*words, "-x", "c", "-"], input=given, capture_output=True, check=False)
    return None if done.returncode else done.stdout.decode(errors="replace")


def with_checks(text: str) -> str:
    """A program after preprocessing, with the checks and assumptions that it calls, and does not define."""
    text = _EMPTY.sub(r"\1;", text)
    called = set(_CALLED.findall(text)) - _KNOWN
    lines = []
    for name in sorted(name for name in called if not re.search(rf"\b{name}\s*\([^;{{}}]*\)\s*\{{", text)):
        if name == "reach_error":
            lines.append('void reach_error(void) { __CPROVER_assert(0, "reached"); }')
        elif name in CHECKS:
            more = "" if name == "__VERIFIER_assert" else ", ..."
            lines.append(f'void {name}(int holds{more}) {{ __CPROVER_assert(holds, "{name}"); }}')
        elif name == "abort":
            lines.append("void abort(void) { __CPROVER_assume(0); }")
        elif is_assumption(name):
            lines.append(f"void {name}(int holds) {{ __CPROVER_assume(holds); }}")
    return "\n".join((*lines, text))


def said(output: str, errors: str, only: str = "") -> tuple[Answer, str]:
    """What the output of the command says, and why it says nothing; of the checks, `only` those of that name count."""
    ended = re.search(r"^VERIFICATION (SUCCESSFUL|FAILED)$", output, re.MULTILINE)
    if ended is None:
        lines = f"{output}\n{errors}".strip().splitlines()
        named = [line for line in lines if "rror" in line and "ERROR" not in line]
        return "unknown", f"no result: {''.join((named or lines[-1:])[:1])[-200:]}"
    if ended[1] == "SUCCESSFUL":
        return "complete", ""
    results = [one for one in _RESULT.findall(output) if ".no-body." not in one[0]]
    results = [one for one in results if only in one[1] or _UNWINDING.search(one[0]) is not None]
    failed = [(name, what) for name, what, result in results if result == "FAILURE"]
    violated = [what for name, what in failed if _UNWINDING.search(name) is None]
    if violated:
        return "violated", violated[0]
    if not results or any(result not in ("SUCCESS", "FAILURE") for _, _, result in results):
        return "unknown", "some properties are not decided"
    return "holds" if failed else "complete", ""
