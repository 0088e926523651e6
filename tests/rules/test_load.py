"""Rule files: what is accepted, and the one sentence that a wrong one gets."""

import re
from importlib import resources
from pathlib import Path

import msgspec
import pytest

from analysis.interpreter.library.locks import MODELS
from analysis.model.options import Options
from analysis.rules.automaton import ERROR
from analysis.rules.library_names import KINDS
from analysis.rules.load import RuleError, load_rules, read_rule, shipped_rules

RULE = """
name: my-rule
summary: A handle is used after it was closed
severity: warning
tracks: $H
help: {what: w, why: y, example: e, fix: f}
names: {$CLOSE: [close_handle, drop_handle]}
transitions:
  - {from: start, when: "$CLOSE($H, ...)", to: closed}
  - {from: closed, when: ["*$H", "use($H)"], error: "`$H` is closed"}
"""

WRONG = {
    "not YAML": ("{", "not YAML"),
    "a field is missing": (RULE.replace("summary: A handle is used after it was closed\n", ""), "'summary' is a required"),
    "a field is misspelt": (RULE.replace("tracks:", "trakcs:"), "trakcs"),
    "severity": (RULE.replace("warning", "fatal"), "severity: 'fatal' is not one of"),
    "a pattern is no C": (RULE.replace("use($H)", "use($H"), "transitions.1: `use($H` is not a C expression"),
    "unknown state": (RULE.replace("from: closed", "from: open"), "no transition leads to the state open"),
    "nothing to track": (RULE.replace('"$CLOSE($H, ...)"', '"$CLOSE()"'), "does not mention it"),
    "an alias": (RULE + "keeps: &x [a]\nnames: *x\n", "alias"),
    "functions of no known kind": (
        RULE.replace("[close_handle, drop_handle]", "{library: shuts}"),
        "names.$CLOSE: shuts is no kind",
    ),
    "deep lists": ("[" * 5_000, "more than 50 deep"),
    "a date that does not exist": (RULE.replace("warning", "2020-13-45"), "not YAML"),
    "an object": ("!!python/object:os.system {}", "it uses a YAML tag"),
    "a list": ("- 1", "the file"),
    "an event of nothing": (RULE.replace('"$CLOSE($H, ...)"', "lost"), "needs a tracked value"),
}


def test_a_rule_file_becomes_an_automaton() -> None:
    rule = read_rule(RULE.encode())
    assert rule.name == "my-rule"
    assert [(t.source, t.target) for t in rule.transitions] == [("start", "closed"), ("closed", ERROR), ("closed", ERROR)]
    assert rule.names["$CLOSE"] == {"close_handle", "drop_handle"}
    assert not rule.shipped


@pytest.mark.parametrize("case", WRONG, ids=list(WRONG))
def test_a_wrong_rule_file_says_what_is_wrong(case: str) -> None:
    text, reason = WRONG[case]
    with pytest.raises(RuleError) as error:
        read_rule(text.encode())
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_a_rule_file_that_is_too_large_is_not_read() -> None:
    with pytest.raises(RuleError, match="larger than 10 bytes"):
        read_rule(RULE.encode(), 10)


def test_a_wrong_rule_file_is_one_message_and_the_others_are_used(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(RULE)
    (tmp_path / "bad.yaml").write_text("name: x")
    (tmp_path / "latin.yaml").write_bytes(b"name: \xe9")
    rules, messages = load_rules(Options(rules_dirs=(str(tmp_path), str(tmp_path / "missing"))))
    assert "my-rule" in [rule.name for rule in rules]
    assert [Path(m.path).name for m in messages] == ["bad.yaml", "latin.yaml", "missing"]


def test_rules_are_chosen_by_name(tmp_path: Path) -> None:
    rules, messages = load_rules(Options(rules=("double-free", "no-such-rule")))
    assert [rule.name for rule in rules] == ["double-free"]
    assert "no-such-rule" in messages[0].text
    assert len(load_rules(Options(rules=("all",)))[0]) == len(shipped_rules())


def test_a_users_rule_takes_the_place_of_a_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(RULE.replace("my-rule", "double-free"))
    rules, _ = load_rules(Options(rules=("double-free",), rules_dirs=(str(tmp_path),)))
    assert [rule.summary for rule in rules] == ["A handle is used after it was closed"]


def test_the_shipped_rules_keep_to_the_schema() -> None:
    """Loading rules does not check this."""
    files = [file for file in (resources.files("analysis.rules") / "shipped").iterdir() if file.name.endswith(".yaml")]
    checked = {rule.name: rule for rule in (read_rule(file.read_bytes()) for file in files)}
    assert {name: msgspec.structs.replace(rule, shipped=True) for name, rule in checked.items()} == {
        rule.name: rule for rule in shipped_rules()
    }


def test_the_shipped_rules_are_those_of_the_manual() -> None:
    pages = (Path(__file__).parents[2] / "docs" / "rules").glob("*.md")
    names = [rule.name for rule in shipped_rules()]
    assert names == sorted(page.stem for page in pages if page.name != "README.md")
    assert len(names) >= 27


def test_the_locks_of_the_rule_are_those_that_runs_know() -> None:
    """The class: a function that one of the engines knows and the other does not."""
    (rule,) = (rule for rule in shipped_rules() if rule.name == "lock-discipline")
    known = {name for name in MODELS if not name.endswith("_destroy")}  # a destroyed lock is nothing to the automaton
    assert frozenset().union(*rule.names.values()) == known


def test_a_function_that_a_pattern_names_is_one_that_the_rule_is_about() -> None:
    """The class: what an external function does to an object that it is passed is unknown, unless the rule says it."""
    text = RULE.replace("tracks: $H", "tracks: $H\nabout-object: true") + '  - {from: closed, when: "reopen($H)", to: stop}\n'
    rule = read_rule(text.encode())
    about = {name: not rule.is_lost_in(name, "closed") for name in ("use", "reopen", "close_handle", "other", "reopened")}
    assert about == {"use": True, "reopen": True, "close_handle": True, "other": False, "reopened": False}


def test_rules_can_mean_library_functions_of_a_kind() -> None:
    rule = read_rule(RULE.replace("[close_handle, drop_handle]", "{library: frees}").encode())
    assert {"free", "kfree"} <= rule.names["$CLOSE"]
    assert "realloc" not in rule.names["$CLOSE"]


def test_the_guide_lists_all_kinds_of_library_functions() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guide.md").read_text("utf-8")
    listed = re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", guide.partition("The kinds are:")[2], re.MULTILINE)
    assert listed == [(name, kind.meaning) for name, kind in KINDS.items()]
    assert list(KINDS) == sorted(KINDS)


def test_what_may_return_null_may_by_the_standard() -> None:
    maybe = KINDS["may-return-null"].names
    assert {"malloc", "vzalloc", "fopen", "strchr", "getenv", "fgets", "bsearch", "setlocale", "memmem"} <= maybe
    assert maybe.isdisjoint({"rawmemchr", "nl_langinfo", "ctermid", "sbrk", "strcpy", "strerror", "alloca"})
