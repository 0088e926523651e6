"""Makes preprocessed C palatable to a parser of standard C, without moving a byte.

GNU C, the system headers and old programs hold forms that the grammar lacks. `clean` overwrites them with spaces or
with a standard form that is not longer, so that every byte offset and every newline stays where it was, and notes what was
overwritten where it matters: attributes, operands that are types, case ranges.

Strings and character constants are never changed. A form that is not recognised is left as it is: the parser
then reports an error, and the function is `unknown`, never silently `safe`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

TYPEOF = b"__type"
"""The type name that stands where a `typeof` was; not longer than that word."""
OFFSETOF = b"__offset"
"""The function name that stands where `offsetof` was."""
IMPLICIT_INT = b"int"
"""The type name that is written where C89 lets a definition have none."""


class Attribute(NamedTuple):
    """An attribute, a specifier, an assembler name or a pragma that was blanked: `text` is all that stood at [start, end)."""

    start: int
    end: int
    text: bytes


class Fragment(NamedTuple):
    """An operand that is parsed on its own; `text`, cleaned, stood at `start`.

    `kind` says which table it belongs to; `key` is the offset of the construct that it was taken from.
    """

    start: int
    text: bytes
    kind: str
    key: int

    @property
    def end(self) -> int:
        """The offset after the operand."""
        return self.start + len(self.text)


class Cleaned(NamedTuple):
    """`text` has the length and the newlines of the input. The lists are sorted by offset; `unnamed_bits` are the widths of
    unnamed bit-fields, as written, by the start of their declarations. `#pragma pack` is among the attributes, all others are
    `pragmas`."""

    text: bytes
    attributes: list[Attribute]
    pragmas: list[Attribute]
    fragments: list[Fragment]
    computed_gotos: frozenset[int]
    unnamed_bits: dict[int, bytes]


_BALANCED = rb"(?:[^()]++|\((?:[^()]++|\((?:[^()]++|\((?:[^()]++|\((?:[^()]++)*+\))*+\))*+\))*+\))*+"
_WORDS: dict[bytes, bytes] = {
    b"__extension__": b"",
    b"__restrict": b"",
    b"__restrict__": b"",
    b"__inline": b"inline",
    b"__inline__": b"inline",
    b"__const": b"const",
    b"__const__": b"const",
    b"__volatile": b"volatile",
    b"__volatile__": b"volatile",
    b"__signed": b"signed",
    b"__signed__": b"signed",
    b"__complex__": b"",
    b"_Complex": b"",
    b"_Imaginary": b"",
    b"_Noreturn": b"",
    b"_Thread_local": b"__thread",
}
_RECORDED = frozenset({b"_Noreturn", b"_Complex", b"__complex__", b"_Imaginary"})
_STRING = rb"\"(?:[^\"\\\n]++|\\.)*+\""
_DIRECTIVE = re.compile(rb"\n#[ \t]*+(?:\d|pragma\b|ident\b|sccs\b|line\b)[^\n]*+")
_PRAGMA = re.compile(rb"\n#[ \t]*+pragma\b[^\n]*+")
_PACK = re.compile(rb"\n#[ \t]*+pragma[ \t]++pack\b")
_LABEL = re.compile(rb"(?<![\w$])(?:__)?+asm(?:__)?+\s*+\(\s*+(?:" + _STRING + rb"\s*+)++\)(?=\s*+([=,;]))")
_STATEMENT_WORD = re.compile(rb"(?<![\w$])(?:else|do)\Z")
_DOUBLE = re.compile(  # one literal prefix, which the regular expression engine looks for fast
    rb"__(?<![\w$]__)(?:(?P<attribute>(?:attribute|declspec)(?:__)?+(?![\w$])\s*+\("
    + _BALANCED
    + rb"\))|(?P<labels>label__\b[^;]*+;)|(?P<word>"
    + b"|".join(sorted((word[2:] for word in _WORDS if word.startswith(b"__")), reverse=True))
    + rb")(?![\w$]))",
    re.DOTALL,
)
_ASSERTED = rb"\s*+\((?:[^()\"]++|" + _STRING + rb"|\(" + _BALANCED + rb"\))*+\)\s*+;?"
_SINGLE = re.compile(
    rb"_(?<![\w$]_)(?:(?P<aligned>Alignas\s*+\(" + _BALANCED + rb"\))"
    rb"|(?P<checked>Static_assert" + _ASSERTED + rb")"
    rb"|(?P<atomic>Atomic\s*+\(" + _BALANCED + rb"\))"
    rb"|(?P<word>"
    + b"|".join(sorted((word[1:] for word in _WORDS if not word.startswith(b"__")), reverse=True))
    + rb")(?![\w$]))",
    re.DOTALL,
)
_RECENT = re.compile(rb"static_assert(?<![\w$]static_assert)(?P<checked>" + _ASSERTED + rb")", re.DOTALL)
_BRACKETED = re.compile(rb"\[\[(?<![\w$]\[\[)[\w\s:,()\"]*+\]\]")
_SCANS: tuple[tuple[re.Pattern[bytes], tuple[bytes, ...]], ...] = (  # each with words without one of which it finds nothing
    (_DOUBLE, (b"__",)),
    (_SINGLE, (b"_Alignas", b"_Static_assert", b"_Atomic", b"_Complex", b"_Imaginary", b"_Noreturn", b"_Thread_local")),
    (_RECENT, (b"static_assert",)),
    (_BRACKETED, (b"[[",)),
)
_LITERAL = re.compile(rb"""\"(?:[^\"\\]++|\\.)*+(?:\"|\Z)|'(?:[^'\\]++|\\.)*+(?:'|\Z)""", re.DOTALL)
_COMMENT = re.compile(rb"""(?P<keep>"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?)|/\*.*?(?:\*/|\Z)|//[^\n]*""", re.DOTALL)
_OPERATORS = {  # each with a literal beginning; what may stand before it is checked afterwards
    "typeof": re.compile(rb"typeof(?:_unqual)?+(?:__)?+\s*+\("),
    "va_arg": re.compile(rb"va_arg\s*+\("),
    "offsetof": re.compile(rb"offsetof\s*+\("),
    "compatible": re.compile(rb"types_compatible_p\s*+\("),
}
_BEFORE_OPERATOR = re.compile(rb"(?:^|[^\w$.>])(__builtin_|__)?\Z")
_CASE_RANGE = re.compile(
    rb"case(?<![\w$]case)\b((?:[^:;{}'.?]|'(?:[^'\\\n]|\\.)*+')*?)\.\.\.((?:[^:;{}'?]|'(?:[^'\\\n]|\\.)*+')*+):"
)
_COMPUTED_GOTO = re.compile(rb"goto(?<![\w$]goto)(\s*\*\s*[^\s;{}][^;{}]*);")
_EXTRA_SEMICOLON = re.compile(rb";(\s*;)+(?=\s*\})")
_BITS = re.compile(rb":\s*+(\w++)\s*+;")
_UNNAMED = re.compile(rb"[;{]\s*+(?=\w)((?:(?:const|volatile|unsigned|signed|int|long|short|char|_Bool)\b\s*+)++)\Z")
_REGISTER_ONLY = re.compile(
    rb"register(?<![\w$]register)(?=\s+(?!(?:int|char|long|short|unsigned|signed|float|double|struct)\b)[A-Za-z_]\w*\s*[;=,\[])"
)
_EXTERN_ONLY = re.compile(rb"extern(?<![\w$]extern)(?=\s+(?!(?:int|void|char)\b)[A-Za-z_$][\w$]*\s*\([^(){};]*\)\s*;)")
_LONGEST_CALL = 20_000  # bytes from a parenthesis to the one that closes it; what is longer is not looked at
_PUNCTUATION = re.compile(rb"""[()\[\]{},]|"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?""")


