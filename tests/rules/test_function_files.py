"""Files of contracts: what is accepted, the row that it becomes, and the one sentence that a wrong file or entry gets.

The class: an entry that says something else than its author meant, and counts all the same.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec
import pytest

from analysis.c.functions import described
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.rules import function_entries
from analysis.rules.function_entries import EntryError, read_entry
from analysis.rules.function_files import load_functions
from analysis.rules.plain_yaml import read_plain_yaml

ROWS = {
    "{name: f}": "f | | | open",
    "{name: f, complete: true}": "f | | |",
    "{name: f, arguments: [{}, {not_null: true}, {may_be_null: true}], complete: true}": "f | n? n n? | |",
    "{name: f, arguments: [{reads: true}, {writes: true}, {reads: true, writes: true}, {text: true}]}": (
        "f | in out inout text | | open"
    ),
    "{name: f, arguments: [{reads: true, bytes: 2, may_be_null: true}, {}]}": "f | in:1? n? | | open",
    "{name: f, arguments: [{frees: true, may_be_null: true}, {closes: stream}, {closes: descriptor}]}": (
        "f | freed? closed n+closed | | open"
    ),
    "{name: f, arguments: [{uses: object}, {keeps: true}, {calls: true}, {writes: true, writes_beneath: true}]}": (
        "f | handle kept code out+beneath | | open"
    ),
    "{name: f, arguments: [{text: true}], further_arguments: true}": "f | text ... | | open",
    "{name: f, result: number}": "f | | | open",
    "{name: f, result: {least: -1, greatest: 10}}": "f | | -1..10 | open",
    "{name: f, arguments: [{}, {}], result: {argument: 2}}": "f | n? n? | argument:1 | open",
    "{name: f, arguments: [{text: true}], result: {into: 1, may_be_null: true}}": "f | text | into:0? | open",
    "{name: f, result: {new: block, may_be_null: true}}": "f | | block? | open",
    "{name: f, result: {new: stream, may_be_null: false}}": "f | | stream | open",
    "{name: f, result: {new: descriptor}}": "f | | descriptor | open",
    "{name: f, result: {pointer: own, may_be_null: false}}": "f | | outside | open",
    "{name: f, result: {pointer: any, may_be_null: true}}": "f | | any? | open",
    "{name: f, never_returns: true, complete: true}": "f | | | noreturn",
    "{name: f, sets_errno: false, uses_kept: true, complete: true}": "f | | | elsewhere keeps-errno",
}

WRONG = {
    "3": "must be a table of fields, not a whole number",
    "{}": "name: is missing",
    "{name: 3}": "name: must be text, not a whole number",
    "{name: a b}": "name: must be the name of a function in C",
    "{name: malloc}": "name: what this function does is known already, and a project cannot say it again",
    "{name: __VERIFIER_nondet_x}": "name: what this function does is known already, and a project cannot say it again",
    "{name: __builtin_mine}": "name: what this function does is known already, and a project cannot say it again",
    "{name: f, argumets: []}": "argumets: there is no such field",
    "{name: f, complete: 1}": "complete: must be true or false, not a whole number",
    "{name: f, arguments: {}}": "arguments: must be a list, not a table of fields",
    "{name: f, arguments: [{}, {red: true}]}": "arguments.2.red: there is no such field",
    "{name: f, arguments: [{reads: 1}]}": "arguments.1.reads: must be true or false, not a whole number",
    "{name: f, arguments: [{closes: door}]}": "arguments.1.closes: must be stream or descriptor",
    "{name: f, arguments: [{uses: descriptor}]}": "arguments.1.uses: must be object",
    "{name: f, arguments: [{not_null: true, may_be_null: true}]}": "arguments.1: not_null and may_be_null exclude each other",
    "{name: f, arguments: [{frees: true, reads: true}]}": (
        "arguments.1: what the function frees or closes, it cannot use in another way"
    ),
    "{name: f, arguments: [{frees: true, closes: stream}]}": "arguments.1: frees and closes exclude each other",
    "{name: f, arguments: [{closes: descriptor, keeps: true}]}": (
        "arguments.1: a descriptor is a number, of which nothing else can be said"
    ),
    "{name: f, arguments: [{text: true, writes: true}]}": (
        "arguments.1: text is only read; of what the function writes as well, say `reads` and `writes`"
    ),
    "{name: f, arguments: [{reads: true, bytes: 1}, {}]}": "arguments.1.bytes: must be the number of another argument",
    "{name: f, arguments: [{reads: true, bytes: 3}, {}]}": "arguments.1.bytes: must be the number of another argument",
    "{name: f, arguments: [{keeps: true, bytes: 2}, {}]}": (
        "arguments.1.bytes: only what the function reads or writes has so many bytes"
    ),
    "{name: f, result: 3}": "result: must be number, or a table of fields",
    "{name: f, result: pointer}": "result: must be number, or a table of fields",
    "{name: f, result: {}}": "result: must be one of number, least and greatest, argument, into, new, pointer",
    "{name: f, result: {new: block, pointer: own}}": (
        "result: must be one of number, least and greatest, argument, into, new, pointer"
    ),
    "{name: f, result: {new: bloc, may_be_null: true}}": "result.new: must be block, stream or descriptor",
    "{name: f, result: {pointer: it, may_be_null: true}}": "result.pointer: must be own or any",
    "{name: f, result: {new: block}}": "result.may_be_null: must be true or false, for a pointer",
    "{name: f, result: {new: descriptor, may_be_null: true}}": "result.may_be_null: a descriptor is a number",
    "{name: f, result: {least: 1}}": "result: least and greatest belong together",
    "{name: f, result: {least: 2, greatest: 1}}": "result.least: must be at most result.greatest, and both must fit into 64 bits",
    "{name: f, result: {least: 0, greatest: 99999999999999999999}}": (
        "result.least: must be at most result.greatest, and both must fit into 64 bits"
    ),
    "{name: f, result: {argument: 1}}": "result.argument: must be the number of an argument",
    "{name: f, arguments: [{}], result: {into: 0, may_be_null: false}}": "result.into: must be the number of an argument",
    "{name: f, arguments: [{}], result: {argument: 1, may_be_null: true}}": (
        "result.may_be_null: an argument is null where null is passed"
    ),
    "{name: f, never_returns: true}": "never_returns: needs `complete: true` as well, since proofs rely on it",
    "{name: f, never_returns: true, complete: true, result: {new: descriptor}}": "result: a function that never returns has none",
    "{name: f, 3: 4}": "the names of its fields must be text",
}

FILES: dict[str, tuple[str | bytes, str]] = {
    "not YAML": ("functions: [", "it is not YAML in line"),
    "an alias": ("functions: &x [{name: f}]\nmore: *x\n", "it uses a YAML alias"),
    "a tag": ("functions: [{name: !!timestamp f}]\n", "it uses a YAML tag"),
    "an object of Python's": ("!!python/object/apply:os.system ['true']\n", "it uses a YAML tag"),
    "a date that does not exist": ("functions: 2020-13-45\n", "it is not YAML"),
    "deep lists": ("[" * 5_000, "it has lists and tables in each other, more than 50 deep"),
    "two lists": ("functions: []\nfunctions: []\n", "it has the field functions twice in one table, again in line 2"),
    "a field twice": (
        "functions:\n- name: f\n  complete: false\n  complete: true\n",
        "it has the field complete twice in one table, again in line 4",
    ),
    "an odd field twice": ('{"a\\e": 1, "a\\e": 2}', "it has the field a? twice in one table, again in line 1"),
    "a list": ("- name: f\n", "functions: must be a list"),
    "nothing": ("", "functions: must be a list"),
    "a table": ("functions: {name: f}\n", "functions: must be a list"),
    "more": ("functions: []\nrules: []\n", "it has other fields than functions"),
    "bytes that are no text": (b"\xff\xfe", "it is not UTF-8 text"),
    "too many": ("functions:\n" + "- {}\n" * 10_001, "functions: there must be at most 10,000"),
    "large": ("#" * 300_000, "it is larger than 256,000 bytes"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / ".everproof" / "functions"
    found.mkdir(parents=True)
    return found


def _loaded(folder: Path) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """The rows by name, and the messages with the names of their files."""
    found, messages = load_functions(Options(functions_dirs=(str(folder),)))
    return {name: one.row for name, one in found.items()}, [(m.severity, Path(m.path).name, m.text) for m in messages]


@pytest.mark.parametrize("text", ROWS)
def test_an_entry_is_a_row(text: str) -> None:
    row = read_entry(read_plain_yaml(text.encode())).row
    assert re.sub(r" +", " ", row).strip() == ROWS[text]
    function = described(f"{row} | mine.yaml")
    assert function.name == "f"
    assert function.described == "mine.yaml"
    assert function.is_complete == ("complete: true" in text)


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_entry_says_which_field_is_wrong(text: str) -> None:
    with pytest.raises(EntryError) as error:
        read_entry(read_plain_yaml(text.encode()))
    assert str(error.value) == WRONG[text]


def test_what_arguments_must_not_be_null() -> None:
    entry = read_entry({"name": "f", "arguments": [{"not_null": True}, {"reads": True}, {"frees": True, "not_null": True}]})
    assert entry.not_null == (0, 2)


@pytest.mark.parametrize("case", FILES)
def test_a_wrong_file_is_one_message(case: str, folder: Path) -> None:
    content, sentence = FILES[case]
    (folder / "odd.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    found, messages = _loaded(folder)
    assert found == {}
    ((severity, name, text),) = messages
    assert (severity, name) == ("error", "odd.yaml")
    assert text.startswith(f"This file of contracts is not used: {sentence}")
    assert "\n" not in text


def test_a_wrong_entry_is_one_message_and_the_others_count(folder: Path) -> None:
    (folder / "a.yaml").write_text(
        "functions:\n- {name: good}\n- {name: bad, arguments: [{red: true}]}\n- 3\n- {name: 'a\\nb'}\n"
    )
    (folder / "b.yml").write_text("functions: [{name: more}]")
    (folder / "c.txt").write_text("functions: [{name: text}]")
    found, messages = _loaded(folder)
    assert found == {
        "good": "good |  |  | open | .everproof/functions/a.yaml",
        "more": "more |  |  | open | .everproof/functions/b.yml",
    }
    assert messages == [
        ("error", "a.yaml", "The contract of bad is not used: functions.2.arguments.1.red: there is no such field."),
        ("error", "a.yaml", "Entry 3 is not used: functions.3: must be a table of fields, not a whole number."),
        ("error", "a.yaml", "Entry 4 is not used: functions.4.name: must be the name of a function in C."),
    ]


def test_of_functions_with_several_entries_none_counts(folder: Path) -> None:
    (folder / "a.yaml").write_text("functions: [{name: here}, {name: here}, {name: both}, {name: spoilt}, {name: alone}]")
    (folder / "b.yaml").write_text("functions: [{name: both}, {name: spoilt, result: 3}]")
    found, messages = _loaded(folder)
    assert list(found) == ["alone"]
    assert [(name, text) for _, name, text in messages if "another" in text] == [
        ("a.yaml", "The contract of both is not used: there is another one in b.yaml, and none of them counts."),
        ("b.yaml", "The contract of both is not used: there is another one in a.yaml, and none of them counts."),
        ("a.yaml", "The contract of here is not used: there is another one in the same file, and none of them counts."),
        ("a.yaml", "The contract of spoilt is not used: there is another one in b.yaml, and none of them counts."),
        ("b.yaml", "The contract of spoilt is not used: there is another one in a.yaml, and none of them counts."),
    ]


def test_a_folder_that_is_not_there_and_too_many_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, messages = load_functions(Options(functions_dirs=(str(folder / "missing"),)))
    assert found == {}
    assert [m.text for m in messages] == ["There is no folder of contracts here."]
    monkeypatch.setattr("analysis.rules.plain_yaml.RULE_FILES", 1)
    (folder / "a.yaml").write_text("functions: [{name: a}]")
    (folder / "b.yaml").write_text("functions: [{name: b}]")
    rows, said = _loaded(folder)
    assert list(rows) == ["a"]
    assert [text for *_, text in said] == ["There are 2 files of contracts here; only the first 1 are used."]


def test_a_folder_below_one_that_may_not_be_read_is_one_message(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: object, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "stat", refuse)
    _, messages = load_functions(Options(functions_dirs=(str(folder),)))
    monkeypatch.undo()
    assert [m.text for m in messages] == ["There is no folder of contracts here."]


def test_the_size_of_a_file_is_bounded_like_that_of_a_rule_file(folder: Path) -> None:
    (folder / "a.yaml").write_text("functions: [{name: a}]")
    options = Options(functions_dirs=(str(folder),), limits=msgspec.structs.replace(Limits(), rule_file_bytes=10))
    _, (message,) = load_functions(options)
    assert message.text == "This file of contracts is not used: it is larger than 10 bytes."


def test_the_name_of_a_file_cannot_break_a_row(folder: Path) -> None:
    (folder / "a|b\n\u2028c.yaml").write_text("functions: [{name: f}]")
    ((name, row),) = _loaded(folder)[0].items()
    assert name == "f"
    assert described(row).described == ".everproof/functions/a?b??c.yaml"


def test_the_page_lists_all_fields_and_its_example_counts(folder: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "contracts.md").read_text("utf-8")
    listed = {name for row in re.findall(r"^\| (.*?) \|", page, re.MULTILINE) for name in re.findall(r"[a-z_]+", row)}
    for part in (function_entries._Entry, function_entries._Argument, function_entries._Result):
        assert set(part.__struct_fields__) <= listed
    (folder / "example.yaml").write_text(page.partition("```yaml\n")[2].partition("```")[0])
    found, messages = _loaded(folder)
    assert list(found) == ["pool_fail", "pool_get", "pool_put"]
    assert messages == []
