"""Which files make the program, and the compiler flags of each (INTERFACE.md, `everproof check`)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import msgspec

from analysis.frontend.compiler_flags import UnitFlags
from analysis.model.options import Options
from analysis.model.report import Message
from analysis.session.paths import FileSet, collect, existing, find_upward


class ProgramFiles(msgspec.Struct, frozen=True):
    """The files, as the user spelled them, the flags of each, and what could not be used."""

    files: tuple[str, ...] = ()
    flags: Mapping[str, UnitFlags] = {}
    messages: tuple[Message, ...] = ()


def find_program(paths: Sequence[str], options: Options) -> ProgramFiles:
    """The program that the paths name; without any, that of the nearest compile_commands.json, else of the current folder."""
    database = options.compile_commands or find_upward(_start(paths))