_TO_SPACE = bytes(0x0A if byte == 0x0A else 0x20 for byte in range(256))


def blank(text: bytes) -> bytes:
    """Spaces of the same length, with the newlines of `text`."""
    return text.translate(_TO_SPACE)


def clean(text: bytes) -> Cleaned:
    """The text with everything overwritten that the grammar does not know; see the module's docstring."""
    buffer = bytearray(text)
    if b"/*" in text or b"//" in text:  # only text that no preprocessor has seen has comments
        _blank_comments(buffer)
    attributes, pragmas = _scan(buffer)
    fragments: list[Fragment] = []
    _operators(buffer, fragments)
    _case_ranges(buffer, fragments)
    gotos = _computed_gotos(buffer)
    unnamed_bits = _unnamed_bits(buffer)
    _small_repairs(buffer)
    fragments.sort()
    return Cleaned(bytes(buffer), attributes, pragmas, fragments, gotos, unnamed_bits)


def _blank_comments(buffer: bytearray) -> None:
    for match in _COMMENT.finditer(bytes(buffer)):
        if match.lastgroup is None:
            buffer[match.start() : match.end()] = blank(match.group())


def _scan(buffer: bytearray) -> tuple[list[Attribute], list[Attribute]]:
    """Everything that is recognised by how it begins: attributes and their like, and pragmas."""
    attributes: list[Attribute] = []
    pragmas: list[Attribute] = []
    with_newline = b"\n" + bytes(buffer)  # so that the first line has a newline before it, too
    for match in _PRAGMA.finditer(with_newline) if b"pragma" in with_newline else ():
        found = attributes if _PACK.match(match.group()) else pragmas
        found.append(Attribute(match.start(), match.end() - 1, match.group()[1:]))
    buffer[:] = _DIRECTIVE.sub(lambda match: b"\n".ljust(len(match.group())), with_newline)[1:]
    for pattern, marks in _SCANS:
        text = bytes(buffer)
        if not any(mark in text for mark in marks):
            continue
        for match in pattern.finditer(text):
            if not _in_literal(text, match.start()):
                _overwrite(buffer, match, attributes)
    _labels(buffer, attributes)
    attributes.sort()
    return attributes, pragmas


