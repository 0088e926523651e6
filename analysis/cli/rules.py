"""`everproof rules`."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from analysis.cli.command_options import settings_of
from analysis.cli.failure import Failure
from analysis.cli.json_format import encode_json
from analysis.cli.output import say, write
from analysis.rules.automaton import Rule
from analysis.rules.load import load_rules, no_such_rule


@click.command()
@click.argument("name", required=False)
@click.option("--rules-dir", "rules_dirs", metavar="DIR", multiple=True, help="More rules, as YAML files.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Default: text.")
def rules(name: str | None, rules_dirs: tuple[str, ...], format_: str) -> int:
    """List the rules, or explain the one called NAME: those that come with Everproof, and those of the current folder."""
    _, options, wrong_settings = settings_of(".")
    options = msgspec.structs.replace(options, rules_dirs=(*rules_dirs, *options.rules_dirs))
    known, messages = load_rules(msgspec.structs.replace(options, rules=("all",)))
    checked = {rule.name for rule in load_rules(options)[0]}
    say(messages)
    chosen = [rule for rule in known if name in (None, rule.name)]
    if not chosen:
        raise Failure(no_such_rule(name or "", (rule.name for rule in known)))
    if format_ == "json":
        write(encode_json([_document(rule, rule.name in checked) for rule in chosen]), None)
    elif name is not None:
        write(chosen[0].markdown(), None)
    else:
        width = max(len(rule.name) for rule in chosen)
        lines = [f"{rule.name:<{width}}  {rule.severity:<7}  {rule.summary}{_aside(rule.name in checked)}" for rule in chosen]
        write("\n".join(lines) + "\n", None)
    return 2 if wrong_settings or any(message.severity == "error" for message in messages) else 0


def _aside(is_checked: bool) -> str:
    return "" if is_checked else " (only with --rule)"


def _document(rule: Rule, is_checked: bool) -> dict[str, Any]:
    return {
        "name": rule.name,
        "summary": rule.summary,
        "severity": rule.severity,
        "cwe": rule.cwe,
        "default": rule.default,
        "checked": is_checked,
        "found_by": "provers" if rule.provers_only else "automaton",
        "help": msgspec.to_builtins(rule.help),
    }
