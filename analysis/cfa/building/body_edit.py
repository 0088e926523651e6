"""The unit after an edit inside one function's body: only that function is parsed and lowered.

External declarations stand side by side (C11 6.9), so that a text in which one definition is replaced by another, with the same
head, has the tree of the text before but for that definition. The definition is parsed by itself. If it does not parse, it is
broken, and nothing else is: where a parser that sees the whole text would take the functions after a missing brace to be
inside it, here they stay what they are. What was broken is kept as a `Slot`, so that the next keys are typed into it.

An edit of the white space between two tokens changes no CFA: only places move.

`edit_body` gives up (None) wherever this does not hold: the edit is not inside a body, touches two, changes the number of
definitions, or the text of the function before the edit does not parse by itself. Then the whole text is parsed.
"""

from __future__ import annotations

import os
import re

import msgspec

from analysis.cfa.building.cfa_building import LoweredFunction
from analysis.cfa.building.shift import Shift
from analysis.cfa.building.unit import BrokenFunction, Extras, FunctionBuilder, Unit, assemble, first_error
from analysis.frontend.syntax.parser import Node, SyntaxTree, parse
from analysis.frontend.text.blanks import changes_no_token
from analysis.frontend.text.difference import Difference, difference
from analysis.model.limits import Limits
from analysis.model.report import Count

_RECORD = re.compile(rb"\b(?:struct|union)\b(?>(?:(?!\b(?:struct|union)\b)[^;{}()])*)\{|#[ \t]*pragma")
_MARKER = re.compile(rb"\n# .*")  # not with "^", which is looked for at each byte


class Slot(msgspec.Struct, frozen=True):
    """A definition that did not parse after an edit of its body: its linkage name, its text [start, end), where its body begins,
    and how many errors there are."""

    name: str
    start: int
    end: int
    body: int
    errors: int

    def moved(self, edit: Difference) -> Slot:
        """The slot after an edit outside of it."""
        by = edit.new_end - edit.old_end if self.start >= edit.old_end else 0
        return Slot(self.name, self.start + by, self.end + by, self.body + by, self.errors)


class BodyEdit(msgspec.Struct, frozen=True):
    """The unit after the edit, and the slots in it; `slots` of a unit that was built from its whole text is empty."""

    unit: Unit
    slots: tuple[Slot, ...]


def edit_body(
    previous: Unit, slots: tuple[Slot, ...], old: bytes, new: bytes, limits: Limits, replaced: Difference | None = None
) -> BodyEdit | None:
    """The unit of the preprocessed text `new`, from the one of `old` and its slots; None if the whole text must be parsed.
    `replaced`: in what they differ, beside numbers in line markers, if that is known."""
    if replaced is not None and changes_no_token(old, new, replaced) and not _touches_broken(previous, replaced):
        return BodyEdit(_with_other_blanks(previous, replaced), tuple(slot.moved(replaced) for slot in slots))
    found_in = _find_place(previous, slots, old, new, replaced)
    if found_in is None:
        return None
    edit, slot, function = found_in
    end = slot.end + edit.new_end - edit.old_end
    if b"pragma pack" in new and _RECORD.search(new, slot.start, end):
        return None  # how its members lie depends on what is before the function
    tree = parse(new[slot.start : end])
    broken = bool(tree.errors) or tree.root.has_error
    if broken:
        if function is not None and not _parses(old[slot.start : slot.end]):
            return None
        found = None
    else:
        node = _only_definition(tree, slot.body - slot.start)
        found = None if node is None else _build(previous, tree, node, slot.start, limits)
        if found is None:
            return None
    after = Slot(slot.name, slot.start, end, slot.body, max(1, len(tree.errors)))
    others = tuple(other.moved(edit) for other in slots if other is not slot)
    error = first_error([(begin + slot.start, last + slot.start) for begin, last in tree.errors], slot.start, end, new, 0)
    unit = _assemble(previous, edit, slot, found, after, error)
    return BodyEdit(unit, others if found is not None else (*others, after))


def _find_place(
    previous: Unit, slots: tuple[Slot, ...], old: bytes, new: bytes, replaced: Difference | None
) -> tuple[Difference, Slot, LoweredFunction | None] | None:
    """See `_place`, of what is different between two texts, or of what is said to be (`replaced`)."""
    found = _place(previous, slots, old, replaced or difference(old, new))
    if found is not None or replaced is not None:
        return found
    # perhaps a line was added, so that all numbers of lines below are others
    old_text, new_text = _without_lines(old, previous.path), _without_lines(new, previous.path)
    return _place(previous, slots, old_text, difference(old_text, new_text))


def _touches_broken(previous: Unit, edit: Difference) -> bool:
    return any(broken.start < edit.old_end and edit.start < broken.end for broken in previous.broken)


