"""The extension's settings are the server's: package.json is generated from `analysis.model.settings`."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import msgspec
import pytest

from analysis.model.settings import _CLIENT_ONLY, Settings, read

EXTENSION = Path(__file__).resolve().parents[2] / "vscode-extension"
SCRIPT = runpy.run_path(str(EXTENSION / "scripts" / "settings.py"))


def contributed() -> dict[str, dict[str, Any]]:
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    return {name: setting for part in package["contributes"]["configuration"] for name, setting in part["properties"].items()}


def test_package_json_is_up_to_date() -> None:
    text = (EXTENSION / "package.json").read_text(encoding="utf-8")
    assert SCRIPT["updated"](text) == text, "run `make docs`"


def test_a_setting_that_is_missing_or_wrong_is_noticed() -> None:
    text = (EXTENSION / "package.json").read_text(encoding="utf-8")
    assert SCRIPT["updated"](text.replace('"everproof.entries"', '"everproof.entrances"')) == text
    assert SCRIPT["updated"](text.replace('"default": "LP64"', '"default": "ILP32"')) == text


def test_every_setting_of_the_server_has_a_place_and_words() -> None:
    names = {f"everproof.{field.encode_name}" for field in msgspec.structs.fields(Settings)}
    names -= {f"everproof.{name}" for name in SCRIPT["NOT_SHOWN"]}
    settings = contributed()
    assert names <= settings.keys()
    assert [name for name in names if not settings[name]["markdownDescription"]] == []


def test_the_defaults_as_the_editor_sends_them_are_the_servers() -> None:
    values: dict[str, Any] = {}
    for name, setting in contributed().items():
        values.setdefault(name.split(".")[1], setting["default"])
    assert read(values, None) == (Settings(), [])


def test_what_only_the_extension_reads_is_known_to_the_server() -> None:
    own = {name.split(".")[1] for name in contributed()} - {field.encode_name for field in msgspec.structs.fields(Settings)}
    assert own <= _CLIENT_ONLY


@pytest.mark.parametrize("name", ["everproof.server.command", "everproof.server.python", "everproof.compiler", "everproof.store"])
def test_a_folder_cannot_choose_programs_by_its_settings(name: str) -> None:
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    assert contributed()[name]["scope"] == "machine"
    assert name in package["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]
