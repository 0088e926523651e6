"""What is asked about the programs of a corpus, and how the answers are judged, on a small corpus of our own."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from benchmarks import corpus, lines, verdicts

COLUMNS = (
    *("id", "path", "property", "expected", "category", "kind", "include_dir", "cflags"),
    *("data_model", "note", "ignore_lines"),
)
CHECKED = "checks: assert+bounds; malloc may return NULL"
PROGRAMS = {
    "A": (
        "assert",
        "any",
        "false",
        "verdict",
        CHECKED,
        "int nondet_int(void); int main(void) { assert(nondet_int() != 3); return 0; }\n",
    ),
    "B": ("label", "reach_error", "false", "verdict", "label ERROR", "int main(void) { goto ERROR; ERROR: return 1; }\n"),
    "C": ("safe", "memsafety (valid-deref)", "true", "verdict", "", "int main(void) { int x = 1, *p = &x; return *p; }\n"),
    "D": ("class", "lock:class", "true", "verdict", "", "int main(void) { return 0; }\n"),
    "E": ("lines", "null-deref", "lines:3;9", "lines", "", "int f(void) {\n    int *p = 0;\n    return *p;\n}\n"),
    "F": (
        "names",
        "null-deref",
        "funcs:bad=f;g|ok=h",
        "functions",
        "",
        "int f(void) { int *p = 0; return *p; } int h(void) { return 0; }\n",
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus."""
    found = tmp_path / "corpus"
    found.mkdir()
    with (found / "index.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for name, (stem, property_, expected, kind, note, text) in PROGRAMS.items():
            (tmp_path / f"{stem}.c").write_text(text)
            row = dict.fromkeys(COLUMNS, "")
            row |= {"id": name, "path": f"{stem}.c", "property": property_, "expected": expected, "category": "own"}
            writer.writerow(row | {"kind": kind, "data_model": "LP64", "note": note})
    return found


def test_rows_say_what_their_properties_are(folder: Path) -> None:
    found = {row.id: row for row in corpus.rows(folder, ("verdict", "lines", "functions"))}
    assert found["A"].rules == {"assertion", "array-bounds"}
    assert found["A"].allocation_fails
    assert found["B"].rules == {"assertion"}
    assert found["C"].rules >= {"null-dereference", "memory-leak", "double-free"}
    assert not found["C"].allocation_fails
    assert found["D"].rules == frozenset()
    assert [row.id for row in corpus.rows(folder)] == ["A", "B", "C", "D"]


def test_verdicts(folder: Path) -> None:
    found = {row.id: verdicts.decided(row).verdict for row in corpus.rows(folder)}
    assert found == {"A": "violated", "B": "violated", "C": "safe", "D": "unknown"}


def test_findings_by_line_and_by_function(folder: Path) -> None:
    found = {row.id: lines.judge(row) for row in corpus.rows(folder, ("lines", "functions"))}
    assert found == {"E": lines.Judged(1, 1, 0), "F": lines.Judged(1, 1, 0)}


def test_wrong_is_distinguished_from_unknown(folder: Path) -> None:
    safe = next(row for row in corpus.rows(folder) if row.id == "C")
    for verdict, judgement in (("safe", "right"), ("violated", "wrong"), ("unknown", "unknown")):
        assert verdicts.judged(safe, verdicts.Outcome(verdict, "", 1.0)) == judgement
