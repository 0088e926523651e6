"""The compiler's command line and what it reads, made of parsed flags.

Of what a folder says, the arguments hold absolute paths of folders that are there, a standard and switches from a
list, and nothing else: each argument begins with `-` and a letter of ours, or with `/`. Compilers replace an argument
that begins with `@` by the contents of a file (GCC manual, "Overall Options"); GCC's driver does so, and the
preprocessor that it starts does so again with the words that the driver splits off, as the `@f` of `-D@f`. So macros
are not arguments at all: they come before the text, as lines of C, and so do the files that flags include.
"""

from __future__ import annotations

import os
import platform
import sysconfig
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from analysis.c.translation_time import MOMENT
from analysis.model.unit_flags import Folder, UnitFlags

_HEADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "headers")
_PLACE = b'# 1 "<command-line>"\n'  # where compilers say that macros of flags come from


class Above(NamedTuple):
    """What comes before the text: `text`, of `lines` lines; and the files that flags include but cannot be used, with
    why."""

    text: bytes
    lines: int
    left_out: tuple[tuple[str, str], ...]


def arguments(
    compiler: str, flags: UnitFlags, model: str, dump: Sequence[str], inside: Callable[[str], str], last: str | None
) -> list[str]:
    """The command that preprocesses standard input for a data model. `inside` gives the path at which the compiler
    finds a folder; `last` is a folder to look in after all others."""
    command = [compiler, "-E", "-w", *dump, *(f"-D{macro}={value}" for macro, value in MOMENT.items()), *flags.switches]
    if model == "ILP32" and has_32_bit_mode():
        command.append("-m32")
    if flags.standard:
        command.append(f"-std={flags.standard}")
    for folder in flags.folders:
        path = inside(folder.path)
        if os.path.isabs(path) and os.path.isdir(path):
            command += [f"-I{path}"] if folder.kind == "-I" else [folder.kind, path]
    if "-m32" in command and "-nostdinc" not in command:
        command += [part for folder in _headers_for_32_bits() for part in ("-idirafter", folder)]
    if last is not None:
        command += ["-idirafter", last]
    return [*command, "-x", "c", "-"]


def has_32_bit_mode() -> bool:
    """Whether compilers of this machine, one of 64 bits, can preprocess for 32 bits: types and limits are macros of theirs."""
    return platform.machine().lower() in ("x86_64", "amd64", "i386", "i686")


def _headers_for_32_bits() -> list[str]:
    """Where the headers are if there is no C library for 32 bits: those of 64 bits serve both. Only one is missing. It
    lists library functions that always fail; ours is empty."""
    own = os.path.join("/usr/include", sysconfig.get_config_var("MULTIARCH") or "")
    return [*([own] if os.path.isdir(own) else []), _HEADERS]


def above(flags: UnitFlags, unsaved: Collection[str], inside: Callable[[str], str]) -> Above:
    """The macros and the files that flags give a text. `unsaved` are absolute paths of files that need not be on the
    disk."""
    lines = [os.fsencode(macro) for macro in flags.macros]
    left_out: list[tuple[str, str]] = []
    for forced in flags.forced:
        path, problem = _find(forced.name, [forced.folder, *_quoted(flags.folders)], unsaved)
        if problem:
            left_out.append((forced.name, problem))
        elif path is None:
            lines.append(b"#include <%s>" % os.fsencode(forced.name))
        else:
            found = os.path.join(inside(os.path.dirname(path)), os.path.basename(path))
            lines.append(b'#include "%s"' % os.fsencode(found))
    return Above(_PLACE + b"\n".join(lines) + b"\n" if lines else b"", len(lines) + 1 if lines else 0, tuple(left_out))


def _quoted(folders: Sequence[Folder]) -> list[str]:
    """The folders in the order in which a name in quotes is looked for in them (GCC manual, "Directory Options")."""
    return [folder.path for kind in ("-iquote", "-I", "-isystem", "-idirafter") for folder in folders if folder.kind == kind]


def _find(name: str, folders: Sequence[str], unsaved: Collection[str]) -> tuple[str | None, str]:
    """The path of a file that flags include, None if only the compiler's own folders can have it; and why it cannot
    be used."""
    for path in (os.path.join(folder, name) for folder in folders):
        if '"' in path or path.endswith("\\"):
            return None, "its path cannot be written in C"
        if os.path.isfile(path) or os.path.normpath(path) in unsaved:
            return path, ""
        if os.path.exists(path):
            return None, "it is not an ordinary file"
    is_plain = not os.path.isabs(name) and ".." not in name.split("/") and not any(c in name for c in '<>"\\')
    return None, "" if is_plain else "it was not found"