def _labels(buffer: bytearray, attributes: list[Attribute]) -> None:
    """The assembler names of variables, `int x asm("y") = 1`, and of functions where another declarator follows; those of other
    functions are in the tree. What stands where a statement can is none: `else asm("nop");`."""
    text = bytes(buffer)
    for match in _LABEL.finditer(text) if b"asm" in text else ():
        before = _last_word(text, match.start())
        is_declarator = before[-1:].isalnum() or before[-1:] in (b"_", b"$", b"]") or match.group(1) in (b"=", b",")
        if is_declarator and before and not _STATEMENT_WORD.search(before) and not _in_literal(text, match.start()):
            buffer[match.start() : match.end()] = blank(match.group())
            attributes.append(Attribute(match.start(), match.end(), match.group()))


def _last_word(text: bytes, offset: int) -> bytes:
    """The bytes before an offset up to the last one that is no space: as many as a keyword has, and more."""
    while text[max(0, offset - 1) : offset].isspace():
        offset -= 1
    return text[max(0, offset - 20) : offset]


def _in_literal(text: bytes, offset: int) -> bool:
    """Whether an offset is inside a string or character constant, which do not go over the end of a line."""
    line = text[text.rfind(b"\n", 0, offset) + 1 : offset]
    if b'"' not in line and b"'" not in line:
        return False
    return any(match.end() == len(line) and not _is_closed(match.group()) for match in _LITERAL.finditer(line))


def _is_closed(literal: bytes) -> bool:
    body = literal[1:]
    return body.endswith(literal[:1]) and (len(body) - len(body[:-1].rstrip(b"\\"))) % 2 == 1


def _overwrite(buffer: bytearray, match: re.Match[bytes], attributes: list[Attribute]) -> None:
    start, end = match.span()
    found = match.group()
    match match.lastgroup:
        case "word":
            buffer[start:end] = _WORDS[found].ljust(len(found))
            if found in _RECORDED:
                attributes.append(Attribute(start, end, found))
        case "atomic":
            buffer[start + found.index(b"(")] = 0x20
            buffer[end - 1] = 0x20
        case "labels" | "checked":
            buffer[start:end] = blank(found)
        case _:
            buffer[start:end] = blank(found)
            attributes.append(Attribute(start, end, found))


