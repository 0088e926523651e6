"""What a trace shows is one path that agrees with itself from its first step on (README, "What holds"), in small programs and in
large ones, from scratch and after edits."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.program_edits import LARGE, Edited
from support.replayed_traces import contradiction

from analysis.api import Checker
from analysis.engines.automaton import Analysis
from analysis.engines.automaton.report.beginnings import Beginnings
from analysis.model.options import Options
from analysis.session.entries import choose_entries

_FIXTURES = Path(__file__).parents[2] / "fixtures" / "programs"
_PROGRAMS = sorted(_FIXTURES.glob("*/*.c"))[::9]


def _analysis(checker: Checker) -> Analysis:
    seen = checker.inspect()
    analysis = Analysis(seen.program, checker.rules, checker.options.limits)
    analysis.run(choose_entries(seen.program, ())[0])
    analysis.findings(seen.places)
    return analysis


def _contradictions(analysis: Analysis) -> list[str]:
    found = (contradiction(analysis.delta.program, steps) for steps in analysis.shown().values())
    return [text for text in found if text is not None]


@pytest.mark.parametrize("options", [Options(), LARGE], ids=["small", "large"])
def test_traces_of_programs_do_not_contradict_themselves(options: Options) -> None:
    traces = 0
    for path in _PROGRAMS:
        checker = Checker(options)
        checker.open([str(path)])
        analysis = _analysis(checker)
        assert _contradictions(analysis) == [], path.name
        traces += len(analysis.shown())
    assert traces > 10


@pytest.mark.parametrize("seed", [1, 4])
def test_traces_do_not_contradict_themselves_after_edits(seed: int, tmp_path: Path) -> None:
    program = Edited(Random(seed), 250)
    checker = Checker(LARGE)
    checker.open(program.write(tmp_path))
    analysis = _analysis(checker)
    assert _contradictions(analysis) == []
    for _ in range(8):
        done = program.edit()
        for name in program.changed:
            (tmp_path / name).write_text(program.text(name), encoding="utf-8")
        checker.refresh()
        seen = checker.inspect()
        assert analysis.revise(seen.program, choose_entries(seen.program, ())[0], "incr-back"), done
        found = analysis.findings(seen.places)
        assert _contradictions(analysis) == [], done
        scratch = _analysis(checker)
        assert {f.fingerprint for f in found} == set(scratch.shown()), done


HEAD = "#include <stdlib.h>\nint input(void);\n"
DEEP = """static int deep(int mode) { char *p = NULL; if (mode == 1) return p[0]; return 0; }
static int middle(int mode) { if (input()) return deep(mode); return 0; }
"""
CASES = [
    (
        "no caller passes what the callee asks for",
        "static int look(int make) { char *p = NULL; if (make) return p[0]; return 0; }\n"
        "int a(void) { return look(0); } int b(void) { return input() ? look(0) : 1; } int main(void) { return a() + b(); }",
        [],
    ),
    (
        "a later caller does",
        "static int look(int make) { char *p = NULL; if (make) return p[0]; return 0; }\n"
        "int a(void) { return look(0); } int b(void) { return input() ? look(1) : 1; } int main(void) { return a() + b(); }",
        [("look", "main is entered")],
    ),
    (
        "it is decided two calls up",
        DEEP + "int a(void) { return middle(2); } int b(int m) { return m != 1 ? middle(m) : 3; }\n"
        "int main(void) { return a() + b(input()); }",
        [],
    ),
    (
        "it is not decided two calls up",
        DEEP + "int a(void) { return middle(2); } int b(int m) { return m != 2 ? middle(m) : 3; }\n"
        "int main(void) { return a() + b(input()); }",
        [("deep", "main is entered")],
    ),
    (
        "what a string begins with",
        "static int read(const char *s) { char *p = NULL; if (*s != 'u') return p[0]; return 0; }\n"
        "int main(int n, char **v) { if (*v[0] == 'u') return read(v[0]); return n; }",
        [],
    ),
    (
        "what a string does not begin with",
        "static int read(const char *s) { char *p = NULL; if (*s != 'u') return p[0]; return 0; }\n"
        "int main(int n, char **v) { if (*v[0] != 'v') return read(v[0]); return n; }",
        [("read", "main is entered")],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_callers_say_whether_the_path_is_possible(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    path = tmp_path / "t.c"
    path.write_text(HEAD + text)
    checker = Checker(LARGE)
    checker.open([str(path)])
    report = checker.check()
    assert [message for message in report.messages if message.severity == "error"] == []
    assert [(finding.function, finding.trace[0].text) for finding in report.findings] == expected


def test_an_edit_of_a_caller_far_away_makes_a_path_possible_and_impossible(tmp_path: Path) -> None:
    callee, caller, start = tmp_path / "callee.c", tmp_path / "caller.c", tmp_path / "start.c"
    callee.write_text(
        "static int look(int make) { char *p = 0; if (make) return p[0]; return 0; }\n"
        "int middle(int make) { return look(make); }\n",
        encoding="utf-8",
    )
    caller.write_text("int middle(int); int call(int n) { return n > 2 ? middle(0) : 1; }\n", encoding="utf-8")
    start.write_text("int call(int); int main(int n, char **v) { return call(n); }\n", encoding="utf-8")
    checker = Checker(LARGE)
    checker.open([str(callee), str(caller), str(start)])
    assert [finding.function for finding in checker.check().findings] == []
    caller.write_text("int middle(int); int call(int n) { return n > 2 ? middle(n) : 1; }\n", encoding="utf-8")
    assert [finding.function for finding in checker.check().findings] == ["look"]
    caller.write_text("int middle(int); int call(int n) { return n > 2 ? middle(0) : 1; }\n", encoding="utf-8")
    assert [finding.function for finding in checker.check().findings] == []
    start.write_text(
        "int call(int); int middle(int); int main(int n, char **v) { return call(n) + middle(1); }\n", encoding="utf-8"
    )
    (finding,) = checker.check().findings
    assert [step.function for step in finding.trace if step.kind in ("entry", "call")] == ["main", "main", "middle"]
    start.write_text("int call(int); int main(int n, char **v) { return call(n); }\n", encoding="utf-8")
    assert [finding.function for finding in checker.check().findings] == []


def test_a_trace_that_begins_in_the_middle_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.c"
    sums = "".join(f"if (n & {1 << n}) k += {1 << n}; " for n in range(14))  # more sums than a search looks at
    path.write_text(
        HEAD + "static int look(int k) { char *p = NULL; if (k == 1048576) return p[0]; return 0; }\n"
        f"int main(int n, char **v) {{ int k = 0; {sums}return look(k); }}\n"
    )
    checker = Checker(LARGE)
    checker.open([str(path)])
    beginnings = [finding.trace[0].text for finding in checker.check().findings]
    assert beginnings == ["look is entered; the calls that lead here are not shown"]


@pytest.mark.parametrize(
    ("written", "looks"), [("other", False), ("mode", True)], ids=["nothing of the trace", "what the trace tests"]
)
def test_the_calls_that_lead_to_a_path_are_looked_at_again_only_if_what_is_written_on_the_way_concerns_them(
    written: str, looks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [
        HEAD
        + f"extern int mode, other, more; static void tick(void) {{ {write} = 1; }}\n"
        + "static int look(void) { char *p = NULL; if (input()) return p[0]; return 0; }\n"
        + "static int call(void) { if (mode == 2) { tick(); if (mode == 2) return look(); } return 0; }\n"
        + "int main(void) { mode = input(); return call(); }"
        for write in ("more", written)
    ]
    searched: list[str] = []
    find = Beginnings.find

    def counted(self: Beginnings, graph: Any, delta: Any, feasibility: Any, sought: Any, path: Any) -> Any:
        searched.append(sought.at[0])
        return find(self, graph, delta, feasibility, sought, path)

    monkeypatch.setattr(Beginnings, "find", counted)
    file = tmp_path / "t.c"
    file.write_text(texts[0])
    checker = Checker(LARGE)
    checker.open([str(file)])
    shown = []
    for version, text in enumerate(texts, 1):
        searched.clear()
        checker.change(str(file), text, version)
        shown.append([(finding.function, finding.trace[0].text) for finding in checker.check().findings])
    assert shown[0] == [("look", "main is entered")]
    assert bool(searched) == looks
    assert shown[1] == shown[0]


def test_a_result_that_is_dropped_is_followed_to_where_it_comes_from(tmp_path: Path) -> None:
    """A path that comes back from a call whose result is lost ends at the call, and not where the call begins."""
    text = """#include <stdlib.h>
static int *make(int n) { int *made = malloc(n); if (!made) abort(); return made; }
static int *make_one(int n) { int *one = make(4); *one = n; return one; }
int f(int n) { make_one(n); return 0; }
"""
    path = tmp_path / "a.c"
    path.write_text(text, encoding="utf-8")
    checker = Checker(Options(engine="automaton"))
    checker.open([str(path)])
    [finding] = checker.check().findings
    assert finding.since == "`made = malloc(n)` in make"
    assert [(step.function, step.text) for step in finding.trace] == [
        ("f", "f is entered"),
        ("f", "make_one(n)"),
        ("make_one", "one = make(4)"),
        ("make", "made = malloc(n)"),
        ("make", "made"),
        ("make", "return made"),
        ("make_one", "one = make(4) returns"),
        ("make_one", "return one"),
        ("f", "Memory leak: nothing points to the allocated memory any more"),
    ]
