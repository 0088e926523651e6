"""What sanitizers said of each trap, kept with the digest of its text, so that it is not compiled and run with every test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from benchmarks.traps.programs import FOLDER, Trap
from benchmarks.traps.sanitized import problem, ran

RECORD = FOLDER / "established.json"
_AT_ONCE = 40
_IN_VALGRIND = frozenset({"uninitialized-read", "lock-discipline"})


class Established(msgspec.Struct, frozen=True):
    """The digest of a trap that was run, and what its run violated ("nothing" for a twin)."""

    digest: str
    violates: str


def read(file: Path = RECORD) -> dict[str, Established]:
    """What is kept, by the name of the trap."""
    return msgspec.json.decode(file.read_bytes(), type=dict[str, Established]) if file.exists() else {}


def problems(trap: Trap, *, thorough: bool = False) -> Iterator[str]:
    """Runs a trap, and says where it does not do what its comments say. `thorough`: a twin is run under
    valgrind as well, so that it reads nothing indeterminate either."""
    in_valgrind = trap.rule in _IN_VALGRIND
    if said := problem(trap, ran(trap, in_valgrind=in_valgrind)):
        yield said
    elif thorough and not (trap.is_defect or in_valgrind or trap.model == "ILP32"):
        again = problem(trap, ran(trap, in_valgrind=True))
        yield from [f"under valgrind: {again}"] if again else []


def establish(traps: Sequence[Trap], jobs: int, file: Path = RECORD) -> list[str]:
    """Runs the traps whose text is new, and keeps what is as it should be, some at a time; gives the problems of the others."""
    kept = read(file)
    digests = {trap.name: trap.digest() for trap in traps}
    record = {name: one for name, one in kept.items() if digests.get(name) == one.digest}
    new = [trap for trap in traps if trap.name not in record]
    found: list[str] = []
    with ThreadPoolExecutor(jobs) as pool:
        for first in range(0, len(new), _AT_ONCE):
            some = new[first : first + _AT_ONCE]
            for trap, said in zip(some, pool.map(lambda trap: list(problems(trap)), some), strict=True):
                found += said
                if not said:
                    record[trap.name] = Established(digests[trap.name], trap.rule if trap.is_defect else "nothing")
            _write(record, file)
    if not new and record != kept:
        _write(record, file)
    return found


def _write(record: dict[str, Established], file: Path) -> None:
    ordered = {name: record[name] for name in sorted(record)}
    file.write_bytes(msgspec.json.format(msgspec.json.encode(ordered), indent=1) + b"\n")
