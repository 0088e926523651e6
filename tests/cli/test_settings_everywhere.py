"""Settings mean the same in every command and in the editor. The class: a setting of a workspace reaches one of them and not
another, or it is wrong and nobody says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from analysis.cli import certify, check, contracts, dumping, main, revisions, watch
from analysis.cli.difference import diff_command
from analysis.model.options import Options
from analysis.model.settings import Settings, settings_folder, workspace_settings
from analysis.rules.load import load_rules

RULE = """name: {name}
summary: A call
severity: error
help: {{what: w, why: y, example: e, fix: f}}
transitions:
  - {{from: start, when: "{name}_called()", error: "called"}}
"""

# what stands in .everproof.toml, and what it makes of the options; {root} is the folder
TABLE: dict[str, tuple[str, Callable[[Options], object], object]] = {
    "show": ('show = "all"', lambda options: options.show, "all"),
    "rules": ('rules = ["assertion"]', lambda options: options.rules, ("assertion",)),
    "rulesDirs": (
        'rulesDirs = ["more"]',
        lambda options: [os.path.relpath(folder, "root") for folder in options.rules_dirs],
        ["more", os.path.join(".everproof", "rules")],
    ),
    "entries": ('entries = ["start"]', lambda options: options.entries, ("start",)),
    "compiler": ('compiler = "none"', lambda options: options.compiler, "none"),
    "compileCommands": (
        'compileCommands = "cc.json"',
        lambda options: options.compile_commands and os.path.relpath(options.compile_commands, "root"),
        "cc.json",
    ),
    "includeDirs": (
        'includeDirs = ["inc"]',
        lambda options: [os.path.relpath(folder, "root") for folder in options.flags.include_dirs],
        ["inc"],
    ),
    "defines": ('defines = ["A=1"]', lambda options: options.flags.defines, ("A=1",)),
    "standard": ('standard = "c11"', lambda options: options.flags.standard, "c11"),
    "dataModel": ('dataModel = "ILP32"', lambda options: options.data_model, "ILP32"),
    "engine": ('engine = "summary"', lambda options: options.engine, "summary"),
    "encoding": ('encoding = "bv"', lambda options: options.encoding, "bv"),
    "unwind": ("unwind = 7", lambda options: options.unwind, 7),
    "budgets": ("budgets = {traceSteps = 7}", lambda options: options.limits.trace_steps, 7),
}
# what only says something about an editor, or about where results are kept
EDITORS = {
    "mode",
    "store",
    "unknownHints",
    "showUnknown",
    "proofs",
    "invariants",
    "codeLens",
    "selfAudit",
    "checkFolders",
    "trusted",
    "reference",
    "olderFindings",
}

COMMANDS = {
    "check": (check, ["check", "root"]),
    "check of a file": (check, ["check", "root/a.c"]),
    "revisions": (revisions, ["revisions", "root", "root"]),
    "diff": (diff_command, ["diff", "root", "root"]),
    "watch": (watch, ["watch", "root"]),
    "contracts": (contracts, ["contracts", "root/a.c"]),
    "dump cfa": (dumping, ["dump", "cfa", "root/a.c"]),
    "dump derivation": (dumping, ["dump", "derivation", "root/a.c"]),
    "dump delta": (dumping, ["dump", "delta", "root", "root"]),
    "certify": (certify, ["certify", "proof.json", "root/a.c"]),
}


class _AskedError(Exception):
    """What a command asks for."""

    def __init__(self, options: Options) -> None:
        super().__init__("asked")
        self.options = options


def _stop(options: Any, *_others: Any, **_named: Any) -> None:
    raise _AskedError(options)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVERPROOF_TRACEBACK", "1")
    folder = tmp_path / "root"
    (folder / ".everproof" / "rules").mkdir(parents=True)
    (folder / ".everproof" / "rules" / "own.yaml").write_text(RULE.format(name="own"))
    (folder / "more").mkdir()
    (folder / "more" / "more.yaml").write_text(RULE.format(name="more"))
    (folder / "inc").mkdir()
    (folder / "cc.json").write_text("[]")
    (folder / "a.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "proof.json").write_text("{}")
    return folder


def _asked_by(command: str, monkeypatch: pytest.MonkeyPatch) -> Options:
    import analysis.cli.certify
    import analysis.cli.check
    import analysis.cli.contracts
    import analysis.cli.dumping
    import analysis.cli.version_chain
    import analysis.cli.watch

    for module in (
        analysis.cli.check,
        analysis.cli.contracts,
        analysis.cli.dumping,
        analysis.cli.version_chain,
        analysis.cli.watch,
    ):
        monkeypatch.setattr(module, "Checker", _stop)
    monkeypatch.setattr(analysis.cli.certify, "Request", lambda certificate, paths, options, made_for: _stop(options))
    with pytest.raises(_AskedError) as asked:
        main.main([*COMMANDS[command][1]])
    return asked.value.options


def _asked_by_editor(root: Path) -> Options:
    return workspace_settings((str(root),))[0].options((str(root),))


def test_the_table_has_every_setting() -> None:
    assert TABLE.keys() | EDITORS == {field.encode_name for field in msgspec.structs.fields(Settings)}


@pytest.mark.parametrize("command", [*COMMANDS, "the editor"])
@pytest.mark.parametrize("setting", TABLE)
def test_a_setting_means_the_same(setting: str, command: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, of, wanted = TABLE[setting]
    (root / ".everproof.toml").write_text(text + "\n")
    options = _asked_by_editor(root) if command == "the editor" else _asked_by(command, monkeypatch)
    assert of(options) == wanted
    assert {"own"} <= {rule.name for rule in load_rules(msgspec.structs.replace(options, rules=()))[0]}


WRONG = {
    "ruls = []": "in .everproof.toml: ruls: there is no such setting; the nearest is rules.",
    "include_dir = []": "in .everproof.toml: include_dir: there is no such setting; the nearest is includeDirs.",
    "zzz = 1": "in .everproof.toml: zzz: there is no such setting.",
    'rules = "all"': "in .everproof.toml: rules: must be a list, not a string; using none.",
    'dataModel = "LP63"': 'in .everproof.toml: dataModel: must be "LP64" or "ILP32"; using LP64.',
    "budgets = {nestin = 5}": "in .everproof.toml: budgets.nestin: there is no such budget; the nearest is nesting.",
    "budgets = {nesting = -5}": "in .everproof.toml: budgets.nesting: ",
    "budgets = {preprocessSeconds = nan}": "in .everproof.toml: budgets.preprocessSeconds: ",
    "budgets = {preprocessSeconds = 1e9}": "in .everproof.toml: budgets.preprocessSeconds: must be at most 600; using 10.0.",
    "trusted = true": "in .everproof.toml: trusted: only an editor can set this.",
    'serverPath = "/bin/sh"': "in .everproof.toml: serverPath: only an editor can set this.",
    'compiler = "./gcc"': 'in .everproof.toml: compiler: "./gcc" is not a usual compiler name; set it in the editor instead.',
    'includeDirs = ["gone"]': "The setting includeDirs names the folder gone, which does not exist.",
    'defines = ["@flags.txt"]': "in .everproof.toml: defines: '@flags.txt' is not a macro",
    'standard = "c98"': "in .everproof.toml: standard: 'c98' is not a known C standard",
    "rules = [": ".everproof.toml is not valid TOML",
}


@pytest.mark.parametrize("command", [["check", "root"], ["rules"], ["dump", "cfa", "root/a.c"], ["revisions", "root", "root"]])
@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_once(
    text: str, command: list[str], root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / ".everproof.toml").write_text(text + "\n")
    if command == ["rules"]:
        monkeypatch.chdir(root)
    assert main.main(command if command == ["rules"] else [*command, "--compiler", "none"]) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if WRONG[text].lower() in line.lower()]
    assert len(said) == 1, said
    assert [problem for problem in workspace_settings((str(root),))[1] if WRONG[text] in problem]


def test_a_pipe_in_place_of_the_settings_is_said(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(root / ".everproof.toml")
    assert main.main(["dump", "cfa", "root/a.c", "--compiler", "none"]) == 2
    assert ".everproof.toml is not used: it is a pipe." in capsys.readouterr().err


def test_the_command_line_wins(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".everproof.toml").write_text('rules = ["assertion"]\ndataModel = "ILP32"\ndefines = ["A"]\nstandard = "c99"\n')
    COMMANDS["more"] = (check, ["check", "root", "--rule", "double-free", "--data-model", "LP64", "-D", "B", "--std", "c11"])
    try:
        options = _asked_by("more", monkeypatch)
    finally:
        del COMMANDS["more"]
    assert (options.rules, options.data_model, options.flags.defines, options.flags.standard) == (
        ("double-free",),
        "LP64",
        ("B",),
        "c11",
    )


def test_the_nearest_settings_upward_count_up_to_the_top_of_a_project(root: Path) -> None:
    inner = root / "src" / "deep"
    inner.mkdir(parents=True)
    (root / ".everproof.toml").write_text("")
    assert settings_folder(str(inner / "a.c")) == str(root)
    (root / "src" / ".git").mkdir()
    assert settings_folder(str(inner)) == str(inner), "another project"
    assert settings_folder(str(root / "src" / "deep" / "gone.c")) == str(inner)


def test_a_version_with_other_settings_or_rules_is_checked_from_scratch(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, rule in (("v0", "own"), ("v1", "own"), ("v2", "other")):
        (root / name / ".everproof" / "rules").mkdir(parents=True)
        (root / name / ".everproof" / "rules" / "own.yaml").write_text(RULE.format(name=rule))
        (root / name / "a.c").write_text("int other_called(void); int main(void) { return other_called(); }\n")
    versions = [str(root / name) for name in ("v0", "v1", "v2")]
    assert main.main(["revisions", *versions, "--compiler", "none", "--rule", "all", "--engine", "automaton"]) == 1
    out = capsys.readouterr().out
    assert "introduced: " in out
    assert "from scratch: its settings or rules are not those of the version before" in out
    assert out.count("from scratch: ") == 2, "the first version, and the last"


def test_rules_lists_what_is_checked_here(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    (root / ".everproof.toml").write_text('rules = ["own", "memory-cleanup"]\nrulesDirs = ["more"]\n')
    assert main.main(["rules"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert {name for name, line in lines.items() if "(only with --rule)" not in line} == {"own", "memory-cleanup"}
    assert "more" in lines
