"""`everproof diff`, through its main function: which versions it compares, and what it prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.diffs import FIXED, NULL, OLD, TWO, as_json, commit, git, numbers, put

from analysis.cli.main import main


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_working_tree_is_compared_with_a_commit(capsys: pytest.CaptureFixture[str]) -> None:
    git("init", "-q")
    put("a.c", FIXED)
    commit()
    put("a.c", OLD)
    document = as_json(capsys, "HEAD", code=1)
    assert numbers(document) == (1, 0, 0)
    assert {function["path"] for function in document["functions"]} == {"a.c"}
    assert {step["path"] for step in document["introduced"][0]["trace"]} == {"a.c"}
    commit()
    assert numbers(as_json(capsys, "HEAD~1", "HEAD", code=1)) == (1, 0, 0)
    assert numbers(as_json(capsys, "HEAD", "HEAD~1", code=0)) == (0, 1, 0)
    assert numbers(as_json(capsys, "HEAD", code=0)) == (0, 0, 1)


def test_a_folder_of_a_repository_is_compared_with_itself(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git("init", "-q")
    put("include/get.h", NULL)
    put("src/a.c", '#include "../include/get.h"\nint main(void)\n{\n    return 0;\n}\n')
    put("other/b.c", "int other(void) { int *p = 0; return *p; }\n")
    commit()
    put("src/a.c", '#include "../include/get.h"\nint main(void)\n{\n    return get(0);\n}\n')
    monkeypatch.chdir("src")
    document = as_json(capsys, "HEAD", code=1)
    assert numbers(document) == (1, 0, 0)
    assert document["messages"] == []


@pytest.mark.parametrize("named", ["a.c", "{folder}/src/a.c", "."])
def test_a_file_or_folder_by_itself_is_compared_with_the_last_commit(
    named: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git("init", "-q")
    named = named.format(folder=Path.cwd())
    put("include/get.h", NULL)
    put("src/a.c", '#include "../include/get.h"\nint main(void)\n{\n    return get(0);\n}\n')
    commit()
    put("src/a.c", '#include "../include/get.h"\nint main(void)\n{\n    return 0;\n}\n')
    put("include/new.h", NULL)
    monkeypatch.chdir("src")
    document = as_json(capsys, named, code=0)
    assert numbers(document) == (0, 1, 0)
    assert document["old"] == "HEAD"
    assert document["fixed"][0]["path"] == "../include/get.h"
    assert {step["path"] for step in document["fixed"][0]["trace"]} == {"a.c", "../include/get.h"}


def test_a_file_that_was_never_committed_has_to_be_compared_with_another(capsys: pytest.CaptureFixture[str]) -> None:
    git("init", "-q")
    put("a.c", OLD)
    commit()
    put("b.c", OLD)
    assert main(["diff", "b.c"]) == 2
    assert "b.c is not in the last commit" in capsys.readouterr().err


def test_what_is_generated_and_how_it_is_compiled_is_taken_from_the_working_tree(capsys: pytest.CaptureFixture[str]) -> None:
    git("init", "-q")
    put(".gitignore", "generated.h\nbuild\ncompile_commands.json\n")
    put("generated.h", "#define START 0\n")
    put("build/config.h", "#define FOUND 1\n")
    text = (
        '#include "generated.h"\n#include <config.h>\nint main(void)\n{\n    int n = START, *p = &n;\n    return FOUND + *p;\n}\n'
    )
    put("src/a.c", text.replace("generated.h", "../generated.h"))
    root = Path.cwd()
    entry = {"directory": str(root), "file": "src/a.c", "arguments": ["cc", f"-I{root}/build", "-DMODE=1", "-c", "src/a.c"]}
    put("compile_commands.json", json.dumps([entry]))
    commit()
    put("src/a.c", Path("src/a.c").read_text().replace("*p = &n", "*p = MODE ? 0 : &n"))
    document = as_json(capsys, "HEAD", code=1)
    assert document["messages"] == []
    assert numbers(document) == (1, 0, 0)


def test_text_says_what_was_introduced_and_fixed(capsys: pytest.CaptureFixture[str]) -> None:
    put("old.c", OLD)
    put("new.c", FIXED.replace("int main(void)\n{\n", "int main(void)\n{\n    char *c = 0;\n    c[2] = 1;\n"))
    assert main(["diff", "--engine", "automaton", "old.c", "new.c"]) == 1
    said = capsys.readouterr().out
    assert "new.c:13:5: error: possible: `c` can be null here and is dereferenced (since `c = 0`) [null-dereference]" in said
    assert "fixed: old.c:3:5: `p` can be null here and is dereferenced [null-dereference]" in said
    assert "From old.c to new.c: 1 finding introduced, 1 fixed." in said
    assert "2 of 3 functions may behave differently than before: one, main." in said


def test_sarif_tells_the_states(capsys: pytest.CaptureFixture[str]) -> None:
    put("old.c", TWO)
    put("new.c", OLD.replace("int main(void)\n{\n", "int main(void)\n{\n    char *c = 0;\n    c[2] = 1;\n"))
    assert main(["diff", "--engine", "automaton", "--format", "sarif", "old.c", "new.c"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert sorted(result["baselineState"] for result in run["results"]) == ["absent", "new", "unchanged"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "There must be one version or two"),
        (("a.c", "a.c", "a.c"), "There must be one version or two"),
        (("a.c",), "a.c has no last commit to be compared with"),
        (("nothing",), "nothing is no file or folder, and no revision of a git repository here"),
        (("a.c", "a.c", "--write-baseline", "b.json"), "Baselines are for one version"),
        (("a.c", "a.c", "--certificate", "b.json", "--engine", "auto"), "Certificates are of one version"),
    ],
)
def test_bad_input_is_one_sentence(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str) -> None:
    put("a.c", OLD)
    assert main(["diff", *words]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err
