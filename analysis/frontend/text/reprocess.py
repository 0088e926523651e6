"""Preprocessing a file again when nothing but its own text changed: without the compiler where an edit allows it."""

from __future__ import annotations

import time
from collections.abc import Mapping

from analysis.frontend.text.blank_edit import Blank, blank_edit, move_lines
from analysis.frontend.text.line_edit import Edit, edit_lines
from analysis.frontend.text.macros import Macros, read_macros
from analysis.frontend.text.preprocess import Change, Preprocessed, definitions, preprocess, read_source
from analysis.frontend.text.source_lines import Lines, edited_lines, open_comment, tokens_of
from analysis.model.options import Options
from analysis.model.unit_flags import UnitFlags


def reprocess(
    before: Preprocessed, text: bytes | None, flags: UnitFlags, options: Options, overlay: Mapping[str, bytes]
) -> Preprocessed:
    """What `preprocess` gives for a file that was preprocessed to `before`, with the same flags, options, headers and paths of
    unsaved texts. The layout of lines that were copied by the rules of `line_edit` may differ."""
    began = time.perf_counter()
    source, problem = read_source(before.path, text, options.limits.source_bytes)
    if problem is not None or not source.strip() or before.raw:
        return preprocess(before.path, text, flags, options, overlay)
    lines = edited_lines(before.source, source)
    if lines is not None and _is_inside_comment(before, lines):
        return before._replace(source=source, ms=(time.perf_counter() - began) * 1000)
    if flags.others:  # a line that is edited here need not be one under other flags
        return preprocess(before.path, text, flags, options, overlay)
    base = before.whole or before
    blank = blank_edit(base.source, source)
    if blank is not None and blank.in_comment and not blank.by:
        return base._replace(source=source, ms=(time.perf_counter() - began) * 1000, in_comment=0)
    by_lines = _is_of_lines(base, source, blank)
    if base.messages or not (by_lines or blank is not None):
        return preprocess(before.path, text, flags, options, overlay)
    macros = base.macros or _read(base, flags, options, overlay)  # of the text before: the edited one may not be C any more
    if macros is None:
        return preprocess(before.path, text, flags, options, overlay)
    edit = _edited(base, source, macros, blank, by_lines=by_lines)
    if edit is None:
        return preprocess(before.path, text, flags, options, overlay)._replace(macros=macros)
    ms = (time.perf_counter() - began) * 1000
    change = None if edit.replaced is None else Change(base.text, edit.replaced)
    now = base._replace(source=source, text=edit.text, line_map=edit.line_map, ms=ms, macros=macros, in_comment=0)
    return now._replace(change=change)


def _edited(base: Preprocessed, source: bytes, macros: Macros, blank: Blank | None, *, by_lines: bool) -> Edit | None:
    """The text edited, if that can be done. What is copied line by line keeps the layout that the preprocessor would give it, on
    which the next edit can go on; so that comes first."""
    edit = edit_lines(base.source, base.text, base.line_map, source, macros) if by_lines else None
    if edit is None and blank is not None:
        edit = move_lines(base.text, base.line_map, source, blank, macros)
    return edit


def _is_of_lines(base: Preprocessed, source: bytes, blank: Blank | None) -> bool:
    """Whether the edit is one of lines that do not affect the directives of the file."""
    lines = edited_lines(base.source, source)
    return lines is not None and (blank is None or not blank.in_comment) and _has_only_text(base.source, lines)


def _is_inside_comment(before: Preprocessed, lines: Lines) -> bool:
    """Whether an edited line with an open comment differs only inside the comment, and still does not end it."""
    if lines.first != before.in_comment or len(lines.old) != 1 or len(lines.new) != 1:
        return False
    opened = open_comment(lines.old[0])
    return opened is not None and opened == open_comment(lines.new[0]) and not lines.new[0].rstrip().endswith(b"\\")


def _has_only_text(source: bytes, lines: Lines) -> bool:
    """Whether the lines do not affect the directives of the file, before and after the edit: they contain no
    directive, and nothing that hides or reveals one."""
    above = source.split(b"\n", lines.first - 1)[lines.first - 2 : lines.first - 1] if lines.first > 1 else []
    copied = [tokens_of(line) for line in (*above, *lines.old, *lines.new)]
    edited = copied[len(above) :]
    return None not in copied and not any(line is None or line.is_directive for line in edited)


def with_macros(preprocessed: Preprocessed, flags: UnitFlags, options: Options, overlay: Mapping[str, bytes]) -> Preprocessed:
    """The same, with the macros that `reprocess` needs, if the compiler lists them."""
    if flags.others or preprocessed.raw or preprocessed.messages or preprocessed.whole is not None:
        return preprocessed
    return preprocessed._replace(macros=_read(preprocessed, flags, options, overlay))


def _read(before: Preprocessed, flags: UnitFlags, options: Options, overlay: Mapping[str, bytes]) -> Macros | None:
    found = definitions(before.path, before.source, flags, options, overlay)
    return None if found is None else read_macros(found, before.source)