def _with_other_blanks(previous: Unit, edit: Difference) -> Unit:
    """The unit of the same tokens, after an edit of the white space between two of them."""
    shift = Shift(*edit)

    def moved(function: LoweredFunction) -> LoweredFunction:
        source = function.source
        if source.start >= edit.old_end:
            return _moved(function, edit.new_end - edit.old_end)
        if source.start + source.end_site.end <= edit.start:
            return function
        return msgspec.structs.replace(function, source=shift.source(source))

    functions = tuple(map(moved, previous.functions))
    broken = tuple(_broken_moved(broken, edit) for broken in previous.broken)
    return msgspec.structs.replace(previous, functions=functions, broken=broken, work=Count(reused=len(functions)))


def _place(
    previous: Unit, slots: tuple[Slot, ...], text: bytes, edit: Difference
) -> tuple[Difference, Slot, LoweredFunction | None] | None:
    """The edit with the slot that it is inside of, or the function; None if it is inside of none."""
    slot = next((slot for slot in slots if _is_inside(edit, slot.body, slot.end)), None)
    if slot is not None:
        return edit, slot, None
    function = next(
        (f for f in previous.functions if f.source.start <= edit.start < f.source.start + f.source.end_site.end), None
    )
    slot = None if function is None else _slot_of(function, text)
    return None if slot is None or not _is_inside(edit, slot.body, slot.end) else (edit, slot, function)


def _without_lines(text: bytes, path: str) -> bytes:
    """The text of the file with numbers of lines blanked, which change in all that follows when a line is added: in line markers,
    and behind the name of the file, where they mean nothing to a program (`frontend.lowering.line_numbers`)."""
    number = re.compile(re.escape(os.fsencode(os.path.basename(path)) + b'",') + rb" ?\d+")
    blank = _MARKER.sub(lambda match: b"\n".ljust(len(match.group())), b"\n" + text)[1:]
    return number.sub(lambda match: b" " * len(match.group()), blank)


def _is_inside(edit: Difference, body: int, end: int) -> bool:
    """Whether an edit lies behind the opening brace of a body and not behind its end."""
    return body < edit.start <= end and edit.old_end <= end


def _slot_of(function: LoweredFunction, text: bytes) -> Slot | None:
    """The function as something to type into."""
    source = function.source
    body = text.find(b"{", source.start + source.name_site.end)
    end = source.start + source.end_site.end
    return Slot(function.cfa.name, source.start, end, body, 0) if 0 <= body < end else None


def _only_definition(tree: SyntaxTree, body: int) -> Node | None:
    """The definition that the whole tree is, with its body at the offset."""
    nodes = [node for node in tree.root.named_children if not node.is_extra]
    if len(nodes) != 1 or nodes[0].type != "function_definition":
        return None
    block = nodes[0].child_by_field_name("body")
    return nodes[0] if block is not None and block.start_byte == body else None


def _parses(text: bytes) -> bool:
    """Whether the text of a function that parsed in its file does so by itself."""
    tree = parse(text)
    return not tree.errors and not tree.root.has_error


def _build(previous: Unit, tree: SyntaxTree, node: Node, start: int, limits: Limits) -> LoweredFunction | None:
    """The function lowered, None if its head cannot be understood."""
    builder = FunctionBuilder(previous.path, tree, previous.model, limits, previous.level, previous, same_level=True)
    builder.add(node, Extras(tree).key(node))
    return _moved(builder.found[0], start) if builder.found else None


def _moved(function: LoweredFunction, by: int) -> LoweredFunction:
    source = msgspec.structs.replace(function.source, start=function.source.start + by)
    return msgspec.structs.replace(function, source=source)


def _assemble(previous: Unit, edit: Difference, slot: Slot, found: LoweredFunction | None, after: Slot, error: int) -> Unit:
    by = edit.new_end - edit.old_end
    functions: list[LoweredFunction] = []
    for function in previous.functions:
        if function.cfa.name != slot.name:
            functions.append(function if function.source.start < edit.old_end or by == 0 else _moved(function, by))
    if found is not None:
        functions.append(found)
    functions.sort(key=lambda function: function.source.start)
    broken = [_broken_moved(b, edit) for b in previous.broken if not (slot.start <= b.start < slot.end)]
    if found is None:
        broken.append(BrokenFunction(slot.name.rpartition("::")[2], after.start, after.end, error))
    recomputed = int(found is not None)
    level, digest = previous.level, previous.level_digest
    return assemble(previous.path, level, digest, functions, recomputed, broken, previous, previous.model)


def _broken_moved(broken: BrokenFunction, edit: Difference) -> BrokenFunction:
    by = edit.new_end - edit.old_end if broken.start >= edit.old_end else 0
    error = broken.error + (edit.new_end - edit.old_end if broken.error >= edit.old_end else 0)
    return BrokenFunction(broken.name, broken.start + by, broken.end + by, error)
