"""`everproof cache verify --deep`: what is kept of a program is found again from nothing, by the engine and all provers.

The answers of a check depend on its program and options alone, not on time or load, so any difference is a defect: of what was
kept, or of how it was repaired after edits. Then the store is emptied and the fresh answer kept, and a report says what differs,
with the digests of the files that were checked, so that it can be looked into.
"""

from __future__ import annotations

import msgspec

from analysis.api import Checker
from analysis.cli.check import check, first_of, run
from analysis.cli.command_options import Asked, read_asked
from analysis.cli.failure import Failure
from analysis.cli.json_format import encode_json
from analysis.cli.output import protect, say, write
from analysis.cli.text_format import count
from analysis.model.digest import digest_text
from analysis.model.distribution import everproof_version
from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import Limits
from analysis.model.report_differences import Difference, compared
from analysis.store.database import Store

DIFFERENT = 1


class AuditReport(msgspec.Struct, frozen=True):
    """What is written of a difference. `files` are the digests of the files that were checked."""

    everproof: str
    options: object
    files: dict[str, str]
    differences: tuple[Difference, ...]


def verify_deep(store: Store, paths: tuple[str, ...], report_file: str) -> int:
    """Compares what the store has of a program with what is found from nothing; the exit code. Raises Failure."""
    asked = _asked(store, paths)
    checker = Checker(asked.options, jobs=asked.jobs, store=asked.store)
    checker.open(paths)
    protect(asked, (*paths, *checker.files), [("--report", report_file)])
    checker.check()
    if not checker.resting:
        checker.close()
        raise Failure("The store has no results for this program as it is now: run `everproof check` with the same paths first.")
    kept = checker.prove()
    checker.forget()
    fresh = run(checker, asked)
    differences = tuple(compared(kept, fresh))
    checked = f"{count(len(kept.functions), 'function')} and {count(len(kept.findings), 'finding')}"
    if not differences:
        checker.close()
        write(f"self-audit: {checked} re-checked from scratch, 0 differences\n", None)
        return 0
    store.clear()
    checker.save()
    checker.close()
    say(store.take_messages())
    files = {path: _digest(path) for path in checker.files}
    document = AuditReport(everproof_version(), msgspec.to_builtins(asked.options), files, differences)
    write(encode_json(document), report_file)
    write(
        f"self-audit: {checked} re-checked from scratch, {count(len(differences), 'difference')}; repaired; see {report_file}\n",
        None,
    )
    return DIFFERENT


def _asked(store: Store, paths: tuple[str, ...]) -> Asked:
    """What `everproof check` with these paths asks."""
    context = check.make_context("check", ["--store", store.path, "--", *paths])
    given = {name: value for name, value in context.params.items() if name not in ("paths", "condition", "witness")}
    return read_asked(given, first_of(paths))


def _digest(path: str) -> str:
    try:
        return digest_text(read_file(path, Limits().source_bytes))
    except UnreadableError as error:
        return error.reason
