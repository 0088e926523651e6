"""As which types a program accesses the objects that pointers lead to: a member of a structure may also be accessed as memory.

That is so where an object is accessed both by members and otherwise: through a pointer to a pointer or number (the address of a
structure, converted, is that of its first member, C11 6.7.2.1p15), as another structure, or by another member of a union; and
where bytes are copied from one such object to another (C11 6.5p6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from analysis.cfa.graph import Program
from analysis.model.c_types import Array, Record, Type

_Kind = tuple[str, str]  # of pointers, as in `pointer_kinds`
_SCALAR = ""


class ObjectTypes:
    """What is known of the types of objects, by the kinds of pointers to them."""

    def __init__(self, program: Program) -> None:
        self._records = program.records
        self._seen: dict[tuple[_Kind, str], None] = {}
        self._copied: list[tuple[_Kind, ...]] = []
        self._inside: dict[str, frozenset[str]] = {}

    def access(self, kinds: Iterable[_Kind], type_: Type) -> None:
        """What pointers of these kinds lead to is, or is accessed as, of a type that holds a pointer."""
        while isinstance(type_, Array):
            type_ = type_.element
        view = type_.key if isinstance(type_, Record) else _SCALAR
        for kind in kinds:
            self._seen[kind, view] = None

    def copy(self, kinds: Iterable[_Kind]) -> None:
        """Bytes are copied between objects to which pointers of these kinds lead."""
        self._copied.append(tuple(kinds))

    def overlapping(self, root: Callable[[_Kind], _Kind]) -> set[_Kind]:
        """The members that are accessed otherwise as well; `root` is the same for all kinds that are one."""
        parents: dict[_Kind, _Kind] = {}

        def group(kind: _Kind) -> _Kind:
            kind = root(kind)
            while (parent := parents.get(kind, kind)) != kind:
                kind = parent
            return kind

        for first, *others in self._copied:
            for other in others:
                if group(other) != group(first):
                    parents[group(other)] = group(first)
        views: dict[_Kind, set[str]] = {}
        for kind, view in self._seen:
            views.setdefault(group(kind), set()).add(view)
        return {member for seen in views.values() if not self._is_one(seen) for member in self._members_of_all(seen)} | {
            member
            for key, definition in self._records.items()
            if definition.kind == "union" and len(definition.members) > 1
            for member in self._members_of_all({key})
        }

    def _is_one(self, views: set[str]) -> bool:
        """Whether all are the type of one of them, or of a part of it."""
        return any(views <= self._within(view) for view in views)

    def _within(self, key: str) -> frozenset[str]:
        """The record and all that are parts of it; a structure that is a part is accessed as its own type there, too."""
        found = self._inside.get(key)
        if found is None:
            seen, waiting = {key}, [key]
            while waiting:
                for type_ in self._parts(waiting.pop()):
                    if isinstance(type_, Record) and type_.key not in seen:
                        seen.add(type_.key)
                        waiting.append(type_.key)
            found = self._inside[key] = frozenset(seen)
        return found

    def _parts(self, key: str) -> Iterator[Type]:
        definition = self._records.get(key)
        for member in () if definition is None else definition.members:
            type_ = member.type
            while isinstance(type_, Array):
                type_ = type_.element
            yield type_

    def _members_of_all(self, views: set[str]) -> Iterator[_Kind]:
        for key in {inner for view in views for inner in self._within(view)}:
            definition = self._records.get(key)
            if definition is not None and definition.kind == "struct":
                yield from (("", f"{key}.{member.name}") for member in definition.members)
