"""What attributes and pragmas mean for us: a list of those that are understood (GCC manual, "Function Attributes", "Variable
Attributes", "Type Attributes", "Pragmas Accepted by GCC"; C23 6.7.13).

Everything that is not named here may mean anything. What it is attached to, and what depends on that, is then not modelled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analysis.frontend.declarations.layout_attributes import is_packing


class Attribute(NamedTuple):
    """One attribute: its name without underscores around it or a namespace, and what stands in its parentheses."""

    name: str
    arguments: str = ""


_PLAIN_NAMES = """
    access alloc_align alloc_size always_inline artificial assume_aligned cdecl cold common counted_by
    deprecated error externally_visible fallthrough fd_arg fd_arg_read fd_arg_write flatten format format_arg hot leaf
    likely malloc maybe_unused no_icf no_instrument_function no_profile_instrument_function no_reorder no_sanitize
    no_sanitize_address no_sanitize_thread no_sanitize_undefined no_split_stack no_stack_protector nocommon nodiscard noclone
    noinline noipa nonnull nonstring noplt noreturn nothrow null_terminated_string_arg retain returns_nonnull sentinel
    stack_protect sysv_abi tls_model unavailable unlikely unused used visibility warn_unused_result warning
"""
_PLAIN = frozenset(_PLAIN_NAMES.split())
"""Attributes after which a program does what it does without them: advice, warnings, and those that whoever reads declarations
asks for (`noreturn`, `nonnull`)."""

_PURE = frozenset(("const", "pure"))
"""Attributes that let compilers leave out calls: a program does the same without them where the promise is kept."""

_LAYOUT = frozenset(("packed", "aligned", "ms_struct", "gcc_struct", "scalar_storage_order", "warn_if_not_aligned"))
"""Attributes of records and members that `layout_attributes` understands, or for which it gives no layout."""

_OTHER_TYPES = frozenset(("mode", "vector_size"))
"""Attributes of type definitions for which `layout_attributes.moded` knows the type."""

_STARTING = frozenset(("constructor", "destructor", "init_priority"))
_WEAK = frozenset(("weak", "gnu_inline"))
_SECTION = re.compile(r"\s*\"\.(?:data|bss|text|rodata)(?:\.[\w.]+)?\"\s*\Z")
_OPTIMISED = re.compile(r"\s*(?:\"O[0-3s]\"|[0-3])\s*\Z")

_QUOTED = rb"\"(?:[^\"\\]|\\.)*\""
_NESTED = rb"(?:[^()\"]|" + _QUOTED + rb"|\((?:[^()\"]|" + _QUOTED + rb"|\([^()]*\))*\))*"
_ITEM = re.compile(rb"(?:\b\w+\s*::\s*)?(\w+)\s*(\(" + _NESTED + rb"\))?")
_WORDS = {b"_Noreturn": "noreturn", b"_Complex": "complex", b"__complex__": "complex", b"_Imaginary": "imaginary"}


def attributes(texts: Iterable[bytes]) -> Iterator[Attribute]:
    """The attributes in the texts of some specifiers (`cleaning.Attribute`). What cannot be read has no name."""
    for text in texts:
        if not is_packing(text):
            yield from _listed(text)


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
            name = found.group(1).decode()
            bare = name.strip("_") or name
            arguments = (found.group(2) or b"()")[1:-1].decode("utf-8", "surrogateescape")
            yield Attribute(bare if not prefix or bare == "noreturn" else prefix + bare, arguments)
    else:
        yield Attribute("")


def _inside(text: bytes) -> str:
    opening, closing = text.find(b"("), text.rfind(b")")
    return text[opening + 1 : closing].decode("utf-8", "surrogateescape")


class Said(NamedTuple):
    """What attributes say of a declared function or variable. `starts`: code runs before or after `main`. `yields`: another
    definition may take this one's place, because of the attribute it names. `labels` are the names that the assembler knows it
    by. `pure`: its calls can be left out where nobody uses the result. `strange` says which attribute is not understood."""

    starts: str = ""
    yields: str = ""
    labels: tuple[str, ...] = ()
    pure: bool = False
    strange: str = ""


NOTHING = Said()


def said_of_declaration(texts: Iterable[bytes]) -> Said:
    """What attributes say of what a declaration at file level declares."""
    starts = yields = strange = ""
    labels: list[str] = []
    pure = False
    for one in attributes(texts):
        if one.name in _STARTING:
            starts = f"attribute {one.name}"
        elif one.name in _WEAK:
            yields = f"attribute {one.name}"
        elif one.name in _PURE:
            pure = True
        elif one.name == "asm":
            labels.append(symbol(one.arguments))
        elif one.name == "section" and not _SECTION.match(one.arguments):
            starts = strange = f"attribute section({one.arguments})"
        elif not (one.name == "section" or is_plain(one) or one.name == "aligned" or one.name == "packed"):
            strange = f"attribute {one.name or 'that cannot be read'}"
    return Said(starts, yields, tuple(labels), pure, strange) if starts or yields or labels or pure or strange else NOTHING


def strange_in_body(texts: Iterable[bytes]) -> str:
    """An attribute inside a function's body that is not understood there; an empty string if there is none.
    Attributes of types are left to the code that reads types."""
    for one in attributes(texts):
        is_known = is_plain(one) or one.name in _LAYOUT
        is_known = is_known or (one.name == "section" and _SECTION.match(one.arguments) is not None)
        if not is_known:
            return "assembler name" if one.name == "asm" else f"attribute {one.name or 'that cannot be read'}"
    return ""


def strange_of_variable(texts: Iterable[bytes]) -> str:
    """An attribute that makes another type of the one that is written, where no type is defined; else an empty string."""
    return next((f"attribute {one.name}" for one in attributes(texts) if one.name in _OTHER_TYPES), "")


def strange_of_type(texts: Iterable[bytes], *, is_named: bool) -> str:
    """An attribute of a record, a member, an enumeration or (`is_named`) a type definition that is not understood there; an
    empty string if there is none."""
    for one in attributes(texts):
        if not (is_plain(one) or one.name in _LAYOUT or (is_named and one.name in _OTHER_TYPES) or one.name == "designated_init"):
            return f"attribute {one.name or 'that cannot be read'}"
    return ""


def is_plain(one: Attribute) -> bool:
    """Whether a program does the same without the attribute."""
    return one.name in _PLAIN or (one.name == "optimize" and _OPTIMISED.match(one.arguments) is not None)


def symbol(text: str) -> str:
    """The assembler's name in an `asm("name")`: its strings joined."""
    return "".join(re.findall(r"\"([^\"]*)\"", text))


