"""One translation unit: its functions as CFAs and its declarations, rebuilt after an edit with as little work as can be.

A function keeps its Cfa object when its own text and every file-level answer that its lowering used are the same as
before; only its offsets move. The declarations are read again only when the text outside function bodies changed.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

import msgspec

from analysis.c.declared import is_library
from analysis.cfa.building.cfa_building import FunctionPart, LoweredFunction, build_function
from analysis.cfa.graph import External
from analysis.cfa.revisions.match import match_function
from analysis.frontend.declarations.file_level import FileLevel, FileReader, Variable
from analysis.frontend.declarations.scope import Names
from analysis.frontend.declarations.shared_declarations import SharedFile, read_sharing
from analysis.frontend.declarations.specifiers import NAME_KINDS
from analysis.frontend.lowering.context import MisreadError
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.syntax.parser import Node, SyntaxTree, text_of
from analysis.model.c_types import DataModel, Function, RecordDefinition
from analysis.model.collecting import without_collecting
from analysis.model.digest import digest_text
from analysis.model.limits import Limits
from analysis.model.report import Count

_PYTHON_FRAMES = 20_000  # deep enough for Limits.nesting levels of C, each of which takes a few Python calls


class BrokenFunction(msgspec.Struct, frozen=True):
    """A stretch of the preprocessed text [start, end) that does not parse; `name` is the function's, where it is known, and
    `error` the offset of the first token that does not fit, or after which something is missing."""

    name: str | None
    start: int
    end: int
    error: int = -1


class Unit(msgspec.Struct, frozen=True):
    """One translation unit of one revision.

    `functions` are in source order. `last_good` holds functions of earlier revisions that do not parse or are gone now, by
    linkage name: when they come back, their ids do too. `work` counts functions reused and lowered. `doubt`: why the text
    may be another one for a compiler, so that nothing is known of the program; empty if it is not.
    """

    path: str
    model: DataModel
    functions: tuple[LoweredFunction, ...]
    variables: tuple[Variable, ...]
    declared: tuple[External, ...]
    implicit: tuple[External, ...]
    records: dict[str, RecordDefinition]
    address_taken: frozenset[str]
    broken: tuple[BrokenFunction, ...]
    work: Count
    level: FileLevel
    level_digest: str
    last_good: dict[str, LoweredFunction] = {}
    doubt: str = ""

    @property
    def externals(self) -> tuple[External, ...]:
        """The functions that the unit declares, and those that it calls without a declaration."""
        return self.declared + self.implicit


class Surface(msgspec.Struct, frozen=True):
    """What a unit shows to the others beside its functions' CFAs."""

    level: FileLevel
    parts: tuple[object, ...]


def surface(unit: Unit) -> Surface:
    """The surface of a unit."""
    parts = tuple((f.statics, f.externs, f.records) for f in unit.functions if f.statics or f.externs or f.records)
    return Surface(unit.level, (unit.path, unit.doubt, parts, unit.implicit, unit.address_taken))


def same_surface(one: Surface, other: Surface) -> bool:
    """Whether two surfaces are the same, declarations by identity."""
    return one.level is other.level and one.parts == other.parts


def nowhere(_offset: int) -> bool:
    """Nothing is in a system header, for text whose origin is not known."""
    return False


def build_unit(
    path: str,
    tree: SyntaxTree,
    model: DataModel,
    previous: Unit | None = None,
    in_system_header: Callable[[int], bool] = nowhere,
    limits: Limits | None = None,
) -> Unit:
    """Builds the unit of a parsed file; `path` names it in linkage names. `previous` is the unit of the revision before."""
    if sys.getrecursionlimit() < _PYTHON_FRAMES:
        sys.setrecursionlimit(_PYTHON_FRAMES)
    if previous is not None and (previous.path, previous.model) != (path, model):
        previous = None
    with without_collecting():
        return _build(path, tree, model, previous, in_system_header, limits or Limits())


