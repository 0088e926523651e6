"""What a result depends on beside files, those that are there and those that could come to be (`units.lookups`): the tool itself,
and the compiler. And whose results are of use for others."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

import analysis
from analysis.frontend.compiler.compiler_run import compiler_environment, find_compiler
from analysis.model.digest import digest_text
from analysis.model.options import Options

_NOT_READ = frozenset(("PATH", "HOME", "TMPDIR", "USER", "LOGNAME"))  # what it finds by them is in the rest, or does not matter
SOURCES = (".py", ".yaml", ".json")
LIBRARIES = ("z3-solver", "tree-sitter", "tree-sitter-c", "PyYAML", "msgspec")


def others_asked(asked: tuple[str, ...]) -> tuple[str, ...] | None:
    """What the same folder is opened by as it is now, for one that was opened as it was at a reference: results of the one are of
    use for the other. None where nothing else is of use."""
    return asked[:2] if len(asked) > 2 and asked[0] == "folder" else None


@cache
def tool_digest() -> str:
    """Changes with the tool: by a new version of it, of Python or of a library that decides or parses, and by an edit to one of
    its files, also one that keeps its size and time (`st_ctime`, which nobody can set)."""
    folder = Path(analysis.__file__).parent
    parts = [sys.version, *map(version, ("everproof", *LIBRARIES))]
    for path in sorted(path for path in folder.rglob("*") if path.suffix in SOURCES):
        status = path.stat()
        parts += (str(path.relative_to(folder)), str(status.st_size), str(status.st_mtime_ns), str(status.st_ctime_ns))
    return digest_text(*parts)


def compiler_digest(options: Options) -> str:
    """Changes with the compiler that preprocesses, and with what the environment tells it."""
    if not options.trusted or options.compiler == "none":
        return ""
    compiler = find_compiler(options.compiler)
    if compiler is None:
        return "none found"
    environment = (f"{name}={value}" for name, value in sorted(compiler_environment().items()) if name not in _NOT_READ)
    parts = [compiler, os.path.realpath(compiler), *environment]
    try:
        status = os.stat(compiler)
        parts += (str(status.st_size), str(status.st_mtime_ns))
    except OSError:
        pass
    return digest_text(*parts)
