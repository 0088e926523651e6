"""Writes the settings of the server into package.json, and the schema of rule files: `python vscode-extension/scripts/settings.py
[--check]`.

They come from `analysis.model.settings` and are the first part of `contributes.configuration`; those that only the extension
reads are the second, and are written by hand. With --check nothing is written, and the exit status is 1 if package.json is out of
date.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import msgspec

from analysis.model.limits import Limits
from analysis.model.settings import Settings
from analysis.rules.load import shipped_rules

PACKAGE = Path(__file__).resolve().parents[1] / "package.json"
SCHEMA = PACKAGE.parent / "media" / "rule.schema.json"
# what a folder must not be able to choose by its own settings: programs, and where results are kept
USERS_ALONE = frozenset({"compiler", "store"})
NOT_SHOWN = frozenset({"trusted", "checkFolders"})  # the extension answers these itself


def main() -> int:
    """Writes or checks package.json."""
    parser = argparse.ArgumentParser(description="Write the settings of the server into package.json.")
    parser.add_argument("--check", action="store_true", help="only say whether it is out of date")
    check = parser.parse_args().check
    present = PACKAGE.read_text(encoding="utf-8")
    wanted = updated(present)
    schema = (PACKAGE.parents[1] / "analysis" / "rules" / "schema.json").read_text(encoding="utf-8")
    outdated = [PACKAGE.name] * (wanted != present)
    outdated += [SCHEMA.name] * (not SCHEMA.exists() or SCHEMA.read_text(encoding="utf-8") != schema)
    if check:
        for name in outdated:
            print(f"{name} is out of date: run `make docs`")
        return 1 if outdated else 0
    PACKAGE.write_text(wanted, encoding="utf-8")
    SCHEMA.write_text(schema, encoding="utf-8")
    return 0


def updated(package: str) -> str:
    """package.json with the server's settings as they are now."""
    content = json.loads(package)
    others = content["contributes"]["configuration"][1:]
    content["contributes"]["configuration"] = [{"title": "Checking", "properties": properties()}, *others]
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def properties() -> dict[str, Any]:
    """The settings as VS Code describes them, in the order of `Settings`."""
    schema = msgspec.json.schema(Settings)["$defs"]["Settings"]["properties"]
    found = {}
    for order, field in enumerate(msgspec.structs.fields(Settings)):
        name = field.encode_name
        if name not in NOT_SHOWN:
            described = _budgets() if field.type is Limits or name == "budgets" else _plain(schema[name])
            scope = "machine" if name in USERS_ALONE else "resource" if name == "codeLens" else "window"
            if name == "rules":
                described["items"] = {"anyOf": [{"enum": _rule_names()}, {"type": "string"}]}  # one's own have other names
            text = schema[name].get("description", "")
            found[f"everproof.{name}"] = {**described, "markdownDescription": text, "scope": scope, "order": order}
    return found


def _rule_names() -> list[str]:
    """The shipped rules, and the word for all of them."""
    return [*sorted(rule.name for rule in shipped_rules()), "all"]


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """msgspec's JSON schema in the form that the settings editor knows."""
    kinds = [option["type"] for option in schema["anyOf"]] if "anyOf" in schema else schema.get("type", "string")
    described: dict[str, Any] = {"type": kinds, "default": schema["default"]}
    for key in ("enum", "items"):
        if key in schema:
            described[key] = schema[key]
    return described


def _budgets() -> dict[str, Any]:
    schema = msgspec.json.schema(Limits)["$defs"]["Limits"]["properties"]
    limits = {_camel(name): _limit(limit) for name, limit in schema.items()}
    return {"type": "object", "default": {}, "properties": limits, "additionalProperties": False}


def _limit(schema: dict[str, Any]) -> dict[str, Any]:
    """One number with its range; without a default where it may be left open."""
    number = next((option for option in schema.get("anyOf", ()) if option["type"] != "null"), schema)
    described = {key: number[key] for key in ("type", "minimum", "exclusiveMinimum", "maximum") if key in number}
    return described if schema["default"] is None else {**described, "default": schema["default"]}


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match.group(1).upper(), name)


if __name__ == "__main__":
    sys.exit(main())
