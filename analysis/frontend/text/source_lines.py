"""Lines of source text as a preprocessor sees them: their tokens, and how it would print them if no word were a macro.

Printed are the tokens, with one space where there was white space or a comment between two, and as many spaces before the first
as there were characters (as gcc does; clang's layout differs in nothing that matters to a parser).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from analysis.frontend.text.difference import difference

TOKEN = re.compile(
    rb"""(?P<space>[ \t]+|/\*(?>(?:[^*]++|\*(?!/))*)\*/|//.*)"""
    rb"""|(?P<word>[A-Za-z_$][\w$]*)"""
    rb"""|(?P<other>\.?\d(?:[eEpP][+-]|[\w.$])*|"(?:[^"\\]++|\\.)*+"?|'(?:[^'\\]++|\\.)*+'?|/(?!\*)|\*(?!/)|[!#%&()+,\-.:;<=>?@\[\]^`{|}~])"""
)
_COMMENT = re.compile(rb"""/\*.*?(?:\*/|\Z)|//(?:\\\r?\n|[^\n])*|"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?""", re.DOTALL)
_FAR = 100  # lines: more than are typed at once


class Token(NamedTuple):
    """A token of a line; `spaced`: white space or a comment comes before it."""

    text: bytes
    spaced: bool
    is_word: bool


class Copied(NamedTuple):
    """A line, as it comes out of the preprocessor if no word in it is a macro. `indent` is where its first token begins."""

    tokens: tuple[Token, ...]
    indent: int

    @property
    def text(self) -> bytes:
        """As it is printed; nothing if there is no token."""
        return printed(self.tokens, self.indent)

    @property
    def words(self) -> tuple[bytes, ...]:
        """The identifiers and keywords."""
        return tuple(token.text for token in self.tokens if token.is_word)

    @property
    def first(self) -> bytes:
        """The first token, empty if there is none."""
        return self.tokens[0].text if self.tokens else b""

    @property
    def last(self) -> bytes:
        """The last token, empty if there is none."""
        return self.tokens[-1].text if self.tokens else b""

    @property
    def is_directive(self) -> bool:
        """Whether a preprocessor takes the line for a directive."""
        return self.first == b"#" or (self.first == b"%" and len(self.tokens) > 1 and self.tokens[1][:2] == (b":", False))


def printed(tokens: Sequence[Token], indent: int = 0) -> bytes:
    """Tokens as they are printed."""
    if not tokens:
        return b""
    return b" " * indent + tokens[0].text + b"".join(b" " * token.spaced + token.text for token in tokens[1:])


def tokens_of(line: bytes) -> Copied | None:
    """The tokens of a line; None if the line alone does not determine them, or does not show that the next line begins anew."""
    line = line.removesuffix(b"\r")
    if line.rstrip().endswith((b"\\", b"??/")) or b"\\U" in line or b"\\u" in line or b'R"' in line:
        return None
    tokens: list[Token] = []
    indent = at = 0
    spaced = False
    while at < len(line):
        match = TOKEN.match(line, at)
        if match is None:
            return None
        if match.lastgroup == "space":
            spaced = True
        else:
            indent = indent if tokens else at
            tokens.append(Token(match.group(), spaced, match.lastgroup == "word"))
            spaced = False
        at = match.end()
    return Copied(tuple(tokens), indent)


class Lines(NamedTuple):
    """The lines that an edit replaces: from number `first` on (from 1), what they were and are. Whole lines that were only put
    in, or taken out, stand alone."""

    first: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]


@lru_cache(maxsize=2)  # several ask about the same edit, one after the other
def edited_lines(old: bytes, new: bytes) -> Lines | None:
    """The lines in which two texts differ, None if they are the same or too many."""
    if old == new:
        return None
    edit = difference(old, new)
    start = old.rfind(b"\n", 0, edit.start) + 1
    end = old.find(b"\n", edit.old_end)
    end = len(old) if end < 0 else end
    before, after = old[start:end], new[start : end + len(new) - len(old)]
    if max(before.count(b"\n"), after.count(b"\n")) > _FAR:
        return None
    first, was, is_ = old.count(b"\n", 0, start) + 1, before.split(b"\n"), after.split(b"\n")
    while was and is_ and was[-1] == is_[-1]:
        del was[-1], is_[-1]
    while was and is_ and was[0] == is_[0]:
        first += 1
        del was[0], is_[0]
    return Lines(first, tuple(was), tuple(is_))


def open_comment(line: bytes) -> bytes | None:
    """What a line that stands outside of comments has up to a comment that it begins and does not end, that beginning included;
    None if there is none."""
    at = 0
    while at < len(line):
        if line.startswith(b"/*", at) and b"*/" not in line[at + 2 :]:
            return line[: at + 2]
        match = TOKEN.match(line, at)
        at = match.end() if match is not None else at + 1
    return None


def long_comment(source: bytes, at: int) -> tuple[int, int] | None:
    """Where the comment `/* */` begins and ends that a byte of a text is in, or that ends right before it; None without one."""
    for match in _COMMENT.finditer(source):
        if match.end() >= at:
            return match.span() if match.start() < at and match.group().startswith(b"/*") else None
    return None
