"""Audits in idle time, while a program is typed at: `python -m benchmarks.self_audits [PROGRAM] [--bursts N] [--hours H]`.

The checker process's own code (`analysis.worker.service`), in this process, with the server's own settings and a store; only the
clock of audits is simulated. The time of `--hours` consists of so many bursts of typing, each followed by a pause of over a
minute, in which provers end and the audit runs, in the process that it has in an editor. In a burst, files of the program are
edited by `benchmarks.seeded_edits` (`--edits` of them, some of which stay and some of which are taken back), with a check after
each edit.

The table has the audits, what they have compared, the differences, and the seconds that an audit takes. The exit status is 1 if
there is a difference.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import get_args

from analysis.model.options import Engine
from analysis.model.settings import Settings
from analysis.wire import AuditDone, Check, Configure, Edit, Event
from analysis.worker.auditing.self_audit import IDLE, SelfAudit
from analysis.worker.service import Service
from benchmarks.programs import CACHE, PROGRAMS
from benchmarks.real_sources import PROJECTS, provide
from benchmarks.seeded_edits import seeded_edits
from benchmarks.sources import FetchError

_LOOK_AGAIN = 0.2  # seconds


class Session:
    """A checker process whose clock is simulated."""

    def __init__(self, folder: Path, store: Path, engine: Engine) -> None:
        self.said: list[AuditDone] = []
        self.seconds: list[float] = []
        self._news = threading.Event()
        self._now = 0.0
        self._generation = 0
        self._service = Service(self._take, lambda: False, self._news.set, now=lambda: time.monotonic() + self._now)
        self._service.audit = SelfAudit(self._news.set, lambda: self._now, seed=0)
        self._texts: dict[str, str] = {}
        options = Settings(engine=engine).options((str(folder),))
        self._service.accept(Configure(self._next(), options, (str(folder),), str(store), self_audit=True))
        self.check()

    def _next(self) -> int:
        self._generation += 1
        return self._generation

    def _take(self, event: Event) -> None:
        if isinstance(event, AuditDone):
            self.said.append(event)

    def text(self, path: str) -> str:
        """What a file holds now."""
        return self._texts.get(path) or Path(path).read_text(encoding="utf-8", errors="replace")

    def edit(self, path: str, text: str) -> None:
        """A file has another text, and is checked."""
        self._texts[path] = text
        self._service.accept(Edit(self._next(), path, self._generation, text))
        self.check(path)

    def check(self, *focus: str) -> None:
        """A check, and what is to be done at once behind it. Provers go on."""
        self._service.accept(Check(self._next(), focus))
        self._once()

    def pause(self) -> None:
        """Nothing is asked until provers have ended, and then an audit, if one is due."""
        while not self._is_at_rest:
            self._once()
            self._news.wait(_LOOK_AGAIN)
        self._now += IDLE
        began, before = time.monotonic(), len(self.said)
        self._once()
        while self._service.audit.is_running or not self._is_at_rest:
            self._news.wait(_LOOK_AGAIN)
            self._once()
            self._now += IDLE
        if len(self.said) > before:
            self.seconds.append(time.monotonic() - began)

    @property
    def _is_at_rest(self) -> bool:
        service = self._service
        return service.pending is None and service.looked and not service.proving and service.patience != 0

    def _once(self) -> None:
        self._news.clear()
        self._service.work()
        if not self._service.looked:
            self._service.look()
        self._service.take_answers()
        self._service.rest()

    def close(self) -> None:
        """Ends all processes."""
        self._service.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.self_audits", description="Audits while a program is typed at.")
    parser.add_argument(
        "program", nargs="?", default="spin", help="a program or project that benchmarks fetch, or a folder (default: spin)"
    )
    parser.add_argument("--bursts", type=int, default=24, help="of typing (default: 24)")
    parser.add_argument("--hours", type=float, default=24.0, help="that the bursts and pauses stand for (default: 24)")
    parser.add_argument("--edits", type=int, default=10, help="of a burst (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="of the edits (default: 0)")
    parser.add_argument("--engine", choices=get_args(Engine), default="auto", help="which provers are asked (default: auto)")
    given = parser.parse_args(arguments)
    try:
        files = _files(given.program)
    except (FetchError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    folder = CACHE / given.program if _is_fetched(given.program) else Path(given.program)
    with tempfile.TemporaryDirectory() as kept:
        session = Session(folder.resolve(), Path(kept) / "kept.everproof", given.engine)
        try:
            for burst in range(given.bursts):
                _type(session, files, given.edits, given.seed + burst)
                session.pause()
                print(f"{burst}: {session.said[-1].sentence if session.said else 'none'}", file=sys.stderr, flush=True)
        finally:
            session.close()
    news = [one for one in session.said if one.is_news]
    print("| program | simulated hours | edits | audits | what the last one says | s, mean | s, most |\n" + "|---" * 7 + "|")
    seconds = session.seconds or [0.0]
    cells = [Path(given.program).name, f"{given.hours:g}", given.bursts * given.edits, len(session.seconds)]
    last = session.said[-1].sentence if session.said else "none"
    row = (*cells, last, f"{sum(seconds) / len(seconds):.1f}", f"{max(seconds):.1f}")
    print(f"| {' | '.join(map(str, row))} |")
    return int(bool(news))


def _is_fetched(program: str) -> bool:
    return program in PROGRAMS or program in PROJECTS


def _files(program: str) -> list[str]:
    if not _is_fetched(program):
        return sorted(str(path.resolve()) for path in Path(program).rglob("*.c"))
    entries = json.loads(provide(program).read_text(encoding="utf-8"))
    return sorted(str(Path(entry["directory"]) / entry["file"]) for entry in entries if entry["file"].endswith(".c"))


def _type(session: Session, files: Sequence[str], edits: int, seed: int) -> None:
    """A burst: edits of up to three files, every third one taken back."""
    random = Random(seed)
    chosen = random.sample(files, min(3, len(files)))
    for number in range(edits):
        path = random.choice(chosen)
        before = session.text(path)
        for text in seeded_edits(before, 1, random.randrange(1 << 30)):
            session.edit(path, text)
            if number % 3 == 2:
                session.edit(path, before)


if __name__ == "__main__":
    sys.exit(main())
