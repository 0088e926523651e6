"""The templates for CI servers: what they run is what the command takes, and no script has a part that somebody else writes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from analysis.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def commands() -> list[list[str]]:
    """The words of each call of the command in the templates, without what the shell puts there."""
    action = [step["run"] for step in loaded("ci/action.yml")["runs"]["steps"] if "run" in step]
    scripts = [*action, *loaded("ci/gitlab.yml")["everproof"]["script"], loaded(".pre-commit-hooks.yaml")[0]["entry"]]
    calls = [
        line
        for script in scripts
        for line in script.splitlines()
        if re.search(r"(^|[ /\"])everproof\"? (check|diff|cache)", line)
    ]
    words = [shlex.split(re.sub(r"\|\|.*", "", line)) for line in calls]
    return [[word for word in line if not word.startswith("${")] for line in words]


def test_there_are_as_many_as_the_templates_have() -> None:
    assert [line[1] for line in commands()] == ["check", "check", "check", "check", "cache", "diff"]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_a_template_runs_what_there_is(words: list[str]) -> None:
    command = cli.get_command(click.Context(cli), words[1])
    assert command is not None
    assert command.make_context(words[1], list(words[2:])).params


def test_no_script_has_a_part_that_somebody_else_writes() -> None:
    for step in loaded("ci/action.yml")["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert step.get("shell", "bash") == "bash"
        assert "run" in step or re.fullmatch(r"[\w-]+/[\w/-]+@v\d+", step["uses"])


def test_the_hook_and_the_image_name_what_there_is() -> None:
    (hook,) = loaded(".pre-commit-hooks.yaml")
    assert {"id", "name", "entry", "language"} <= hook.keys()
    image = (ROOT / "ci" / "Containerfile").read_text("utf-8")
    assert 'ENTRYPOINT ["everproof"]' in image
    assert (ROOT / "requirements.lock").is_file()
    assert "USER checker" in image


def test_a_store_that_is_cached_has_its_key_with_it() -> None:
    """Records count only with the key that they were made with, and each job runs on a new machine."""
    steps = loaded("ci/action.yml")["runs"]["steps"]
    [folder] = {step["with"]["path"] for step in steps if step.get("uses", "").startswith("actions/cache/")}
    [key] = [step["env"]["EVERPROOF_STORE_KEY"] for step in steps if "EVERPROOF_STORE_KEY" in step.get("env", {})]
    assert key == f"{folder}/store.key"
    assert "$RUNNER_TEMP/everproof-store/results" in next(step["run"] for step in steps if step.get("id") == "check")


def test_gitlab_gets_a_shell_from_the_image_whose_entry_is_the_command() -> None:
    assert loaded("ci/gitlab.yml")["everproof"]["image"]["entrypoint"] == [""]
