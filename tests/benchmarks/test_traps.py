"""The programs of fixtures/traps. No engine calls a defect safe, or confirms a violation of a corrected twin.
Each proof is accepted by a process that only checks. Each program is what it says: the record of what
sanitizers said is of its present text, and some programs are run again.

The class: constructs that an engine could take for something simpler (linkage, initialisers, declarators with side effects,
attributes, functions that call back or write through pointers, jumps, conversions, layouts). By default a fixed part is asked;
`make nightly` asks every engine with both encodings about every program.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from analysis.model.options import Engine
from benchmarks.traps.asked import ENCODINGS, ENGINES, Encoding, Said, asked, refusal, wrong
from benchmarks.traps.established import RECORD, establish, problems, read
from benchmarks.traps.programs import Trap, traps

_TRAPS = traps()
_PAIRS = tuple(product(ENGINES, ENCODINGS))
_SECONDS = 1.0
_SOME = tuple((trap, *_PAIRS[number % len(_PAIRS)]) for number, trap in enumerate(_TRAPS[::13]))
_PARTS = 40  # of what is asked at night: a test for each program and engine would make every run of the tests wait for its list


def _name(value: object) -> str:
    return value.name if isinstance(value, Trap) else str(value)


@cache
def _compiles_for_32_bits() -> bool:
    """Whether the compiler has the headers and libraries of a machine of 32 bits (Debian: gcc-multilib)."""
    text = b"#include <assert.h>\nint main(void) { return 0; }\n"
    command = ["gcc", "-m32", "-fsanitize=address", "-x", "c", "-", "-o", "/dev/null"]
    return subprocess.run(command, input=text, capture_output=True, check=False).returncode == 0


def _run_again(trap: Trap, *, thorough: bool = False) -> None:
    if trap.model == "ILP32" and not _compiles_for_32_bits():
        pytest.skip("the compiler cannot build for 32 bits here")
    assert list(problems(trap, thorough=thorough)) == []


def test_there_are_enough_and_each_has_its_twin() -> None:
    sides = Counter(trap.is_defect for trap in _TRAPS)
    assert sides[True] == sides[False] >= 400
    assert len({trap.rule for trap in _TRAPS}) >= 10
    assert sum(trap.model == "ILP32" for trap in _TRAPS) >= 10
    assert sum(len(trap.files) > 1 for trap in _TRAPS) >= 40


def test_the_record_is_about_the_present_texts() -> None:
    record = read()
    assert {trap.name: (trap.digest(), trap.rule if trap.is_defect else "nothing") for trap in _TRAPS} == {
        name: (one.digest, one.violates) for name, one in record.items()
    }


def test_what_is_not_there_any_more_leaves_the_record(tmp_path: Path) -> None:
    file = tmp_path / "established.json"
    file.write_bytes(RECORD.read_bytes())
    assert establish(_TRAPS[2:], 1, file) == []
    assert read().keys() - read(file).keys() == {trap.name for trap in _TRAPS[:2]}


@pytest.mark.parametrize("trap", _TRAPS[::45], ids=_name)
def test_a_part_is_run_again(trap: Trap) -> None:
    _run_again(trap)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(_PARTS))
def test_each_is_what_it_says(part: int, subtests: pytest.Subtests) -> None:
    for trap in _TRAPS[part::_PARTS]:
        with subtests.test(trap.name):
            _run_again(trap, thorough=True)


@pytest.mark.parametrize(("trap", "engine", "encoding"), _SOME, ids=_name)
def test_no_verdict_is_wrong(trap: Trap, engine: Engine, encoding: Encoding) -> None:
    assert wrong(trap, asked(trap, engine, encoding, _SECONDS)) == ""


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(_PARTS))
def test_no_verdict_of_any_engine_is_wrong(part: int, subtests: pytest.Subtests) -> None:
    for trap, (engine, encoding) in product(_TRAPS[part::_PARTS], _PAIRS):
        with subtests.test(f"{trap.name} {engine} {encoding}"):
            assert wrong(trap, asked(trap, engine, encoding, _SECONDS)) == ""


def _trap(folder: Path, text: str, *, is_defect: bool) -> Trap:
    file = folder / "p.c"
    file.write_text(text)
    return Trap("p", (file,), "division-by-zero", frozenset({("p.c", 1)} if is_defect else ()), "LP64", (), ())


SAFE, UNSAFE = "int main(void) { int d = 2; return 4 / d; }\n", "int main(void) { int d = 0; return 4 / d; }\n"


def test_a_wrong_verdict_would_be_seen(tmp_path: Path) -> None:
    said = asked(_trap(tmp_path, SAFE, is_defect=False), "value", "int", 20)
    assert said == Said("safe")
    assert "a run violates" in wrong(_trap(tmp_path, SAFE, is_defect=True), said)
    found = asked(_trap(tmp_path, UNSAFE, is_defect=True), "auto", "int", 20)
    assert found.verdict == "violated"
    assert "no run shows" in wrong(_trap(tmp_path, UNSAFE, is_defect=False), found)


def test_a_certificate_that_is_none_would_be_seen(tmp_path: Path) -> None:
    from analysis.api import Checker
    from analysis.model.options import Options

    checker = Checker(Options())
    trap = _trap(tmp_path, SAFE, is_defect=False)
    checker.open([str(trap.files[0])])
    assert refusal(trap, checker.inspect().program, ())


def test_a_trap_that_is_none_would_be_seen(tmp_path: Path) -> None:
    assert list(problems(_trap(tmp_path, UNSAFE, is_defect=True))) == []
    assert "expected" in "".join(problems(_trap(tmp_path, SAFE, is_defect=True)))
    assert "violates nothing" in "".join(problems(_trap(tmp_path, UNSAFE, is_defect=False)))
