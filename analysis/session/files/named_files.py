"""Which files a check is about: from what the user named to a list of C files.

All of them are one program. A path stays spelled as the user gave it; what is found below a folder is spelled
with that folder in front.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from analysis.model.report import Message

_MOST_FILES = 20_000
_MOST_DEPTH = 40
_C_NAMES = (".c", ".h", ".i", ".inc", "")
"""How the name of a file ends that may be C ("": it has no extension). Others are in another language, as C++ is, where the same
text means something else."""


class FileSet(msgspec.Struct, frozen=True):
    """The files to check, in a fixed order, without repetitions; and what could not be used."""

    files: tuple[str, ...]
    messages: tuple[Message, ...] = ()


def shortest(path: str) -> str:
    """The path relative to the current folder if it is below it, else absolute."""
    absolute = os.path.abspath(path)
    try:
        here = os.getcwd()
    except OSError:
        return absolute
    prefix = here if here.endswith(os.sep) else here + os.sep
    return absolute[len(prefix) :] if absolute.startswith(prefix) else absolute


def collect(paths: Sequence[str]) -> FileSet:
    """The C files that the paths name: a file itself; of a folder every `*.c` below it.

    Hidden folders are skipped, symbolic links to folders are not followed. What does not exist, a file that is no C file by its
    name, and a folder without C files are messages of severity error.
    """
    files: dict[str, str] = {}
    messages: list[Message] = []
    for path in paths:
        if os.path.isdir(path):
            below = list(_below(path, messages))
            if not below:
                messages.append(Message("error", path, f"There is no C file (*.c) in or below {path}: nothing to check there."))
            for found in below:
                files.setdefault(os.path.realpath(found), found)
        elif os.path.exists(path) and os.path.splitext(path)[1] not in _C_NAMES:
            messages.append(Message("error", path, _not_c(path)))
        elif os.path.exists(path):
            files.setdefault(os.path.realpath(path), path)
        else:
            messages.append(Message("error", path, no_such_file(path)))
    return FileSet(tuple(files.values()), tuple(messages))


def no_such_file(path: str) -> str:
    """What is said of a path that leads to nothing."""
    hint = "it is a symbolic link that leads to nothing" if os.path.islink(path) else "check the spelling"
    return f"There is no file or folder {path}: {hint}."


def _not_c(path: str) -> str:
    """What is said of a file that is no C file by its name."""
    if path.endswith(".json"):
        return f"{path} is no C file: if it is a compilation database, pass it with -p."
    return f"{path} is not checked: its name is not that of a C file (*.c, *.h, *.i)."


def _below(folder: str, messages: list[Message]) -> Iterator[str]:
    """Every *.c file below the folder, in alphabetical order folder by folder."""
    base = folder.rstrip(os.sep).count(os.sep)
    count = 0

    def unreadable(error: OSError) -> None:
        messages.append(Message("warning", str(error.filename), f"The folder {error.filename} cannot be read: {error.strerror}."))

    for where, folders, names in os.walk(folder, onerror=unreadable):
        deep = where.count(os.sep) - base >= _MOST_DEPTH
        folders[:] = [] if deep else sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(".c") and not name.startswith("."):
                if count == _MOST_FILES:
                    text = f"More than {_MOST_FILES} C files are below {folder}: the rest is left out; name a smaller folder."
                    messages.append(Message("error", folder, text))
                    return
                count += 1
                path = os.path.join(where, name)
                yield os.path.normpath(path) if folder == "." else path


def existing(paths: Iterable[str], listed_in: str) -> FileSet:
    """The files of a compile_commands.json that exist, spelled as short as possible; a message names those that do not, and one
    says if there is no C file."""
    files: dict[str, str] = {}
    missing: list[str] = []
    for path in paths:
        if not path.endswith((".c", ".i", ".h")):
            continue
        if os.path.isfile(path):
            files.setdefault(os.path.realpath(path), shortest(path))
        else:
            missing.append(path)
    messages: tuple[Message, ...] = ()
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        text = f"{listed_in} lists {shortest(missing[0])}{more}, which does not exist: generate it again with your build."
        messages = (Message("error", listed_in, text),)
    elif not files:
        messages = (Message("error", listed_in, f"{listed_in} lists no C file (*.c): nothing to check there."),)
    return FileSet(tuple(files.values()), messages)
