"""Which preprocessor flags a file gets: from compile_commands.json, else from the options.

A compilation database comes with the code, so it is data, not orders: the compiler that it names is never run, and its flags are
parsed into `model.unit_flags`, which is all that is kept of them. `frontend.compiler.command_line` makes a command line of that.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from analysis.frontend.compiler.meaning_flags import LEAVES_WITH_VALUE, leaves_meaning
from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import DATABASE_BYTES
from analysis.model.options import CompilerFlags
from analysis.model.report import Message
from analysis.model.unit_flags import (
    STANDARDS,
    SWITCHES,
    Folder,
    FolderKind,
    Forced,
    UnitFlags,
    definition,
    is_path,
    shown,
    undefinition,
)

DATABASE_NAME = "compile_commands.json"

# Flags whose value is the rest of the argument or the next argument, the longest first.
_MACRO = ("-D", "-U")
_FOLDER: tuple[FolderKind, ...] = ("-idirafter", "-isystem", "-iquote", "-I")
_FILE = ("-include", "-imacros")
_FORTIFY = "_FORTIFY_SOURCE"
"""With it, headers put functions that end the run where an object would be overrun in place of some of the library's. Without it,
there are these: the same runs, and those that it would have ended."""
_WITH_VALUE = (*_FILE, *_FOLDER, *_MACRO)
# Other flags whose value is the next argument, which must not be taken for anything else.
_SKIP_NEXT = {"-o", "-x", "-MF", "-MT", "-MQ", "-Xpreprocessor", "-Xlinker", "-Xassembler", "-Xclang", "-B", "-wrapper", "-specs"}
_SKIP_NEXT |= {
    "-include-pch",
    "-L",
    "-l",
    "-T",
    "-u",
    "-z",
    "-arch",
    "-target",
    "--sysroot",
    "-isysroot",
    "-iprefix",
    "-aux-info",
    "--param",
    "-G",
}


class CompileCommands(msgspec.Struct, frozen=True):
    """A compilation database: the flags by absolute path of the source file, in the order of the database."""

    path: str = ""
    units: dict[str, UnitFlags] = {}
    messages: tuple[Message, ...] = ()

    def flags_for(self, path: str) -> UnitFlags | None:
        """The flags of a file; for a header, those of a file of the same name or in the same folder; None if there are none."""
        absolute = os.path.abspath(path)
        exact = self.units.get(absolute) or self.units.get(os.path.realpath(absolute))
        if exact is not None or absolute.endswith(".c"):
            return exact
        stem, folder = os.path.splitext(absolute)[0], os.path.dirname(absolute)
        neighbours = [source for source in self.units if os.path.dirname(source) == folder]
        twin = next((source for source in neighbours if os.path.splitext(source)[0] == stem), None)
        source = twin or (neighbours[0] if neighbours else None)
        return None if source is None else self.units[source]


_WITHOUT = "The files are checked without a database."
_loaded: dict[str, tuple[str, bytes, CompileCommands]] = {}  # databases as they were read last: splitting the commands takes time


def find_compile_commands(start: str) -> str | None:
    """The nearest compile_commands.json in `start`, a folder, or above it."""
    here = Path(os.path.abspath(start))
    return next(
        (str(folder / DATABASE_NAME) for folder in (here, *here.parents) if os.path.lexists(folder / DATABASE_NAME)), None
    )


def load_compile_commands(path: str) -> CompileCommands:
    """Reads a compilation database in either form (`command` or `arguments`); what is wrong with it is one message.

    Format: https://clang.llvm.org/docs/JSONCompilationDatabase.html. Of several entries for a file, the first counts;
    the flags of the others are its `others`.
    """

    def failed(why: str) -> CompileCommands:
        return CompileCommands(
            path, {}, (Message("warning", path, f"The compilation database cannot be used: {why}. {_WITHOUT}"),)
        )

    try:
        data = read_file(path, DATABASE_BYTES)
    except UnreadableError as error:
        return failed(error.reason)
    known = _loaded.get(os.path.abspath(path))
    if known is None or known[:2] != (path, data):
        known = _loaded[os.path.abspath(path)] = path, data, _read_database(path, data, failed)
    return known[2]


def _read_database(path: str, data: bytes, failed: Callable[[str], CompileCommands]) -> CompileCommands:
    try:
        entries = json.loads(data)
    except (ValueError, RecursionError) as error:
        return failed(f"it is not valid JSON ({str(error) or 'nested too deeply'})")
    if not isinstance(entries, list):
        return failed("it is not a list of entries")
    units: dict[str, UnitFlags] = {}
    refused: dict[str, None] = {}
    names: dict[str, list[str]] = {}  # of each file; symbolic links give it several
    found: dict[str, dict[UnitFlags, None]] = {}  # all flags of each file
    wrong = 0
    base = os.path.dirname(os.path.abspath(path))
    for entry in entries:
        unit = _entry(entry, base) if isinstance(entry, dict) else None
        if unit is None:
            wrong += 1
            continue
        name, flags = unit
        file = os.path.realpath(name)
        names.setdefault(file, []).append(name)
        units.setdefault(name, flags)
        found.setdefault(file, {})[flags] = None
        refused.update(dict.fromkeys(flags.refused))
    for file in (file for file, flags_of in found.items() if len(flags_of) > 1):
        for name in dict.fromkeys(names[file]):
            others = tuple(flags for flags in found[file] if flags != units[name])
            units[name] = msgspec.structs.replace(units[name], others=others)
    texts: list[str] = []
    if not entries:
        texts.append(f"The compilation database has no entries. {_WITHOUT}")
    if wrong:
        texts.append(f"{wrong} of the {len(entries)} entries of the compilation database are not understood and were left out.")
    if refused:
        few = ", ".join(shown(flag) for flag in list(refused)[:3])
        texts.append(f"{len(refused)} flags of the compilation database define no macro and were left out, among them {few}.")
    return CompileCommands(path, units, tuple(Message("warning", path, text) for text in texts))


def _entry(entry: Mapping[str, object], base: str) -> tuple[str, UnitFlags] | None:
    """The absolute path and the flags of one entry; None when it is not as it should be."""
    directory, file = entry.get("directory", "."), entry.get("file")
    arguments, command = entry.get("arguments"), entry.get("command")
    if not isinstance(directory, str) or not isinstance(file, str) or "\0" in directory + file:
        return None
    if arguments is None and isinstance(command, str):
        try:
            arguments = shlex.split(command)
        except ValueError:
            return None
    if not isinstance(arguments, list) or not all(isinstance(argument, str) for argument in arguments):
        return None
    folder = os.path.normpath(os.path.join(base, directory))
    return os.path.normpath(os.path.join(folder, file)), read_flags(arguments[1:], folder)


def read_flags(arguments: Sequence[str], folder: str) -> UnitFlags:
    """The preprocessor's flags among the arguments of a compiler, which come without the compiler's name.
    Paths count from `folder`, an absolute path.

    Unknown flags are left out, and listed in `doubtful` if they may change what the text means.
    `-imacros` is read like `-include`: it is used for headers that hold nothing but macros.
    """
    read = _Read(folder)
    waiting = iter(arguments)
    for argument in waiting:
        flag = next((flag for flag in _WITH_VALUE if argument.startswith(flag)), None)
        if argument in _SKIP_NEXT:
            read.skip(argument, next(waiting, ""))
        elif flag is not None:
            read.with_value(flag, argument[len(flag) :] or next(waiting, ""))
        else:
            read.alone(argument)
    return read.flags()


class _Read:
    """What was read of the arguments so far; see `read_flags`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._macros: list[str] = []
        self._folders: list[Folder] = []
        self._forced: list[Forced] = []
        self._switches: list[str] = []
        self._refused: list[str] = []
        self._doubtful: list[str] = []
        self._standard = ""

    def skip(self, flag: str, value: str) -> None:
        """A flag with a value that is no preprocessor's."""
        if flag not in LEAVES_WITH_VALUE and (flag, value) != ("-x", "c"):
            self._doubtful.append(f"{flag} {value}")

    def with_value(self, flag: str, value: str) -> None:
        """A macro, a file or a folder."""
        if flag in _MACRO:
            if re.split(r"\W", value, maxsplit=1)[0] == _FORTIFY:
                flag, value = "-U", _FORTIFY
            line = definition(value) if flag == "-D" else undefinition(value)
            if line is None:
                self._refused.append(flag + value)
            else:
                self._macros.append(line)
        elif is_path(value):
            if flag in _FILE:
                self._forced.append(Forced(value, self._folder))
            else:
                self._folders += [Folder(kind, os.path.join(self._folder, value)) for kind in _FOLDER if kind == flag]

    def alone(self, argument: str) -> None:
        """Any other argument."""
        if argument == "-ansi":
            self._standard = "c90"
        elif argument.startswith(("-std=", "--std=")):
            named = argument.partition("=")[2]
            if named in STANDARDS:
                self._standard = named
            else:
                self._doubtful.append(argument)
        elif not re.fullmatch(rf"-Wp(?:,-[DU]{_FORTIFY}(?:=\d*)?)+", argument):
            if argument in SWITCHES:
                self._switches.append(argument)
            if not leaves_meaning(argument) and argument != "-xc":
                self._doubtful.append(argument)

    def flags(self) -> UnitFlags:
        """All that was read."""
        return UnitFlags(
            tuple(self._macros),
            tuple(self._folders),
            tuple(self._forced),
            self._standard,
            tuple(self._switches),
            tuple(self._refused),
            tuple(self._doubtful),
        )


def default_flags(flags: CompilerFlags) -> UnitFlags:
    """The flags that the options give to files that no compilation database knows; folders count from the current one."""
    arguments: list[str] = []
    for folder in flags.include_dirs:
        arguments += ["-I", folder]
    for define in flags.defines:
        arguments += ["-D", define]
    if flags.standard is not None:
        arguments.append(f"-std={flags.standard}")
    return read_flags(arguments, os.getcwd())
