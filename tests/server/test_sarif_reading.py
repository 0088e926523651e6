"""A report that an editor opens is data of whoever wrote it: what is wrong with it is one sentence."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from server import sarif_reading
from server.ci_findings import CiFindings
from server.documents import OpenDocuments
from server.results import Results
from server.sarif_reading import SarifError, read_sarif


def result(uri: str = "a.c", fingerprint: str = "1", **more: Any) -> dict[str, Any]:
    region = {"startLine": 2, "startColumn": 3}
    return {
        "ruleId": "leak",
        "message": {"text": "p is lost"},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}],
        "partialFingerprints": {"everproof/v1": fingerprint},
        **more,
    }


def log(*results: dict[str, Any], tool: str = "everproof", version: str = "2.1.0") -> str:
    return json.dumps({"version": version, "runs": [{"tool": {"driver": {"name": tool}}, "results": results}]})


def test_it_reads_what_is_reported_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "ci.sarif"
    path.write_text(
        log(
            result(),
            result(fingerprint="2", baselineState="absent"),
            result(fingerprint="3", suppressions=[{"kind": "inSource"}]),
            result(fingerprint="4", partialFingerprints={}),
            result(fingerprint="5", locations=[]),
            result(),
        )
    )
    [found] = read_sarif(str(path))
    assert (found.rule, found.uri, found.start, found.end, found.fingerprint) == ("leak", "a.c", (2, 3), (2, 3), "1")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not SARIF"),
        ("[1]", "is not SARIF"),
        (log(result(locations=[{"physicalLocation": {"region": {"startLine": 10**30}}}])), "is not SARIF"),
        (log(result(locations=[{"physicalLocation": {"region": {"startLine": -1}}}])), "is not SARIF"),
        (log(result(), tool="other"), "no run of Everproof"),
        (log(version="9" * 1000), "only 2.1.0"),
        ('{"version": "2.1.0", "runs": ' + "[" * 100_000, "is not SARIF"),
        ('{"version": "2.1.0", "runs": [], "x": ' + '{"x":' * 100_000, "nested too deeply"),
        ("\udcff", "is not SARIF"),
    ],
)
def test_what_is_no_report_of_ours(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "ci.sarif"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SarifError, match=why) as error:
        read_sarif(str(path))
    assert len(str(error.value)) < 300 + len(str(path))
    assert "\n" not in str(error.value)


def test_what_is_too_large_or_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ci.sarif"
    monkeypatch.setattr(sarif_reading, "SARIF_FINDINGS", 1)
    path.write_text(log(result(), result(fingerprint="2")))
    with pytest.raises(SarifError, match="more than 1 findings"):
        read_sarif(str(path))
    monkeypatch.setattr(sarif_reading, "SARIF_OBJECTS", 10)
    with pytest.raises(SarifError, match="more than 10 objects"):
        read_sarif(str(path))
    monkeypatch.setattr(sarif_reading, "SARIF_BYTES", 10)
    with pytest.raises(SarifError, match="larger than 10 bytes"):
        read_sarif(str(path))
    os.mkfifo(tmp_path / "pipe")
    for name, why in (("pipe", "a pipe"), (".", "a folder"), ("none", "[Nn]o such file")):
        with pytest.raises(SarifError, match=why):
            read_sarif(str(tmp_path / name))


@pytest.mark.parametrize(
    ("uri", "is_inside"),
    [
        ("src/a.c", True),
        ("src/../src/a%2Ec", True),
        ("../outside.c", False),
        ("src/../../outside.c", False),
        ("%2e%2e/outside.c", False),
        ("file:///etc/passwd", False),
        ("https://example.org/src/a.c", False),
        ("//host/src/a.c", False),
        ("src/none.c", False),
        ("src/a.c%00", False),
        ("", False),
        ("http://[", False),
    ],
)
def test_a_path_leads_nowhere_outside_of_the_workspace(tmp_path: Path, uri: str, is_inside: bool) -> None:
    workspace = tmp_path / "w"
    (workspace / "src").mkdir(parents=True)
    (workspace / "src" / "a.c").touch()
    (tmp_path / "outside.c").touch()
    (tmp_path / "ci.sarif").write_text(log(result(uri)))
    documents = OpenDocuments(workspace.as_uri())
    ci = CiFindings(documents, Results(documents))
    tally = ci.open(read_sarif(str(tmp_path / "ci.sarif")))
    assert ci.paths == ((str(workspace / "src" / "a.c"),) if is_inside else ())
    assert (tally.findings, tally.missing, tally.elsewhere) == (1, int(is_inside), int(not is_inside))
