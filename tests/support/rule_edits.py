"""Random edits of rules: a shipped one loses a transition, says something else or is as it was; own ones come, change and go."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from random import Random
from typing import Any

import yaml

from analysis.rules.load import shipped_rules

_OWN = """\
name: {name}
summary: A call that somebody does not want
severity: note
help: {{what: It is called., why: Somebody said so., example: "f();", fix: Do not call it.}}
names:
  $F: [{functions}]
transitions:
  - {{from: start, when: "$F(...)", error: "{message}"}}
"""
_CALLED = ("malloc", "free", "exit", "lock", "unlock", "pthread_mutex_lock", "total_0", "printf", "strlen")


class EditedRules:
    """A folder of rules that is edited, one file after the other."""

    def __init__(self, random: Random, folder: Path) -> None:
        self._random = random
        self._folder = folder
        folder.mkdir()

    def edit(self) -> str:
        """Makes one more edit; returns a description of it."""
        files = sorted(self._folder.iterdir())
        kind = self._random.choice(["shipped", "words", "own", "own", "gone"])
        if kind == "gone" and files:
            file = self._random.choice(files)
            file.unlink()
            return f"{file.name} is gone"
        if kind == "own":
            return self._own()
        return self._override(drop=kind == "shipped")

    def _own(self) -> str:
        name = f"own-{self._random.randrange(3)}"
        functions = ", ".join(sorted(self._random.sample(_CALLED, 2)))
        message = self._random.choice(["Not this", "Not that"])
        (self._folder / f"{name}.yaml").write_text(_OWN.format(name=name, functions=functions, message=message))
        return f"{name} is about {functions}"

    def _override(self, *, drop: bool) -> str:
        rule = self._random.choice([rule.name for rule in shipped_rules() if rule.default and not rule.provers_only])
        source = resources.files("analysis.rules") / "shipped" / f"{rule}.yaml"
        data: dict[str, Any] = yaml.safe_load(source.read_text("utf-8"))
        properties = [key for key in ("ownership", "about-object", "keeps", "local-states") if key in data]
        number = self._random.randrange(len(data["transitions"]))
        if drop and properties and self._random.random() < 0.4:
            del data[self._random.choice(properties)]
        elif drop and len(data["transitions"]) > 1:
            del data["transitions"][number]
        else:
            for transition in data["transitions"]:
                if "error" in transition:
                    transition["error"] += ", they say"
        (self._folder / f"{rule}.yaml").write_text(yaml.safe_dump(data))
        return f"{rule} has {len(data['transitions'])} transitions"
