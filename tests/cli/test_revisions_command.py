"""`everproof revisions`, through its main function."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.main import main
from analysis.engines.automaton import engine
from analysis.engines.automaton.solver.changes import Changes, Repaired
from analysis.engines.automaton.solver.full import Delta, DerivationGraph
from analysis.engines.automaton.solver.incr_back import incr_back

HEADER = "static inline int get(int *p)\n{\n    return *p;\n}\n"
CHECKED = HEADER.replace("return *p", "return p ? *p : 0")
MAIN = '#include "get.h"\n\nint twice(int *p)\n{\n    return 2 * get(p);\n}\n\nint main(void)\n{\n    return twice(0);\n}\n'
OK = MAIN.replace("twice(0)", "twice(&(int){1})")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def put(name: str, **files: str) -> None:
    Path(name).mkdir()
    for file, text in files.items():
        Path(name, file.replace("_", ".")).write_text(text)


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 1) -> list[dict[str, Any]]:
    assert main(["revisions", "--format", "json", *arguments]) == code
    reports: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return reports


def places(report: dict[str, Any]) -> list[tuple[str, int]]:
    return [(f["path"], f["range"]["start"]["line"]) for f in report["findings"]]


def computed(report: dict[str, Any]) -> int:
    count: int = report["work"]["configurations"]["recomputed"]
    return count


@pytest.mark.parametrize("algorithm", ["incr-back", "incr-fwd"])
def test_files_of_different_names_are_one_program_edited(capsys: pytest.CaptureFixture[str], algorithm: str) -> None:
    put(".x", get_h=HEADER)
    for name, text in (("one.c", MAIN), ("two.c", OK), ("three.c", MAIN)):
        Path(".x", name).write_text(text)
    names = [".x/one.c", ".x/two.c", ".x/three.c"]
    reports = as_json(capsys, *names, "--compare", "--algorithm", algorithm)
    assert [places(report) for report in reports] == [[(".x/get.h", 3)], [], [(".x/get.h", 3)]]
    assert [report["files"][0]["path"] for report in reports] == names
    assert {f["path"] for f in reports[1]["functions"]} == {".x/two.c", ".x/get.h"}
    assert {step["path"] for step in reports[2]["findings"][0]["trace"]} == {".x/three.c", ".x/get.h"}
    about = [report["revision"] for report in reports]
    assert [r["from_scratch"] for r in about] == ["it is the first", None, None]
    assert [r["differences"] for r in about] == [[], [], []]
    assert {r["algorithm"] for r in about} == {algorithm}
    assert about[0]["introduced"] == []
    assert [f["path"] for f in about[1]["fixed"]] == [".x/get.h"]
    assert about[2]["introduced"] == [reports[2]["findings"][0]["fingerprint"]]
    assert [report["work"]["functions"] for report in reports[1:]] == [{"reused": 2, "recomputed": 1}] * 2
    assert all(report["work"]["configurations"]["reused"] for report in reports[1:])


def test_full_computes_every_version(capsys: pytest.CaptureFixture[str]) -> None:
    put("x", get_h=HEADER, one_c=MAIN, two_c=OK)
    reports = as_json(capsys, "x/one.c", "x/two.c", "--algorithm", "full")
    assert [report["work"]["configurations"]["reused"] for report in reports] == [0, 0]
    assert reports[1]["work"]["functions"]["reused"] == 2


def test_folders_are_compared_file_by_file_with_their_own_headers(capsys: pytest.CaptureFixture[str]) -> None:
    other = "int other(void)\n{\n    return 2;\n}\n"
    put("v0", get_h=HEADER, main_c=MAIN, other_c=other)
    put("v1", get_h=CHECKED, main_c=MAIN, other_c=other)
    put("v2", get_h="\n\n" + HEADER, main_c=MAIN, other_c=other, new_h="int unused;\n")
    put("v3", get_h=HEADER, main_c='#include "new.h"\n' + MAIN, other_c=other, new_h=CHECKED.replace("get", "new"))
    reports = as_json(capsys, "v0", "v1/", "v2", "v3", "--compare")
    assert [places(r) for r in reports] == [[("v0/get.h", 3)], [], [("v2/get.h", 5)], [("v3/get.h", 3)]]
    reason = "the program is small, or was, and more than bodies of functions differs"  # a function is new
    assert [r["revision"]["from_scratch"] for r in reports] == ["it is the first", None, None, reason]
    assert [f["path"] for f in reports[1]["files"]] == ["v1/main.c", "v1/other.c"]
    assert [f["path"] for f in reports[1]["revision"]["fixed"]] == ["v0/get.h"]
    assert all(r["revision"]["differences"] == [] for r in reports)


def test_a_version_with_other_files_is_checked_from_scratch_and_the_next_one_from_it(capsys: pytest.CaptureFixture[str]) -> None:
    put("v0", get_h=HEADER, main_c=MAIN)
    put("v1", get_h=HEADER, main_c=MAIN, other_c="int two(void)\n{\n    return 2;\n}\n")
    put("v2", get_h=HEADER, main_c=OK, other_c="int two(void)\n{\n    return 2;\n}\n")
    put("v3", main_c=MAIN, other_c="int two(void)\n{\n    return 2;\n}\n")
    reports = as_json(capsys, "v0", "v1", "v2", "v3", "--compare")
    reasons = [r["revision"]["from_scratch"] for r in reports]
    assert reasons == ["it is the first", "other.c is new or gone", None, "get.h is gone"]
    assert [places(r) for r in reports] == [[("v0/get.h", 3)], [("v1/get.h", 3)], [], []]
    assert any("get.h" in message["text"] for message in reports[3]["messages"])
    assert reports[1]["revision"]["introduced"] == []  # known from the version before, though nothing was reused


def test_single_files_of_different_folders_take_their_own_headers(capsys: pytest.CaptureFixture[str]) -> None:
    put("v0", get_h=HEADER, main_c=MAIN)
    put("v1", get_h=CHECKED, main_c=MAIN)
    put("v2", main_c=MAIN)
    reports = as_json(capsys, "v0/main.c", "v1/main.c", "v2/main.c", "--compare")
    assert [places(r) for r in reports] == [[("v0/get.h", 3)], [], []]
    about = [r["revision"]["from_scratch"] for r in reports]
    assert about == ["it is the first", None, "it includes get.h, which is not part of the version"]


def test_headers_outside_of_the_versions_make_them_different_programs(capsys: pytest.CaptureFixture[str]) -> None:
    for name, header in (("a", HEADER), ("b", CHECKED)):
        Path(name, "src").mkdir(parents=True)
        Path(name, "get.h").write_text(header)
        Path(name, "src", "main.c").write_text(MAIN.replace('"get.h"', '"../get.h"'))
    reports = as_json(capsys, "a/src", "b/src", "--compare")
    assert [places(r) for r in reports] == [[("a/get.h", 3)], []]
    assert reports[1]["revision"]["from_scratch"] == "it includes ../get.h, which is not part of the version"


def test_a_function_that_does_not_parse_is_stale_in_both(capsys: pytest.CaptureFixture[str]) -> None:
    put("x", get_h=HEADER, one_c=MAIN, two_c=MAIN.replace("get(p);", "get(p) +;"), three_c=OK)
    reports = as_json(capsys, "x/one.c", "x/two.c", "x/three.c", "--compare")
    assert [places(r) for r in reports] == [[("x/get.h", 3)], [("x/get.h", 3)], []]
    assert {f["name"] for f in reports[1]["functions"] if f["stale"]} == {"twice"}
    assert all(r["revision"]["differences"] == [] for r in reports)


def test_text_that_is_not_utf_8_is_left_where_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    put("x", get_h=HEADER, one_c=MAIN)
    Path("x/two.c").write_bytes(MAIN.encode() + b"/* \xe9 */\n")
    reports = as_json(capsys, "x/one.c", "x/two.c")
    assert reports[1]["revision"]["from_scratch"] == "x/two.c is not in UTF-8"
    assert places(reports[1]) == [("x/get.h", 3)]


@pytest.mark.parametrize(("engine_name", "status"), [("automaton", "possible"), ("auto", "confirmed")])
def test_a_difference_is_named_and_has_its_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, engine_name: str, status: str
) -> None:
    put("x", get_h=HEADER, one_c=MAIN, two_c=OK)

    def forgetful(delta: Delta, graph: DerivationGraph, changes: Changes, limit: int) -> Repaired:
        """A repair that repairs nothing."""
        return incr_back(delta, graph, Changes(), limit)

    monkeypatch.setattr(engine, "incr_back", forgetful)
    assert main(["revisions", "x/two.c", "x/one.c", "--compare", "--engine", engine_name]) == 4
    said = capsys.readouterr()
    assert f"x/one.c: finding only from scratch: x/get.h:3:5: {status} error: `p` can be null here" in said.err
    assert "x/one.c: verdict only from scratch: get (x/get.h:1:19): null-dereference: violated" in said.err
    assert "compared with from scratch: 4 differences" in said.out


def test_text_says_what_came_and_went_and_what_it_cost(capsys: pytest.CaptureFixture[str]) -> None:
    put("x", get_h=HEADER, one_c=MAIN, two_c=OK)
    assert main(["revisions", "x/one.c", "x/two.c", "x/one.c", "--compare"]) == 1
    out = capsys.readouterr().out
    assert "== x/one.c\n" in out
    assert "== x/two.c\n" in out
    assert "fixed: x/get.h:3:5: " in out
    assert "introduced: x/get.h:3:5: " in out
    assert "functions lowered 1 computed and 2 reused; " in out
    assert out.count("from scratch: it is the first") == 1
    assert out.count("compared with from scratch: the same") == 3


def test_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    put("x", get_h=HEADER, one_c=MAIN, two_c=OK)
    Path("x/asm.c").write_text('int main(void)\n{\n    __asm__("nop");\n    return 0;\n}\n')
    assert main(["revisions", "x/two.c", "x/two.c"]) == 0
    assert main(["revisions", "x/two.c", "x/one.c"]) == 1
    assert main(["revisions", "x/two.c", "x/missing.c"]) == 2
    assert main(["revisions", "x/two.c", "x/asm.c", "--strict"]) == 3
    assert main(["revisions", "x/two.c"]) == 2
    assert main(["revisions", "x/one.c", "x/two.c", "--timeout", "0.000001", "--compare"]) == 0
    assert "not compared, because the time was used up" in capsys.readouterr().err


def test_sarif_has_a_run_for_each_version(capsys: pytest.CaptureFixture[str]) -> None:
    put("x", get_h=HEADER, one_c=MAIN, two_c=OK)
    assert main(["revisions", "x/one.c", "x/two.c", "--format", "sarif"]) == 1
    assert [len(run["results"]) for run in json.loads(capsys.readouterr().out)["runs"]] == [1, 0]
