"""What can stand under a name in the place of a file, and in the place of which files."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket cannot be long
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(here)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _dangling(path: Path) -> None:
    path.symlink_to("nothing-here")


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)  # takes no room on the disk


MAKE: dict[str, Callable[[Path], None]] = {
    "a pipe": _pipe,
    "a folder": _folder,
    "a socket": _socket,
    "an endless device": _endless,
    "a link to itself": _loop,
    "a link to nothing": _dangling,
    "a huge file": _huge,
}
RARE = ("a socket", "a link to itself", "a link to nothing")
"""For the nightly run."""
WORDS = {
    "a pipe": "it is a pipe",
    "a folder": "it is a folder",
    "a socket": "it is a socket",
    "an endless device": "it is a device",
    "a link to itself": "oo many levels of symbolic links",
    "a link to nothing": "o such file",
    "a huge file": "it is larger than",
}


class Role(NamedTuple):
    """A file that a command reads. `begins`: how the sentence about it begins; `otherwise` has the cases in which it begins with
    other words. `ends`: what is there when nothing else is checked."""

    name: str
    command: list[str]
    begins: str
    otherwise: dict[str, str]
    ends: frozenset[str] = frozenset()


_ABSENT = {"a link to itself": "There is no file", "a link to nothing": "There is no file"}
ROLES = {
    "a source that is named": Role(
        "odd.c",
        ["check", "odd.c", "bad.c"],
        "odd.c: error: The file is not checked: ",
        {
            "a folder": "There is no C file (*.c) in or below odd.c",
            "a link to itself": "There is no file or folder odd.c",
            "a link to nothing": "There is no file or folder odd.c",
        },
    ),
    "a source in the folder": Role("odd.c", ["check", "."], "odd.c: error: The file is not checked: ", {"a folder": ""}),
    "a compilation database that is named": Role(
        "db.json",
        ["check", "-p", "db.json", "bad.c"],
        "The compilation database cannot be used: ",
        dict.fromkeys(("a pipe", "a socket", "an endless device"), "db.json is no regular file")
        | dict.fromkeys(("a folder", *_ABSENT), "There is no file db.json"),
        ends=frozenset(MAKE) - {"a huge file"},
    ),
    "a compilation database that is found": Role(
        "compile_commands.json", ["check", "."], "The compilation database cannot be used: ", {}
    ),
    "a rule file": Role(
        "rules/odd.yaml", ["check", "--rules-dir", "rules", "bad.c"], "This rule file is not used: ", {"a folder": ""}
    ),
    "a file of contracts": Role(
        ".everproof/functions/odd.yaml", ["check", "bad.c"], "This file of contracts is not used: ", {"a folder": ""}
    ),
    "a baseline": Role(
        "known.json", ["check", "--baseline", "known.json", "bad.c"], "The baseline known.json", {}, ends=frozenset(MAKE)
    ),
    "a certificate": Role(
        "proof.json",
        ["certify", "proof.json", "bad.c"],
        "",
        {"a folder": "is a directory", "a link to itself": "does not exist", "a link to nothing": "does not exist"},
        ends=frozenset(MAKE),
    ),
    "the settings": Role(".everproof.toml", ["check", "bad.c"], ".everproof.toml is not used: ", {"a link to nothing": ""}),
}
