"""What declarations of headers say, read once for all files of a process that include them.

The top-level nodes of a file are taken in groups. Where a group ends depends on the text of its last node alone, so that two
files with the same header have the same groups there, whatever else they include. What a group adds to a `FileLevel` depends on

- its text, with what was blanked in it, what the parser got instead, and what packing it is under; which nodes there are; which
  of them are in headers of the system; the data model and the limits. The digest of the group has all of this in it;
- what the tables of the file had, before the group, of the names that it asks for or declares. This is kept with what was added,
  and compared.

The path of the file is in the key of groups that use it: names of static functions and variables have it in them. Nothing is
shared in a file with errors, as how the parser recovers from one depends on text elsewhere. Nor is a group kept in which packing
changes, or something was refused, which may depend on the depth of Python's stack, or that changed more than the tables; nor is
any that comes after what is said of the file as a whole, such as that code runs before `main`, or after an expression of which
more is known than its type.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import is_
from typing import Any, NamedTuple

from analysis.c.layout_attributes import is_packing
from analysis.c.linkage import Label
from analysis.frontend.declarations.file_level import FileReader
from analysis.frontend.declarations.scope import ObjectEntry
from analysis.frontend.syntax.parser import Node, SyntaxTree
from analysis.model.c_types import DataModel
from analysis.model.digest import digest_text
from analysis.model.limits import Limits

_ONE_IN = 16  # nodes ends a group
_LONGEST = 64  # nodes
_MOST = 4_096  # groups that are kept: those that were used last
_VARIANTS = 4  # ways in which a group is kept that depends on what was declared before it
_TABLES = {"name": 0, "tag": 1, "record": 2, "strange": 2}  # where in the reader's tables the answers to its questions are


class SharedFile(NamedTuple):
    """What the declarations of a file are read from. `between` are the texts that the tree holds beside the main one, with their
    offsets from the start."""

    path: str
    tree: SyntaxTree
    model: DataModel
    limits: Limits
    in_system_header: Callable[[int], bool]
    between: Callable[[int, int], list[str | bytes]]


class _Added(NamedTuple):
    """What a group has put into each of the `tables` of a reader (`FileReader.tables`), and the labels that it declares; if each
    of these tables had none of the `absent` keys before, and had what `present` says."""

    absent: tuple[frozenset[str], ...]
    present: tuple[dict[str, Any], ...]
    tables: tuple[dict[str, Any], ...]
    labels: tuple[Label, ...]

    def holds(self, tables: Sequence[dict[str, Any]]) -> bool:
        """Whether a group adds this to the tables."""
        return all(map(_has_none, tables, self.absent)) and all(map(_has, tables, self.present))


_kept: dict[tuple[str, str | None], tuple[_Added, ...]] = {}  # the one that was used last is the last one


def read_sharing(reader: FileReader, file: SharedFile, nodes: Sequence[Node]) -> None:
    """Reads the top-level nodes of a file, as `FileReader.read` of one after the other does."""
    if file.tree.errors:
        for node in nodes:
            reader.read(node)
        return
    start, common = 0, f"{file.model} {file.limits}"
    for group, end in _groups(file.tree, nodes):
        digest = digest_text(common, *_contents(file, group, start, end))
        added = _known(reader, (digest, None)) or _known(reader, (digest, file.path))
        if added is None:
            _read(reader, file, group, start, digest)
        else:
            _add(reader, added)
            reader.skip(group[-1])
        start = group[-1].end_byte


def _groups(tree: SyntaxTree, nodes: Sequence[Node]) -> Iterator[tuple[list[Node], int]]:
    """The groups, each with the offset of what follows: the next node, or the end of the text."""
    group: list[Node] = []
    for node, after in zip(nodes, (*nodes[1:], None), strict=False):
        group.append(node)
        ends = zlib.crc32(tree.parsed[node.start_byte : node.end_byte]) % _ONE_IN == 0
        if ends or after is None or len(group) == _LONGEST:
            yield group, len(tree.text) if after is None else after.start_byte
            group = []


def _contents(file: SharedFile, group: Sequence[Node], start: int, end: int) -> Iterator[str | bytes]:
    """All of the file that the reading of a group depends on, but for the tables. `start` is the end of the node before, as
    attributes before a declaration may be the declaration's."""
    tree = file.tree
    yield tree.text[start:end]
    yield tree.parsed[start:end]
    yield str(tree.packing(start))
    for node in group:
        at, before = node.start_byte, node.prev_sibling
        where = f"{at - start} {node.end_byte - start} {'' if before is None else before.end_byte - start}"
        yield f"{node.type} {where} {file.in_system_header(at)}"
    yield from file.between(start, end)


