"""What a result depends on beside the text of files: the tool itself, the compiler, and headers that could come to be.

A compiler that looks for a header passes folders that do not have it. A file that appears there changes what is read, though no
file that was read changes. `unmet` names those files; no build system that works from lists of dependencies alone sees them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

import analysis
from analysis.frontend.compiler.compiler_run import compiler_environment, find_compiler
from analysis.frontend.compiler.irregular_headers import INCLUDE
from analysis.model.digest import digest_text
from analysis.model.options import Options
from analysis.model.unit_flags import UnitFlags

_ASKED = rb"__has_include(?:_next)?+[ \t]*+\([ \t]*+"
_ASKED_QUOTED = re.compile(_ASKED + rb'"([^"\n]++)(?P<closed>")?+')
_ASKED_ANGLED = re.compile(_ASKED + rb"<([^>\n]++)(?P<closed>>)?+")
_VARIABLES = ("CPATH", "CINCLUDE_PATH", "SDKROOT")
_BEFORE_SYSTEM = "/usr/local/include"  # where compilers look before the system's own folders
_SOURCES = (".py", ".yaml", ".json")


@cache
def tool_digest() -> str:
    """Changes with the tool: by a new version, and by an edit to one of its files."""
    folder = Path(analysis.__file__).parent
    parts = [version("everproof")]
    for path in sorted(path for path in folder.rglob("*") if path.suffix in _SOURCES):
        status = path.stat()
        parts += (str(path.relative_to(folder)), str(status.st_size), str(status.st_mtime_ns))
    return digest_text(*parts)


def compiler_digest(options: Options) -> str:
    """Changes with the compiler that preprocesses, and with what the environment tells it."""
    if not options.trusted or options.compiler == "none":
        return ""
    compiler = find_compiler(options.compiler)
    if compiler is None:
        return "none found"
    environment = compiler_environment()
    parts = [compiler, os.path.realpath(compiler), *(f"{name}={environment.get(name, '')}" for name in _VARIABLES)]
    try:
        status = os.stat(compiler)
        parts += (str(status.st_size), str(status.st_mtime_ns))
    except OSError:
        pass
    return digest_text(*parts)


class Lookups:
    """The files that would have been read, had they been there, for the headers that some files include."""

    def __init__(self) -> None:
        self._folders: dict[str, None] = {}
        self._names: dict[str, None] = {}
        self._beside: dict[str, None] = {}

    def add_flags(self, flags: UnitFlags) -> None:
        """The preprocessor flags of a unit."""
        for folder in (*(folder.path for folder in flags.folders), *_environment_folders(), _BEFORE_SYSTEM):
            self._folders[os.path.abspath(folder)] = None
        for forced in flags.forced:
            self._beside[os.path.abspath(os.path.join(forced.folder, forced.name))] = None
            self._names[forced.name] = None

    def add_file(self, path: str, text: bytes) -> None:
        """A file that was read, by its absolute path."""
        folder = os.path.dirname(path)
        quoted = [match[1] for match in _ASKED_QUOTED.finditer(text) if match["closed"]]
        angled = [match[1] for match in _ASKED_ANGLED.finditer(text) if match["closed"]]
        for match in INCLUDE.finditer(text):
            (quoted if match[1] else angled).append(match[1] or match[2])
        self._names.update(dict.fromkeys(map(os.fsdecode, (*quoted, *angled))))
        self._beside.update((os.path.join(folder, os.fsdecode(name)), None) for name in quoted)

    def add_header(self, path: str) -> None:
        """A header that was read: its name can have come out of a macro."""
        self._names[os.path.basename(path)] = None

    def paths(self) -> Iterator[str]:
        """All places where headers can have been looked for, whether they are there or not."""
        yield from self._beside
        for name in self._names:
            if not os.path.isabs(name):
                for folder in self._folders:
                    yield os.path.join(folder, name)


def _environment_folders() -> Iterator[str]:
    environment = compiler_environment()
    for variable in _VARIABLES[:2]:
        if variable in environment:
            yield from environment[variable].split(os.pathsep)
