"""The headers that units look for, and the places where they would be found.

A compiler that looks for a header passes folders that do not have it. A file that appears there changes what is read, though no
file that was read changes. No build system that works from lists of dependencies alone sees that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analysis.frontend.compiler.compiler_run import compiler_environment
from analysis.model.unit_flags import UnitFlags

# whatever the text, these take time that grows with its length: what is not closed is taken in, too
_NAME = rb'(?:"(?P<quoted>[^"\n]++)(?>(?P<closed>")?)|<(?P<angled>[^>\n]++)(?>(?P<shut>>)?))'
_DIRECTIVE = rb"(?:^|\*/)[ \t]*+(?:#|%:|\?\?=)[ \t]*+"
_INCLUDE = re.compile(
    _DIRECTIVE + rb"(?:(?P<comment>/\*)|(?:include|include_next|import|embed)\b[ \t]*+(?>(?:" + _NAME + rb")?)(?P<rest>[^\n]*+))",
    re.MULTILINE,
)
_ASKED = re.compile(rb"\b__has_(?:include|include_next|embed)\b")
_ASKED_BY_NAME = re.compile(_ASKED.pattern + rb"[ \t]*+\([ \t]*+" + _NAME)
_ASKED_ITSELF = re.compile(rb"(?:\bdefined[ \t]*+\(?+|#[ \t]*+(?:(?:el)?ifn?def|define|undef)\b)[ \t]*+" + _ASKED.pattern)
_UPWARD = re.compile(rb"(?<!\.)\.\.(?!\.)")
_SPLICE = re.compile(rb"\\[ \t]*\r?\n")
_ENVIRONMENT = ("CPATH", "C_INCLUDE_PATH")
_BEFORE_SYSTEM = "/usr/local/include"  # where compilers look before the system's own folders


# What is kept: a string, a character constant, a name in angle brackets; the rest of a line behind a quote without another one,
# which is one token for compilers; and what is open to the end. A comment of one line is left out no further than `*/`.
_BRACKETED = rb"\b(?:__has_)?(?:include|include_next|import|embed)\b[ \t(]*+<[^>\n]*+"
_KEPT = rb"""(?P<kept>"(?:[^"\\\n]++|\\.)*+(?:"|[^\n]*+)|'(?:[^'\\\n]++|\\.)*+(?:'|[^\n]*+)|""" + _BRACKETED + rb")"
_COMMENT = re.compile(_KEPT + rb"|/\*.*?\*/|(?P<open>/\*.*+)|//(?>(?:(?!\*/)[^\n])*)", re.DOTALL)
_OTHER_LEXIS = (b'R"', b"??/")  # raw strings, and trigraphs that join lines: what is a comment there is not looked into


class Asked(NamedTuple):
    """What a text looks for: names in quotes and in angle brackets. `computed`: also names that macros make. `upward`: a macro
    may be a name with `..`. `open`: it asks whether there is a file whose name a macro makes."""

    quoted: tuple[bytes, ...]
    angled: tuple[bytes, ...]
    computed: bool
    upward: bool
    open: bool


def asked_by(text: bytes) -> Asked:
    """What a text looks for, conditions aside: too much rather than too little."""
    text = _SPLICE.sub(b"", text) if b"\\" in text else text
    asked = _asked_by(text)
    is_known = not (asked.computed or asked.upward or asked.open)
    return asked if is_known else _asked_by(_without_comments(text))


def _asked_by(text: bytes) -> Asked:
    """The same for a text without spliced lines; what its comments speak of counts."""
    included = list(_INCLUDE.finditer(text))
    computed = [match for match in included if not _is_named(match)]
    asked, is_open = _asked_whether(text) if b"__has_" in text else ([], False)
    named = [match for match in (*included, *asked) if _is_named(match)]
    return Asked(
        quoted=tuple(dict.fromkeys(match["quoted"] for match in named if match["quoted"])),
        angled=tuple(dict.fromkeys(match["angled"] for match in named if match["angled"])),
        computed=bool(computed),
        upward=_may_go_up(text) or any(b".." in match[0] for match in computed),
        open=is_open or any(match["comment"] for match in computed),
    )


def _without_comments(text: bytes) -> bytes:
    """The text, each comment an empty one (C11 6.4.9): an include directive that it speaks of looks for nothing."""
    if any(mark in text for mark in _OTHER_LEXIS):
        return text
    return _COMMENT.sub(lambda found: found["kept"] or found["open"] or b"/**/", text)


def _asked_whether(text: bytes) -> tuple[list[re.Match[bytes]], bool]:
    """Where a text asks whether a file of some name is there, and whether it asks for others."""
    asked = [match for match in _ASKED_BY_NAME.finditer(text) if _is_named(match)]
    clear = len(asked) + sum(1 for _ in _ASKED_ITSELF.finditer(text))
    return asked, sum(1 for _ in _ASKED.finditer(text)) > clear


def _may_go_up(text: bytes) -> bool:
    """Whether a macro may have `..` in it."""
    return any(b"define" in line and _UPWARD.search(line) for line in text.split(b"\n") if b".." in line)


def _is_named(match: re.Match[bytes]) -> bool:
    return match["closed"] is not None or match["shut"] is not None


class Lookups:
    """The files that would have been read, had they been there, for the headers that some files include."""

    def __init__(self) -> None:
        self._folders: dict[str, None] = {}
        self._names: dict[str, None] = {}
        self._beside: dict[str, None] = {}
        self._headers: dict[str, None] = {}
        self._computed = self._upward = self._open = False

    @property
    def is_open(self) -> bool:
        """Whether files with other names than are known here may be looked for."""
        return self._open or (self._computed and self._upward)

    def add_flags(self, flags: UnitFlags) -> None:
        """The preprocessor flags of a unit."""
        for folder in (*(folder.path for folder in flags.folders), *_environment_folders(), _BEFORE_SYSTEM):
            self._folders[os.path.abspath(folder)] = None
        for forced in flags.forced:
            self._beside[os.path.abspath(os.path.join(forced.folder, forced.name))] = None
            self._names[forced.name] = None
        self._note(asked_by("\n".join(flags.macros).encode("utf-8", "surrogateescape")))
        for other in flags.others:
            self.add_flags(other)

    def add_file(self, path: str, asked: Asked) -> None:
        """A file that was read, by its absolute path, and what it looks for."""
        folder = os.path.dirname(path)
        self._names.update(dict.fromkeys(map(os.fsdecode, (*asked.quoted, *asked.angled))))
        self._beside.update((os.path.join(folder, os.fsdecode(name)), None) for name in asked.quoted)
        if asked.computed:
            self._folders[folder] = None
        self._note(asked)

    def _note(self, asked: Asked) -> None:
        self._computed = self._computed or asked.computed
        self._upward = self._upward or asked.upward
        self._open = self._open or asked.open

    def add_header(self, path: str) -> None:
        """A header that was read: its name can have come out of a macro."""
        self._headers[path] = None

    @property
    def folders(self) -> Iterable[str]:
        """Where headers are looked for."""
        return self._folders

    def names(self) -> Iterator[str]:
        """The names by which headers are looked for in `folders`."""
        yield from (name for name in self._names if not os.path.isabs(name))
        for path in self._headers:
            parts = path.strip("/").split("/")
            yield from ("/".join(parts[start:]) for start in range(0 if self._computed else len(parts) - 1, len(parts)))

    def beside(self) -> Iterable[str]:
        """The places beside the files that name headers."""
        return self._beside

    def paths(self) -> Iterator[str]:
        """All places where headers can have been looked for, whether they are there or not."""
        yield from self._beside
        for name in dict.fromkeys(self.names()):
            for folder in self._folders:
                yield os.path.join(folder, name)


def _environment_folders() -> Iterator[str]:
    environment = compiler_environment()
    for variable in _ENVIRONMENT:
        if variable in environment:
            yield from environment[variable].split(os.pathsep)
