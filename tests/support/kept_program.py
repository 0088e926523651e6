"""A small program that is checked with a store and without one, and what of the two reports must be the same."""

from __future__ import annotations

from pathlib import Path

import msgspec

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Report, Times, Work
from analysis.store.database import Store

HEADER = "#define ZERO 0\nstatic inline int get(int *p)\n{\n    return *p;\n}\n"
ONE = '#include "get.h"\nint one(int *p)\n{\n    return get(p);\n}\n\nint two(void)\n{\n    return 2;\n}\n'
OTHER = (
    "int one(int *p);\nint two(void);\nint main(int argc, char **argv)\n{\n    int x = 1, *q = &x;\n"
    "    if (argc > two())\n        return one(q);\n    return one(0);\n}\n"
)
FILES = ["one.c", "other.c"]


def write_program() -> None:
    Path("get.h").write_text(HEADER)
    Path("one.c").write_text(ONE)
    Path("other.c").write_text(OTHER)


def opened(store: Store | None = None, options: Options = Options(), files: list[str] = FILES) -> Checker:  # noqa: B008 - immutable
    checker = Checker(options, store=Store("kept.everproof") if store is None else store)
    checker.open(files)
    return checker


def checked_and_saved(options: Options = Options()) -> Report:  # noqa: B008 - immutable
    checker = opened(options=options)
    report = checker.check()
    assert checker.save()
    return report


def from_scratch(options: Options = Options()) -> Report:  # noqa: B008 - immutable
    checker = Checker(options)
    checker.open(FILES)
    return checker.check()


def answer(report: Report, traces: bool = True) -> Report:
    """What must not depend on a store: all but the work and the times. Traces of a repaired graph can be other ones."""
    functions = tuple(
        msgspec.structs.replace(f, verdicts={rule: msgspec.structs.replace(v, ms=0.0) for rule, v in f.verdicts.items()})
        for f in report.functions
    )
    findings = report.findings if traces else tuple(msgspec.structs.replace(f, trace=()) for f in report.findings)
    return msgspec.structs.replace(report, functions=functions, findings=findings, work=Work(), times=Times(), rechecked=())


def recomputed(report: Report) -> tuple[int, int, int]:
    work = report.work
    return work.configurations.recomputed, work.derivations.recomputed, work.functions.recomputed


def reused(report: Report) -> tuple[int, int, int]:
    work = report.work
    return work.configurations.reused, work.derivations.reused, work.functions.reused
