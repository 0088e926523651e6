"""Reads rule files: YAML, checked against `schema.json`, turned into automata.

A rule file is data: safe YAML, no tags, no aliases that could blow up, a size limit, and nothing in it is executed. A file that
is wrong gives one message that names the file and the field; the other rules are used all the same.

Besides C patterns (see `analysis.rules.patterns`), `when` knows these events: `lost` (the last access path to the value goes
away), `leave` (the function that brought the value to its state is left), `nonnull` (the value is passed for a parameter declared
non-null), `passed` (the value is passed to a function outside of the program of which nothing is known, or goes to the `...` of
one of the program), `takes-local` (a place holds from then on the address of a variable of the function's own), `returns-local`
(the function returns such an address), `returned` (the function in which the value came to its state returns it), and
`begin: PATTERN` (the program starts, for every global that the pattern matches anywhere).
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.intervals import interval_of
from analysis.model.options import Options
from analysis.model.report import Message
from analysis.rules.automaton import ERROR, START, STOP, Documentation, Rule, Transition, Trigger
from analysis.rules.library_names import KINDS
from analysis.rules.patterns import Pattern, PatternError, parse_pattern
from analysis.rules.plain_yaml import PlainYamlError, read_plain_yaml, yaml_files

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

_EVENTS = ("lost", "leave", "nonnull", "passed", "returned")
_ANYWHERE = ("takes-local", "returns-local")


class RuleError(Exception):
    """A rule file that cannot be used; the message is one clear sentence without the file's name."""


def load_rules(options: Options) -> tuple[tuple[Rule, ...], tuple[Message, ...]]:
    """The rules that the options ask for, by name, and a message for each file or name that cannot be used.

    User rules come from `options.rules_dirs`; one of the same name takes the place of a shipped one.
    """
    messages: list[Message] = []
    rules = {rule.name: rule for rule in shipped_rules()}
    for folder in options.rules_dirs:
        for path in yaml_files(Path(folder), "rules", "rule files", messages):
            try:
                most = options.limits.rule_file_bytes
                rule = read_rule(read_file(path, most), most)
                _check_known(rule)
            except (RuleError, UnreadableError) as error:
                messages.append(Message("error", str(path), f"This rule file is not used: {error}."))
            else:
                rules[rule.name] = rule
    wanted = _selected(rules.values(), options.rules, messages)
    return tuple(sorted(wanted, key=lambda rule: rule.name)), tuple(messages)


def _check_known(rule: Rule) -> None:
    if rule.provers_only and not any(known.name == rule.name and known.provers_only for known in shipped_rules()):
        raise RuleError("provers-only: provers know no rule of this name, so they cannot look for it")


def no_such_rule(name: str, known: Iterable[str]) -> str:
    """The sentence about a rule that does not exist, with the name that was probably meant."""
    near = difflib.get_close_matches(name, list(known), n=1)
    hint = f"the nearest is {near[0]}, and " if near else ""
    return f"There is no rule named {name}; {hint}`everproof rules` lists them."


def _selected(rules: Iterable[Rule], names: tuple[str, ...], messages: list[Message]) -> list[Rule]:
    known = {rule.name: rule for rule in rules}
    if not names:
        return [rule for rule in known.values() if rule.default]
    if "all" in names:
        return list(known.values())
    for name in names:
        if name not in known:
            messages.append(Message("error", "", no_such_rule(name, known)))
    return [known[name] for name in dict.fromkeys(names) if name in known]


@cache
def shipped_rules() -> tuple[Rule, ...]:
    """The rules that come with Everproof, by name."""
    folder = resources.files("analysis.rules") / "shipped"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".yaml")), key=lambda f: f.name)
    return tuple(read_rule(f.read_bytes(), shipped=True) for f in files)


@cache
def _schema() -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # a fourth of the checker's start, for what few have

    text = (resources.files("analysis.rules") / "schema.json").read_text("utf-8")
    return Draft202012Validator(json.loads(text))


