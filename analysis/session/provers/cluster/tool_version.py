"""Which Everproof this is, in words that are the same on every machine that has the same one installed."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

import analysis
from analysis.model.digest import digest_text
from analysis.session.keeping.surroundings import LIBRARIES, SOURCES


@cache
def tool_version() -> str:
    """Changes with the contents of the tool's files, with Python, and with the libraries that decide or parse."""
    folder = Path(analysis.__file__).parent
    files = sorted(path for path in folder.rglob("*") if path.suffix in SOURCES)
    contents = [part for path in files for part in (path.relative_to(folder).as_posix(), path.read_bytes())]
    python = platform.python_version()
    digest = digest_text(python, *map(version, LIBRARIES), *contents)
    return f"{version('everproof')} with Python {python} ({digest[:12]})"