# -- pragmas --------------------------------------------------------------------------------------------------------------------

_PRAGMA = re.compile(rb"#[ \t]*pragma\b[ \t]*(.*)", re.DOTALL)
_HARMLESS = re.compile(
    rb"(?:once\b|message\b|(?:push|pop)_macro\b|region\b|endregion\b|mark\b|warning\b|clang\s+(?:diagnostic|system_header)\b"
    rb"|GCC\s+(?:diagnostic|system_header|poison|dependency|warning|error|visibility|ivdep|unroll|push_options|pop_options"
    rb"|reset_options|optimize\s*\(?\s*\"?O[0-3s]\"?\s*\)?\s*\Z)|STDC\s+(?:FENV_ACCESS|FP_CONTRACT)\s+(?:OFF|DEFAULT)\b|unroll\b|ident\b)"
)
_WEAK_PRAGMA = re.compile(rb"weak\s+(\w+)\s*(?:=\s*(\w+))?\s*\Z")
_RENAMING = re.compile(rb"redefine_extname\s+(\w+)\s+(\w+)\s*\Z")


class Pragma(NamedTuple):
    """What a pragma says: `weak` is a function or variable that another one may take the place of, `renamed` two names for one
    thing. `strange` says that it is not understood."""

    weak: str = ""
    renamed: tuple[str, str] | None = None
    strange: str = ""


def pragma(directive: bytes) -> Pragma:
    """What the text of a `#pragma` says."""
    found = _PRAGMA.match(directive)
    text = b"" if found is None else found.group(1).strip()
    if not text or is_packing(directive) or _HARMLESS.match(text):
        return Pragma()
    if (weak := _WEAK_PRAGMA.match(text)) is not None:
        name, target = weak.group(1).decode(), weak.group(2)
        return Pragma(weak=name) if target is None else Pragma(weak=name, renamed=(name, target.decode()))
    if (renaming := _RENAMING.match(text)) is not None:
        return Pragma(renamed=(renaming.group(1).decode(), renaming.group(2).decode()))
    return Pragma(strange="pragma " + " ".join(text.decode("utf-8", "replace").split()[:2]))
