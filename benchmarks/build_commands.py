"""Compile commands out of what a build prints: `make -n -w`, which prints what it would run and runs nothing.

This is what people do who have no tool that writes compile_commands.json: the compiler's command lines are taken from the output,
with the folder that each of them is run in. Only flags that say how the text is read are kept: macros, folders of headers, the
dialect. Optimisation is left out, since it makes the C library's headers add inline bodies to every file.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

Commands = list[dict[str, object]]

_COMPILERS = frozenset({"cc", "gcc", "clang", "c99"})
_WITH_ARGUMENT = ("-D", "-U", "-I", "-include", "-isystem", "-iquote", "-idirafter")
_KEPT = ("-std", "-ansi", "-D", "-U", "-I", "-include", "-isystem", "-iquote", "-idirafter", "-funsigned-char", "-fsigned-char")
_FOLDER = re.compile(r"^make(?:\[\d+\])?: (Entering|Leaving) directory [`'](.*)'$")
_SOURCE_PREFIX = re.compile(r"`test -f '?[^`']*'? \|\| echo '?([^`']*)'?`")  # of automake: the folder of a source
_ENDS = frozenset({"&&", "||", ";", "|", "(", ")", "&", ";;"})


def commands_of(output: str, top: Path) -> Commands:
    """The compile commands in the output of `make -n -w` that was run in `top`; one for each file and folder, the first one."""
    found: dict[tuple[str, str], dict[str, object]] = {}
    folders = [str(top)]
    for line in output.replace("\\\n", " ").splitlines():
        moved = _FOLDER.match(line)
        if moved is not None:
            if moved[1] == "Entering":
                folders.append(moved[2])
            elif len(folders) > 1:
                folders.pop()
            continue
        for folder, words in _simple_commands(line, folders[-1]):
            for name, arguments in _compiled(folder, words):
                found.setdefault((folder, name), {"directory": folder, "file": name, "arguments": arguments})
    return list(found.values())


def _simple_commands(line: str, folder: str) -> Iterator[tuple[str, list[str]]]:
    """The simple commands of a line of shell, each with the folder that it is run in. A line that is no shell has none."""
    lexer = shlex.shlex(_SOURCE_PREFIX.sub(r"\1", line), posix=True, punctuation_chars="&|;()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return
    command: list[str] = []
    for word in [*words, ";"]:
        if word not in _ENDS:
            command.append(word)
            continue
        if command[:1] == ["cd"] and len(command) > 1:
            folder = os.path.normpath(os.path.join(folder, command[1]))
        elif command:
            yield folder, command
        command = []


def _compiled(folder: str, words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The C files that a command compiles, each with the command line for it alone."""
    start = next((index for index, word in enumerate(words) if os.path.basename(word) in _COMPILERS), None)
    if start is None or any(word in ("echo", "printf", "test") for word in words[:start]):
        return
    flags, names = _flags_and_names(words[start + 1 :])
    for name in names:
        if os.path.isfile(os.path.join(folder, name)):
            yield name, ["cc", *flags, "-c", name]


def _flags_and_names(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The flags that are kept, and the names of C files."""
    flags: list[str] = []
    names: list[str] = []
    left = iter(words)
    for word in left:
        if word in _WITH_ARGUMENT:
            flags += [word, next(left, "")]
        elif word == "-o" or word in ("-MF", "-MT", "-MQ"):
            next(left, "")
        elif word.startswith("-"):
            flags += [word] if word.startswith(_KEPT) else []
        elif word.endswith(".c"):
            names.append(word)
    return flags, names
