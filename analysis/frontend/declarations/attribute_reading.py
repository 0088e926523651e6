"""Reads the syntax of attributes and pragmas. `analysis.c.attributes` and `analysis.c.pragmas` say what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from analysis.c.attributes import Attribute
from analysis.c.layout_attributes import is_gnu, is_packing
from analysis.c.pragmas import Pragma, pragma
from analysis.frontend.syntax.parser import Node, text_of

_SHORT = 500  # bytes: longer texts are not kept
_QUOTED = rb"\"(?:[^\"\\]++|\\.)*+\"?+"
_NESTED = rb"(?>(?:[^()\"]++|" + _QUOTED + rb"|\((?>(?:[^()\"]++|" + _QUOTED + rb"|\([^()]*+\))*)\))*)"
_ITEM = re.compile(_QUOTED + rb"|(?:\b(\w++)\s*+::\s*+)?(\w++)\s*+(?>(\(" + _NESTED + rb"\))?)")  # no item is in a string
_STANDARD = frozenset(("deprecated", "fallthrough", "maybe_unused", "nodiscard", "noreturn", "Noreturn"))
"""What `[[name]]` can be so that it means what `__attribute__((name))` does (C23 6.7.13)."""
_WORDS = {b"_Noreturn": "noreturn", b"_Complex": "complex", b"__complex__": "complex", b"_Imaginary": "imaginary"}


def attributes(texts: Iterable[bytes]) -> Iterator[Attribute]:
    """The attributes in the texts of some specifiers (`cleaning.Attribute`). What cannot be read has no name."""
    for text in texts:
        if not is_packing(text):
            yield from _read(text) if len(text) <= _SHORT else _listed(text)


@lru_cache(maxsize=4_096)
def _read(text: bytes) -> tuple[Attribute, ...]:
    """The attributes in one text: headers say the same of many functions, in every file."""
    return tuple(_listed(text))


def _listed(text: bytes) -> Iterator[Attribute]:
    if text in _WORDS:
        yield Attribute(_WORDS[text])
    elif text.startswith(b"_Alignas"):
        yield Attribute("aligned", _inside(text))
    elif text.startswith((b"asm", b"__asm")):
        yield Attribute("asm", _inside(text))
    elif text.startswith((b"__attribute", b"__declspec", b"[[")):
        prefix = "declspec " if text.startswith(b"__declspec") else ""
        start = 2 if text.startswith(b"[[") else text.index(b"(") + 1
        for found in _ITEM.finditer(text, start):
            if found.group(2) is None:
                yield Attribute("")
                continue
            name = found.group(2).decode()
            bare = name.strip("_") or name
            arguments = (found.group(3) or b"()")[1:-1].decode("utf-8", "surrogateescape")
            if text.startswith(b"[["):
                bare = _named_in_brackets(bare, None if found.group(1) is None else found.group(1).decode())
            yield Attribute(bare if not prefix or bare == "noreturn" else prefix + bare, arguments)
    else:
        yield Attribute("")


def _named_in_brackets(name: str, space: str | None) -> str:
    """The name of an attribute `[[space::name]]`. Only those of gcc's are what the same name is elsewhere (C23 6.7.13.2p4: others
    may mean anything), and standard ones where there is no namespace."""
    if space is None:
        return "noreturn" if name == "Noreturn" else name if name in _STANDARD else f"[[{name}]]"
    return name if is_gnu(space) else f"{space}::{name}"


def _inside(text: bytes) -> str:
    opening, closing = text.find(b"("), text.rfind(b")")
    return text[opening + 1 : closing].decode("utf-8", "surrogateescape")


_PRAGMA = re.compile(rb"#[ \t]*pragma\b[ \t]*(.*)", re.DOTALL)


def pragma_of(directive: bytes) -> Pragma:
    """What the text of a `#pragma` says, but for the layout of records."""
    found = _PRAGMA.match(directive)
    return pragma(b"" if found is None or is_packing(directive) else found.group(1).strip())


def assembler_names(declarator: Node | None) -> Iterator[bytes]:
    """The texts `asm("name")` behind the parameters of a function, whatever stands around these: `char *f(void) asm("g")`."""
    while declarator is not None:
        yield from (text_of(child) for child in declarator.named_children if child.type == "gnu_asm_expression")
        inner = next((child for child in declarator.named_children if child.type == "parenthesized_declarator"), None)
        declarator = declarator.child_by_field_name("declarator") or inner
