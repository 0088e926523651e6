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

from analysis.frontend.syntax.scanning import BALANCED, CHARACTER, STRING, blank, outside_literals
from analysis.frontend.syntax.type_operands import Fragment, take_operands


class Attribute(NamedTuple):
    """An attribute, a specifier, an assembler name or a pragma that was blanked: `text` is all that stood at [start, end)."""

    start: int
    end: int
    text: bytes


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


IMPLICIT_INT = b"int"
"""The type name that is written where C89 lets a definition have none."""
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
_DIRECTIVE = re.compile(rb"\n#[ \t]*+(?:\d|pragma\b|ident\b|sccs\b|line\b)[^\n]*+")
_PRAGMA = re.compile(rb"\n#[ \t]*+pragma\b[^\n]*+")
_PACK = re.compile(rb"\n#[ \t]*+pragma[ \t]++pack\b")
_LABEL = re.compile(rb"(?<![\w$])(?>(?:__)?)asm(?>(?:__)?)\s*+\(")
_LABEL_REST = re.compile(rb"\s*+(?>(?:" + STRING + rb"\s*+)+)\)(?=\s*+([=,;]))")
_STATEMENT_WORD = re.compile(rb"(?<![\w$])(?:else|do)\Z")
_DOUBLE = re.compile(  # one literal prefix, which the regular expression engine looks for fast
    rb"__(?<![\w$]__)(?:(?P<attribute>(?:attribute|declspec)(?>(?:__)?)(?![\w$])\s*+\()"
    rb"|(?P<labels>label__\b[\w$\s,]*+;)|(?P<open_labels>label__\b[\w$\s,]*+)|(?P<word>"
    + b"|".join(sorted((word[2:] for word in _WORDS if word.startswith(b"__")), reverse=True))
    + rb")(?![\w$]))",
)
_SINGLE = re.compile(
    rb"_(?<![\w$]_)(?:(?P<aligned>Alignas\s*+\()"
    rb"|(?P<checked>Static_assert\s*+\()"
    rb"|(?P<atomic>Atomic\s*+\()"
    rb"|(?P<word>"
    + b"|".join(sorted((word[1:] for word in _WORDS if not word.startswith(b"__")), reverse=True))
    + rb")(?![\w$]))",
)
_RECENT = re.compile(rb"static_assert(?<![\w$]static_assert)(?P<checked>\s*+\()")
_BRACKETED = re.compile(rb"\[\[(?<![\w$]\[\[)[\w\s:,()\"]*+\]\]")
_SCANS: tuple[tuple[re.Pattern[bytes], tuple[bytes, ...]], ...] = (  # each with words without one of which it finds nothing
    (_DOUBLE, (b"__",)),
    (_SINGLE, (b"_Alignas", b"_Static_assert", b"_Atomic", b"_Complex", b"_Imaginary", b"_Noreturn", b"_Thread_local")),
    (_RECENT, (b"static_assert",)),
    (_BRACKETED, (b"[[",)),
)
_TO_CLOSING = re.compile(BALANCED + rb"\)")
_REST: dict[str | None, re.Pattern[bytes]] = {  # what follows an opening parenthesis that one of them ends with
    "attribute": _TO_CLOSING,
    "aligned": _TO_CLOSING,
    "atomic": _TO_CLOSING,
    "checked": re.compile(BALANCED + rb"\)(?>(?:\s*+;)?)"),
}
_COMMENT = re.compile(rb"""(?P<keep>"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?)|/\*.*?(?:\*/|\Z)|//[^\n]*""", re.DOTALL)
_CASE = re.compile(rb"case(?<![\w$]case)\b")
_CASE_REST = re.compile(  # of what is no range it takes as much as it has read
    rb"(?P<low>(?>(?:[^:;{}'\"?.]++|" + STRING + rb"|" + CHARACTER + rb")*))"
    rb"(?>(?:\.\.\.(?P<high>(?>(?:[^:;{}'\"?]++|" + STRING + rb"|" + CHARACTER + rb")*))(?>(?P<colon>:)?))?)"
)
_COMPUTED_GOTO = re.compile(rb"goto(?<![\w$]goto)(?=\s*+\*)")
_GOTO_REST = re.compile(
    rb"(?P<operand>\s*+\*\s*+(?=[^\s;{}])(?>(?:[^;{}\"']++|" + STRING + rb"|" + CHARACTER + rb")+))(?>(?P<end>;)?)"
)
_SEMICOLONS = re.compile(rb";(?>(?:\s*+;)+)(?>(?P<closing>\s*+\})?)")
_BITS = re.compile(rb":\s*+(\w++)\s*+;")
_UNNAMED = re.compile(rb"[;{]\s*+(?=\w)((?>(?:(?:const|volatile|unsigned|signed|int|long|short|char|_Bool)\b\s*+)+))\Z")
_REGISTER_ONLY = re.compile(
    rb"register(?<![\w$]register)(?=\s+(?!(?:int|char|long|short|unsigned|signed|float|double|struct)\b)[A-Za-z_]\w*\s*[;=,\[])"
)
_ARITHMETIC = rb"(?:unsigned|signed|short|long|int|char|float|double|_Bool|__int128)(?![\w$])"
_OTHER_SPECIFIERS = (b"const", b"volatile", b"static", b"extern", b"register", b"inline", b"typedef", b"auto")
_SPECIFIERS = rb"(?:" + _ARITHMETIC + rb"|(?:" + b"|".join(_OTHER_SPECIFIERS) + rb")(?![\w$]))"
_BETWEEN = tuple(  # each with a literal beginning; a letter and one blank are before it
    re.compile(word + rb"(?<=[a-z8][ \t]" + word + rb")[ \t]++(?=" + _SPECIFIERS + rb")") for word in _OTHER_SPECIFIERS
)
_SPECIFIERS_BEFORE = re.compile(rb"(?<![\w$])(?>(?:" + _SPECIFIERS + rb"[ \t]++)+)\Z")
_MORE_SPECIFIERS = re.compile(_SPECIFIERS + rb"(?>(?:[ \t]++" + _SPECIFIERS + rb")*)")
_MOST_SPECIFIERS = 120  # bytes of them before one that is between others
_EXTERN_ONLY = re.compile(rb"extern(?<![\w$]extern)(?=\s+(?!(?:int|void|char)\b)[A-Za-z_$][\w$]*\s*\([^(){};]*\)\s*;)")


