"""What a session takes out of a store is what it would have found by itself: the same answers, and less work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.model.options import CompilerFlags, Options
from analysis.session.keeping import archive
from analysis.session.keeping.stored_units import pack_unit
from analysis.session.units import file_building
from analysis.session.units.built import Built
from analysis.store.database import DAMAGED, Store
from tests.support.kept_program import (
    FILES,
    ONE,
    OTHER,
    answer,
    checked_and_saved,
    from_scratch,
    opened,
    recomputed,
    reused,
    write_program,
)

KILLED = -9
# Checks and saves, and kills itself before the Nth of SQLite's steps while it saves.
KILLING = """
import os, signal, sys
from analysis.api import Checker
from analysis.model.options import Options
from analysis.store.database import Store
store = Store("kept.everproof")
checker = Checker(Options(), store=store)
checker.open(["one.c", "other.c"])
checker.check()
store.groups()
left = [int(sys.argv[1])]
def step():
    left[0] -= 1
    if left[0] <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return 0
store._open.set_progress_handler(step, 20)
store.close = lambda: None
checker.save()
"""


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_program()


def test_reopening_computes_nothing_and_answers_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    first = checked_and_saved()
    assert first.findings
    monkeypatch.setattr(file_building, "preprocess", None)  # nothing is even read by a compiler
    checker = opened()
    second = checker.check()
    assert answer(second) == answer(first)
    assert recomputed(second) == (0, 0, 0)
    assert reused(second) == recomputed(first)
    assert second.work.edges == first.work.edges > 0
    assert not checker.failed
    assert checker.resting
    assert answer(checker.check()) == answer(first)


def test_saving_twice_and_reopening_twice_changes_nothing() -> None:
    first = checked_and_saved()
    for _ in range(2):
        checker = opened()
        assert answer(checker.check()) == answer(first)
        assert checker.save()
        assert not checker.unsaved


def test_an_edit_after_reopening_is_repaired_from_what_was_kept() -> None:
    checked_and_saved()
    checker = opened()
    checker.check()
    edited = OTHER.replace("two()", "two() + 1")
    checker.change("other.c", edited, 2)
    report = checker.check()
    assert recomputed(report)[2] == 1
    assert 0 < recomputed(report)[0] < reused(report)[0]
    Path("other.c").write_text(edited)
    assert answer(report, traces=False) == answer(from_scratch(), traces=False)


def test_an_edit_after_waking_is_the_same() -> None:
    checked_and_saved()
    checker, woken = opened(), opened()
    for each in (checker, woken):
        each.check()
    woken.wake()
    assert not woken.resting
    for each in (checker, woken):
        each.change("one.c", ONE.replace("get(p)", "p ? get(p) : 0"), 2)
    one, other = checker.check(), woken.check()
    assert answer(one) == answer(other)
    assert one.work == other.work
    assert not one.findings


def test_an_edit_made_while_nothing_ran_is_repaired_too() -> None:
    checked_and_saved()
    Path("one.c").write_text(ONE.replace("return 2", "return 3"))
    checker = opened()
    report = checker.check()
    assert recomputed(report)[2] == 1
    assert reused(report)[0] > 0
    assert answer(report, traces=False) == answer(from_scratch(), traces=False)
    assert checker.save()
    assert recomputed(opened().check()) == (0, 0, 0)


def test_edits_are_kept_one_after_the_other() -> None:
    checked_and_saved()
    texts = [OTHER.replace("return one(0)", f"return one({text})") for text in ("q", "0", "q + 1", "0")]
    for number, text in enumerate(texts):
        checker = opened()
        if number:
            checker.change("other.c", texts[number - 1], number)
        known = checker.check()
        checker.change("other.c", text, number + 1)
        report = checker.check()
        assert checker.save()
        if number:
            assert recomputed(known) == (0, 0, 0)
        Path("other.c").write_text(text)
        assert answer(report, traces=False) == answer(from_scratch(), traces=False)


@pytest.mark.parametrize(
    "options",
    [
        Options(flags=CompilerFlags(defines=("get(p)=0",))),
        Options(rules=("double-free",)),
        Options(entries=("two",)),
        Options(compiler="none"),
        Options(data_model="ILP32"),
    ],
)
def test_other_options_are_other_questions(options: Options) -> None:
    checked_and_saved()
    report = opened(options=options).check()
    assert recomputed(report)[2] > 0
    assert answer(report) == answer(from_scratch(options))


def test_another_order_of_files_is_another_question() -> None:
    checked_and_saved()
    assert recomputed(opened(files=FILES[::-1]).check())[2] > 0


def test_a_file_that_is_gone_or_new_is_noticed() -> None:
    os.mkdir("source")
    for name in ("get.h", "one.c", "other.c"):
        os.rename(name, f"source/{name}")
    checker = opened(files=["source"])
    checker.check()
    assert checker.save()
    Path("source/new.c").write_text("int new(void)\n{\n    return 1;\n}\n")
    report = opened(files=["source"]).check()
    assert len(report.files) == 3
    assert recomputed(report)[2] == 1  # the other functions are taken out of the store
    os.unlink("source/one.c")
    assert len(opened(files=["source"]).check().files) == 2


def test_a_rule_that_changed_is_noticed() -> None:
    os.mkdir("rules")
    shipped = Path(file_building.__file__).parents[2] / "rules" / "shipped" / "null-dereference.yaml"
    Path("rules/mine.yaml").write_text(shipped.read_text())
    options = Options(rules_dirs=("rules",))
    first = checked_and_saved(options)
    Path("rules/mine.yaml").write_text(shipped.read_text().replace("severity: error", "severity: warning"))
    report = opened(options=options).check()
    assert {f.severity for f in report.findings} != {f.severity for f in first.findings}
    assert answer(report) == answer(from_scratch(options))


def test_what_lacks_a_header_is_not_kept() -> None:
    Path("one.c").write_text('#include "nowhere.h"\n' + ONE)
    checker = opened()
    checker.check()
    assert not checker.save()
    Path("nowhere.h").write_text("")
    assert answer(opened().check()) == answer(from_scratch())


def test_what_is_stale_is_not_kept() -> None:
    checker = opened()
    checker.check()
    assert checker.save()
    broken = ONE.replace("return get(p);", "return get(p")
    checker.change("one.c", broken, 2)
    assert any(function.stale for function in checker.check().functions)
    assert not checker.save()
    Path("one.c").write_text(broken)
    reopened = opened().check()
    assert all(function.stale for function in reopened.functions if function.name == "one")


def test_a_failed_check_is_not_kept() -> None:
    checker = opened(files=[*FILES, "missing.c"])
    checker.check()
    assert checker.failed
    assert not checker.save()


def test_a_full_check_takes_nothing_out_of_the_store() -> None:
    first = checked_and_saved()
    checker = opened()
    checker.check()
    checker.forget()
    assert recomputed(checker.check()) == recomputed(first)
    fresh = opened()
    fresh.forget()
    assert recomputed(fresh.check()) == recomputed(first)


def test_saving_can_be_given_up_and_done_later() -> None:
    checker = opened()
    report = checker.check()
    assert checker.unsaved
    assert not checker.save(lambda: True)
    assert checker.unsaved
    assert recomputed(opened().check()) == recomputed(report)
    assert checker.save()
    assert recomputed(opened().check()) == (0, 0, 0)


def test_what_was_typed_since_the_check_is_not_mixed_with_it() -> None:
    checker = opened()
    checker.check()
    checker.change("one.c", ONE.replace("get(p)", "0"), 2)
    assert not checker.save()


def test_without_the_file_only_time_is_lost() -> None:
    first = checked_and_saved()
    os.unlink("kept.everproof")
    report = opened().check()
    assert recomputed(report) == recomputed(first)
    assert answer(report) == answer(first)


def test_two_sessions_share_a_store() -> None:
    one, other = opened(), opened()
    one.check()
    other.check()
    one.change("one.c", ONE.replace("return 2", "return 3"), 2)
    other.change("one.c", ONE.replace("return 2", "return 4"), 2)
    for checker in (one, other, one, other):
        checker.check()
        checker.save()
    one.change("one.c", ONE, 3)
    report = one.check()
    assert one.save()  # although the other has replaced what it had kept
    assert answer(opened().check(), traces=False) == answer(report, traces=False) == answer(from_scratch(), traces=False)


def test_where_nothing_can_be_kept_everything_else_goes_on() -> None:
    Path("file").write_text("")
    store = Store("file/kept.everproof")
    checker = opened(store)
    assert answer(checker.check()) == answer(from_scratch())
    assert not checker.save()
    assert len(store.take_messages()) == 1


def test_a_process_that_is_killed_while_it_saves_leaves_what_was_there_or_what_is_new() -> None:
    first = from_scratch()
    Path("one.c").write_text(ONE.replace("get(p)", "p ? get(p) : 0"))
    second = from_scratch()
    killed = 0
    for steps in (1, 3, 6, 10, 20, 40, 80, 160):
        Path("kept.everproof").unlink(missing_ok=True)
        Path("one.c").write_text(ONE)
        checked_and_saved()
        Path("one.c").write_text(ONE.replace("get(p)", "p ? get(p) : 0"))
        killed += subprocess.run([sys.executable, "-c", KILLING, str(steps)], check=False).returncode == KILLED
        store = Store("kept.everproof")
        assert store.verify()[1] == 0
        assert answer(opened(store).check(), traces=False) == answer(second, traces=False)
        Path("one.c").write_text(ONE)
        assert answer(opened(store).check(), traces=False) == answer(first, traces=False)
        assert store.take_messages() == ()
    assert killed >= 3  # else the points were not inside the saving any more


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_is_damaged_the_answer_is_the_same(data: st.DataObject) -> None:
    write_program()
    for path in Path().glob("kept.everproof*"):
        path.unlink()
    first = checked_and_saved()
    image = bytearray(Path("kept.everproof").read_bytes())
    if data.draw(st.booleans()):
        image = image[: data.draw(st.integers(0, len(image)))]
    else:
        start = data.draw(st.integers(0, len(image) - 1))
        image[start : start + 3000] = data.draw(st.binary(min_size=1, max_size=3000))
    Path("kept.everproof").write_bytes(image)
    store = Store("kept.everproof")
    checker = opened(store)
    assert answer(checker.check()) == answer(first)
    edited = OTHER.replace("two()", "two() + 1")
    checker.change("other.c", edited, 2)
    report = checker.check()
    Path("other.c").write_text(edited)
    assert answer(report, traces=False) == answer(from_scratch(), traces=False)
    checker.save()
    again = opened(store)
    assert answer(again.check(), traces=False) == answer(report, traces=False)
    assert len(store.take_messages()) <= 2
    assert len(list(Path().glob("*" + DAMAGED))) <= 1


def test_what_was_packed_is_not_packed_again_after_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    packed: list[str] = []

    def pack(built: Built) -> bytes:
        packed.append(built.preprocessed.path)
        return pack_unit(built)

    monkeypatch.setattr(archive, "pack_unit", pack)
    checker = opened()
    checker.check()
    asked = iter([False, False, True])
    assert not checker.save(lambda: next(asked, True))
    assert packed == FILES
    assert checker.save()
    assert packed == FILES
    checker.change("one.c", ONE.replace("return 2", "return 3"), 2)
    checker.check()
    assert checker.save()
    assert packed == [*FILES, "one.c"]
