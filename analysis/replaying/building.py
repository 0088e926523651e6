"""Compiles the preprocessed units of a program with a harness, in a folder where nothing else is."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from analysis.c.functions import known
from analysis.frontend.compiler import confinement
from analysis.frontend.compiler.compiler_run import compiler_environment, find_program_file
from analysis.model.c_types import Function
from analysis.replaying.given_objects import RefusedError
from analysis.replaying.harness import FAILING, MAIN_OF_PROGRAM, Harness
from analysis.replaying.marked_lines import DECLARATIONS

UNDEFINED = ("-fsanitize=undefined", "-fno-sanitize=alignment,bool,enum,builtin", "-fno-sanitize-recover=all")
"""What stops a program where a rule is violated. No rule is about what is left out: the run may go on there."""
SANITIZERS = ("-fsanitize=address", *UNDEFINED)
_UNDECLARED = "-Wimplicit-function-declaration"
_FLAGS = ("-g", "-O0", "-fno-omit-frame-pointer", "-fno-builtin", "-pthread")
_STANDARDS = ("-std=gnu17", "-std=gnu89")
_SECONDS = 120
_FAREWELL = 2.0  # seconds to end by itself
_MEGABYTES = 4_000
_MISSING = re.compile(r"undefined reference to [`'](\w+)'")
_CALLED = re.compile(r"(?:implicit declaration of|call to undeclared)(?: library)? function [`'](\w+)'")
_ROUNDS = 3
_PROGRAM = "replayed"


class Unit(NamedTuple):
    """A file of the program: its path, its preprocessed text, whether the entry is in it, and whether its `char` is signed."""

    path: str
    text: bytes
    has_entry: bool
    has_signed_char: bool = True


class Replayable(NamedTuple):
    """The units of a program, and the types of the functions that are called and not defined in it, by the names in the text."""

    units: Sequence[Unit]
    externals: Mapping[str, Function] = {}


def build(
    units: Sequence[Unit], harness: Harness, folder: Path, compiler: str, rule: str, sanitizers: Sequence[str] = SANITIZERS
) -> Path:
    """The program; raises RefusedError if it cannot be built."""
    flags = (*_FLAGS, *sanitizers)
    failing = FAILING if rule == "assertion" else ()
    names = []
    for number, unit in enumerate(units):
        name = f"unit{number}"
        text = unit.text + (b"\n" + harness.behind.encode() if unit.has_entry else b"")
        own = () if unit.has_signed_char else ("-funsigned-char",)
        _compiled(folder, compiler, (*flags, *own), name, unit.path, text)
        if harness.has_main and not (harness.behind and unit.has_entry):
            _objcopy(folder, name, "--redefine-sym", f"main={MAIN_OF_PROGRAM}")
        if failing:
            _objcopy(folder, name, *(f"--weaken-symbol={function}" for function in failing))
        names.append(f"{name}.o")
    (folder / "harness.c").write_text(harness.beside, encoding="utf-8")
    wraps = [f"-Wl,--wrap={name}" for name in harness.wrapped]
    stubs = dict.fromkeys(failing)
    for _ in range(_ROUNDS):
        (folder / "stubs.c").write_text(DECLARATIONS + "\n".join(map(harness.stub, stubs)) + "\n", encoding="utf-8")
        command = [compiler, "-w", *flags, *names, "harness.c", "stubs.c", *wraps, "-o", _PROGRAM, "-lm"]
        done = _run(command, folder)
        if done.returncode == 0:
            (folder / _PROGRAM).chmod(0o700)
            return folder / _PROGRAM
        missing = [name for name in _MISSING.findall(done.stderr) if not name.startswith("__real_")]
        if not missing:
            break
        stubs.update(dict.fromkeys(missing))
    raise RefusedError(f"the program cannot be linked: {_first_line(done.stderr)}")


def _compiled(folder: Path, compiler: str, flags: Sequence[str], name: str, path: str, text: bytes) -> None:
    """Compiles the text of a unit. Functions that compilers know, and it does not declare, get the type that compilers give them
    where
    they are allowed to use what they know (`-fno-builtin` is for calls to be calls)."""
    said = ""
    unit = folder / f"{name}.i"
    unit.write_bytes(text)
    for standard in _STANDARDS:
        command = [compiler, *flags, _UNDECLARED, standard, "-x", "cpp-output", "-c", f"{name}.i", "-o", f"{name}.o"]
        done = _run(command, folder)
        built_in = [called for called in dict.fromkeys(_CALLED.findall(done.stderr)) if _is_built_in(called)]
        if built_in:
            declared = "".join(f"extern __typeof__(__builtin_{called}) {called};\n" for called in built_in)
            unit.write_bytes(declared.encode() + text)
            done = _run(command, folder)
        if done.returncode == 0:
            return
        said = said or done.stderr
    raise RefusedError(f"{path} cannot be compiled: {_first_line(said)}")


def _is_built_in(name: str) -> bool:
    function = known(name)
    return function is not None and "builtin" in function.besides


def _objcopy(folder: Path, name: str, *arguments: str) -> None:
    """Changes symbols of an object file: of a `main` that the harness takes the place of, and of failing functions whose
    bodies do nothing, as programs for verifiers have them."""
    found = find_program_file("objcopy")
    if found is not None:
        _run([found, *arguments, f"{name}.o"], folder)


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = compiler_environment() | {"TMPDIR": str(folder)}
    with tempfile.TemporaryFile() as nothing:
        room = confinement.Room(str(folder))
        process = confinement.start(command, str(folder), environment, nothing, _SECONDS, _MEGABYTES, room)
    try:
        out, err = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise RefusedError(f"the compiler took more than {_SECONDS} s") from None
    finally:
        end(process)
    return subprocess.CompletedProcess(
        command, process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
    )


def end(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Ends what is left of a process that leads a group, gently at first, so that it prints all; what it has printed."""
    if process.returncode is not None:
        return b"", b""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        return process.communicate(timeout=_FAREWELL)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()


def _first_line(said: str) -> str:
    lines = [line for line in said.splitlines() if " error: " in line or "undefined reference" in line]
    return (lines or said.splitlines() or ["no reason is given"])[0].strip()
