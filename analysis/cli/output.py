"""Where a report goes: standard output or a file; messages go to standard error."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Sequence

from analysis.cli.baseline import Known
from analysis.cli.closing import NobodyReadsError, let_go
from analysis.cli.command_options import Asked
from analysis.cli.failure import Failure
from analysis.cli.github_format import github_report
from analysis.cli.json_format import encode_json, report_document
from analysis.cli.junit_format import junit_report
from analysis.cli.sarif_format import sarif_document
from analysis.cli.text_format import message_line, text_report
from analysis.frontend.compiler.compiler_flags import DATABASE_NAME
from analysis.model.report import Message, Report
from analysis.model.settings import FILE_NAME
from analysis.rules.automaton import Rule

_MOST = 20  # warnings: a folder without its headers has hundreds
_TEXTS = (".c", ".h", ".i", ".inc", ".def", ".y", ".l", ".s", ".cc", ".cpp", ".cxx", ".hh", ".hpp")
_READ = (*_TEXTS, ".yaml", ".yml")
_SETTINGS = (DATABASE_NAME, FILE_NAME)


def render(report: Report, asked: Asked, rules: Sequence[Rule], *, known: Known | None, successful: bool) -> str:
    """The report in the format asked for; `known`: what a baseline says of it, if one was given."""
    if asked.format == "json":
        return encode_json(report_document(report))
    if asked.format == "sarif":
        return encode_json(sarif_document(report, rules, successful, known))
    withheld = 0 if known is None else len(known.withheld)
    if asked.format == "github":
        return github_report(report, known=withheld)
    if asked.format == "junit":
        return junit_report(report)
    return text_report(report, stats=asked.stats, known=withheld)


def write(text: str, path: str | None) -> None:
    """Writes the text to the file, or to standard output; raises Failure when the file cannot be written."""
    if path is None:
        left = memoryview(text.encode("utf-8", "backslashreplace"))
        try:
            while left:  # Python says so, and nothing else, when only a part could be written: the next time it fails
                left = left[sys.stdout.buffer.write(left) :]
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise NobodyReadsError from None
        except OSError as error:
            let_go(1)  # of what is left in its buffer
            raise Failure(f"Standard output cannot be written: {error.strerror}.") from None
        return
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}.") from None


def protect(asked: Asked, files: Iterable[str], written: Iterable[tuple[str, str | None]] = ()) -> None:
    """Raises Failure where a file that is to be written would replace one that is checked (`files`), other C source text, what
    says how to check it, or another file that is to be written, and where one cannot be written, for the report of a long
    check would be lost. `written` are options with the files that they name."""
    read = {os.path.realpath(path) for path in (*files, asked.options.compile_commands) if path is not None}
    taken: dict[str, str] = {}
    for option, path in (
        ("--output", asked.output),
        ("--write-baseline", asked.write_baseline),
        ("--certificate", asked.certificate),
        *written,
    ):
        if path is None:
            continue
        _demand_writable(path)
        if os.path.exists(path) and not os.path.isfile(path):  # a terminal, or /dev/null, twice if you like
            continue
        real = os.path.realpath(path)
        suffixes = _TEXTS if option == "--witness" else _READ  # a witness is YAML
        if os.path.isfile(path) and (real in read or path.lower().endswith(suffixes) or os.path.basename(real) in _SETTINGS):
            raise Failure(f"{option} {path} would replace a file that is read: name another file.")
        if taken.setdefault(real, option) != option:
            raise Failure(f"{taken[real]} and {option} name the same file, {path}: name two.")


def _demand_writable(path: str) -> None:
    """Raises Failure where the file cannot be opened for writing, as far as that can be seen without creating it."""
    there = os.path.exists(path)
    target = path if there else os.path.dirname(os.path.realpath(path))
    reason = 0
    if there and os.path.isdir(path):
        reason = errno.EISDIR
    elif not os.path.isdir(target) and not there:
        reason = errno.ENOENT
    elif not os.access(target, os.W_OK):
        reason = errno.EACCES
    if reason:
        raise Failure(f"{path} cannot be written: {os.strerror(reason)}.")


def say(messages: Iterable[Message]) -> None:
    """Writes messages to standard error, each once: all errors, and the first of many warnings."""
    once = list(dict.fromkeys(messages))
    warnings = [message for message in once if message.severity != "error"]
    left_out = set(warnings[_MOST:]) if len(warnings) > _MOST + 1 else set[Message]()
    lines = [message_line(message) for message in once if message not in left_out]
    if left_out:
        lines.append(f"warning: {len(left_out)} more warnings are not printed; `everproof check --format json` has all of them.")
    try:
        for line in lines:
            sys.stderr.write(line.encode("utf-8", "backslashreplace").decode() + "\n")
        sys.stderr.flush()
    except BrokenPipeError:
        raise NobodyReadsError from None
