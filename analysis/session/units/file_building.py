"""From one file to its lowered unit: preprocess, parse, lower. The one place where the session meets the front end.

`build` depends on nothing but its arguments and the files the preprocessor reads, so it can run in another process.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

import msgspec

from analysis.cfa.building.body_edit import edit_body
from analysis.cfa.building.unit import build_unit
from analysis.frontend.compiler.meaning_flags import has_signed_char
from analysis.frontend.syntax.parser import parse
from analysis.frontend.text.preprocess import Preprocessed, doubt, preprocess
from analysis.frontend.text.reprocess import reprocess, with_macros
from analysis.model.c_types import ILP32, LP64, DataModel
from analysis.model.limits import TOKENS
from analysis.model.options import Options
from analysis.model.report import Message
from analysis.model.unit_flags import UnitFlags
from analysis.session.units.built import Built
from analysis.session.units.system_headers import of_the_system
from analysis.session.units.unclosed import opened_comment, with_the_rest
from analysis.session.units.unfinished import unfinished, without

_KINDS = bytes(ord("w" if chr(n).isalnum() or chr(n) == "_" or n > 127 else " " if chr(n).isspace() else ".") for n in range(256))
"""Each byte as that of a word, white space or a sign."""
_log = logging.getLogger("everproof.session")


def build(
    path: str,
    text: bytes | None,
    flags: UnitFlags,
    options: Options,
    overlay: Mapping[str, bytes],
    previous: Built | None = None,
    only_text: bool = False,
    with_macros: bool = False,
) -> Built:
    """Builds the unit of the file at `path`; `text` is its unsaved text, None for the disk's.

    `previous` is the unit's last revision: functions whose text did not change are taken from it. `only_text`: nothing but
    the text of the file is another than it was then. `with_macros`: edits will follow, for which macros are asked for at once.
    """
    if previous is not None and only_text:
        opened = opened_comment(previous, text, options)
        preprocessed = opened or with_the_rest(previous, reprocess(previous.preprocessed, text, flags, options, overlay))
    else:
        preprocessed = preprocess(path, text, flags, options, overlay, with_macros=with_macros)
    if previous is not None and previous.preprocessed.text == preprocessed.text and previous.unit.model == _model(flags, options):
        built = msgspec.structs.replace(previous, preprocessed=preprocessed, lowered=0, parse_ms=0.0, lower_ms=0.0)
        return _with_doubt(built)
    if _tokens(preprocessed.text) > TOKENS:
        reason = f"The file is not checked: with its headers it has more than {TOKENS:,} tokens."
        return _nothing_of(path, preprocessed, options, reason, flags)
    try:
        return _with_doubt(_lower(path, preprocessed, options, previous, flags))
    except Exception as error:  # a defect of ours on one file must not keep the others from being checked
        _log.info("A defect in reading %s", path, exc_info=True)
        reason = f"The file is not checked because of a defect of Everproof ({type(error).__name__}: {error}); please report it."
        return _nothing_of(path, preprocessed, options, reason.encode("utf-8", "backslashreplace").decode(), flags)


def _model(flags: UnitFlags, options: Options) -> DataModel:
    """The data model that a file is compiled for."""
    model = ILP32 if options.data_model == "ILP32" else LP64
    return msgspec.structs.replace(model, has_signed_char=has_signed_char(flags))


def _with_doubt(built: Built) -> Built:
    """The same, with why the unit's text may be another one for a compiler."""
    why = doubt(built.preprocessed)
    unit = built.unit
    return built if unit.doubt == why else msgspec.structs.replace(built, unit=msgspec.structs.replace(unit, doubt=why))


def _nothing_of(path: str, preprocessed: Preprocessed, options: Options, reason: str, flags: UnitFlags) -> Built:
    """The unit of a file of which nothing is used, for a reason."""
    messages = (*preprocessed.messages, Message("error", path, reason))
    return _lower(path, preprocessed._replace(text=b"", messages=messages), options, None, flags)


def _tokens(text: bytes) -> int:
    """About how many tokens a text has; counted without looking at each in turn, and too many rather than too few."""
    if len(text) <= TOKENS:
        return 0
    kinds = text.translate(_KINDS)
    return kinds.count(b".") + kinds.count(b"w ") + kinds.count(b"w.")


def make_ready(built: Built, flags: UnitFlags, options: Options, overlay: Mapping[str, bytes]) -> Built:
    """The same, with the macros of the file known, which `build` for another text would else ask the compiler for, if it says."""
    return msgspec.structs.replace(built, preprocessed=with_macros(built.preprocessed, flags, options, overlay))


def _lower(path: str, preprocessed: Preprocessed, options: Options, previous: Built | None, flags: UnitFlags) -> Built:
    start = time.perf_counter()
    model = _model(flags, options)
    if previous is not None and previous.unit.model == model:
        edited = _edit_body(preprocessed, options, previous, start)
        if edited is not None:
            return edited
    open_ = [] if previous is None or preprocessed.raw else unfinished(previous, preprocessed.text)
    tree = parse(without(preprocessed.text, open_), None if previous is None else previous.tree)
    parsed = time.perf_counter()
    before = None if previous is None else previous.unit
    unit = build_unit(path, tree, model, before, of_the_system(preprocessed, flags), options.limits)
    if open_:
        unit = msgspec.structs.replace(unit, broken=(*unit.broken, *open_))
    done = time.perf_counter()
    times = ((parsed - start) * 1000, (done - parsed) * 1000)
    return Built(preprocessed, unit, len(tree.errors) + len(open_), unit.work.recomputed, *times, tree)


def _edit_body(preprocessed: Preprocessed, options: Options, previous: Built, start: float) -> Built | None:
    """The unit after an edit inside one function, None if it is more than that. Its time counts as lowering."""
    before = previous.preprocessed
    if before.raw or preprocessed.raw:
        return None
    change = preprocessed.change
    replaced = change.replaced if change is not None and change.of is before.text else None
    edit = edit_body(previous.unit, previous.slots, before.text, preprocessed.text, options.limits, replaced)
    if edit is None:
        return None
    errors = previous.parse_errors + sum(slot.errors for slot in edit.slots) - sum(slot.errors for slot in previous.slots)
    ms = (time.perf_counter() - start) * 1000
    return Built(preprocessed, edit.unit, errors, edit.unit.work.recomputed, 0.0, ms, previous.tree, edit.slots)
