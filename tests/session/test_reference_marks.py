"""What is new since a reference.

The class: a finding that was there is called new, for a moment or for good."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from analysis.model.places import Place, Position, Range
from analysis.model.report import Finding, FunctionReport, Report, Times, TraceStep, Work
from analysis.model.same_findings import EarlierFindings, found_in, known, number_of_variable
from analysis.wire import Since
from analysis.worker.reference.edit_bisection import introducing_steps
from analysis.worker.reference.since import Reference
from analysis.worker.reference.task import BisectionTask, ReferenceAnswer
from analysis.worker.reference.told_difference import unified

AT = Place("/w/a.c", Range(Position(1, 1), Position(1, 2)), None)


def finding(fingerprint: str, function: str = "f", steps: tuple[str, ...] = (), **more: Any) -> Finding:
    trace = tuple(TraceStep(AT, function, 0, "assign", text) for text in steps)
    return msgspec.structs.replace(
        Finding("rule", "possible", "warning", f"in {function}", AT, function, fingerprint, trace), **more
    )


def report(*findings: Finding, functions: tuple[str, ...] = ("f",), refuted: tuple[str, ...] = ()) -> Report:
    reports = tuple(FunctionReport(name, AT, {}) for name in functions)
    return Report("violated", (), reports, findings, (), Work(), Times(), refuted_findings=refuted)


def reference(
    *findings: Finding,
    refuted: tuple[str, ...] = (),
    examined: tuple[str, ...] | None = None,
    functions: tuple[str, ...] = ("f",),
) -> Reference:
    return Reference(ReferenceAnswer("HEAD", tuple(map(known, findings)), functions, refuted, examined, is_disk=False))


def marked(
    to: Reference, of: Report, suspected: Collection[str] | None = None, opened: Collection[str] = ("/w/a.c",)
) -> tuple[Since | None, ...]:
    return to.marks(of, lambda: suspected, opened)


def test_equal_fingerprints_stand_for_as_many_findings() -> None:
    assert marked(reference(finding("1")), report(finding("1"), finding("1"))) == ("old", "new")


def test_a_finding_that_is_reported_at_another_statement_is_older() -> None:
    before = finding("1", steps=("p = 0", "x = 1"))
    assert marked(reference(before), report(finding("2", steps=("p = 0",)))) == ("old",)
    assert marked(reference(before), report(finding("2", steps=("q = 0",)))) == ("new",)


def numbers(*of: int) -> bytes:
    return array("I", of).tobytes()


def test_a_finding_at_a_statement_that_was_free_of_it_is_new() -> None:
    to = reference(finding("1", steps=("p = 0",), at=(1,), clear=numbers(2, 3)))
    assert marked(to, report(finding("1", steps=("p = 0",), at=(2,)))) == ("new",)
    assert marked(to, report(finding("2", steps=("p = 0",), at=(9, 3)))) == ("new",)
    assert marked(to, report(finding("1", steps=("p = 0",), at=(4,)))) == ("old",)
    assert marked(to, report(finding("1", at=(2,)), finding("1", at=(1,)))) == ("new", "old")


def test_a_value_that_is_used_through_another_name_is_older() -> None:
    def null(name: str, *steps: str, **more: Any) -> Finding:
        return finding(f"{name} {steps}", steps=steps, message=f"`{name}` can be null here", **more)

    def since(one: Finding, other: Finding) -> Since | None:
        return marked(reference(one), report(other))[0]

    old = null("h", "p = malloc(n)", "h = (struct header *) (p - 8)")
    for steps, mark in ((("p = malloc(n)",), "old"), (("p = calloc(n, 1)",), "new"), ((), "new")):
        assert since(old, null("p", *steps)) == since(null("p", *steps), old) == mark
    assert since(old, null("q", "p = malloc(n)")) == "new"  # another value
    returned = null("h", "return NULL", "h = (struct header *) (p - 8)")
    assert since(returned, null("p", "return NULL")) == "new"  # what they share says nothing
    other = null("p", "p = malloc(n)", at=(7,))
    assert since(msgspec.structs.replace(old, clear=numbers(7)), other) == "new"  # it had no such error
    same = null("p", "p = malloc(n)", at=(8, number_of_variable("p")))
    assert since(msgspec.structs.replace(old, clear=numbers(7, number_of_variable("p"))), same) == "old"  # `p` held the value


def test_a_function_with_another_name() -> None:
    to = reference(finding("1", "f", ("p = 0",)))
    assert marked(to, report(finding("2", "g", ("p = 0",)), functions=("g",))) == ("old",)
    assert marked(to, report(finding("2", "g", ("p = 0",)), functions=("f", "g"))) == ("new",)


def test_what_was_refuted_is_new_only_once_provers_have_looked_here() -> None:
    to = reference(refuted=("1",))
    assert marked(to, report(finding("1"))) == (None,)
    assert marked(to, report(finding("1", reason="out of budget"))) == ("new",)
    assert marked(to, report(finding("1", status="confirmed"))) == ("new",)


def test_what_provers_have_found_is_new_only_if_they_looked_at_the_reference() -> None:
    found = report(finding("1", status="confirmed"))
    to = reference()
    assert marked(to, found, suspected=()) == (None,)
    assert to.wants_provers
    assert marked(to, found, suspected=None) == (None,)
    assert marked(to, found, suspected=("1",)) == ("new",)
    assert marked(reference(examined=("/w/a.c",)), found, suspected=()) == ("new",)
    assert marked(reference(examined=("/w/b.c",)), found, suspected=()) == (None,)
    assert marked(reference(examined=()), found, suspected=(), opened=()) == ("new",)


def test_what_was_new_stays_so_when_a_prover_confirms_it() -> None:
    to = reference()
    assert marked(to, report(finding("1")), suspected=("1",)) == ("new",)
    assert marked(to, report(finding("1", status="confirmed")), suspected=None) == ("new",)


def test_a_report_on_the_texts_of_the_reference_says_what_is_there() -> None:
    to = reference()
    now = report(finding("1", status="confirmed"), refuted=("2",))
    to.follow(found_in(now))
    assert marked(to, now, suspected=()) == ("old",)
    assert marked(to, report(finding("2", "g")), suspected=()) == (None,)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=8), st.randoms(use_true_random=False))
def test_no_finding_of_the_reference_is_new_in_any_order(kinds: list[tuple[int, int]], random: Any) -> None:
    findings = [finding(f"{a}{b}", f"f{a}", (f"s{b}",)) for a, b in kinds]
    shuffled = random.sample(findings, len(findings))
    assert set(marked(reference(*findings), report(*shuffled))) <= {"old"}
    found = EarlierFindings(tuple(map(known, findings))).matched(shuffled, lambda: (frozenset(), frozenset()))
    assert sorted(found.values()) == list(range(len(findings)))


def _said(word: str) -> Finding:
    """`a@1` is a finding of the words `a` at the first of two statements."""
    name, _, at = word.partition("@")
    return finding(name, at=(int(at),), clear=numbers(3 - int(at))) if at else finding(name)


class _Texts:
    """A checker that finds what stands in the texts; `proved` is what takes provers."""

    def __init__(self, proved: frozenset[str] = frozenset()) -> None:
        self.texts: dict[str, str] = {}
        self.checks = 0
        self._proved = proved

    def change(self, path: str, text: str) -> None:
        self.texts[path] = text

    def check(self) -> Report:
        self.checks += 1
        return report(*(_said(word) for word in self._words() if word not in self._proved))

    def prove(self, *, stays: bool) -> Report:
        return report(*map(_said, self._words()))

    def _words(self) -> list[str]:
        return " ".join(self.texts.values()).split()


def test_bisection_finds_the_step() -> None:
    words = [" ".join(f"w{one}" for one in range(number % 2, number, 2)) for number in range(1, 20)]
    steps = tuple(("a" if number % 2 else "b", text) for number, text in enumerate(words, 1))
    wanted = ("w9", "old", "never")
    task = BisectionTask("/w", None, None, {"a": "", "b": "old"}, (*steps, ("b", "old w9")), wanted)  # type: ignore[arg-type]
    checker = _Texts()
    found = introducing_steps(checker, task)  # type: ignore[arg-type]
    assert found["old"] == 0
    assert "never" not in found
    step = found["w9"]
    assert "w9" in task.steps[step - 1][1].split()
    assert checker.checks < len(steps)


def test_bisection_tells_statements_apart() -> None:
    texts = ("x@1 y", "x@1", "", "x@2", "x@2 y")
    task = BisectionTask("/w", None, None, {"a": "x@1"}, tuple(("a", text) for text in texts), ("x",))  # type: ignore[arg-type]
    assert introducing_steps(_Texts(), task) == {"x": 4}  # type: ignore[arg-type]


def test_bisection_asks_provers_where_nothing_else_finds_it() -> None:
    task = BisectionTask("/w", None, None, {"a": ""}, (("a", "x"), ("a", "x y"), ("a", "x y z")), ("y",))  # type: ignore[arg-type]
    assert introducing_steps(_Texts(frozenset({"y"})), task) == {"y": 2}  # type: ignore[arg-type]


@given(st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.sampled_from("abc"), max_size=30))
def test_a_difference_counts_lines_from_the_whole_file(old: list[str], new: list[str]) -> None:
    """Equal lines in front are not compared."""
    same = "".join(f"{number}\n" for number in range(50))
    texts = [same + "".join(f"{line}\n" for line in lines) for lines in (old, new)]
    difference = unified(*texts, "a.c", "HEAD")
    assert difference is not None
    before, after = (text.splitlines() for text in texts)
    at = at_new = 0
    for line in difference.splitlines()[2:]:
        if line.startswith("@@"):
            at, at_new = (int(part[1:].partition(",")[0]) for part in line.split()[1:3])
            continue
        if line[0] in " -":
            assert before[at - 1] == line[1:]
            at += 1
        if line[0] in " +":
            assert after[at_new - 1] == line[1:]
            at_new += 1
    assert bool(difference) == (old != new)


def test_a_difference_that_is_too_large_is_none() -> None:
    assert unified("a\n" * 10_000, "b\n" * 10_000, "a.c", "HEAD") is None
    assert unified("a\n" * 10_000, "a\n" * 5_000 + "b\n" + "a\n" * 5_000, "a.c", "HEAD") is not None