def clean(text: bytes) -> Cleaned:
    """The text with everything overwritten that the grammar does not know; see the module's docstring."""
    buffer = bytearray(text)
    if b"/*" in text or b"//" in text:  # only text that no preprocessor has seen has comments
        _blank_comments(buffer)
    attributes, pragmas = _scan(buffer)
    fragments: list[Fragment] = []
    take_operands(buffer, fragments)
    _case_ranges(buffer, fragments)
    _order_specifiers(buffer)
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
        for match, rest in outside_literals(text, pattern, _REST):
            _overwrite(buffer, match, (rest or match).end(), attributes)
    _labels(buffer, attributes)
    attributes.sort()
    return attributes, pragmas


def _labels(buffer: bytearray, attributes: list[Attribute]) -> None:
    """The assembler names of variables, `int x asm("y") = 1`, and of functions where another declarator follows; those of other
    functions are in the tree. What stands where a statement can is none: `else asm("nop");`."""
    text = bytes(buffer)
    for match, rest in outside_literals(text, _LABEL, {None: _LABEL_REST}) if b"asm" in text else ():
        before = _last_word(text, match.start())
        is_declarator = before[-1:].isalnum() or before[-1:] in (b"_", b"$", b"]") or (rest and rest.group(1) != b";")
        if is_declarator and before and not _STATEMENT_WORD.search(before):
            found = text[match.start() : (rest or match).end()]
            buffer[match.start() : match.start() + len(found)] = blank(found)
            attributes.append(Attribute(match.start(), match.start() + len(found), found))


