"""Which preprocessor flags a file gets: from compile_commands.json, else from the options.

A compilation database comes with the code, so it is data, not orders: the compiler that it names is never run, and of
its flags only those on the allow list below are kept (DESIGN.md section 13). None of them can run a program or load one.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from analysis.model.options import CompilerFlags
from analysis.model.report import Message

DATABASE_NAME = "compile_commands.json"
_LARGEST_DATABASE = 64_000_000  # bytes

# Flags whose value is the rest of the argument or the next argument. Those in the second set name a folder or file.
_VALUE = {"-D", "-U"}
_PATH = {"-I", "-include", "-imacros", "-isystem", "-iquote", "-idirafter"}
_BY_LENGTH = sorted(_VALUE | _PATH, key=len, reverse=True)
_ALONE = re.compile(
    r"(-|--)std=[a-z0-9:+]+|-ansi|-m(32|64|x32)|-f(no-)?(signed|unsigned)-char|-f(no-)?short-enums|-f(no-)?short-wchar"
    r"|-pthread|-O[0-3sgz]?|-Ofast|-undef|-nostdinc|-trigraphs|-f(no-)?openmp|-f(no-)?ms-extensions|-f(no-)?gnu89-inline"
    r"|-ffreestanding|-fhosted|-f(no-)?(PIC|pic|PIE|pie)|-f(no-)?stack-protector|-m(no-)?(sse|avx)[a-z0-9.]*"
)
# Flags outside the allow list whose value is the next argument, which must not be taken for anything else.
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


class UnitFlags(msgspec.Struct, frozen=True):
    """The preprocessor flags of one file, all from the allow list; paths in them are absolute or of the compiler's own."""

    arguments: tuple[str, ...] = ()


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


_loaded: dict[str, tuple[str, bytes, CompileCommands]] = {}  # databases as they were read last: splitting the commands takes time


def find_compile_commands(start: str) -> str | None:
    """The nearest compile_commands.json in `start`, a folder, or above it."""
    here = Path(os.path.abspath(start))
    return next((str(folder / DATABASE_NAME) for folder in (here, *here.parents) if (folder / DATABASE_NAME).is_file()), None)


def load_compile_commands(path: str) -> CompileCommands:
    """Reads a compilation database in either form (`command` or `arguments`); what is wrong with it is one message.

    Format: https://clang.llvm.org/docs/JSONCompilationDatabase.html. Of several entries for a file, the first counts.
    """

    def failed(why: str) -> CompileCommands:
        return CompileCommands(path, {}, (Message("warning", path, f"The compilation database cannot be used: {why}."),))

    try:
        if os.path.getsize(path) > _LARGEST_DATABASE:
            return failed("it is larger than 64 MB")
        data = Path(path).read_bytes()
    except OSError as error:
        return failed(f"{(error.strerror or 'it cannot be read').lower()}")
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
    wrong = 0
    base = os.path.dirname(os.path.abspath(path))
    for entry in entries:
        unit = _entry(entry, base) if isinstance(entry, dict) else None
        if unit is None:
            wrong += 1
        else:
            units.setdefault(*unit)
    text = f"{wrong} of the {len(entries)} entries of the compilation database are not understood and were left out."
    return CompileCommands(path, units, (Message("warning", path, text),) if wrong else ())


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
    return os.path.normpath(os.path.join(folder, file)), UnitFlags(allowed(arguments[1:], folder))


def allowed(arguments: Sequence[str], folder: str) -> tuple[str, ...]:
    """The arguments on the allow list, with paths made absolute from `folder`, in a form that no compiler can misread.

    A value is never an argument of its own that begins with `@` (which compilers replace by a file's contents) or `-`.
    """
    kept: list[str] = []
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        index += 1
        flag = next((flag for flag in _BY_LENGTH if argument.startswith(flag)), None)
        if "\0" in argument:
            continue
        if argument in _SKIP_NEXT:
            index += 1
        elif flag is not None:
            value = argument[len(flag) :]
            if not value:
                if index >= len(arguments) or "\0" in arguments[index]:
                    break
                value = arguments[index]
                index += 1
            kept += _spelled(flag, value, folder)
        elif _ALONE.fullmatch(argument):
            kept.append(argument.replace("--std", "-std"))
    return tuple(kept)


def _spelled(flag: str, value: str, folder: str) -> list[str]:
    if flag in _VALUE:
        return [flag + value]
    absolute = os.path.join(folder, value)
    if flag in ("-include", "-imacros"):
        if os.path.exists(absolute):
            return [flag, absolute]
        return [flag, os.path.join(".", value)] if value.startswith(("@", "-")) else [flag, value]  # found along the -I folders
    return [flag + absolute] if flag == "-I" else [flag, absolute]


def default_flags(flags: CompilerFlags) -> UnitFlags:
    """The flags that the options give to files that no compilation database knows; folders count from the current one."""
    arguments: list[str] = []
    for folder in flags.include_dirs:
        arguments += ["-I", folder]
    for define in flags.defines:
        arguments += ["-D", define]
    if flags.standard is not None:
        arguments.append(f"-std={flags.standard}")
    return UnitFlags(allowed(arguments, os.getcwd()))


def include_folders(arguments: Iterable[str]) -> tuple[str, ...]:
    """The folders that arguments as `allowed` spells them name for headers."""
    folders: list[str] = []
    previous = ""
    for argument in arguments:
        if previous in ("-isystem", "-iquote", "-idirafter"):
            folders.append(argument)
        elif argument.startswith("-I"):
            folders.append(argument[2:])
        previous = argument
    return tuple(folders)
