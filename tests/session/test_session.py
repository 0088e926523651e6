"""Revisions of a program: what is built again, what is kept, and that it never changes the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import analysis.frontend.text.reprocess
from analysis.api import Checker
from analysis.engines.automaton import Analysis
from analysis.frontend.text.preprocess import Preprocessed, preprocess
from analysis.model.interruption import Interrupted, Interruption
from analysis.model.options import Options
from analysis.model.report import Report

HEADER = "static inline int get(int *p)\n{\n    return *p;\n}\n"
ONE = '#include "get.h"\nint one(int *p)\n{\n    return get(p);\n}\n\nint two(void)\n{\n    return 2;\n}\n'
OTHER = "int one(int *p);\nint main(void)\n{\n    return one(0);\n}\n"


def opened(tmp_path: Path, text: str) -> tuple[Checker, str]:
    """A checker of a program of one file, and its path."""
    path = str(tmp_path / "a.c")
    Path(path).write_text(text)
    checker = Checker(Options())
    checker.open([path])
    return checker, path


@pytest.fixture
def checker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checker:
    monkeypatch.chdir(tmp_path)
    Path("get.h").write_text(HEADER)
    Path("one.c").write_text(ONE)
    Path("other.c").write_text(OTHER)
    checker = Checker(Options())
    checker.open(["one.c", "other.c"])
    return checker


def lowered(report: Report) -> tuple[int, int]:
    return report.work.functions.reused, report.work.functions.recomputed


def findings(report: Report) -> list[tuple[str, str, int]]:
    return [(f.rule, f.place.path, f.place.range.start.line) for f in report.findings]


def test_a_fingerprint_survives_lines_above_it(tmp_path: Path) -> None:
    text = (
        "#include <assert.h>\nint main(int count, char **arguments)\n{\n    int zero = 0;\n    assert(zero);\n    return 0;\n}\n"
    )
    prints = []
    for name, before in (("a", ""), ("b", "\n\n")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "c.c").write_text(before + text)
        checker = Checker(Options())
        checker.open([str(folder / "c.c")])
        (finding,) = checker.check().findings
        prints.append(finding.fingerprint)
    assert prints[0] == prints[1]


def from_scratch(texts: dict[str, str]) -> Report:
    checker = Checker(Options())
    checker.open(["one.c", "other.c"])
    for path, text in texts.items():
        checker.change(path, text)
    return checker.check()


def test_nothing_changed_builds_nothing(checker: Checker) -> None:
    first = checker.check()
    assert lowered(first) == (0, 4)
    assert findings(first) == [("null-dereference", "get.h", 3)]
    second = checker.check()
    assert lowered(second) == (4, 0)
    assert second.findings == first.findings
    assert second.times.preprocess == 0


def test_an_edit_lowers_the_edited_function_only(checker: Checker) -> None:
    checker.check()
    checker.change("one.c", ONE.replace("return 2", "return 3"), 2)
    report = checker.check()
    assert lowered(report) == (3, 1)
    assert findings(report) == [("null-dereference", "get.h", 3)]
    assert checker.version("one.c") == 2


def test_white_space_moves_places_and_lowers_nothing(checker: Checker) -> None:
    first = checker.check()
    checker.change("get.h", "\n\n" + HEADER)
    second = checker.check()
    assert lowered(second) == (4, 0)
    assert findings(second) == [("null-dereference", "get.h", 5)]
    assert [f.fingerprint for f in second.findings] == [f.fingerprint for f in first.findings]


def test_an_unsaved_header_counts_in_the_files_that_include_it_only(checker: Checker) -> None:
    checker.check()
    checker.change("get.h", HEADER.replace("return *p", "return p ? *p : 0"))
    report = checker.check()
    assert findings(report) == []
    reused, recomputed = lowered(report)
    assert recomputed >= 1
    assert reused >= 2  # `two` and `main` do not use the header
    checker.change("get.h", None)
    assert findings(checker.check()) == [("null-dereference", "get.h", 3)]


@pytest.mark.parametrize(
    "edits",
    [
        {"one.c": ONE.replace("get(p)", "0")},
        {"one.c": ONE.replace("int two", "int get2(int *q)\n{\n    return *q;\n}\n\nint two")},
        {"one.c": ONE.replace("return 2;", "int *q = 0;\n    return *q;"), "other.c": OTHER.replace("one(0)", "two()")},
        {"get.h": HEADER.replace("*p;", "p[0] + p[1];")},
        {"other.c": OTHER.replace("main", "start")},
        {"one.c": ""},
    ],
)
def test_a_revised_program_has_the_report_of_one_checked_from_scratch(checker: Checker, edits: dict[str, str]) -> None:
    checker.check()
    for path, text in edits.items():
        checker.change(path, text)
    revised, fresh = checker.check(), from_scratch(edits)
    assert revised.findings == fresh.findings
    assert [(f.name, f.place, {r: v.verdict for r, v in f.verdicts.items()}) for f in revised.functions] == [
        (f.name, f.place, {r: v.verdict for r, v in f.verdicts.items()}) for f in fresh.functions
    ]
    for path in edits:
        checker.change(path, None)
    assert findings(checker.check()) == [("null-dereference", "get.h", 3)]


def test_a_function_that_does_not_parse_keeps_its_last_good_verdict_marked_stale(checker: Checker) -> None:
    checker.check()
    checker.change("one.c", ONE.replace("get(p);", "get(p) +;"))
    report = checker.check()
    assert findings(report) == [("null-dereference", "get.h", 3)]
    assert {f.name: f.stale for f in report.functions} == {"get": False, "one": True, "two": False, "main": False}
    checker.change("one.c", ONE)
    assert not any(f.stale for f in checker.check().functions)


def test_a_function_that_never_parsed_is_unknown(checker: Checker) -> None:
    checker.change("one.c", ONE.replace("get(p);", "get(p) +;"))
    report = checker.check()
    assert report.verdict == "unknown"
    [one] = [f for f in report.functions if f.name == "one"]
    assert {v.verdict for v in one.verdicts.values()} == {"unknown"}
    assert {v.reason for v in one.verdicts.values()} == {"its text does not parse"}


def test_a_header_that_appears_is_found_after_a_refresh(checker: Checker) -> None:
    Path("get.h").unlink()
    assert any("get.h" in message.text for message in checker.check().messages)
    Path("get.h").write_text(HEADER)
    checker.refresh()
    report = checker.check()
    assert report.messages == ()
    assert findings(report) == [("null-dereference", "get.h", 3)]


def test_a_check_that_is_stopped_answers_nothing_and_the_next_one_all(checker: Checker) -> None:
    assert checker.check_unless(lambda: True) is None
    assert checker.report is None
    assert findings(checker.check()) == [("null-dereference", "get.h", 3)]


def test_an_interrupted_engine_answers_nothing_and_the_next_check_all(checker: Checker, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Analysis, "run", lambda *_: checker.interruption.handle(0, None))
        assert checker.check_unless(lambda: False) is None
    assert findings(checker.check()) == [("null-dereference", "get.h", 3)]


def test_only_work_that_allows_it_is_interrupted() -> None:
    interruption = Interruption()
    interruption.handle(0, None)
    with pytest.raises(Interrupted), interruption:
        interruption.handle(0, None)
    interruption.handle(0, None)


def test_many_files_are_built_in_processes_with_the_same_result(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"f{number}.c").write_text(f"int f{number}(void)\n{{\n    int *p = 0;\n    return *p;\n}}\n")
    reports = []
    for jobs in (1, 2):
        checker = Checker(Options(), jobs=jobs)
        checker.open([str(tmp_path)])
        reports.append(checker.check())
    one, two = reports
    assert len(one.findings) == 6
    assert one.findings == two.findings
    assert one.files == two.files


def test_progress_names_the_files(checker: Checker) -> None:
    said: list[tuple[str, int, int]] = []
    checker.check(progress=lambda *step: said.append(step))
    assert said == [("Reading", 0, 2), ("Reading", 1, 2), ("Checking", 0, 0)]


def test_a_line_above_an_assertion_is_no_change(tmp_path: Path) -> None:
    text = (
        "#include <assert.h>\nint half(int n)\n{\n    assert(n != 0);\n    return 4 / n;\n}\n"
        "int main(void)\n{\n    return half(0);\n}\n"
    )
    checker, path = opened(tmp_path, text)
    before = checker.check()
    assert [f.rule for f in before.findings] == ["assertion"]
    checker.change(path, text.replace("int half", "\n\nint half"))
    after = checker.check()
    assert after.work.configurations.recomputed == 0
    assert [f.fingerprint for f in after.findings] == [f.fingerprint for f in before.findings]
    assert [f.place.range.start.line for f in after.findings] == [f.place.range.start.line + 2 for f in before.findings]


@pytest.mark.parametrize(
    ("unclosed", "closed"), [("/* no", "/* no */"), ("CALL(n", "CALL(n, 1);"), ("/* no\n   more", "/* no\n   more */")]
)
def test_what_is_not_closed_yet_hides_no_other_function(unclosed: str, closed: str, tmp_path: Path) -> None:
    text = (
        "#define CALL(a, b) (void)(a + b)\nint first(int n)\n{\n    \n    return n;\n}\n/* two */\n"
        "int second(int *p)\n{\n    p = 0;\n    return *p;\n}\n"
        "int main(void)\n{\n    int n = 1;\n    return first(2) + second(&n);\n}\n"
    )
    checker, path = opened(tmp_path, text)
    checker.change(path, text.replace("    \n", "    n++;\n"))
    assert [f.function for f in checker.check().findings] == ["second"]
    for end in range(1, len(unclosed) + 1):
        checker.change(path, text.replace("    \n", f"    {unclosed[:end]}\n"))
        report = checker.check()
        assert [f.function for f in report.findings] == ["second"]
        assert {f.name for f in report.functions if f.stale} <= {"first"}
    assert [f.name for f in report.functions if f.stale] == ["first"]
    checker.change(path, text.replace("    \n", f"    {closed}\n"))
    report = checker.check()
    assert not any(f.stale for f in report.functions)
    assert [(f.function, f.place.range.start.line) for f in report.findings] == [("second", 11 + closed.count("\n"))]


@pytest.mark.parametrize(
    "texts",
    [
        ["#if 1\n{}#endif\n", "#if 0\n{}#endif\n"],
        ["#if A && \\\n 1\n{}#endif\n", "#if A && \\\n 0\n{}#endif\n"],
        ["{}", "{}#endif\n", "#if 0\n{}#endif\n"],
        ["{}", "#if 0\n{}", "#if 0\n{}#endif\n"],
        ["{}", "#if 0\n{}#endif\n", "{}"],
        ["{}", "{}*/\n", "/*\n{}*/\n"],
        ["{}", "{}*/\n", "/* {}*/\n"],
        ["{}", "{})\n", "DROP(\n{})\n"],
        ["#if 0\n}}\n#endif\n{}", "#if 0{}", "#if 0\n}}\n#endif\n{}"],
        ["int x;\n{}", "int x =\n{}", "int x;\n{}"],
        [
            "int\nhalf(a)\n    int a;\n{{\n    return a;\n}}\n{}",
            "int b, half(a)\n    int a;\n{{\n    return a;\n}}\n{}",
            "int b;\nint\nhalf(a)\n    int a;\n{{\n    return a;\n}}\n{}",
        ],
        ["{}int x;\n", "{}int y[] = {{ 1,x;\n", "{}int y[] = {{ 1 }};\nint x;\n"],
        ["{}", "// note \\\nint{}", "// note \\\nint hidden(void) {{\n{}"],
    ],
)
def test_what_is_hidden_on_purpose_is_hidden(texts: list[str], tmp_path: Path) -> None:
    above = "#define A 1\n#define DROP(...)\nint zero(void) { return 0; }\n"
    of_null = "int of_null(int *p)\n{\n    p = 0;\n    return *p;\n}\n"
    written = [above + text.format(of_null) for text in texts]
    checker, path = opened(tmp_path, written[0])
    for text in written:
        checker.change(path, text)
        report = checker.check()
    other = Checker(Options())
    other.open([path])
    other.change(path, written[-1])
    expected = other.check()
    assert [(f.name, f.stale, f.place) for f in report.functions] == [(f.name, f.stale, f.place) for f in expected.functions]
    assert [(f.function, f.place) for f in report.findings] == [(f.function, f.place) for f in expected.findings]
    assert report.messages == expected.messages


def test_a_comment_that_is_typed_is_not_preprocessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "int zero(void) { return 0; }\nint half(int n)\n{\n    n = 7;\n    return n;\n}\n/* one */\nint one = 1;\n"
    checker, path = opened(tmp_path, text)
    checker.check()
    checker.change(path, text.replace("7;", "8;"))  # macros are known from here on
    functions = checker.check().functions
    runs: list[object] = []
    monkeypatch.setattr(analysis.frontend.text.reprocess, "preprocess", lambda *rest: runs.append(rest))
    comment = "/* seven, no * or #! */"
    for end in range(1, len(comment) + 1):
        checker.change(path, text.replace("7;", f"8; {comment[:end]}"))
        report = checker.check()
        assert [f.name for f in report.functions if f.stale] == ["half"] * (end < len(comment))
        assert report.work.configurations.recomputed == 0
    assert [f.verdicts.keys() for f in report.functions] == [f.verdicts.keys() for f in functions]
    checker.change(path, text.replace("7;", f"0; {comment}"))
    checker.check()
    assert not runs


def test_an_open_file_is_made_ready_for_its_first_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "#define SEVEN 7\nint half(int n)\n{\n    n = SEVEN;\n    return n;\n}\n"
    checker, path = opened(tmp_path, text)
    checker.check()
    assert not checker.resting  # nobody has it open
    checker.change(path, text)
    assert not checker.check().work.configurations.recomputed
    assert checker.resting
    checker.wake()
    assert not checker.resting
    for name in ("preprocess", "definitions"):
        monkeypatch.setattr(analysis.frontend.text.reprocess, name, None)
    checker.change(path, text.replace("return n", "return n + 1"))
    assert checker.check().work.configurations.recomputed
    assert not checker.resting


def test_an_open_file_that_cannot_be_made_ready_is_left_alone(tmp_path: Path) -> None:
    path = str(tmp_path / "a.c")
    checker = Checker(Options(compiler="none"))
    checker.open([path])
    checker.change(path, "int f(void) { return 1; }\n")
    checker.check()
    checker.wake()
    assert not checker.resting


@pytest.mark.parametrize("below", ["", "#define ONE 1\n/* end */\n"])
def test_a_comment_that_hides_directives_or_ends_nowhere_is_preprocessed(
    below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"int half(int n)\n{{\n    n = 7;\n    return n;\n}}\n{below}int one = 1;\n"
    checker, path = opened(tmp_path, text)
    checker.check()
    checker.change(path, text.replace("7;", "8;"))
    checker.check()
    runs: list[object] = []

    def recorded(*rest: Any) -> Preprocessed:
        runs.append(rest)
        return preprocess(*rest)

    monkeypatch.setattr(analysis.frontend.text.reprocess, "preprocess", recorded)
    checker.change(path, text.replace("7;", "8; /*"))
    assert [f.name for f in checker.check().functions if f.stale] == ["half"]
    assert runs


def test_what_is_typed_into_an_open_comment_is_not_preprocessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'char *s = "/*";\nint half(int n)\n{\n    n = 7; \n    return n;\n}\n'
    checker, path = opened(tmp_path, text)
    checker.check()
    for typed in ("/", "/*"):
        checker.change(path, text.replace("7; ", f"7; {typed}"))
        checker.check()
    runs: list[object] = []
    monkeypatch.setattr(analysis.frontend.text.reprocess, "preprocess", lambda *rest: runs.append(rest))
    for typed in ("/* ", "/* n", '/* n "', '/* n " *'):
        checker.change(path, text.replace("7; ", f"7; {typed}"))
        report = checker.check()
        assert [f.name for f in report.functions if f.stale] == ["half"]
        assert report.work.configurations.recomputed == 0
    assert not runs
    monkeypatch.undo()
    checker.change(path, text.replace("7; ", '7; /* n " */'))
    assert not any(f.stale for f in checker.check().functions)
