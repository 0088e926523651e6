"""Hostile flags, a short run of `benchmarks.canary`; the long one is in docs/benchmarks.md.

The class of defects: flags in an opened folder make a compiler load code, run a program or write a file.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from analysis.frontend.compiler import confinement
from benchmarks.canary import COMPILERS, sing_unparsed, try_flags, unconfined
from benchmarks.hostile_flags import make_folder

compilers = pytest.mark.parametrize(
    "compiler",
    [
        pytest.param(name, marks=pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed"))
        for name in COMPILERS
    ],
)


@compilers
def test_no_flags_of_a_folder_run_its_code(tmp_path: Path, compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "start", unconfined)
    counts = try_flags(make_folder(tmp_path), 1500, 7, 64, (compiler,))
    assert (counts.sung, counts.changed) == ([], [])
    assert counts.lines == 1500
    assert counts.commands > 10
    assert counts.inputs > 100


@compilers
def test_the_canary_sings_when_flags_are_not_parsed(tmp_path: Path, compiler: str) -> None:
    assert sing_unparsed(make_folder(tmp_path), 150, 7, compiler) > 0