def _build(
    path: str,
    tree: SyntaxTree,
    model: DataModel,
    previous: Unit | None,
    in_system_header: Callable[[int], bool],
    limits: Limits,
) -> Unit:
    broken: list[BrokenFunction] = []
    nodes = list(_top_level(tree.root, broken, tree.errors))
    extras = Extras(tree)
    digest = level_digest(tree, nodes, extras)
    if previous is not None and previous.level_digest == digest:
        level = previous.level
    else:
        reader = FileReader(tree, model, path, limits, in_system_header)
        read_sharing(reader, SharedFile(path, tree, model, limits, in_system_header, extras.between), nodes)
        level = reader.end()
    build = FunctionBuilder(
        path, tree, model, limits, level, previous, same_level=previous is not None and level is previous.level
    )
    for node in nodes:
        if node.type == "function_definition" and not node.has_error and not _errors_in(node, tree.errors):
            build.add(node, extras.key(node))
    recomputed = len(build.found) - build.reused
    return assemble(path, level, digest, build.found, recomputed, [*broken, *build.refused], previous, model)


class FunctionBuilder:
    """Builds or reuses the functions of one unit."""

    def __init__(
        self,
        path: str,
        tree: SyntaxTree,
        model: DataModel,
        limits: Limits,
        level: FileLevel,
        previous: Unit | None,
        same_level: bool,
    ) -> None:
        self.path, self.tree, self.model, self.limits, self.level = path, tree, model, limits, level
        self.found: list[LoweredFunction] = []
        self.reused = 0
        self.refused: list[BrokenFunction] = []
        self._same_level = same_level
        self._old_texts = {f.text_key: f for f in previous.functions} if previous else {}
        self._old_names = dict(previous.last_good) if previous else {}
        self._old_names |= {f.cfa.name: f for f in previous.functions} if previous else {}
        self._names = Names(level.scope, None)
        self._taken: set[str] = set()

    def add(self, node: Node, key: str) -> None:
        """Adds the function of a definition; of two definitions of one name the first counts."""
        old = self._old_texts.get(key)
        if old is not None and old.cfa.name not in self._taken and (self._same_level or self._still_valid(old)):
            self.reused += 1
            self._taken.add(old.cfa.name)
            source = msgspec.structs.replace(old.source, start=node.start_byte)
            self.found.append(msgspec.structs.replace(old, source=source))
            return
        try:
            part = self._part(node, key)
        except (RefusedError, MisreadError, RecursionError):
            self.refused.append(BrokenFunction(function_name(node), node.start_byte, node.end_byte))
            return
        if part.linkage in self._taken:
            return
        self._taken.add(part.linkage)
        try:
            lowered = build_function(part, self.tree, self.level.scope, self.model, self.path, self.limits)
        except RecursionError:  # one expression costs one function
            self.refused.append(BrokenFunction(part.name, node.start_byte, node.end_byte))
            return
        before = self._old_names.get(part.linkage)
        self.found.append(lowered if before is None else match_function(lowered, before))

    def _still_valid(self, old: LoweredFunction) -> bool:
        declared = self.level.functions.get(old.cfa.name.rpartition("::")[2])
        same_type = declared is not None and declared.linkage == old.cfa.name and declared.type == old.cfa.type
        return same_type and self._names.still_answers(old.used)

    def _part(self, node: Node, key: str) -> FunctionPart:
        reader = FileReader.for_definitions(self.tree, self.model, self.path, self.limits, self.level)
        declarator = reader.declarator_of(node)
        name = declarator.name or ""
        declared = self.level.functions.get(name)
        return FunctionPart(node, name, name if declared is None else declared.linkage, declarator, key)