def _known(reader: FileReader, key: tuple[str, str | None]) -> _Added | None:
    variants = _kept.pop(key, None)
    if variants is None:
        return None
    _kept[key] = variants
    tables = reader.tables
    return next((added for added in variants if added.holds(tables)), None)


def _add(reader: FileReader, added: _Added) -> None:
    for table, more in zip(reader.tables, added.tables, strict=True):
        table.update(more)
    reader.level.linkage.labels.extend(added.labels)


def _read(reader: FileReader, file: SharedFile, group: Sequence[Node], start: int, digest: str) -> None:
    """Reads a group, and keeps what it adds if that is all that it changes. `start` is the end of the node before."""
    reader.forget_answers()
    tables, labels, state = reader.tables, reader.level.linkage.labels, reader.other_state()
    is_empty = not any(state[0])
    values, first = [list(table.values()) for table in tables], len(labels)
    for node in group:
        reader.read(node)
    if not is_empty or reader.other_state() != state or _packs(file.tree, start, group[-1].end_byte):
        return
    changed = tuple(map(_changed, tables, values))
    new = [dict(islice(table.items(), len(old), None)) for table, old in zip(tables, values, strict=True)]
    added = tuple({key: table[key] for key in was} | more for table, was, more in zip(tables, changed, new, strict=True))
    declared = _declared(added[0])
    asked = [{key for kind, key in reader.answers if _TABLES[kind] == number} | declared for number in range(len(tables))]
    found = _Added(
        absent=tuple(frozenset(more) | (keys - table.keys()) for table, more, keys in zip(tables, new, asked, strict=True)),
        present=tuple(
            {key: table[key] for key in keys if key in table and key not in more} | was
            for table, was, more, keys in zip(tables, changed, new, asked, strict=True)
        ),
        tables=added,
        labels=tuple(labels[first:]),
    )
    place = digest, file.path if _has_path(found) else None
    _kept[place] = (found, *_kept.pop(place, ())[: _VARIANTS - 1])
    while len(_kept) > _MOST:
        _kept.pop(next(iter(_kept)), None)


def _packs(tree: SyntaxTree, start: int, end: int) -> bool:
    """Whether packing changes in [start, end): what it is then depends on all that was said of it before."""
    return any(is_packing(text) for _, _, text in tree.attributes_in(start, end))


def _declared(names: dict[str, Any]) -> set[str]:
    """The functions and variables among the names that were given a meaning, with their names for the linker. What was said of
    these before matters, also where the same is said again."""
    linked = {entry.var.name for entry in names.values() if isinstance(entry, ObjectEntry)}
    return linked | {name for name, entry in names.items() if isinstance(entry, ObjectEntry)}


def _changed(table: dict[str, Any], old: list[Any]) -> dict[str, Any]:
    """What was in a table where something else is now; `old` are the values that it had. Nothing is ever taken out."""
    if all(map(is_, old, table.values())):
        return {}
    return {key: was for (key, value), was in zip(table.items(), old, strict=False) if value is not was}


def _has_path(added: _Added) -> bool:
    """Whether the path of the file is in what was added, or in what it was made from: in a name that other files do not see."""
    values = [*added.present[0].values(), *added.tables[0].values()]
    names = (value.var.name for value in values if isinstance(value, ObjectEntry))
    return any("::" in name for name in (*names, *(key for table in (*added.present, *added.tables) for key in table)))


def _has_none(table: dict[str, Any], keys: frozenset[str]) -> bool:
    return table.keys().isdisjoint(keys)


def _has(table: dict[str, Any], values: dict[str, Any]) -> bool:
    return all((found := table.get(key)) is value or found == value for key, value in values.items())
