"""The runtime part of the lock, which the extension installs or carries."""

from __future__ import annotations

import re
import runpy
import tomllib
from collections.abc import Iterable
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

PROJECT = Path(__file__).resolve().parents[2]
runtime_part = runpy.run_path(str(PROJECT / "vscode-extension" / "scripts" / "bundle.py"))["_runtime_part"]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(requirements: Iterable[str], seen: set[str]) -> set[str]:
    """What is needed for some requirements, by the metadata of the installed packages."""
    for text in requirements:
        requirement = Requirement(text)
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and normal(requirement.name) not in seen:
            seen.add(normal(requirement.name))
            needed(requires(requirement.name) or (), seen)
    return seen


def test_the_runtime_part_is_what_the_installed_packages_say() -> None:
    part = runtime_part((PROJECT / "requirements.lock").read_text(encoding="utf-8"))
    wanted = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert set(re.findall(r"^([^\s=]+)==", part, re.MULTILINE)) == needed(wanted, set())


def test_every_pin_has_its_hashes() -> None:
    part = runtime_part((PROJECT / "requirements.lock").read_text(encoding="utf-8"))
    pins = re.split(r"\n(?=\S)", part)
    assert len(pins) > 10
    assert [pin for pin in pins if "--hash=sha256:" not in pin] == []


def test_a_lock_without_a_dependency_is_refused() -> None:
    with pytest.raises(SystemExit, match="z3-solver"):
        runtime_part(re.sub(r"(?m)^z3-solver==", "z4-solver==", (PROJECT / "requirements.lock").read_text(encoding="utf-8")))