def read_rule(data: bytes, limit: int = 256_000, shipped: bool = False) -> Rule:
    """The rule in a file's bytes; raises RuleError. Files that come with Everproof keep to the schema: a test sees to it."""
    if len(data) > limit:
        raise RuleError(f"it is larger than {limit} bytes")
    try:
        content = read_plain_yaml(data)
    except PlainYamlError as error:
        raise RuleError(str(error)) from None
    problem = None if shipped else next(iter(_schema().iter_errors(content)), None)
    if problem is not None:
        field = ".".join(str(part) for part in problem.absolute_path) or "the file"
        raise RuleError(f"{field}: {problem.message[:200]}")
    return _rule(content, shipped)


def _rule(content: dict[str, Any], shipped: bool) -> Rule:
    tracks = content.get("tracks")
    transitions: list[Transition] = []
    if bool(content["transitions"]) == content.get("provers-only", False):
        raise RuleError("transitions: a rule needs at least one; only a rule with `provers-only` has none")
    for number, entry in enumerate(content["transitions"]):
        try:
            transitions.extend(_transitions(entry, tracks))
        except PatternError as error:
            raise RuleError(f"transitions.{number}: {error}") from None
    reached = {START, *content.get("member-states", ())} | {t.target for t in transitions}
    for transition in transitions:
        if transition.source not in reached:
            raise RuleError(f"no transition leads to the state {transition.source}")
    names = {name: _names(name, values) for name, values in content.get("names", {}).items()}
    return Rule(
        name=content["name"],
        summary=content["summary"],
        severity=content["severity"],
        cwe=content.get("cwe"),
        help=Documentation(**content["help"]),
        tracks=tracks,
        ownership=content.get("ownership", False),
        about_object=content.get("about-object", False),
        local_states=frozenset(content.get("local-states", ())),
        failure_states=frozenset(content.get("failure-states", ())),
        member_states=tuple(content.get("member-states", ())),
        names=names,
        keeps=frozenset(content.get("keeps", ())),
        transitions=tuple(transitions),
        default=content.get("default", True),
        returned_states=frozenset(one.source for one in transitions if one.trigger.kind == "returned"),
        provers_only=content.get("provers-only", False),
        shipped=shipped,
        kinds={name: values["library"] for name, values in content.get("names", {}).items() if isinstance(values, dict)},
    )


def _names(variable: str, values: list[str] | dict[str, str]) -> frozenset[str]:
    """Returns the names that a rule lists, or those of a kind of library functions. Raises RuleError for an unknown kind."""
    if not isinstance(values, dict):
        return frozenset(values)
    if values["library"] not in KINDS:
        raise RuleError(
            f"names.{variable}: {values['library']} is no kind of library functions; the kinds are {', '.join(KINDS)}"
        )
    return KINDS[values["library"]].names


def _transitions(entry: dict[str, Any], tracks: str | None) -> Iterable[Transition]:
    target = ERROR if "error" in entry else entry["to"]
    result = interval_of(*_comparison(entry["result"])) if "result" in entry else None
    has = tuple(parse_pattern(p) for p in _list(entry.get("if-function-has", ())))
    for source in _list(entry["from"]):
        if source in (STOP, ERROR):
            raise PatternError(f"from: nothing can follow the state {source}")
        if tracks is None and (source != START or target != ERROR):
            raise PatternError("a rule without `tracks` has only transitions from start to an error")
        for text in _list(entry["when"]):
            trigger = _trigger(text)
            if source == START and trigger.kind in _EVENTS:
                raise PatternError(f"`{text}` needs a tracked value, and there is none in the state start")
            if source == START and target != ERROR and trigger.pattern is not None and tracks is not None:
                _check_tracks(trigger.pattern, tracks)
            yield Transition(source, target, trigger, entry.get("error", ""), has, result, entry.get("decided", False))


def _check_tracks(pattern: Pattern, tracks: str) -> None:
    if tracks not in pattern.text:
        raise PatternError(f"`{pattern.text}` begins to track {tracks}, but does not mention it")


def _trigger(text: str) -> Trigger:
    if text in (*_EVENTS, *_ANYWHERE):
        return Trigger(text)  # type: ignore[arg-type]
    if text.startswith("begin:"):
        return Trigger("begin", parse_pattern(text.removeprefix("begin:").strip()))
    return Trigger("pattern", parse_pattern(text))


def _comparison(text: str) -> tuple[str, int]:
    operator, constant = text.split(" ")
    return operator, int(constant)


def _list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
