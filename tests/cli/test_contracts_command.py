"""`everproof contracts`: what it prints of functions of a program, and of the library, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.cli import main

TEXT = """
typedef unsigned long size_t;
void *malloc(size_t); void free(void *); void exit(int); int *__errno_location(void); char *strdup(const char *);
struct item { int size; char *name; struct item *next; };
int count;
void fail(void) { exit(1); }
struct item *new_item(void) { struct item *i = malloc(sizeof *i); if (!i) fail(); i->size = 0; return i; }
int size(const struct item *i) { return i->size; }
int name_length(struct item *i) { count++; return i->name[0] ? 1 : 0; }
int share(int whole, int parts) { return whole / parts; }
void drop(struct item *i) { free(i); }
char *copy(const char *s) { return strdup(s); }
int open_(void) { int *p = malloc(4); return *p; }
int good(void) { struct item *i = new_item(); int n = size(i); drop(i); return n; }
int bad(void) { return size(0); }
static int (*hidden(int n, char *words[]))(void) { return n ? 0 : (int (*)(void))words; }
int last(void) { return hidden(1, 0) != 0; }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.c").write_text(TEXT)
    return tmp_path


def _all(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, dict[str, Any]]:
    assert main.main(["contracts", "--format", "json", *arguments]) == 0
    return {one["function"]: one for one in json.loads(capsys.readouterr().out)}


def _texts(clauses: list[dict[str, Any]]) -> list[str]:
    return [clause["text"] for clause in clauses]


def test_what_functions_require(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = _all(capsys, "a.c")
    said = {name: [(one["formula"], one["from"]) for one in contract["requires"]] for name, contract in found.items()}
    assert said["size"] == [("i != NULL", "null-dereference")]
    assert said["name_length"] == [("i != NULL", "null-dereference"), ("i->name != NULL", "null-dereference")]
    assert said["share"] == [("parts != 0", "division-by-zero")]
    assert said["copy"] == [("s != NULL", "null-dereference")]
    assert not said["new_item"]
    assert not said["good"]
    assert not found["good"]["open"]
    assert {one["status"] for contract in found.values() for one in contract["requires"]} == {"proved"}


def test_which_callers_keep_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = _all(capsys, "a.c")
    assert found["size"]["callers_discharging"] == [1, 2]  # bad() does not
    assert found["share"]["callers_discharging"] == [0, 0]
    assert len(found["bad"]["open"]) == 1
    assert "`NULL`, which size() needs, may be null at a.c:15" in found["bad"]["open"][0]
    assert "`p` may be null at a.c:13" in found["open_"]["open"][0]


def test_what_callers_can_rely_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = _all(capsys, "a.c")
    assert [one["formula"] for one in found["new_item"]["ensures"]] == ["result != NULL"]
    assert [(one["text"], one["status"]) for one in found["copy"]["ensures"]] == [("may return NULL", "seen")]
    assert _texts(found["fail"]["ensures"]) == ["does not return"]
    assert not found["fail"]["returns"]
    assert found["size"]["returns"]
    assert _texts(found["drop"]["ownership"]) == ["frees `i`"]
    assert _texts(found["copy"]["ownership"]) == ["returns NULL or a new block, which has to be freed"]
    assert _texts(found["size"]["writes"]) == ["nothing that callers see"]
    assert _texts(found["name_length"]["writes"]) == ["`count`"]
    assert _texts(found["new_item"]["writes"]) == ["`errno`", "`size` of `struct item`"]


def test_signatures(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = _all(capsys, "a.c")
    assert found["size"]["signature"] == "int size(struct item *i)"
    assert found["size"]["declared"] == "int size(const struct item *i)"
    assert found["fail"]["signature"] == "void fail(void)"
    assert found["hidden"]["signature"] == "int (*hidden(int n, char **words))(void)"
    assert (found["size"]["path"], found["size"]["line"]) == ("a.c", 8)


def test_one_function_as_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["contracts", "a.c", "--function", "size"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "a.c:8: int size(const struct item *i)",
        "  expects `i != NULL` (proved)",
        "  expects `i` to be neither freed nor closed (proved)",
        "  returns `i->size` (proved)",
        "  writes nothing that callers see (proved)",
        "  callers: 1 of 2 callers is not proved to keep what it expects, blocks and streams aside",
    ]


@pytest.mark.parametrize("program", [(), ("a.c",)])
def test_a_library_function(folder: Path, capsys: pytest.CaptureFixture[str], program: tuple[str, ...]) -> None:
    found = _all(capsys, *program, "--function", "strdup")["strdup"]
    assert [one["status"] for one in found["requires"]] == ["given"]
    assert _texts(found["requires"]) == ["`argument 1 != NULL`"]  # the declaration names no parameter
    assert _texts(found["ensures"]) == ["may return NULL"]
    assert _texts(found["ownership"]) == ["returns NULL or a new block, which has to be freed"]
    assert found["signature"] == ("char *strdup(char *)" if program else "strdup")


DESCRIBED = """
functions:
  - name: pool_get
    arguments: [{reads: true, not_null: true}, {}]
    result: {new: block, may_be_null: true}
    complete: true
  - {name: pool_end, arguments: [{frees: true}]}
  - {name: unused, complete: true}
"""


def test_functions_that_the_project_describes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pool.c").write_text(
        "struct pool; void *pool_get(struct pool *p, int n); void pool_end(struct pool *p);\n"
        "int f(struct pool *p) { pool_get(p, 1); pool_end(p); return 0; }\n"
    )
    own = folder / ".everproof" / "functions" / "pool.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(DESCRIBED)
    found = _all(capsys, "pool.c")
    assert found.keys() == {"f", "pool_get", "pool_end"}
    (required,) = found["pool_get"]["requires"]
    assert (required["text"], required["status"]) == ("`p != NULL`", "described")
    assert required["from"] == ".everproof/functions/pool.yaml"
    assert _texts(found["pool_get"]["ensures"]) == ["may return NULL"]
    assert _texts(found["pool_get"]["ownership"]) == ["returns NULL or a new block, which has to be freed"]
    assert _texts(found["pool_get"]["writes"]) == ["`errno`"]
    assert _texts(found["pool_end"]["ownership"]) == ["frees `p`"]
    assert _texts(found["pool_end"]["writes"]) == ["anything that it can reach"]
    assert [one["formula"] for one in found["f"]["requires"]] == ["p != NULL"]
    assert _all(capsys, "pool.c", "--function", "pool_get").keys() == {"pool_get"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--function", "nobody"], "Nothing is known of nobody"),
        (["a.c", "--function", "nobody"], "Nothing is known of nobody"),
    ],
)
def test_what_cannot_be_said(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    assert main.main(["contracts", *arguments]) == 2
    said = capsys.readouterr()
    assert not said.out
    assert sentence in said.err
    assert len(said.err.splitlines()) == 1


def test_the_program_in_the_current_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _all(capsys).keys() == _all(capsys, "a.c").keys()
    assert _all(capsys, "--function", "size").keys() == {"size"}


def test_a_file_that_is_not_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["contracts", "gone.c"]) == 2
    assert "gone.c" in capsys.readouterr().err
