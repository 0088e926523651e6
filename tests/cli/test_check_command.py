"""`everproof check`, through its main function."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.main import main

BAD = "int f(void)\n{\n    int *p = 0;\n    return *p;\n}\n"
GOOD = "int f(void)\n{\n    int x = 1, *p = &x;\n    return *p;\n}\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.c").write_text(BAD)
    Path("good.c").write_text(GOOD)


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["check", "--format", "json", *arguments])
    return code, json.loads(capsys.readouterr().out)


def places(report: dict[str, Any]) -> list[tuple[str, str, int]]:
    return [(f["rule"], f["path"], f["range"]["start"]["line"]) for f in report["findings"]]


def test_exit_codes_distinguish_findings_from_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "bad.c"]) == 1
    assert main(["check", "good.c"]) == 0
    capsys.readouterr()


def test_strict_does_not_pass_what_stayed_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    Path("asm.c").write_text('int f(void)\n{\n    __asm__("nop");\n    return 0;\n}\n')
    assert main(["check", "asm.c"]) == 0
    assert main(["check", "--strict", "asm.c"]) == 3
    assert main(["check", "--strict", "bad.c"]) == 1
    capsys.readouterr()


def test_json_is_schema_1(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = as_json(capsys, "bad.c")
    assert code == 1
    assert (report["schema"], report["verdict"]) == (1, "violated")
    assert report["files"] == [{"path": "bad.c", "functions": 1, "parse_errors": 0}]
    [function] = report["functions"]
    assert (function["name"], function["path"], function["line"]) == ("f", "bad.c", 1)
    verdict = function["verdicts"]["null-dereference"]
    assert verdict.keys() == {
        "verdict", "reason", "assumptions", "engine", "certified", "ms", "certificate", "unreached", "no_place",
        "entries", "within",
    }  # fmt: skip
    assert (verdict["verdict"], verdict["unreached"]) == ("violated", False)
    [finding] = report["findings"]
    assert finding.keys() == {
        "rule", "status", "severity", "message", "path", "range", "function", "fingerprint", "trace", "reason", "assumptions",
        "score", "reasons", "evidence", "shown", "since", "explaining",
    }  # fmt: skip
    assert finding["range"]["start"] == {"line": 4, "column": 5}
    step = finding["trace"][-1]
    assert step.keys() == {"path", "range", "function", "depth", "kind", "text", "values"}
    assert (step["kind"], step["depth"], step["path"]) == ("error", 0, "bad.c")
    assert report["work"]["configurations"]["recomputed"] > 0
    assert report["work"]["edges"] > 0
    stages = "preprocess parse lower link automaton prover report afterwards total"
    assert report["time_ms"].keys() == set(stages.split())


def test_sarif_has_the_trace_as_a_code_flow(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "sarif", "bad.c"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["version"] == "2.1.0"
    [run] = document["runs"]
    [result] = run["results"]
    driver = run["tool"]["driver"]
    assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "null-dereference"
    assert result["level"] in ("error", "warning", "note")
    [location] = result["locations"]
    assert location["physicalLocation"]["artifactLocation"] == {"uri": "bad.c"}
    assert location["physicalLocation"]["region"]["startLine"] == 4
    [flow] = result["codeFlows"]
    [thread] = flow["threadFlows"]
    assert [step["executionOrder"] for step in thread["locations"]] == list(range(1, len(thread["locations"]) + 1))
    assert thread["locations"][-1]["location"]["physicalLocation"]["region"]["startLine"] == 4
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]
    assert all(rule["help"]["markdown"] for rule in driver["rules"])


def test_text_has_the_trace_and_distinguishes_nothing_found_from_nothing_checked(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "bad.c"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("bad.c:4:5: ")
    assert lines[0].endswith("[null-dereference]")
    assert any("p = NULL" in line for line in lines[1:])
    assert lines[-1].startswith("1 finding: 1 function in 1 file checked against ")
    main(["check", "good.c"])
    assert capsys.readouterr().out.splitlines()[-1].startswith("No finding")
    Path("empty.c").write_text("")
    assert main(["check", "empty.c"]) == 0
    assert capsys.readouterr().out.startswith("Nothing was checked")
    assert main(["check", "--strict", "empty.c"]) == 3
    capsys.readouterr()


def test_files_of_one_run_are_one_program(capsys: pytest.CaptureFixture[str]) -> None:
    Path("get.c").write_text("int get(int *p)\n{\n    return *p;\n}\n")
    Path("use.c").write_text("int get(int *p);\nint main(void)\n{\n    return get(0);\n}\n")
    code, report = as_json(capsys, "use.c", "get.c")
    assert code == 1
    assert places(report) == [("null-dereference", "get.c", 3)]
    assert {step["path"] for step in report["findings"][0]["trace"]} == {"use.c", "get.c"}


def test_without_a_path_the_current_folder_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = as_json(capsys)
    assert code == 1
    assert [file["path"] for file in report["files"]] == ["bad.c", "good.c"]


def test_without_a_path_a_compile_commands_json_upward_says_what_to_check(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("flag.c").write_text("int f(int *p)\n{\n#ifdef CLEAR\n    p = 0;\n#endif\n    return *p;\n}\n")
    entry = {"directory": str(tmp_path), "file": "flag.c", "command": "cc -DCLEAR -c flag.c"}
    Path("compile_commands.json").write_text(json.dumps([entry]))
    code, report = as_json(capsys)
    assert code == 1
    assert places(report) == [("null-dereference", "flag.c", 6)]
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    code, report = as_json(capsys)
    assert code == 1
    assert [(rule, Path(path).name) for rule, path, _ in places(report)] == [("null-dereference", "flag.c")]


def test_flags_are_passed_on(capsys: pytest.CaptureFixture[str]) -> None:
    Path("inc").mkdir()
    Path("inc/value.h").write_text("#define VALUE 0\n")
    Path("flag.c").write_text('#include "value.h"\nint f(void)\n{\n    int *p = (int *)VALUE;\n    return P;\n}\n')
    code, report = as_json(capsys, "-I", "inc", "-D", "P=*p", "--std", "c99", "flag.c")
    assert code == 1
    assert places(report) == [("null-dereference", "flag.c", 5)]


def test_entries_choose_where_executions_start(capsys: pytest.CaptureFixture[str]) -> None:
    text = "int f(int *p)\n{\n    p = 0;\n    return *p;\n}\nint main(void)\n{\n    return 0;\n}\n"
    Path("main.c").write_text(text)
    assert as_json(capsys, "--entry", "main", "main.c")[0] == 0
    for chosen in (["--entry", "f"], []):  # other programs can call what nobody calls here
        code, report = as_json(capsys, *chosen, "main.c")
        assert code == 1
        assert places(report) == [("null-dereference", "main.c", 4)]
    Path("main.c").write_text(f"static {text}")
    assert as_json(capsys, "main.c")[0] == 0


def test_only_the_rules_asked_for_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = as_json(capsys, "--rule", "memory-leak", "bad.c")
    assert code == 0
    assert set(report["functions"][0]["verdicts"]) == {"memory-leak"}
    assert as_json(capsys, "--rule", "all", "bad.c")[0] == 1


def test_a_suppressed_finding_is_counted_not_reported(capsys: pytest.CaptureFixture[str]) -> None:
    reason = "// everproof: ignore null-dereference the caller maps page zero\n"
    Path("bad.c").write_text(BAD.replace("    return *p;", reason + "    return *p;"))
    code, report = as_json(capsys, "bad.c")
    assert code == 0
    assert (report["findings"], report["suppressed"], report["verdict"]) == ([], 1, "unknown")
    verdict = report["functions"][0]["verdicts"]["null-dereference"]
    assert verdict["verdict"] == "unknown"
    assert "the caller maps page zero" in verdict["reason"]


def test_a_suppression_without_a_reason_does_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.c").write_text(BAD.replace("*p;", "*p; // everproof: ignore null-dereference"))
    assert main(["check", "bad.c"]) == 1
    assert "bad.c:4: warning: This comment suppresses nothing: give a reason" in capsys.readouterr().err


def test_a_baseline_withholds_what_it_knows_though_lines_move(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--write-baseline", "known.json", "bad.c"]) == 1
    Path("bad.c").write_text("\n\n" + BAD)
    assert main(["check", "--baseline", "known.json", "bad.c"]) == 0
    assert "1 known from the baseline" in capsys.readouterr().out
    Path("bad.c").write_text(BAD + BAD.replace("f(void)", "g(void)"))
    code, report = as_json(capsys, "--baseline", "known.json", "bad.c")
    assert code == 1
    assert [finding["function"] for finding in report["findings"]] == ["g"]


def test_the_report_goes_where_it_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "json", "--output", "out.json", "bad.c"]) == 1
    assert capsys.readouterr().out == ""
    assert json.loads(Path("out.json").read_text())["verdict"] == "violated"


def test_the_same_input_gives_the_same_report(capsys: pytest.CaptureFixture[str]) -> None:
    def without_times() -> dict[str, Any]:
        report = as_json(capsys)[1]
        del report["time_ms"]
        for function in report["functions"]:
            for verdict in function["verdicts"].values():
                del verdict["ms"]
        return report

    assert without_times() == without_times()


def test_running_out_of_time_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = as_json(capsys, "--timeout", "0.000001", "--strict", "bad.c")
    assert code == 3
    assert report["verdict"] == "unknown"
    assert ["--timeout" in message["text"] for message in report["messages"]] == [True]


def test_stats_are_shown_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--stats", "good.c"])
    out = capsys.readouterr().out
    assert "time in ms: preprocess " in out
    assert "configurations: " in out
