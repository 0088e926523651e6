"""Functions that are proved in the background: which, what is reported of them, and what an edit leaves standing."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from analysis.api import Checker
from analysis.model.assumptions import BEFORE
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import FunctionReport, RuleVerdict
from analysis.store.database import Store
from tests.support.settled import answered

OPTIONS = Options(
    proofs=True,
    budget="background",
    rules=("division-by-zero", "assertion"),
    limits=Limits(proof_seconds=300.0, program_seconds=1.0),
)
RULE = "division-by-zero"
TEXT = """
int outside(void);
static int limit = 4;
static int share(int n) { return 100 / n; }
int guarded(int n) { return n > 0 ? 100 / n : 0; }
int open_(int n) { return 100 / (n + outside()); }
int counted(int n)
{
    int c = 5;
    for (int i = 0; i < n; i++)
        if (c > 1)
            c = c - 1;
    return 100 / c;
}
int plain(int n) { return n + 1; }
int apart(int n) { return n + 3; }
int main(int argc, char **argv)
{
    return share(limit) + guarded(argc) + open_(argc) + counted(argc) + plain(argc);
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "a.c"
    file.write_text(TEXT)
    return file


def opened(file: Path, store: Store | None = None, options: Options = OPTIONS) -> Checker:
    """With the file open in an editor."""
    checker = Checker(options, jobs=2, store=store)
    checker.open([str(file)])
    checker.change(str(file), file.read_text(), 1)
    return checker


def settled(checker: Checker) -> dict[str, FunctionReport]:
    """What is known when nothing is left to ask."""
    answered(checker)
    return functions(checker)


def functions(checker: Checker) -> dict[str, FunctionReport]:
    assert checker.report is not None
    return {function.name: function for function in checker.report.functions}


def safe(known: dict[str, FunctionReport]) -> set[str]:
    return {name for name, function in known.items() if function.verdicts[RULE].verdict == "safe"}


def edited(checker: Checker, file: Path, old: str, new: str, version: int = 2) -> dict[str, FunctionReport]:
    """What the check after an edit says, before provers are asked anything."""
    text = checker._program.texts.overlay()[str(file)] if version > 2 else TEXT
    text = text.decode() if isinstance(text, bytes) else text
    assert old in text
    checker.change(str(file), text.replace(old, new), version)
    checker.check()
    return functions(checker)


@pytest.fixture
def proved(file: Path) -> Checker:
    checker = opened(file)
    checker.check()
    assert safe(settled(checker)) == {"share", "guarded", "counted"}
    return checker


def test_what_is_proved_is_safe_with_a_certificate_and_what_it_rests_on(file: Path) -> None:
    proved = opened(file, options=msgspec.structs.replace(OPTIONS, limits=Limits(proof_seconds=300.0, program_seconds=300.0)))
    proved.check()
    known = settled(proved)
    verdict = known["guarded"].verdicts[RULE]
    assert (verdict.engine, verdict.certified) == ("requirements", True)
    assert BEFORE.sentence in verdict.assumptions
    violated = known["open_"].verdicts[RULE]  # a run of main divides by zero there
    assert (violated.verdict, violated.engine, violated.certified) == ("violated", "symbolic", False)
    assert violated.assumptions == ("what outside() does, which has no body",)
    assert known["plain"].verdicts[RULE] == known["main"].verdicts["assertion"]  # nothing to prove: not asked about
    assert [(i.rule, i.place.range.start.line, i.text) for i in known["counted"].invariants] == [(RULE, 10, "c > 0")]
    assert proved.report is not None
    assert proved.report.work.solver_queries > 0


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ("return n + 3", "return n + 4", set()),
        ("return n + 1", "return n + 2", {"share"}),  # main, from which it is proved, calls what was edited
        ("int plain", "/* a comment\n */ int plain", set()),
        ("int c = 5", "int c = 6", {"counted", "share"}),
        ("limit = 4", "limit = 5", {"share"}),
        ("return n + 3", "return share(n)", {"share"}),
        ("int main(", "int other(int n) { return share(n); }\nint main(", {"share"}),
        ("int main(", "void h(int s) {}\nvoid signal(int, void (*)(int));\nint main(", set()),
        ("return n + 3", "signal(n, 0); return n + 3", {"share", "guarded", "counted"}),
    ],
)
def test_an_edit_takes_away_what_it_concerns_at_once_and_nothing_else(
    proved: Checker, file: Path, old: str, new: str, lost: set[str]
) -> None:
    before = functions(proved)
    after = edited(proved, file, old, new)
    assert safe(after) == safe(before) - lost
    if not lost and "comment" in new:
        (invariant,) = after["counted"].invariants
        assert invariant.place.range.start.line == 10
    proved.close()


def test_what_an_edit_does_not_concern_is_not_asked_again(proved: Checker, file: Path) -> None:
    edited(proved, file, "return n + 3", "return n - 3")
    assert safe(settled(proved)) == {"share", "guarded", "counted"}
    assert proved.report is not None
    assert proved.report.work.solver_queries == 0


def test_an_edit_that_is_undone_finds_the_proof_again(proved: Checker, file: Path) -> None:
    assert safe(edited(proved, file, "int c = 5", "int c = 6")) == {"guarded"}
    proved.change(str(file), TEXT, 3)
    proved.check()
    known = settled(proved)
    assert safe(known) == {"share", "guarded", "counted"}
    assert known["counted"].verdicts[RULE].ms == 0.0  # no task was begun


