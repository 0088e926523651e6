"""The preprocessor flags of one file, as data: what is left when text from a folder has been parsed.

A compilation database and settings come with the code that is opened, so what they say is parsed, not filtered:
macros by C's grammar (C11 6.10.3), folders by name, the standard and a few switches from the lists here. A compiler
gets the macros as `#define` lines on its standard input, together with the text; so no text of theirs can become one
of its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import permutations, product
from typing import Literal

import msgspec

FolderKind = Literal["-I", "-iquote", "-isystem", "-idirafter"]

_YEARS = ("89", "90", "99", "9x", "11", "1x", "17", "18", "2x", "23", "2y")
_ISO = ("1990", "199409", "1999", "199x", "2011", "2017", "2018", "2024")
STANDARDS = frozenset(
    [f"{letters}{year}" for letters, year in product(("c", "gnu"), _YEARS)] + [f"iso9899:{year}" for year in _ISO]
)
"""What `-std=` can be followed by (GCC manual, "Options Controlling C Dialect"; Clang knows a part of it)."""

_NAMES = ("signed-char", "unsigned-char", "short-enums", "short-wchar", "openmp", "ms-extensions", "gnu89-inline")
_CODE = (
    "PIC",
    "pic",
    "PIE",
    "pie",
    "stack-protector",
    "exceptions",
    "math-errno",
    "trapping-math",
    "rounding-math",
    "non-call-exceptions",
    "asynchronous-unwind-tables",
    "cf-protection",
)
_SANITIZERS = (("address", "undefined", "leak"), ("thread", "undefined"))
_SSE = ("sse", "sse2", "sse3", "ssse3", "sse4", "sse4.1", "sse4.2", "sse4a")
_AVX = ("avx", "avx2", "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl")
_BITS = ("fma", "mmx", "aes", "pclmul", "popcnt", "bmi", "bmi2", "lzcnt", "f16c", "rdrnd")
_MACHINES = ("native", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
SWITCHES = frozenset(
    ["-m32", "-m64", "-mx32", "-pthread", "-undef", "-nostdinc", "-trigraphs", "-ffreestanding", "-fhosted"]
    + ["-O", "-O0", "-O1", "-O2", "-O3", "-Os", "-Oz", "-Og", "-Ofast"]
    + [f"-f{no}{name}" for no, name in product(("", "no-"), (*_NAMES, *_CODE))]
    + [f"-m{no}{name}" for no, name in product(("", "no-"), (*_SSE, *_AVX, *_BITS))]
    + [f"-march={name}" for name in _MACHINES]
    + [f"-fsanitize={','.join(few)}" for all_ in _SANITIZERS for n in range(1, 4) for few in permutations(all_, n)]
    + ["-fstack-protector-strong", "-fstack-protector-all"]
    + [f"-fcf-protection={name}" for name in ("full", "branch", "return", "none")]
    + [f"-mcmodel={name}" for name in ("small", "medium", "large")]
    + ["-mtune=native", "-mtune=generic"]
)
"""Flags without a value that change what is preprocessed. None of them names a file or a program."""

_NAME = r"(?:[^\W\d]|\$)[\w$]*"
_DEFINITION = re.compile(rf"(?P<name>{_NAME})(?:\((?P<parameters>[^()]*)\))?(?:=(?P<value>.*))?", re.DOTALL)
_WORD = re.compile(_NAME)
_UNDEFINABLE = frozenset(("defined", "__VA_ARGS__", "__VA_OPT__", "__has_include", "__has_include_next", "__has_embed"))
# the parts of a value: what is closed where it begins, and what is open to the end of the file, or a raw string,
# which may be; and literals that are not closed, which end with the line
_PART = re.compile(
    r"""(?P<raw>\b(?>(?:u8|[uUL])?)R")|"(?:[^"\\]++|\\.)*+(?:"|(?P<double>))|'(?:[^'\\]++|\\.)*+(?:'|(?P<single>))"""
    r"""|/\*(?>(?:[^*]++|\*(?!/))*)(?:\*/|(?P<comment>))|\w++|.""",
    re.DOTALL,
)


class Folder(msgspec.Struct, frozen=True):
    """A folder of headers: an absolute path, and which headers are looked for in it, as the flag of that name
    says."""

    kind: FolderKind
    path: str


class Forced(msgspec.Struct, frozen=True):
    """A file that is included before the text: its name, and the folder from which the name counts first
    (absolute)."""

    name: str
    folder: str


