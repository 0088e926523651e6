"""From the text in the editor to preprocessed C, with the user's own compiler.

The compiler reads the unsaved text on its standard input and runs in the file's folder, so that `#include "x.h"` finds what
it finds in a build. What goes wrong becomes messages, one sentence each; something to parse comes back in any case:

- a header that is not found is replaced by an empty one and the compiler is run again, so that all else still counts;
- the compiler is not given an `#include` of a pipe or a device, nor run where a header includes one;
- a compiler that reports errors but prints text: that text is used;
- a compiler that prints nothing, hangs, or is not there, or an untrusted workspace: the text as it is.

Where a build compiles a file with other flags, too, as for a library and a program, the text is made under each of them. Where
these are one text (`same_text`), the file is one; else nothing is proved of it (`flags_doubt`).
"""

from __future__ import annotations

import math
import os
import re
import tempfile
import time
from collections.abc import Mapping
from shlex import quote
from typing import NamedTuple

from analysis.frontend.compiler.command_line import above, arguments
from analysis.frontend.compiler.compiler_run import Outcome, find_compiler, run_compiler
from analysis.frontend.compiler.irregular_headers import irregular_headers
from analysis.frontend.compiler.meaning_flags import OTHER_FLAGS, flags_doubt
from analysis.frontend.compiler.nearby_headers import folder_with
from analysis.frontend.compiler.overlay import Mirror, are_rarely_included, included, shared_mirror, unsaved
from analysis.frontend.compiler.stand_ins import Missing, StandIns
from analysis.frontend.text.difference import Difference
from analysis.frontend.text.line_map import LineMap, escape, printable, with_even_markers
from analysis.frontend.text.macros import Macros, read_macros, without_definitions
from analysis.frontend.text.same_text import is_same_text
from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.options import Options
from analysis.model.report import Message
from analysis.model.unit_flags import UnitFlags, shown