def test_invariants_move_with_the_text(proved: Checker, file: Path) -> None:
    after = edited(proved, file, "static int limit", "\n\nstatic int limit")
    assert [i.place.range.start.line for i in after["counted"].invariants] == [12]


def test_the_edited_function_comes_first(file: Path) -> None:
    checker = opened(file)
    checker.check()
    checker.change(str(file), TEXT.replace("int c = 5", "int c = 6"), 2)
    checker.check()
    checker.ask(lambda: False)
    (running,) = checker._proofs._claims.running
    assert (running.function, running.rule) == ("counted", RULE)
    checker.close()


def test_functions_with_findings_are_left_to_the_provers_of_findings(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("int f(int n) { int z = 0; if (n > 3) return n / z; return 10 / (n * n + 1); }\n")
    checker = opened(file)
    assert [finding.rule for finding in checker.check().findings] == [RULE]
    assert settled(checker)["f"].verdicts[RULE].verdict == "violated"
    assert not checker._proofs._claims.keys


@pytest.mark.parametrize("options", [msgspec.structs.replace(OPTIONS, proofs=False), Options(engine="automaton", proofs=True)])
def test_nothing_is_proved_where_that_is_not_wanted(file: Path, options: Options) -> None:
    checker = opened(file, options=options)
    checker.check()
    assert safe(settled(checker)) == set()


def test_files_that_nobody_has_open_are_not_proved(file: Path) -> None:
    checker = Checker(OPTIONS)
    checker.open([str(file)])
    checker.check()
    assert not checker.unasked
    assert safe(functions(checker)) == set()


def test_proofs_are_kept_in_the_store(file: Path, tmp_path: Path) -> None:
    store = Store(str(tmp_path / "kept.everproof"))
    first = opened(file, store)
    first.check()
    before = settled(first)
    assert first.save()
    first.close()
    again = opened(file, store)
    again.check()
    known = settled(again)
    assert safe(known) == {"share", "guarded", "counted"}
    assert known["counted"].invariants == before["counted"].invariants
    assert _bare(known["guarded"].verdicts[RULE]) == _bare(before["guarded"].verdicts[RULE])
    again.close()


def _bare(verdict: RuleVerdict) -> RuleVerdict:
    return msgspec.structs.replace(verdict, ms=0.0)


@pytest.mark.parametrize("static", ["", "static "])
def test_nothing_is_proved_that_a_function_which_does_not_parse_could_change(file: Path, static: str) -> None:
    file.write_text(f"""static int divisor = 1;
{static}void change(void)
{{
    divisor = 0; int = ;
}}
static int after(void) {{ return 10 / divisor; }}
int with_it(void)
{{
    if (divisor) {{ change(); return 10 / divisor; }}
    return 0;
}}
int without_it(int n) {{ return n ? 10 / n : 0; }}
int main(void) {{ change(); return after() + with_it() + without_it(1); }}
""")
    checker = opened(file)
    checker.check()
    assert safe(settled(checker)) == {"without_it"}


SIGNALS = """#include <signal.h>
static volatile sig_atomic_t stop;
static int least = 1;
static void note(int signal) { stop = 1; }
int guarded(int n) { return n > 0 ? 100 / n : 0; }
int kept(void) { if (least == 0) return 0; return 100 / least; }
int waited(int n) { if (stop) return 0; return n > 0 ? 100 / n : 0; }
int main(int argc, char **argv) { signal(SIGINT, note); return guarded(argc) + kept() + waited(argc); }
"""


def test_a_handler_of_signals_matters_only_for_what_reads_what_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(SIGNALS)
    checker = opened(file)
    checker.check()
    assert safe(settled(checker)) == {"guarded", "kept", "waited"}
    checker.change(str(file), SIGNALS.replace("stop = 1;", "stop = 1; least = 0;"), 2)
    assert safe({function.name: function for function in checker.check().functions}) == {"guarded", "waited"}, (
        "the function itself did not change"
    )
    assert safe(settled(checker)) == {"guarded", "waited"}
    checker.change(str(file), SIGNALS, 3)
    checker.check()
    assert safe(settled(checker)) == {"guarded", "kept", "waited"}
    checker.close()


APART = """
int apart(int n) { return n > 0 ? 7 / n : 0; }
int main(void) { return 0; }
"""


@pytest.mark.parametrize("budget", ["background", "full"])
def test_what_no_entry_leads_to_is_proved_by_itself_also_where_the_program_was_proved_before(tmp_path: Path, budget: str) -> None:
    file = tmp_path / "a.c"
    file.write_text(APART)
    limits = Limits(proof_seconds=300.0, program_seconds=300.0)
    checker = opened(file, options=msgspec.structs.replace(OPTIONS, budget=budget, limits=limits))
    checker.check()
    assert safe(settled(checker)) == {"apart", "main"}
    checker.change(str(file), APART.replace("7 / n", "8 / n"), 2)
    checker.check()
    assert safe(functions(checker)) == {"main"}
    assert safe(settled(checker)) == {"apart", "main"}
    checker.close()


def test_an_answer_that_comes_before_the_edit_is_asked_about_does_not_take_its_place(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(APART)
    checker = opened(file)
    checker.check()
    while "apart" not in safe(functions(checker)):
        if checker.proving:
            checker.wait(None)
            checker.take_answers()
        else:
            checker.ask(lambda: False)
    assert checker.proving  # whether the program has runs that divide by zero
    checker.change(str(file), APART.replace("7 / n", "8 / n"), 2)
    checker.check()
    assert "apart" not in safe(functions(checker))
    checker.wait(None)
    checker.take_answers()
    assert "apart" in safe(settled(checker))
    checker.close()