class UnitFlags(msgspec.Struct, frozen=True):
    """The preprocessor flags of one file. Made by `frontend.compiler.compiler_flags`; nothing in it was not parsed.

    `macros` are lines of C, `#define A 1` or `#undef A`, in order; `standard` is one of `STANDARDS` or empty,
    `switches` are of `SWITCHES`. `refused` are definitions of macros that are not C, `doubtful` flags that are not known to
    leave the meaning of the file as it is: it may be something else in a build. `others`: the flags with which the build compiles
    the file, too, so that it can be several things; they have no others themselves.
    """

    macros: tuple[str, ...] = ()
    folders: tuple[Folder, ...] = ()
    forced: tuple[Forced, ...] = ()
    standard: str = ""
    switches: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    others: tuple[UnitFlags, ...] = ()

    def texts(self) -> tuple[str, ...]:
        """All that the flags say, as texts in a fixed order, to be compared with those of other flags."""
        folders = (text for folder in self.folders for text in (folder.kind, folder.path))
        forced = (text for file in self.forced for text in ("-include", file.name, file.folder))
        rest = (self.standard, *self.switches, *self.refused, *self.doubtful)
        others = (text for other in self.others for text in ("or", *other.texts()))
        return (*self.macros, *folders, *forced, *rest, *others)


def definition(text: str) -> str | None:
    """The line of C for what follows `-D`: `NAME`, `NAME=VALUE` or `NAME(PARAMETERS)=VALUE`; None if it is not that.

    As the compilers do it, a macro without `=` is 1. The value cannot lead out of its line: it holds no control characters,
    opens no comment or raw string that it leaves open, and does not end with what joins lines.
    """
    match = _DEFINITION.fullmatch(text)
    if match is None or match["name"] in _UNDEFINABLE or not _is_text(text):
        return None
    head = match["name"]
    if match["parameters"] is not None:
        if not _are_parameters(match["parameters"]):
            return None
        head += f"({match['parameters']})"
    value = "1" if match["value"] is None else match["value"]
    if value.rstrip().endswith(("\\", "??/")) or _is_open(value):
        return None
    return f"#define {head} {value}"


def _is_open(value: str) -> bool:
    """Whether a value has a comment that it leaves open, or what may be a raw string."""
    position = 0
    while (part := _PART.search(value, position)) is not None:
        position = part.end()
        if part["raw"] or part["comment"] is not None:
            return True
        if part.lastgroup is not None:  # what is in a literal that is not closed counts; none of the later quotes ends it
            position = part.start() + 1
            value = value[:position] + value[position:].replace(value[position - 1], " ")
    return False


def _are_parameters(text: str) -> bool:
    """Whether a text is a list of parameters: names, and last maybe `...`, or `NAME...`, which is GNU's."""
    names = [name.strip() for name in text.split(",")]
    last = names.pop()
    if last != "..." and (names or last):
        names.append(last.removesuffix("...").rstrip())
    return all(_WORD.fullmatch(name) for name in names)


def undefinition(text: str) -> str | None:
    """The line of C for what follows `-U`; None if that is no name."""
    fits = _WORD.fullmatch(text) is not None and text not in _UNDEFINABLE and _is_text(text)
    return f"#undef {text}" if fits else None


def is_path(text: str) -> bool:
    """Whether a text can be the path of a file: it is not empty, and holds no control characters."""
    return text != "" and _is_text(text)


def flags_problems(defines: Iterable[str], standard: str | None) -> Iterator[tuple[str, str]]:
    """Which values of the settings `defines` and `standard` cannot be used: the setting's name, and a clause with why."""
    for define in defines:
        if definition(define) is None:
            yield "defines", f"{shown(define)} is not a macro; write NAME, NAME=VALUE or NAME(PARAMETERS)=VALUE"
    if standard and standard not in STANDARDS:
        yield "standard", f"{shown(standard)} is not a known C standard; write one like c11 or gnu17"


def shown(text: str) -> str:
    """A text from a folder, short and on one line, for a message."""
    printable = "".join(character if character.isprintable() else "?" for character in text[:60])
    return f"'{printable}{'...' if len(text) > 60 else ''}'"


def _is_text(text: str) -> bool:
    """Whether a text can be written to a file, and is on one line."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return not any((character < " " and character != "\t") or "\x7f" <= character < "\xa0" for character in text)
