"""What attributes may change: a list of those that are understood (GCC manual, "Function Attributes", "Variable Attributes",
"Type Attributes"; C23 6.7.13). The front end reads their syntax.

Everything that is not named here may mean anything. What it is attached to, and what depends on that, is then not modelled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


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
"""Attributes that let compilers leave out calls: a program does the same without them where the promise is kept
(`cfa.linking.promises`)."""

_LAYOUT = frozenset(("packed", "aligned", "ms_struct", "gcc_struct", "scalar_storage_order", "warn_if_not_aligned"))
"""Attributes of records and members that `c.layout_attributes` understands, or for which it gives no
layout."""

_OTHER_TYPES = frozenset(("mode", "vector_size"))
"""Attributes of type definitions for which `c.layout_attributes.moded` knows the type."""

_STARTING = frozenset(("constructor", "destructor", "init_priority"))
_WEAK = frozenset(("weak", "gnu_inline"))
_SECTION = re.compile(r"\s*\"\.(?:data|bss|text|rodata)(?:\.[\w.]+)?\"\s*\Z")
_OPTIMISED = re.compile(r"\s*(?:\"O[0-3s]\"|[0-3])\s*\Z")


class DeclarationAttributes(NamedTuple):
    """What attributes say of a declared function or variable. `starts`: code runs before or after `main`. `yields`: another
    definition may take this one's place, because of the attribute it names. `labels` are the names that the assembler knows it
    by. `pure`: its calls can be left out where nobody uses the result; `const`: nor does it read what changes. `strange` says
    which attribute is not understood."""

    starts: str = ""
    yields: str = ""
    labels: tuple[str, ...] = ()
    pure: bool = False
    const: bool = False
    strange: str = ""


NO_ATTRIBUTES = DeclarationAttributes()


def said_of_declaration(attributes: Iterable[Attribute]) -> DeclarationAttributes:
    """What attributes say of what a declaration at file level declares."""
    starts = yields = strange = ""
    labels: list[str] = []
    pure = const = False
    for one in attributes:
        if one.name in _STARTING:
            starts = f"attribute {one.name}"
        elif one.name in _WEAK:
            yields = f"attribute {one.name}"
        elif one.name in _PURE:
            pure, const = True, const or one.name == "const"
        elif one.name == "asm":
            labels.append(symbol(one.arguments))
        elif one.name == "section" and not _SECTION.match(one.arguments):
            starts = strange = _said(one)
        elif not (one.name == "section" or is_plain(one) or one.name == "aligned" or one.name == "packed"):
            strange = _said(one)
    if strange and yields == "attribute weak":
        yields = f"{yields} and {strange}"
    return (
        DeclarationAttributes(starts, yields, tuple(labels), pure, const, strange)
        if starts or yields or labels or pure or strange
        else NO_ATTRIBUTES
    )


def strange_in_body(attributes: Iterable[Attribute]) -> str:
    """An attribute inside a function's body that is not understood there; an empty string if there is none.
    Attributes of types are left to the code that reads types."""
    for one in attributes:
        is_known = is_plain(one) or one.name in _LAYOUT
        is_known = is_known or (one.name == "section" and _SECTION.match(one.arguments) is not None)
        if not is_known:
            return "assembler name" if one.name == "asm" else _said(one)
    return ""


def strange_of_variable(attributes: Iterable[Attribute]) -> str:
    """An attribute that makes another type of the one that is written, where no type is defined; else an empty string."""
    return next((_said(one) for one in attributes if one.name in _OTHER_TYPES), "")


def strange_of_type(attributes: Iterable[Attribute], *, is_named: bool) -> str:
    """An attribute of a record, a member, an enumeration or (`is_named`) a type definition that is not understood there; an
    empty string if there is none."""
    for one in attributes:
        if not (is_plain(one) or one.name in _LAYOUT or (is_named and one.name in _OTHER_TYPES) or one.name == "designated_init"):
            return _said(one)
    return ""


def _said(one: Attribute) -> str:
    """An attribute in words. Its arguments are among them: with others it means something else."""
    arguments = " ".join(one.arguments.split())
    return f"attribute {one.name or 'that cannot be read'}" + (f"({arguments})" if arguments else "")


def is_plain(one: Attribute) -> bool:
    """Whether a program does the same without the attribute."""
    return one.name in _PLAIN or (one.name == "optimize" and _OPTIMISED.match(one.arguments) is not None)


def symbol(text: str) -> str:
    """The assembler's name in an `asm("name")`: its strings joined."""
    return "".join(re.findall(r"\"([^\"]*)\"", text))
