"""Functions that free, of a library's own allocator, told by declarations: a program calls them, and does not define them.

Many libraries have a pair like `void *sm_malloc(size_t)` and `void sm_free(void *)`. Nothing is known of such functions, so that
whatever a program does with what they give and take would be right. Here they are told by three things together: the names are
the same but for `malloc` and `free`, one gives a pointer for a size, and the other takes a pointer to anything and gives nothing.
One function alone tells nothing: `void list_free(void *)` may count references.

What is told so is a belief: it helps to find what is freed twice, or used after that, and nothing is proved by it
(`External.believed`). The one that gives is not taken for `malloc`. Of leaks that were found so in a large program, most were
none: such a program often keeps what it takes from there by ways that are not followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from analysis.c.functions import known
from analysis.cfa.graph import External
from analysis.model import c_types

_RELEASE = "free"
_MAKING = ("malloc", "calloc", "zalloc", "alloc")
_CHARACTER = 8  # bits


def with_beliefs(externals: Mapping[str, External]) -> Mapping[str, External]:
    """The external functions of a program, those that free for its libraries' allocators with what is believed of them."""
    rows = dict(_rows({name: one for name, one in externals.items() if _is_open(one)}))
    if not rows:
        return externals
    return {name: msgspec.structs.replace(one, guess=rows.get(name, "")) for name, one in externals.items()}


def _is_open(external: External) -> bool:
    """Whether nothing is known of a function but its declaration."""
    return not (external.system or external.row or known(external.name)) and external.type.prototyped


def _rows(externals: Mapping[str, External]) -> Iterator[tuple[str, str]]:
    for name, one in externals.items():
        before, found, behind = name.rpartition(_RELEASE)
        if found and _takes_block(one.type) and any(_is_made_by(other, before, behind) for other in externals.values()):
            others = ["n"] * (len(one.type.parameters) - 1) + ["..."] * one.type.variadic
            yield name, f"{name} | {' '.join(('freed?', *others))} | | open | its name and its declaration"


def _is_made_by(external: External, before: str, behind: str) -> bool:
    """Whether a function makes what the one frees whose name is `free` between these two parts."""
    rest = external.name.removeprefix(before)
    is_named = rest != external.name or not before
    return is_named and any(rest.startswith(word + behind) for word in _MAKING) and _gives_for_size(external.type)


def _takes_block(type_: c_types.Function) -> bool:
    """Whether it takes a pointer to anything, gives nothing, and takes else only what says who calls: numbers and texts."""
    first = type_.parameters[0] if type_.parameters else None
    return isinstance(type_.result, c_types.Void) and _is_to_void(first) and all(map(_is_plain, type_.parameters[1:]))


def _gives_for_size(type_: c_types.Function) -> bool:
    first = type_.parameters[0] if type_.parameters else None
    gives = _is_to_void(type_.result) or _is_text(type_.result)
    return gives and isinstance(first, c_types.Integer) and all(map(_is_plain, type_.parameters[1:]))


def _is_plain(type_: c_types.Type) -> bool:
    return isinstance(type_, c_types.Integer) or _is_text(type_)


def _is_text(type_: c_types.Type) -> bool:
    return isinstance(type_, c_types.Pointer) and isinstance(type_.target, c_types.Integer) and type_.target.bits == _CHARACTER


def _is_to_void(type_: c_types.Type | None) -> bool:
    return isinstance(type_, c_types.Pointer) and isinstance(type_.target, c_types.Void)