_BOM = b"\xef\xbb\xbf"
_MOST_MISSING = 40  # headers; each costs one more run of the compiler
_MOST_MESSAGES = 20
_MOST_ROUNDS = 3  # until all unsaved headers are found in the mirror
_ERROR = re.compile(r"^(?P<path>[^\n]*?):(?P<line>\d{1,9}):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
# gcc says this where the text ends; where a macro's arguments reach into a header, the place it gives is one by chance
_MISPLACED = re.compile(r"^(?P<path>[^\n:]*):[^\n]*error: (?=unterminated argument list )", re.MULTILINE)
_REPORTS = "The preprocessor reports"
_CRASHED = "internal compiler error"
_MOST_CRASHES = 4
_MISSING = re.compile(r"^'?(?P<name>[^'\n]+?)'?(?:: No such file or directory| file not found)")

# all but pragmas, which whoever reads the text looks at; also in the spellings of C11 6.4.6p3 and 5.2.1.1
_DIRECTIVE = re.compile(rb"^(?:[^\n]*\*/)?[ \t\f\v]*(?:#|%:|\?\?=)(?![ \t]*pragma\b)", re.MULTILINE)
_LEFT_OUT = "text that the preprocessor could not read"
# errors in these lines do not depend on what else is defined or found: whoever types has not finished them
_DEPENDS = rb"if|ifdef|ifndef|elif|elifdef|elifndef|else|endif|include|include_next|import|embed|error"
_UNFINISHED = re.compile(rb"[ \t]*#[ \t]*+(?!(?:" + _DEPENDS + rb")\b)")
_UNIVERSAL = re.compile(rb"""\"(?:[^\"\\\n]++|\\.)*+\"?+|'(?:[^'\\\n]++|\\.)*+'?+|\\U(?P<code>[0-9a-f]{8})""")


class Change(NamedTuple):
    """How a text came out of another, `of`: what was replaced by what. Beside that, numbers in line markers may be others."""

    of: bytes
    replaced: Difference


class Preprocessed(NamedTuple):
    """A preprocessed file.

    `path` is as the user gave it; `source` is the user's text, without a byte order mark, and `text` what the
    preprocessor made of it. `dependencies` are the absolute paths of the headers. `ms` is the time it took in milliseconds.
    `raw`: no preprocessor could be used and `text` is `source`. `folder`: from where relative paths in the line map count.
    `macros` are known where they have been asked for (`reprocess`). `in_comment` is the number of the line with a comment that
    hides what follows (0: none is known). `whole`: the text before something was left open that hides the rest of a
    function, as long as that is so. `change`: how the text came out of one before, if it is known.
    `flags_doubt`: why the flags may give the text another meaning (`meaning_flags`).
    """

    path: str
    source: bytes
    text: bytes
    line_map: LineMap
    messages: tuple[Message, ...]
    dependencies: tuple[str, ...]
    ms: float
    raw: bool
    folder: str
    macros: Macros | None = None
    in_comment: int = 0
    whole: Preprocessed | None = None
    change: Change | None = None
    flags_doubt: str = ""


def preprocess(
    path: str,
    text: bytes | None,
    flags: UnitFlags,
    options: Options,
    overlay: Mapping[str, bytes] | None = None,
    *,
    with_macros: bool = False,
) -> Preprocessed:
    """Preprocesses a file. `text` None: as it is on disk. `overlay` maps absolute paths to the unsaved texts of all files.
    `with_macros`: the same run of the compiler lists the macros, if it can, for edits that come (`reprocess`).

    Never raises for anything that a user can cause: a file that cannot be used gives an empty text and a message.
    """
    began = time.perf_counter()
    absolute = os.path.abspath(path)
    source, problem = read_source(path, text, options.limits.source_bytes)
    run = _Run(path, absolute, flags, options)
    macros: Macros | None = None
    texts = overlay or {}
    if problem is not None:
        run.messages.append(problem)
    elif source.strip():
        run, macros = _done(run, source, texts, lists_macros=with_macros)
    raw = run.output is None
    result = source if run.output is None else with_even_markers(run.output)
    line_map = LineMap(result, printable(path), raw)
    folder = os.path.dirname(absolute)
    why, read = flags_doubt(flags, options), line_map.headers
    if flags.others and not why and raw:
        why = OTHER_FLAGS if source.strip() else ""
    elif flags.others and not why:
        others = [_under(other, run, source, texts) for other in flags.others]
        read = (*read, *(header for other in others for header in LineMap(other.output or b"", line_map.main).headers))
        is_whole = not any(one.messages for one in (run, *others))
        why = "" if is_whole and is_same_text(folder, [one.output for one in (run, *others)]) else OTHER_FLAGS
    dependencies = tuple(dict.fromkeys(os.path.normpath(os.path.join(folder, os.fsdecode(name))) for name in read))
    ms = (time.perf_counter() - began) * 1000
    return Preprocessed(path, source, result, line_map, tuple(run.messages), dependencies, ms, raw, folder)._replace(
        macros=macros, flags_doubt=why
    )


def _done(run: _Run, source: bytes, overlay: Mapping[str, bytes], *, lists_macros: bool) -> tuple[_Run, Macros | None]:
    """`run`, or one that gives the same text, perhaps with another layout, after it was done; and the macros if asked for and
    nothing is complained of."""
    if not lists_macros or run.flags.others:
        run.preprocess(source, overlay)
        return run, None
    listing = _Run(run.path, os.path.join(run.folder, os.path.basename(run.path)), run.flags, run.options, ("-dD",))
    listing.preprocess(source, overlay)
    dumped = listing.output
    text = None if dumped is None else without_definitions(dumped)
    if dumped is None or text is None or listing.messages:  # a call of a macro that has no end is printed on another line
        run.preprocess(source, overlay)
        return run, None
    listing.output = text
    return listing, read_macros(dumped, source)


def _under(flags: UnitFlags, run: _Run, source: bytes, overlay: Mapping[str, bytes]) -> _Run:
    """The same under other flags."""
    other = _Run(run.path, os.path.join(run.folder, os.path.basename(run.path)), flags, run.options)
    other.preprocess(source, overlay)
    return other


def doubt(preprocessed: Preprocessed) -> str:
    """Why the text may be another one than a compiler has: directives are not carried out, or a header was not found, or the
    preprocessor reports an error. An empty string if it is the same. A message that something was left out is a warning; an
    error says that nothing of the file is used. A comment or a line such as `#define` that is not finished yet is no text of
    any compiler's: it says nothing against the rest. And why its flags may give it another meaning."""
    if preprocessed.flags_doubt:
        return preprocessed.flags_doubt
    if preprocessed.raw:
        return "directives that were not preprocessed" if _DIRECTIVE.search(preprocessed.text) else ""
    return _LEFT_OUT if any(_is_left_out(message, preprocessed) for message in preprocessed.messages) else ""


def reports_error(preprocessed: Preprocessed) -> bool:
    """Whether the preprocessor reports an error other than that a header is missing: no compiler takes the text."""
    return any(message.text.startswith(_REPORTS) for message in preprocessed.messages)


def _is_left_out(message: Message, preprocessed: Preprocessed) -> bool:
    if message.severity != "warning":
        return False
    if message.path != preprocessed.path or not message.line:
        return True
    line = preprocessed.source.split(b"\n")[message.line - 1 : message.line]
    return not (message.text.endswith("unterminated comment") or (line and _UNFINISHED.match(line[0])))


def definitions(path: str, source: bytes, flags: UnitFlags, options: Options, overlay: Mapping[str, bytes]) -> bytes | None:
    """The preprocessed text with all definitions of macros in it (`-dD`); None if the preprocessor complains of anything."""
    run = _Run(path, os.path.abspath(path), flags, options, ("-dD",))
    run.preprocess(source, overlay)
    return None if run.messages else run.output


def read_source(path: str, text: bytes | None, limit: int) -> tuple[bytes, Message | None]:
    """The text to work on, and why it cannot be used, if so."""
    try:
        if text is None:
            text = read_file(path, limit)
    except UnreadableError as error:
        return b"", Message("error", path, f"The file is not checked: {error.reason}.")
    if len(text) > limit:
        return b"", Message("error", path, f"The file is not checked: it is larger than {limit:,} bytes.")
    if b"\0" in text:
        return b"", Message("error", path, "The file holds NUL bytes, so it is not C source text and is not checked.")
    return text.removeprefix(_BOM), None


class _Run:
    """The runs of the compiler that it takes for one text. `output` stays None when the text must be used as it is."""

    def __init__(self, path: str, absolute: str, flags: UnitFlags, options: Options, dump: tuple[str, ...] = ()) -> None:
        self.path = path
        self._dump = dump
        self.folder = os.path.dirname(absolute)
        self.flags = flags
        self.options = options
        self.messages: list[Message] = []
        self.output: bytes | None = None
        self._bypassed = False
        self._included: set[str] = set()  # in runs without a mirror
        self._lines = 0
        self._above = 0  # lines of what is put before the text
        self._deadline = math.inf  # of the runs with the same mirror

    def preprocess(self, source: bytes, overlay: Mapping[str, bytes]) -> None:
        if not self.options.trusted:
            self._say("note", "No compiler is run in an untrusted workspace: macros and headers are not expanded.")
            return
        if self.options.compiler == "none":
            self._say("note", "Preprocessing is switched off: macros and headers are not expanded.")
            return
        compiler = find_compiler(self.options.compiler)
        if compiler is None:
            wanted = (
                f"The compiler {self.options.compiler!r} was not found" if self.options.compiler else "No C compiler was found"
            )
            self._say("warning", f"{wanted}: install gcc or clang, or set the compiler; macros and headers are not expanded.")
            return
        headers = [folder.path for folder in self.flags.folders]
        lines = source.split(b"\n")
        for header in irregular_headers(source, self.folder, headers, overlay):
            why = f"The header {shown(header.name)} is not read: {header.kind}"
            if not header.line:
                self._fall_back(f"{why} (included by {shown(os.path.basename(header.by))})")
                return
            self._say("warning", f"{why}; what it declares is not known.", header.line)
            lines[header.line - 1] = b""
        text = b'# 1 "%s"\n' % escape(printable(self.path)) + b"\n".join(lines)
        self._lines = len(lines)
        said, dirty = [*self.messages], unsaved(overlay)
        if are_rarely_included(dirty):
            self._start_clock()
            self._with_stand_ins(compiler, self._with_flags(text, overlay, None), None)
            if self._included.isdisjoint(map(os.path.realpath, dirty)):
                return
        mirror = shared_mirror()
        folders = [self.folder, *(folder.path for folder in self.flags.folders)]
        folders += [os.path.dirname(os.path.join(forced.folder, forced.name)) for forced in self.flags.forced]
        for _ in range(_MOST_ROUNDS):
            self.messages, self._bypassed = [*said], False
            with mirror.holding(dirty, folders):
                self._start_clock()  # what others wait for here, and what links take, is not the compiler's
                self._with_stand_ins(compiler, self._with_flags(text, overlay, mirror), mirror)
            if not self._bypassed:
                break

    def _with_flags(self, text: bytes, overlay: Mapping[str, bytes], mirror: Mirror | None) -> bytes:
        """The text below the macros and files that the flags say come first."""
        first = above(self.flags, overlay.keys(), _itself if mirror is None else mirror.inside)
        self._above = first.lines
        for name, problem in first.left_out:
            self._say("warning", f"The compiler flags include {shown(name)}, but {problem}; what it declares is not known.")
        return first.text + text

    def _with_stand_ins(self, compiler: str, text: bytes, mirror: Mirror | None) -> None:
        """Runs the compiler until no header is missing."""
        outcome = self._compile(compiler, text, mirror, None)
        missing = _missing(outcome)
        if missing is None:
            self._take(outcome, compiler)
            return
        with tempfile.TemporaryDirectory(prefix="everproof-") as folder:
            stand_ins = StandIns(folder)
            stand_ins.add_included(text)
            tried: list[Missing] = []
            while missing is not None and missing not in tried and len(tried) < _MOST_MISSING and self._seconds() > 0:
                tried.append(missing)
                if not stand_ins.add(missing.name):
                    if not self._is_main(missing.path):
                        break
                    self._say_missing(missing)
                    text = _without_include(text, missing, self._above)
                outcome = self._compile(compiler, text, mirror, stand_ins)
                missing = _missing(outcome)
            for used in stand_ins.used(outcome.stdout):
                self._say_missing(used)
            self._take(outcome._replace(stdout=stand_ins.strip(outcome.stdout)), compiler)
        self.messages.sort(key=lambda message: message.line)

    def _say_missing(self, missing: Missing) -> None:
        here = self._is_main(missing.path)
        where = "" if here else f" (included by {missing.path})"
        text = f"The header '{missing.name}' was not found{where}; what it declares is not known."
        there = folder_with(missing.name, os.path.abspath(os.path.join(self.folder, self.path)))
        if there is not None:
            text += f" It is found with `-I {quote(there)}` (in an editor: the setting `includeDirs`)."
        self._say("warning", text, missing.line if here else 0, syntax=here)  # its name may still be typed

    def _compile(self, compiler: str, text: bytes, mirror: Mirror | None, stand_ins: StandIns | None) -> Outcome:
        inside = _itself if mirror is None else mirror.inside
        last = None if stand_ins is None else stand_ins.folder
        command = arguments(compiler, self.flags, self.options.data_model, self._dump, inside, last)
        for _ in range(_MOST_CRASHES):  # whether gcc crashes can change from run to run: what it reads then are other addresses
            outcome = run_compiler(command, inside(self.folder), text, self._seconds(), self.options.limits)
            if _CRASHED not in outcome.stderr:
                break
        if mirror is None:
            self._included |= included(outcome.stdout, self.folder)
        else:
            self._bypassed = mirror.bypassed(outcome.stdout, self.folder) or self._bypassed
            outcome = outcome._replace(stdout=mirror.strip(outcome.stdout), stderr=outcome.stderr.replace(mirror.root, ""))
        return outcome._replace(stderr=_MISPLACED.sub(self._without_place, outcome.stderr))

    def _without_place(self, error: re.Match[str]) -> str:
        return error.group() if self._is_main(error["path"]) else f"{self.path}:0: error: "

    def _start_clock(self) -> None:
        self._deadline = time.monotonic() + self.options.limits.preprocess_seconds

    def _seconds(self) -> float:
        """The time that is left."""
        return max(0.0, self._deadline - time.monotonic())

    def _take(self, outcome: Outcome, compiler: str) -> None:
        """Uses the output if it is of use, and says what the compiler complained about."""
        name = os.path.basename(compiler)
        limits = self.options.limits
        if outcome.ended == "timeout":
            self._fall_back(f"{name} did not finish preprocessing within {limits.preprocess_seconds:g} seconds")
        elif outcome.ended == "too much output":
            self._fall_back(f"Preprocessing gives more than {limits.preprocessed_bytes:,} bytes")
        elif outcome.ended == "too much memory":
            self._fall_back(f"{name} needs more than {limits.preprocess_megabytes:,} MB of memory to preprocess it")
        elif outcome.ended == "not started":
            self._fall_back(f"{name} could not be started ({outcome.stderr})")
        else:
            errors = list(_ERROR.finditer(outcome.stderr))
            if outcome.status != 0 and not self._is_useful(outcome):
                line = self._line_of(errors[0]) if errors else 0
                self._fall_back(f"{name} failed ({_first_line(outcome)})", line, syntax=True)
                return
            for error in errors[:_MOST_MESSAGES]:
                place = "" if self._is_main(error["path"]) else f" in {error['path']}, line {error['line']}"
                said = f"{_REPORTS}{place}: {error['text'].strip()}"
                self._say("warning", said, self._line_of(error), syntax=True)
            self.output = _with_plain_names(outcome.stdout)
            if outcome.status != 0 and not errors:
                self._say("warning", f"{name} failed ({_first_line(outcome)}); what it printed is used.")

    def _line_of(self, error: re.Match[str]) -> int:
        """The line of the file itself that an error is about; 0 if it is elsewhere, or gcc invented it for the end."""
        number = int(error["line"]) if self._is_main(error["path"]) else 0
        return number if number <= self._lines else 0

    def _is_useful(self, outcome: Outcome) -> bool:
        """Whether a failing compiler went through the whole text: fatal errors end the output where they are met."""
        return bool(outcome.stdout.strip()) and outcome.status > 0 and "compilation terminated" not in outcome.stderr

    def _is_main(self, path: str) -> bool:
        return path in (self.path, "<stdin>")

    def _fall_back(self, why: str, line: int = 0, *, syntax: bool = False) -> None:
        self._say("warning", f"{why}; the text is used as it is, without expanding macros and headers.", line, syntax=syntax)

    def _say(self, severity: str, text: str, line: int = 0, *, syntax: bool = False) -> None:
        message = Message("note" if severity == "note" else "warning", self.path, text, line, syntax=syntax)
        if message not in self.messages:
            self.messages.append(message)


def _itself(path: str) -> str:
    return path


def _with_plain_names(text: bytes) -> bytes:
    """Returns the text with identifiers as the user wrote them. In identifiers, gcc spells `ä` as `\\U000000e4`."""

    def plain(match: re.Match[bytes]) -> bytes:
        code = int(match["code"], 16) if match["code"] else 0
        return chr(code).encode() if 0x80 <= code <= 0x10FFFF and not 0xD800 <= code < 0xE000 else match.group()

    return _UNIVERSAL.sub(plain, text) if b"\\U00" in text else text


def _missing(outcome: Outcome) -> Missing | None:
    """The header that the compiler stopped at because it did not find it."""
    if outcome.ended != "exited" or outcome.status == 0:
        return None
    for error in _ERROR.finditer(outcome.stderr):
        match = _MISSING.match(error["text"])
        if match is not None:
            return Missing(match["name"], error["path"], int(error["line"]))
    return None


def _without_include(text: bytes, missing: Missing, above: int) -> bytes:
    """The text with an `#include` line blanked; lines count from 1 after the marker, above which `above` lines are."""
    lines = text.split(b"\n")
    at = above + missing.line
    if at < len(lines) and os.fsencode(missing.name) in lines[at]:
        lines[at] = b""
    return b"\n".join(lines)


def _first_line(outcome: Outcome) -> str:
    """What a message quotes of a failure: the first error, else the first line, else the exit status."""
    error = _ERROR.search(outcome.stderr)
    lines = [error["text"]] if error else [line for line in outcome.stderr.splitlines() if line.strip()]
    return lines[0].strip()[:200] if lines else f"exit status {outcome.status}"