def _arguments(text: bytes, opening: int) -> list[tuple[int, int]] | None:
    """The ranges of the arguments of a call whose parenthesis is at `opening`; None when it is never closed."""
    depth = 0
    start = opening + 1
    ranges: list[tuple[int, int]] = []
    for match in _PUNCTUATION.finditer(text, opening, opening + _LONGEST_CALL):
        mark = match.group()
        if mark in b"([{":
            depth += 1
        elif mark in b")]}":
            depth -= 1
            if depth == 0:
                return [*ranges, (start, match.start())]
        elif mark == b"," and depth == 1:
            ranges.append((start, match.start()))
            start = match.end()
    return None


def _operators(buffer: bytearray, fragments: list[Fragment]) -> None:
    """Takes the types out of `typeof`, `va_arg`, `offsetof` and `__builtin_types_compatible_p`."""
    text = bytes(buffer)
    found: list[tuple[int, int, str]] = []
    for kind, pattern in _OPERATORS.items():
        for match in pattern.finditer(text):
            before = _BEFORE_OPERATOR.search(text[max(0, match.start() - 20) : match.start()])
            if before is not None:
                found.append((match.start() - len(before.group(1) or b""), match.end(), kind))
    for key, after, kind in sorted(found, reverse=True):  # the inner ones first, so that they are clean in the outer ones
        ranges = _arguments(text, after - 1)
        if ranges is None or (len(ranges) != 2 and kind != "typeof"):
            continue
        opening, last = after, ranges[-1][1]
        if kind == "typeof":
            ranges = [(opening, last)]  # a comma in it is an operator
        elif kind == "va_arg":
            opening, ranges = ranges[0][1], ranges[1:]
        fragments.extend(Fragment(start, bytes(buffer[start:end]), kind, key) for start, end in ranges)
        if kind == "typeof":
            buffer[key : last + 1] = TYPEOF + blank(text[key + len(TYPEOF) : last + 1])
        else:
            buffer[opening:last] = blank(text[opening:last])
        if text.startswith(b"offsetof", key):  # a keyword of the grammar, which takes no blanks for its operands
            buffer[key : key + len(OFFSETOF)] = OFFSETOF


def _case_ranges(buffer: bytearray, fragments: list[Fragment]) -> None:
    """`case 1 ... 5:` becomes `case 1      :`, with the upper bound as a fragment."""
    if b"..." not in buffer or b"case" not in buffer:
        return
    for match in _CASE_RANGE.finditer(bytes(buffer)):
        if b"..." in match.group(1) or not match.group(1).strip() or not match.group(2).strip():
            continue
        start, end = match.end(1), match.end(2)
        fragments.append(Fragment(match.start(2), match.group(2), "case", match.start()))
        buffer[start:end] = blank(bytes(buffer[start:end]))


def _computed_gotos(buffer: bytearray) -> frozenset[int]:
    """`goto *p;` becomes `goto _;`; the offsets of those statements."""
    if b"goto" not in buffer:
        return frozenset()
    found = []
    for match in _COMPUTED_GOTO.finditer(bytes(buffer)):
        start, end = match.span(1)
        buffer[start:end] = blank(match.group(1))
        buffer[start + len(match.group(1).rstrip()) - 1] = ord("_")
        found.append(match.start())
    return frozenset(found)


def _unnamed_bits(buffer: bytearray) -> dict[int, bytes]:
    """`int : 3;` becomes `int    ;`; the widths by the start of these declarations."""
    text = bytes(buffer)
    widths: dict[int, bytes] = {}
    for match in _BITS.finditer(text):
        declared = _UNNAMED.search(text, max(0, match.start() - 80), match.start())
        if declared is not None:
            buffer[match.start() : match.end() - 1] = blank(match.group()[:-1])
            widths[declared.start(1)] = match.group(1)
    return widths


def _small_repairs(buffer: bytearray) -> None:
    """Empty declarations at the end of a block or record, `register x;` and `extern f();` without a type."""
    text = bytes(buffer)
    for match in _EXTRA_SEMICOLON.finditer(text):
        buffer[match.start() + 1 : match.end()] = blank(match.group()[1:])
    for match in (*_REGISTER_ONLY.finditer(text), *_EXTERN_ONLY.finditer(text)):
        buffer[match.start() : match.end()] = IMPLICIT_INT.ljust(len(match.group()))
