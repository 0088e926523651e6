"""Reads files of contracts: what the functions of a library do that the program calls and does not define.

A file is data, like a rule file: plain YAML with a list `functions`. An entry that is wrong gives one message that names the
file, the entry and the field; all others count. Of a function that has several entries, none counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from analysis.c.project_functions import ProjectFunction, ProjectFunctions
from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import CONTRACTS
from analysis.model.options import Options
from analysis.model.report import Message
from analysis.rules.function_entries import EntryError, FunctionEntry, name_of, read_entry
from analysis.rules.plain_yaml import PlainYamlError, read_plain_yaml, yaml_files


class _Said(NamedTuple):
    path: Path
    entry: FunctionEntry | None


def load_functions(options: Options) -> tuple[ProjectFunctions, tuple[Message, ...]]:
    """The contracts in the folders of the options, by name, and a message for each file or entry that cannot be used."""
    messages: list[Message] = []
    said: dict[str, list[_Said]] = {}
    for folder in options.functions_dirs:
        for path in yaml_files(Path(folder), "contracts", "files of contracts", messages):
            for name, entry in _read(path, options.limits.rule_file_bytes, messages):
                said.setdefault(name, []).append(_Said(path, entry))
    found: dict[str, ProjectFunction] = {}
    for name, entries in sorted(said.items()):
        if len(entries) > 1:
            messages.extend(_repeated(name, entries))
        elif (entry := entries[0].entry) is not None:
            path = entries[0].path
            found[name] = ProjectFunction(str(path), f"{entry.row} | {_shown(path)}", entry.not_null)
    return found, tuple(messages)


def _read(path: Path, most: int, messages: list[Message]) -> Iterator[tuple[str, FunctionEntry | None]]:
    """The functions of a file; without an entry those that it says something wrong of."""
    try:
        entries = _entries(read_plain_yaml(read_file(path, most)))
    except (PlainYamlError, UnreadableError, EntryError) as error:
        messages.append(Message("error", str(path), f"This file of contracts is not used: {error}."))
        return
    for number, content in enumerate(entries, 1):
        name = name_of(content)
        try:
            entry = read_entry(content)
        except EntryError as error:
            which = f"The contract of {name}" if name is not None else f"Entry {number}"
            messages.append(Message("error", str(path), f"{which} is not used: {_within(number, str(error))}."))
            if name is not None:
                yield name, None
        else:
            yield entry.name, entry


def _within(number: int, text: str) -> str:
    """What is wrong with an entry, with its field as that of the file."""
    field, colon, _ = text.partition(": ")
    return f"functions.{number}.{text}" if colon and " " not in field else f"functions.{number}: {text}"


def _entries(content: Any) -> list[Any]:
    if not isinstance(content, dict) or not isinstance(content.get("functions"), list):
        raise EntryError("functions: must be a list")
    if len(content) > 1:
        raise EntryError("it has other fields than functions")
    if len(content["functions"]) > CONTRACTS:
        raise EntryError(f"functions: there must be at most {CONTRACTS:,}")
    return list(content["functions"])


def _repeated(name: str, entries: list[_Said]) -> Iterator[Message]:
    """One message in each file that has an entry of the function."""
    paths = dict.fromkeys(path for path, _ in entries)
    for path in paths:
        others = ", ".join(other.name for other in paths if other != path)
        where = f"in {others}" if others else "in the same file"
        text = f"The contract of {name} is not used: there is another one {where}, and none of them counts."
        yield Message("error", str(path), text)


def _shown(path: Path) -> str:
    """A file in words, as proofs name it: from `.everproof` on."""
    text = "/".join(path.parts[-3:]) if path.parts[-3:-2] == (".everproof",) else os.path.join(path.parent.name, path.name)
    return "".join(letter if letter.isprintable() and letter != "|" else "?" for letter in text)
