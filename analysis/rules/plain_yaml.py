"""Finds YAML files and reads them as data: no tags, and no aliases, a few of which can stand for gigabytes. Numbers to the base
60, which only YAML 1.1 has, and those of many digits are texts: the parser's time for them grows with the square of their length.
The one module that imports YAML."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from analysis.model.limits import RULE_FILES, YAML_LEVELS
from analysis.model.report import Message

_SHOWN = 100  # characters of the name of a field
_LONGEST_NUMBER = 100  # characters
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_TEXT = "tag:yaml.org,2002:str"


class PlainYamlError(Exception):
    """The text is not plain YAML; the message is a clause with "it", without the file's name."""


class _PlainLoader(yaml.SafeLoader):
    level = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise PlainYamlError("it uses a YAML alias, which is not allowed here")
        if getattr(self.peek_event(), "tag", None) is not None:  # type: ignore[no-untyped-call]
            raise PlainYamlError("it uses a YAML tag, which is not allowed here")
        if self.level == YAML_LEVELS:  # the time that it takes grows with the square of the levels
            raise PlainYamlError(f"it has lists and tables in each other, more than {YAML_LEVELS} deep")
        self.level += 1
        found = super().compose_node(parent, index)
        self.level -= 1
        return found

    def compose_scalar_node(self, anchor: Any) -> Any:
        found = super().compose_scalar_node(anchor)
        if found.tag in _NUMBERS and (":" in found.value or len(found.value) > _LONGEST_NUMBER):
            found.tag = _TEXT
        return found

    def compose_mapping_node(self, anchor: Any) -> Any:
        """A table, in which no field may stand twice (YAML 1.1 3.2.1.3): the parser would take the last one without a word."""
        found = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in found.value:
            if isinstance(key, yaml.ScalarNode) and (key.tag, key.value) in seen:
                shown = "".join(letter if letter.isprintable() else "?" for letter in key.value[:_SHOWN])
                raise PlainYamlError(f"it has the field {shown} twice in one table, again in line {key.start_mark.line + 1}")
            seen.add((key.tag, key.value) if isinstance(key, yaml.ScalarNode) else key)
        return found


def read_plain_yaml(data: bytes) -> Any:
    """The value in a file's bytes. Raises PlainYamlError."""
    try:
        return yaml.load(data.decode("utf-8"), _PlainLoader)  # a subclass of SafeLoader
    except UnicodeDecodeError:
        raise PlainYamlError("it is not UTF-8 text") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:  # ValueError: a date that does not exist
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" in line {mark.line + 1}"
        raise PlainYamlError(f"it is not YAML{where}") from None


def yaml_files(folder: Path, things: str, files: str, messages: list[Message]) -> Sequence[Path]:
    """The YAML files of a folder, by name; adds messages if there is no such folder, no file, or too many. `things` and `files`
    say in words what the folder holds."""
    if not os.path.isdir(folder):  # `Path.is_dir` fails below a folder that may not be read
        messages.append(Message("error", str(folder), f"There is no folder of {things} here."))
        return ()
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix in (".yaml", ".yml") and not path.is_dir())
    except OSError as error:
        messages.append(Message("error", str(folder), f"This folder of {things} cannot be read: {error.strerror}."))
        return ()
    if not found:
        messages.append(Message("note", str(folder), f"There are no {files} (*.yaml, *.yml) in this folder."))
    if len(found) > RULE_FILES:
        text = f"There are {len(found):,} {files} here; only the first {RULE_FILES:,} are used."
        messages.append(Message("error", str(folder), text))
    return found[:RULE_FILES]
