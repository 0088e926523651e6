"""Which files make the program, and the compiler flags of each (docs/guide.md, "What is a program")."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import msgspec

from analysis.frontend.compiler.compiler_flags import (
    CompileCommands,
    default_flags,
    find_compile_commands,
    load_compile_commands,
)
from analysis.model.options import Options
from analysis.model.report import Message
from analysis.model.unit_flags import UnitFlags, flags_problems
from analysis.session.files.named_files import FileSet, collect, existing, shortest


class ProgramFiles(msgspec.Struct, frozen=True):
    """The files, as the user spelled them, the flags of each, and what could not be used."""

    files: tuple[str, ...] = ()
    flags: Mapping[str, UnitFlags] = {}
    messages: tuple[Message, ...] = ()


def find_program(paths: Sequence[str], options: Options) -> ProgramFiles:
    """The program that the paths name; without any, that of the nearest compile_commands.json, else of the current folder."""
    commands = _commands(_start(paths), options)
    files = collect(paths) if paths else _suggested(".", commands)
    return _with_flags(files, commands, options)


def find_workspace(folder: str, extra: Sequence[str], options: Options) -> ProgramFiles:
    """The program in a folder of a workspace: that of its compile_commands.json, else every *.c below it; and the extra files,
    which need not exist on the disk. An empty folder is no error. `folder` can be a single file, too."""
    commands = _commands(folder if os.path.isdir(folder) else os.path.dirname(folder), options)
    if os.path.isdir(folder):
        found = _suggested(folder, commands)
        known = {os.path.realpath(path) for path in found.files}
        files = (*found.files, *(path for path in extra if os.path.realpath(path) not in known))
        found = FileSet(tuple(_spelled_in(folder, path) for path in files), tuple(m for m in found.messages if files))
    else:
        found = FileSet((folder,))
    return _with_flags(found, commands, options)


def _spelled_in(folder: str, path: str) -> str:
    """The path as an editor spells it that has the folder open: absolute, and by the name of the folder, though a database of
    compile commands may know the folder by another one that a symbolic link stands for."""
    named, root = os.path.abspath(folder), os.path.realpath(folder)
    absolute, real = os.path.abspath(path), os.path.realpath(path)
    is_elsewhere = os.path.commonpath([named, absolute]) != named
    return (
        os.path.join(named, os.path.relpath(real, root))
        if is_elsewhere and os.path.commonpath([root, real]) == root
        else absolute
    )


def _with_flags(files: FileSet, commands: CompileCommands, options: Options) -> ProgramFiles:
    otherwise = default_flags(options.flags)
    flags = {path: commands.flags_for(path) or otherwise for path in files.files}
    wrong = (f"{name}: {why}." for name, why in flags_problems(options.flags.defines, options.flags.standard))
    messages = (*commands.messages, *files.messages, *(Message("warning", "", text) for text in wrong))
    return ProgramFiles(files.files, flags, messages)


def _commands(start: str, options: Options) -> CompileCommands:
    """The compilation database that the options name, else the nearest one; an empty one if there is none."""
    if options.compile_commands is not None:
        commands = load_compile_commands(options.compile_commands)
        if not commands.units and commands.messages:  # the user asked for this very file
            errors = tuple(msgspec.structs.replace(message, severity="error") for message in commands.messages)
            return msgspec.structs.replace(commands, messages=errors)
        return commands
    nearest = find_compile_commands(start)
    return CompileCommands() if nearest is None else load_compile_commands(shortest(nearest))


def _start(paths: Sequence[str]) -> str:
    """The folder from which a compile_commands.json is looked for."""
    first = paths[0] if paths else "."
    return first if os.path.isdir(first) else os.path.dirname(first) or "."


def _suggested(folder: str, commands: CompileCommands) -> FileSet:
    """The files of the compilation database, else those below the folder."""
    if commands.units:
        return existing(commands.units, shortest(commands.path))
    return collect([folder])
