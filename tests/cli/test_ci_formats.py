"""What CI servers read: SARIF, annotations of a GitHub workflow, test reports. Libraries that others wrote read each back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import junitparser
import pytest
from sarif.loader import load_sarif_file
from sarif.operations.diff_op import print_diff

from analysis.cli.github_format import annotation
from analysis.cli.junit_format import junit_report
from analysis.cli.main import main
from analysis.model.places import Place, Position, Range
from analysis.model.report import Finding, Report, Times, Work

BAD = "int f(void)\n{\n    int *p = 0;\n    return *p;\n}\n"
SILENCED = BAD.replace("f(void)", "g(void)").replace("*p;", "*p; // everproof: ignore null-dereference page zero is mapped")
SAFE = "int h(void)\n{\n    return 1;\n}\n"
SCHEMA = Path(__file__).parent / "schemas" / "sarif-2.1.0.json"
QUICK = ["--engine", "automaton", "--store", "none"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.c").write_text(BAD)


@cache
def validator() -> Any:
    """Of the schema that the committee publishes, as Microsoft's Sarif.Multitool 5.7.0 comes with it."""
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))


def sarif(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    main([*arguments, *QUICK, "--format", "sarif"])
    text = capsys.readouterr().out
    Path("out.sarif").write_text(text)
    document: dict[str, Any] = json.loads(text)
    assert [error.message for error in validator().iter_errors(document)] == []
    return document


def results(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for run in document["runs"]:
        yield from run["results"]


def test_sarif_satisfies_the_schema_and_a_viewer_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.c").write_text(BAD + SILENCED)
    found = list(results(sarif(capsys, "check", "bad.c", "nowhere.c")))
    assert [(one["ruleId"], [s["justification"] for s in one.get("suppressions", ())]) for one in found] == [
        ("null-dereference", []),
        ("null-dereference", ["page zero is mapped"]),
    ]
    assert all(one["codeFlows"] and one["partialFingerprints"] for one in found)
    viewed = load_sarif_file("out.sarif")
    assert viewed.get_distinct_tool_names() == ["everproof"]
    records = viewed.get_records()
    assert [(record["Tool"], record["Location"], record["Line"]) for record in records] == [
        ("everproof", "bad.c", 4),
        ("everproof", "bad.c", 9),
    ]


def test_sarif_says_what_is_new_unchanged_or_absent_since_the_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.c").write_text(BAD + BAD.replace("f(void)", "gone(void)"))
    main(["check", "bad.c", *QUICK, "--write-baseline", "known.json"])
    capsys.readouterr()
    Path("bad.c").write_text(BAD + BAD.replace("f(void)", "added(void)"))
    found = list(results(sarif(capsys, "check", "bad.c", "--baseline", "known.json")))
    states = {one["locations"][0]["logicalLocations"][0]["name"]: one["baselineState"] for one in found}
    assert states == {"added": "new", "f": "unchanged", "gone": "absent"}
    assert [one["baselineState"] for one in found if "suppressions" in one] == ["unchanged"]


def test_the_sarif_of_a_difference_and_of_revisions_satisfies_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    Path("good.c").write_text(SAFE)
    assert [one["baselineState"] for one in results(sarif(capsys, "diff", "good.c", "bad.c"))] == ["new"]
    sarif(capsys, "revisions", "good.c", "bad.c")


def test_a_viewer_finds_the_same_findings_after_lines_moved(capsys: pytest.CaptureFixture[str]) -> None:
    sarif(capsys, "check", "bad.c")
    before = Path("out.sarif").rename("before.sarif")
    Path("bad.c").write_text(BAD.replace("    return", "    (void) 0;\n    return"))
    sarif(capsys, "check", "bad.c")
    old, new = (load_sarif_file(str(path)) for path in (before, "out.sarif"))
    assert print_diff(old, new, None) == 0
    fingerprints = [[one["partialFingerprints"] for one in viewed.get_results()] for viewed in (old, new)]
    assert fingerprints[0] == fingerprints[1]


def test_github_gets_an_annotation_for_each_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "bad.c", *QUICK, "--format", "github"]) == 1
    command, last = capsys.readouterr().out.splitlines()
    assert command.startswith("::error file=bad.c,line=4,endLine=4,col=5,endColumn=")
    assert ",title=everproof%3A null-dereference::possible: `p` " in command
    assert "%0A" in command  # a step a line
    assert last.startswith("1 finding: 1 function in 1 file")
    assert main(["diff", "bad.c", "bad.c", *QUICK, "--format", "github"]) == 0
    assert "::" not in capsys.readouterr().out
    Path("good.c").write_text(SAFE)
    assert main(["diff", "good.c", "bad.c", *QUICK, "--format", "github"]) == 1
    assert capsys.readouterr().out.startswith("::error file=bad.c,line=4,")


def finding(path: str, message: str, *, shown: bool = True) -> Finding:
    spot = Range(Position(1, 1), Position(1, 2))
    return Finding("leak", "possible", "warning", message, Place(path, spot), "f", "0" * 16, (), shown=shown)


def test_no_name_of_a_file_becomes_a_command_of_its_own() -> None:
    line = annotation(finding("a,title=x:\n::add-mask::y\r.c", "100% \n::set-env name=A::b"))
    assert "\n" not in line
    assert "\r" not in line
    assert line.count("::") - line[2:].partition("::")[2].count("::") == 2  # one command, and the text behind it
    assert re.match(r"::warning file=a%2Ctitle=x%3A%0A%3A%3Aadd-mask%3A%3Ay%0D.c,line=1,", line)


def test_a_test_report_passes_only_what_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.c").write_text(BAD + SAFE)
    assert main(["check", "bad.c", "nowhere.c", *QUICK, "--format", "junit", "--output", "report.xml"]) == 1
    parsed = junitparser.JUnitXml.fromfile("report.xml")
    cases = {case.name: case for suite in parsed for case in suite}
    assert set(cases) == {"f [null-dereference]", "h", "nowhere.c"}
    assert [type(result) for result in cases["f [null-dereference]"].result] == [junitparser.Failure]
    assert "bad.c:4:5" in cases["f [null-dereference]"].result[0].text
    assert cases["h"].result == [] or isinstance(cases["h"].result[0], junitparser.Skipped)
    assert isinstance(cases["nowhere.c"].result[0], junitparser.Error)
    assert (parsed.failures, parsed.errors, parsed.tests) == (1, 1, 3)


def test_a_test_report_is_xml_whatever_names_hold() -> None:
    odd = "\x00\x1b<&\"'\udce9\uffff.c"
    report = Report("violated", (), (), (finding(odd, odd), finding("b.c", "held", shown=False)), (), Work(), Times())
    parsed = junitparser.JUnitXml.fromstring(junit_report(report).encode())
    assert parsed.failures == 1
    assert "<&" in next(iter(parsed)).name


@pytest.mark.parametrize(
    "command", [["revisions", "--format", "github"], ["revisions", "--format", "junit"], ["diff", "--format", "junit"]]
)
def test_what_has_no_such_format_says_so(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert main([command[0], "bad.c", "bad.c", *QUICK, *command[1:]]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "one version" in said[0]
