from __future__ import annotations

from pathlib import Path

import pytest

from analysis.model.settings import Settings, read, workspace_settings


def test_nothing_set_is_the_default() -> None:
    assert read(None, None) == (Settings(), [])
    assert read({"mode": None, "rules": []}, b"") == (Settings(), [])


def test_the_editor_wins_over_the_file_where_it_sets_something_else_than_the_default() -> None:
    found, problems = read({"mode": "continuous", "rules": ["a"]}, b'mode = "onSave"\nrules = ["b"]\ndefines = ["X=1"]\n')
    assert (found.mode, found.rules, found.defines, problems) == ("onSave", ("a",), ("X=1",), [])


@pytest.mark.parametrize("compiler", ["gcc", "clang-17", "arm-none-eabi-gcc", "cc", "none"])
def test_the_file_can_choose_a_usual_compiler(compiler: str) -> None:
    assert read(None, f'compiler = "{compiler}"'.encode())[0].compiler == compiler


@pytest.mark.parametrize("compiler", ["./gcc", "/usr/bin/gcc", "rm", "gcc -fplugin=x.so", "../cc", "gcc;rm"])
def test_the_file_cannot_choose_a_program(compiler: str) -> None:
    found, (problem,) = read(None, f'compiler = "{compiler}"'.encode())
    assert found.compiler is None
    assert compiler in problem
    assert read({"compiler": compiler}, None)[0].compiler == compiler, "the user can"


def test_the_file_cannot_declare_itself_trusted() -> None:
    assert not read({"trusted": False}, b"trusted = true")[0].trusted


@pytest.mark.parametrize(
    ("editor", "sentence"),
    [
        ({"mode": "fast"}, 'everproof.mode: must be "continuous", "onSave" or "onDemand"; using continuous.'),
        ({"rules": "all"}, "everproof.rules: must be a list, not a string; using none."),
        ({"budgets": 3}, "everproof.budgets: must be a table of settings."),
        ({"budgets": {"nestings": 3}}, "everproof.budgets.nestings: there is no such budget; the nearest is nesting."),
        (
            {"budgets": {"preprocessSeconds": "x"}},
            "everproof.budgets.preprocessSeconds: must be a number, not a string; using 10.0.",
        ),
        ({"rules": [1]}, "everproof.rules: each item must be a string, not a whole number; using none."),
        ({"codeLens": 1}, "everproof.codeLens: must be true or false, not a whole number; using true."),
        ({"budgets": {"nesting": "x"}}, "everproof.budgets.nesting: must be a whole number, not a string; using 500."),
        ({"budgets": {"nesting": 0}}, "everproof.budgets.nesting: must be at least 1; using 500."),
        (
            {"engine": "cbmc"},
            'everproof.engine: must be "auto", "automaton", "predicate", "summary", "symbolic" or "value"; using auto.',
        ),
        ({"unwind": 0}, "everproof.unwind: must be at least 1; using 5."),
        ({"encoding": "lra"}, 'encoding: only the engine "summary" has "lra"; using "auto".'),
        ({"color": 1}, "everproof.color: there is no such setting."),
        (7, "everproof: must be a table of settings."),
    ],
)
def test_a_wrong_setting_is_reported_by_its_name(editor: object, sentence: str) -> None:
    found, problems = read(editor, None)
    assert problems == [sentence]
    assert found == Settings()


@pytest.mark.parametrize("text", [b"mode = ", b"\xff\xfe", b"mode = [[["])
def test_a_file_that_is_no_toml_is_one_sentence(text: bytes) -> None:
    found, (problem,) = read(None, text)
    assert found == Settings()
    assert problem.startswith(".everproof.toml is not valid TOML:")


def test_budgets_have_the_names_of_limits_in_camel_case() -> None:
    assert read({"budgets": {"preprocessSeconds": 1.5, "traceSteps": 10}}, None)[0].budgets.preprocess_seconds == 1.5
    assert read(None, b"[budgets]\ntraceSteps = 10\n")[0].budgets.trace_steps == 10


def test_paths_count_from_the_first_folder() -> None:
    options = read({"includeDirs": ["inc", "/abs"], "compileCommands": "build/cc.json"}, None)[0].options(("/w", "/v"))
    assert options.flags.include_dirs == ("/w/inc", "/abs")
    assert options.compile_commands == "/w/build/cc.json"


def test_settings_of_the_client_alone_are_not_wrong() -> None:
    assert read({"trace": {"server": "off"}, "serverPath": "x"}, None) == (Settings(), [])


def test_only_the_editor_can_name_a_store() -> None:
    found, problems = read({"store": "mine.everproof"}, None)
    assert (found.store, problems) == ("mine.everproof", [])
    assert found.store_path(("/w", "/v")) == "/w/mine.everproof"
    found, problems = read({}, b'store = "theirs.everproof"')
    assert found.store_path(("/w",)) is None
    assert problems == ['in .everproof.toml: store: only "none" can be set here; name a file in the editor instead.']
    found, problems = read({}, b'store = "none"')
    assert (found.store_path(("/w",)), problems) == ("none", [])


def test_the_file_can_only_lower_what_bounds_its_memory_and_the_compilers_time() -> None:
    text = b"[budgets]\npreprocessMegabytes = 90000\npreprocessSeconds = 500\nsourceBytes = 100\ntaskSeconds = 9\n"
    found, problems = read(None, text)
    assert (found.budgets.preprocess_megabytes, found.budgets.preprocess_seconds, found.budgets.source_bytes) == (700, 10.0, 100)
    assert found.budgets.task_seconds == 9
    assert problems == [
        "in .everproof.toml: budgets.preprocessSeconds: can only be lowered here; using 10.0.",
        "in .everproof.toml: budgets.preprocessMegabytes: can only be lowered here; using 700.",
    ]
    assert read({"budgets": {"preprocessMegabytes": 90_000}}, None)[0].budgets.preprocess_megabytes == 90_000, "the user can"


@pytest.mark.parametrize("how", ["{folder}/cc", "./cc", "sub/../cc", "{folder}/sub/link/cc", "{elsewhere}/link"])
def test_a_compiler_in_the_opened_folder_is_not_run_whoever_names_it(tmp_path: Path, how: str) -> None:
    folder, elsewhere = tmp_path / "opened", tmp_path / "elsewhere"
    (folder / "sub").mkdir(parents=True)
    elsewhere.mkdir()
    (folder / "cc").write_text("")
    (elsewhere / "link").symlink_to(folder / "cc")
    (elsewhere / "cc").write_text("")
    (folder / "sub" / "link").symlink_to(elsewhere)
    named = how.format(folder=folder, elsewhere=elsewhere)
    found, (problem,) = workspace_settings((str(folder),), {"compiler": named})
    assert found.compiler is None
    assert problem == f"The setting compiler names {named}, which is in the opened folder and is not run: name one outside of it."
    assert workspace_settings((str(folder),), {"compiler": str(elsewhere / "cc")})[0].compiler == str(elsewhere / "cc")
    assert workspace_settings((str(folder),), {"compiler": "gcc-12"})[0].compiler == "gcc-12"
