"""Programs that lie side by side: a library beside a demo, tests with a `main` each. The classes: code that is not checked, but
can be entered, a proof about runs from `main` that is taken for one about all runs, and answers that edits leave behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Report
from tests.support.settled import settled_verdicts

NULL = "null-dereference"
DEMO = "int get(int *p); int main(void) { int x = 1; return get(&x); }\n"
LIBRARY = "int get(int *p) { return *p; }\n"
OPEN = LIBRARY + "int api(int *p) { return get(p); }\n"
BROKEN = LIBRARY + "void *malloc(unsigned long); int api(void) { int *q = malloc(4); return *q; }\n"
TEST = "int get(int *p); static int *none(void) { return 0; }\nint main(void) { return get(none()); }\n"
OWN = "int get(int *p) { return 0; }\nint main(void) { return get(0); }\n"
STEPS: tuple[dict[str, str], ...] = (
    {"library.c": OPEN},
    {"library.c": BROKEN},
    {"test.c": TEST},
    {"test.c": OWN},
    {"demo.c": DEMO.replace("main", "start")},
    {"demo.c": DEMO, "library.c": LIBRARY},
    {"test.c": "static int unused;\n"},
    {"library.c": LIBRARY.replace("get", "static got")},
    {"library.c": OWN},
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path, text in {"demo.c": DEMO, "library.c": LIBRARY, "test.c": "static int unused;\n"}.items():
        (tmp_path / path).write_text(text)
    return tmp_path


def checked(texts: dict[str, str], options: Options | None = None) -> Report:
    checker = Checker(options or Options())
    checker.open(["demo.c", "library.c", "test.c"])
    for path, text in texts.items():
        checker.change(path, text)
    return checker.check()


def findings(report: Report) -> list[tuple[str, str, int]]:
    return [(f.function, f.place.path, f.place.range.start.line) for f in report.findings if f.rule == NULL]


def said(report: Report) -> list[tuple[object, ...]]:
    return [(f.name, f.place, {rule: (v.verdict, v.reason) for rule, v in f.verdicts.items()}) for f in report.functions]


def test_a_library_beside_a_demo_is_checked(folder: Path) -> None:
    assert findings(checked({"library.c": BROKEN})) == [("api", "library.c", 2)]
    assert findings(checked({"library.c": BROKEN}, Options(entries=("main",)))) == []


def test_each_main_is_checked_with_its_own_definitions(folder: Path) -> None:
    assert findings(checked({"test.c": TEST})) == [("get", "library.c", 1)]
    report = checked({"test.c": OWN})
    assert findings(report) == []
    assert [(f.name, f.place.path) for f in report.functions] == [
        ("main", "demo.c"),
        ("get", "library.c"),
        ("get", "test.c"),
        ("main", "test.c"),
    ]


def test_a_call_that_may_be_of_several_programs_is_reported(folder: Path) -> None:
    caller = "int get(int *); int f(void) { return get(0); }"
    texts = {"demo.c": OWN, "test.c": OWN.replace("return 0", "return 1"), "library.c": caller}
    (message,) = checked(texts).messages
    assert (message.path, message.severity) == ("library.c", "warning")
    assert message.text.startswith("Several programs define get: from here, that of demo.c is taken")


def test_what_several_programs_define_is_said_once(folder: Path) -> None:
    caller = "int get(int *); int %s(void) { return get(0); }"
    for name in ("e.c", "f.c", "g.c"):
        (folder / name).write_text(caller % name[0])
    (folder / "test.c").write_text(OWN.replace("return 0", "return 1"))
    (folder / "demo.c").write_text(OWN)
    (folder / "library.c").write_text("")
    checker = Checker(Options())
    checker.open(["."])
    (message,) = [one for one in checker.check().messages if one.severity == "warning"]
    assert message.text.startswith("Several programs define get: from here and 2 more files, that of")


def test_edits_give_what_a_check_from_scratch_gives(folder: Path) -> None:
    checker, texts = Checker(Options()), dict[str, str]()
    checker.open(["demo.c", "library.c", "test.c"])
    checker.check()
    for step in STEPS:
        texts |= step
        for path, text in step.items():
            checker.change(path, text)
        revised, fresh = checker.check(), checked(texts)
        assert (revised.findings, said(revised), revised.messages) == (fresh.findings, said(fresh), fresh.messages), step


@pytest.fixture
def proving(folder: Path) -> Iterator[Checker]:
    limits = Limits(proof_seconds=300.0, program_seconds=10.0)
    found = Checker(Options(proofs=True, everywhere=True, rules=(NULL,), budget="background", limits=limits), jobs=1)
    found.open(["demo.c", "library.c", "test.c"])
    yield found
    found.close()


def test_a_proof_about_runs_from_main_says_nothing_of_what_others_pass(proving: Checker) -> None:
    verdict = settled_verdicts(proving)["get", NULL]
    assert (verdict.verdict, verdict.entries) == ("safe", ("main",))
    proving.change("library.c", OPEN)
    found = settled_verdicts(proving)
    assert (found["main", NULL].verdict, found["main", NULL].entries) == ("safe", ("main",))
    assert (found["get", NULL].verdict, found["get", NULL].entries) == ("safe", ("main",))
    assert found["api", NULL].verdict != "safe"


def test_a_proof_about_runs_from_main_keeps_what_is_found_in_calls_by_others(proving: Checker) -> None:
    proving.change("library.c", LIBRARY + "int api(void) { return get(0); }\n")
    found = settled_verdicts(proving)
    assert found["get", NULL].verdict == "violated"
    report = proving.check()
    assert [one.function for one in report.findings] == ["get"]


def test_nothing_is_confirmed_where_only_others_call(proving: Checker) -> None:
    proving.change("library.c", LIBRARY + "int api(int n) { int *p = 0; return n ? *p : 0; }\n")
    settled_verdicts(proving)
    assert [(one.function, one.status) for one in proving.check().findings] == [("api", "possible")]


def test_an_entry_elsewhere_may_be_given_the_variables_that_other_files_can_name(proving: Checker) -> None:
    """The pointer may lead to the variable: after the write it is null."""
    text = "int *here; static int one; int api(int **p) { here = &one; if (p) *p = 0; return *here; }\n"
    proving.change("library.c", LIBRARY + text)
    assert settled_verdicts(proving)["api", NULL].verdict != "safe"
    proving.change("library.c", LIBRARY + text.replace("int *here", "static int *here"))
    assert settled_verdicts(proving)["api", NULL].verdict == "safe"


_OTHERS = {
    "weak": "__attribute__((weak)) int *hook(void) { return 0; }\nint get(int *p) { return *hook(); }\n",
    "weak-only-declared": "__attribute__((weak)) int *hook(void);\nint get(int *p) { p = hook ? hook() : 0; return *p; }\n",
    "of-a-library": 'char *strdup(const char *s);\nint get(int *p) { return *strdup("a"); }\n',
}


@pytest.mark.parametrize("text", _OTHERS.values(), ids=_OTHERS.keys())
def test_another_program_may_have_another_definition(text: str, proving: Checker) -> None:
    """The definition beside the first `main` never gives null. The program of the second one does without that file."""
    proving.change("library.c", text)
    defined = "static int v; int *hook(void) { return &v; }\nstatic char b[9]; char *strdup(const char *s) { return b; }\n"
    proving.change("demo.c", defined + DEMO)
    assert settled_verdicts(proving)["get", NULL].verdict == "safe"
    proving.change("test.c", "int get(int *p); int main(void) { return get(0); }\n")
    assert settled_verdicts(proving)["get", NULL].verdict != "safe"
    proving.change("test.c", "static int unused;\n")
    assert settled_verdicts(proving)["get", NULL].verdict == "safe"


def test_an_inline_definition_gives_way_to_one_that_may_do_something_else(proving: Checker) -> None:
    """The second program may do without the file of the definition that others call (C11 6.7.4p7)."""
    inline = "inline int yes(void) {{ return {}; }}\n"
    use = "int get(int *p) {{ int x = 1; int *q = yes() ? &x : 0; return *q; }}\n"
    proving.change("test.c", "int get(int *p); int main(void) { return get(0); }\n")
    for here, there, verdict in ((1, 1, "safe"), (0, 1, "unknown"), (1, 1, "safe"), (1, 2, "unknown"), (2, 2, "safe")):
        proving.change("library.c", (inline + use).format(here))
        proving.change("demo.c", inline.format(there) + "extern int yes(void);\n" + DEMO)
        assert settled_verdicts(proving)["get", NULL].verdict == verdict


STARTED = "int outside(int (*)(void));\nint main(void) { return outside(late); }\n"
LATE = "void *malloc(unsigned long);\nstatic int late(void) { int *q = malloc(4); return *q; }\n"
STARTS: tuple[str, ...] = (
    LATE + "int main(void) { return 0; }\n",
    LATE + STARTED,
    LATE + STARTED.replace("outside(late)", "late()"),
    LATE + STARTED.replace("outside(late)", "late() + outside(late)"),
    LATE + STARTED.replace("return", "int (*f)(void) = late; return f() +"),
    LATE + STARTED,
    LATE + STARTED.replace("outside(late)", "outside(0)"),
)


@pytest.mark.parametrize("edges", [Limits().global_edges, 0], ids=["small", "large"])
def test_what_code_outside_calls_is_the_same_after_edits_as_from_scratch(folder: Path, edges: int) -> None:
    options = Options(limits=Limits(global_edges=edges))
    checker = Checker(options)
    checker.open(["demo.c"])
    seen = []
    for text in STARTS:
        checker.change("demo.c", text)
        fresh = Checker(options)
        fresh.open(["demo.c"])
        fresh.change("demo.c", text)
        report = checker.check()
        assert said(report) == said(fresh.check())
        seen.append(findings(report) != [])
    assert seen == [False, True, True, True, True, True, False]