def _last_word(text: bytes, offset: int) -> bytes:
    """The bytes before an offset up to the last one that is no space: as many as a keyword has, and more."""
    while text[max(0, offset - 1) : offset].isspace():
        offset -= 1
    return text[max(0, offset - 20) : offset]


def _overwrite(buffer: bytearray, match: re.Match[bytes], end: int, attributes: list[Attribute]) -> None:
    start = match.start()
    found = bytes(buffer[start:end])
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
        case "open_labels":
            pass
        case _:
            buffer[start:end] = blank(found)
            attributes.append(Attribute(start, end, found))


def _case_ranges(buffer: bytearray, fragments: list[Fragment]) -> None:
    """`case 1 ... 5:` becomes `case 1      :`, with the upper bound as a fragment."""
    if b"..." not in buffer or b"case" not in buffer:
        return
    for match, rest in outside_literals(bytes(buffer), _CASE, {None: _CASE_REST}):
        if rest is None or rest["colon"] is None or not rest["low"].strip() or not rest["high"].strip():
            continue
        start, end = rest.end("low"), rest.end("high")
        fragments.append(Fragment(rest.start("high"), rest["high"], "case", match.start()))
        buffer[start:end] = blank(bytes(buffer[start:end]))


def _computed_gotos(buffer: bytearray) -> frozenset[int]:
    """`goto *p;` becomes `goto _;`; the offsets of those statements."""
    if b"goto" not in buffer:
        return frozenset()
    found = []
    for match, rest in outside_literals(bytes(buffer), _COMPUTED_GOTO, {None: _GOTO_REST}):
        if rest is None or rest["end"] is None:
            continue
        start, end = rest.span("operand")
        buffer[start:end] = blank(rest["operand"])
        buffer[start + len(rest["operand"].rstrip()) - 1] = ord("_")
        found.append(match.start())
    return frozenset(found)


def _unnamed_bits(buffer: bytearray) -> dict[int, bytes]:
    """`int : 3;` becomes `int    ;`; the widths by the start of these declarations."""
    text = bytes(buffer)
    widths: dict[int, bytes] = {}
    for match, _ in outside_literals(text, _BITS):
        declared = _UNNAMED.search(text, max(0, match.start() - 80), match.start())
        if declared is not None:
            buffer[match.start() : match.end() - 1] = blank(match.group()[:-1])
            widths[declared.start(1)] = match.group(1)
    return widths


def _order_specifiers(buffer: bytearray) -> None:
    """`unsigned const int` becomes `const unsigned int`: specifiers stand in any order (C11 6.7.2p2), but the grammar knows only
    some arithmetic types with others between their words."""
    text = bytes(buffer)
    for pattern in _BETWEEN:
        for match, _ in outside_literals(text, pattern):
            before = _SPECIFIERS_BEFORE.search(text, max(0, match.start() - _MOST_SPECIFIERS), match.start())
            behind = _MORE_SPECIFIERS.match(text, match.start())
            if before is not None and behind is not None:
                run = bytes(buffer[before.start() : behind.end()])
                words, blanks = run.split(), re.findall(rb"[ \t]+", run)
                words.sort(key=lambda word: word not in _OTHER_SPECIFIERS)  # stable: both kinds stay in order
                ordered = b"".join(part for pair in zip(words, [*blanks, b""], strict=True) for part in pair)
                buffer[before.start() : behind.end()] = ordered


def _small_repairs(buffer: bytearray) -> None:
    """Empty declarations at the end of a block or record, `register x;` and `extern f();` without a type."""
    text = bytes(buffer)
    for match, _ in outside_literals(text, _SEMICOLONS):
        if match["closing"] is not None:
            buffer[match.start() + 1 : match.start("closing")] = blank(text[match.start() + 1 : match.start("closing")])
    for pattern in (_REGISTER_ONLY, _EXTERN_ONLY):
        for match, _ in outside_literals(text, pattern):
            buffer[match.start() : match.end()] = IMPLICIT_INT.ljust(len(match.group()))