def assemble(
    path: str,
    level: FileLevel,
    digest: str,
    functions: Sequence[LoweredFunction],
    recomputed: int,
    broken: Sequence[BrokenFunction],
    previous: Unit | None,
    model: DataModel,
) -> Unit:
    """The unit of its parts; `functions` are in source order, and `recomputed` of them were lowered for it."""
    taken = set(level.address_taken)
    records = dict(level.scope.records)
    for function in functions:
        taken |= function.address_taken
        records.update(function.records)
    present = {f.cfa.name for f in functions}
    last_good = dict(previous.last_good) if previous else {}
    last_good |= {f.cfa.name: f for f in previous.functions} if previous else {}
    return Unit(
        path=path,
        model=model,
        functions=tuple(functions),
        variables=tuple(level.variables.values()),
        declared=previous.declared if previous is not None and previous.level is level else _declared(level),
        implicit=tuple(_implicit(level, functions)),
        records=records,
        address_taken=frozenset(taken),
        broken=tuple(broken),
        work=Count(reused=len(functions) - recomputed, recomputed=recomputed),
        level=level,
        level_digest=digest,
        last_good={name: old for name, old in last_good.items() if name not in present},
    )


def _declared(level: FileLevel) -> tuple[External, ...]:
    """Every function that the file declares; linking drops those that are defined somewhere."""
    return tuple(
        External(d.linkage, d.type, d.noreturn, d.nonnull, d.system or is_library(d.linkage, d.type))
        for d in level.functions.values()
    )


def _implicit(level: FileLevel, functions: Sequence[LoweredFunction]) -> Iterator[External]:
    """The functions that are called without a declaration at file level."""
    seen: set[str] = set()
    for function in functions:
        for var in function.implicit:
            if var.name not in seen and var.name not in level.functions and isinstance(var.type, Function):
                seen.add(var.name)
                yield External(var.name, var.type, system=is_library(var.name, var.type))


class Extras:
    """The text of operands and declarations that the tree holds beside the main text (see frontend.syntax), by offset."""

    def __init__(self, tree: SyntaxTree) -> None:
        self._tree = tree
        found: list[tuple[int, bytes]] = [
            (at, text_of(n)) for t in (tree.va_args, tree.typeofs, tree.case_ends) for at, n in t.items()
        ]
        found += [(at, text_of(n)) for t in (tree.offsetofs, tree.compatibles) for at, pair in t.items() for n in pair]
        found += [(at, text_of(n)) for at, nodes in tree.old_style.items() for n in nodes]
        found += [(at, b"computed goto") for at in tree.computed_gotos]
        found += tree.unnamed_bits.items()
        self._found = sorted(found)

    def texts(self, start: int, end: int) -> list[bytes]:
        """The texts of the extras in [start, end)."""
        inside = self._found[bisect_left(self._found, (start,)) : bisect_left(self._found, (end,))]
        attributes = [*self._tree.attributes_in(start, end), *self._tree.pragmas_in(start, end)]
        return [text for _, text in inside] + [text for _, _, text in attributes]

    def between(self, start: int, end: int) -> list[str | bytes]:
        """The extras in [start, end), with offsets from `start`."""
        inside = self._found[bisect_left(self._found, (start,)) : bisect_left(self._found, (end,))]
        blanked = [*self._tree.attributes_in(start, end), *self._tree.pragmas_in(start, end)]
        attributes = [(at, text) for at, _, text in blanked]
        return [part for at, text in (*inside, *attributes) for part in (str(at - start), text)]

    def key(self, node: Node) -> str:
        """A digest of a node's text, layout included, and of the `#pragma pack` that it is under."""
        start, end = node.start_byte, node.end_byte
        packing = self._tree.packing(start)
        return digest_text(self._tree.text[start:end], *self.between(start, end), *([f"pack {packing}"] if packing != 0 else []))


def level_digest(tree: SyntaxTree, nodes: list[Node], extras: Extras) -> str:
    """A digest of the text outside function bodies, blind to layout where no quotes are near."""
    parts: list[str | bytes] = []
    at = 0
    for node in nodes:
        if node.type == "function_definition" and (body := node.child_by_field_name("body")) is not None:
            parts += [*_between_attributes(tree, at, body.start_byte), *extras.texts(at, body.start_byte)]
            at = node.end_byte
    parts += [*_between_attributes(tree, at, len(tree.text)), *extras.texts(at, len(tree.text))]
    parts += [text for _, _, text in tree.pragmas]  # wherever they are, they are about the whole file
    return digest_text(*parts)


