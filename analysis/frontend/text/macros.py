"""Which names are macros in a file, by asking the preprocessor (`-dD`, GCC manual, "Options Controlling the Preprocessor").

The set is of every name that is defined anywhere, whether or not it still is where the text ends: too much costs only time.
A line's number behind the name of its file is for people to read (`line_numbers`): that it is another does not count.
"""

from __future__ import annotations

import re

import msgspec

# these begin with a newline, which is found much faster than the beginning of a line
_DEFINED = re.compile(rb"\n#define ([A-Za-z_$][\w$]*)")
_DEFINITION = re.compile(_DEFINED.pattern + rb"([^\n]*)")
_UNDEFINED = re.compile(rb"\n#undef ([A-Za-z_$][\w$]*)")
_OF_LINE = re.compile(rb"\n#define [^\n]*__(?:LINE|COUNTER)__[^\n]*")
_WORD = re.compile(rb"[A-Za-z_$][\w$]*")
_RESERVED = re.compile(rb"_[A-Z_]|\$")  # what the compiler may know by itself: __LINE__, _Pragma
_FOR_PEOPLE = re.compile(rb"__FILE__\s*,\s*__LINE__")
_RENUMBERED = re.compile(rb"^[ \t]*#[ \t]*(?:line\b|\d)", re.MULTILINE)
_DUMPED = re.compile(rb"\n(?:#(?:define|undef) [^\n]*\n)+(?P<before_marker>(?=# \d))?")
_PATH = rb'"(?>(?:[^"\\\n]|\\.)*)"'
# says nothing of any line; flags 1 and 2 say where a file begins and ends
_EMPTY = re.compile(rb"\n# \d++ (" + _PATH + rb")(?>(?: [34])*)(?=\n# \d++ (" + _PATH + rb"))")
_RAW_STRING = b'R"'


class Macros(msgspec.Struct, frozen=True):
    """The macros of one file: all names, those whose expansion depends on the line they are on, and whether `#line` makes the
    numbers of lines other than they are. `text` is what the preprocessor printed when it listed them."""

    names: frozenset[bytes]
    of_lines: frozenset[bytes]
    renumbered: bool
    text: bytes = b""

    def may_be(self, word: bytes) -> bool:
        """Whether a word in the text can be a macro."""
        return word in self.names or (_RESERVED.match(word) is not None and not self._is_printed(word))

    def _is_printed(self, word: bytes) -> bool:
        """Whether the preprocessor has printed a word as it is, outside of strings, as it does with none of its own macros."""
        text, end = self.text, len(self.text)
        if _RAW_STRING in text:
            return False
        while (start := text.rfind(word, 0, end)) >= 0:  # from the end, where the file's own lines are
            first, last = text.rfind(b"\n", 0, start) + 1, text.find(b"\n", start)
            row = text[first : len(text) if last < 0 else last]
            if not row.startswith(b"#") and b'"' not in row and b"'" not in row and word in _WORD.findall(row):
                return True
            end = first
        return False

    def depends_on_lines(self, text: bytes) -> bool:
        """Whether what a text expands to can depend on the lines that it is on, for the program itself."""
        return not self.of_lines.isdisjoint(_WORD.findall(_FOR_PEOPLE.sub(b"", text)))


def without_definitions(dumped: bytes) -> bytes | None:
    """The preprocessed text without the definitions that `-dD` prints between its lines, and without the markers of those: gcc
    prints one for each of its own hundreds of macros. None if definitions may not be told from text: a raw string, which gcc
    knows in C as well, can have lines that look like them."""
    if _RAW_STRING in dumped:
        return None
    return _EMPTY.sub(_unless_other_file, _DUMPED.sub(_blank_lines, b"\n" + dumped))[1:]


def _unless_other_file(marker: re.Match[bytes]) -> bytes:
    """A line marker that stands before one of another file; nothing before one of the same file, which says all."""
    return b"" if marker[1] == marker[2] else marker[0]


def _blank_lines(definitions: re.Match[bytes]) -> bytes:
    """As many lines behind the one before; none where a line marker says which line comes next."""
    return b"\n" if definitions["before_marker"] is not None else b"\n" * definitions[0].count(b"\n")


def read_macros(definitions: bytes, source: bytes) -> Macros:
    """The macros of a `source` that was preprocessed to `definitions`, with `-dD`. What is undefined somewhere counts as well."""
    rows = b"\n" + definitions
    names = frozenset(_DEFINED.findall(rows)).union(_UNDEFINED.findall(rows))
    return Macros(names, _of_lines(rows), _RENUMBERED.search(source) is not None, definitions)


def _of_lines(definitions: bytes) -> frozenset[bytes]:
    """The macros whose expansion depends on the line they are on, from what macros are defined as."""
    of_lines = {b"__LINE__", b"__COUNTER__"}
    rows = (_FOR_PEOPLE.sub(b"", row) for row in _OF_LINE.findall(definitions))
    if not any(word in row for row in rows for word in of_lines):  # as in most files, and words take long to find
        return frozenset(of_lines)
    bodies: dict[bytes, bytes] = dict(_DEFINITION.findall(definitions))
    users: dict[bytes, set[bytes]] = {}
    for name, body in bodies.items():
        for word in _WORD.findall(_FOR_PEOPLE.sub(b"", body)):
            users.setdefault(word, set()).add(name)
    work = list(of_lines)
    while work:
        new = users.get(work.pop(), set()) - of_lines
        of_lines |= new
        work.extend(new)
    return frozenset(of_lines)