def _between_attributes(tree: SyntaxTree, start: int, end: int) -> Iterator[bytes]:
    """The text in [start, end), cut where attributes are: it matters what they are of."""
    for attribute in tree.attributes_in(start, end):
        yield _without_layout(tree.text[start : attribute[0]])
        start = attribute[0]
    yield _without_layout(tree.text[start:end])


def _without_layout(text: bytes) -> bytes:
    return text if b'"' in text or b"'" in text else b" ".join(text.split())


Ranges = Sequence[tuple[int, int]]


def _top_level(root: Node, broken: list[BrokenFunction], errors: Ranges) -> Iterator[Node]:
    """The declarations and definitions that parse, in order, also from inside what does not; the rest goes to `broken`."""
    waiting = list(reversed(root.children))
    while waiting:
        node = waiting.pop()
        kind = node.type
        if kind in _CONTAINERS:
            waiting.extend(reversed(node.children))
        elif kind == "linkage_specification":
            waiting.extend(reversed((node.child_by_field_name("body") or node).children))
        elif not node.has_error and not _errors_in(node, errors):
            yield node
        else:
            broken.append(_broken(node, errors))
            salvaged = list(_salvaged(node, broken, errors))
            if kind in _DECLARATIONS or (not salvaged and _has_good_head(node, errors)):
                yield node  # what can be read of it is better than to know nothing of the names in it
            else:
                yield from salvaged


def _broken(node: Node, errors: Ranges) -> BrokenFunction:
    start, end = node.start_byte, node.end_byte
    return BrokenFunction(function_name(node), start, end, first_error(errors, start, end, node.text or b"", start))


def first_error(errors: Ranges, start: int, end: int, text: bytes, base: int) -> int:
    """The offset of the first token in a stretch that does not fit, or after which something is missing; the start if none is
    known. `text` begins at the offset `base`."""
    at = bisect_left(errors, (start,))
    if at == len(errors) or errors[at][0] > end:
        return start
    error, last = errors[at]
    return error if last > error else max(start, base + len(text[: error - base].rstrip()) - 1)


def _has_good_head(node: Node, errors: Ranges) -> bool:
    """Whether of a definition that does not parse only the body is to blame: then the function is declared."""
    body = node.child_by_field_name("body") if node.type == "function_definition" else None
    return body is not None and not any(node.start_byte <= start < body.start_byte for start, _ in errors)


def _salvaged(node: Node, broken: list[BrokenFunction], errors: Ranges) -> Iterator[Node]:
    """Definitions inside a stretch that does not parse: a missing brace makes the functions after it look nested."""
    waiting = list(reversed(node.named_children))
    while waiting:
        child = waiting.pop()
        kind = child.type
        goes_on = kind in ("compound_statement", "ERROR", "declaration_list") or kind in _CONTAINERS
        if kind == "function_definition":
            goes_on = child.has_error or _errors_in(child, errors)
            if goes_on:
                broken.append(_broken(child, errors))
            else:
                yield child
        if goes_on:
            waiting.extend(reversed(child.named_children))


def _errors_in(node: Node, errors: Ranges) -> bool:
    """Whether an error lies inside: also one in an operand or parameter declaration that is parsed apart (frontend.syntax)."""
    if not errors:
        return False
    at = bisect_left(errors, (node.start_byte,))
    return at < len(errors) and errors[at][0] < node.end_byte


_DECLARATIONS = frozenset(("declaration", "type_definition", "struct_specifier", "union_specifier", "enum_specifier"))
_CONTAINERS = frozenset(("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "declaration_list"))


def function_name(node: Node) -> str | None:
    """The name of the first function that a piece of syntax declares, None if there is none."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if here.type == "function_declarator":
            inner = here.child_by_field_name("declarator")
            while inner is not None and inner.type not in NAME_KINDS:
                inner = inner.child_by_field_name("declarator") or next(iter(inner.named_children), None)
            return None if inner is None else text_of(inner).decode("utf-8", "surrogateescape")
        if here.type not in ("parameter_list", "compound_statement") or here is node:
            waiting.extend(reversed(here.named_children))
    return None
