"""What is found in a function that does not parse any more stays at its own text: a stale finding never moves into another
function, and what has no text any more has no place."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Report

DEMO = Path(__file__).parents[2] / "fixtures" / "demo"
DECLARATION = "\tstruct item *item = item_find(stock, name);\n\n"
TEST = "\tif (!item)\n\t\treturn -1;\n\titem->cents"
HEAD = "static int price(const char *name, int cents)\n"


class Demo:
    """The demo with a defect in `price`, which may be typed in."""

    def __init__(self) -> None:
        self.path = str(DEMO / "inventory.c")
        self.text = Path(self.path).read_text().replace(TEST, "\titem->cents", 1)
        self.checker = Checker(Options(engine="automaton"))
        self.checker.open_workspace(str(DEMO))
        report = self.typed(self.text)
        [found] = report.findings
        assert (found.function, self.covered(report)) == ("price", ["item->cents = cents"])

    def typed(self, text: str) -> Report:
        self.text = text
        self.checker.change(self.path, text)
        return self.checker.check()

    def covered(self, report: Report) -> list[str]:
        """The texts at the places of the findings."""
        lines = self.text.splitlines()
        found = []
        for finding in report.findings:
            start, end = finding.place.range.start, finding.place.range.end
            assert start.line == end.line
            found.append("gone" if finding.place.gone else lines[start.line - 1][start.column - 1 : end.column - 1])
        return found


def test_a_brace_and_a_declaration_are_deleted() -> None:
    demo = Demo()
    report = demo.typed(demo.text.replace(f"{HEAD}{{\n{DECLARATION}", HEAD, 1))
    assert [(f.function, step) for f, step in zip(report.findings, demo.covered(report), strict=True)] == [
        ("price", "item->cents = cents"),
    ]
    assert [f.name for f in report.functions if f.stale] == ["price"]


def test_what_is_deleted_has_no_place_and_is_kept() -> None:
    demo = Demo()
    assert demo.covered(demo.typed(demo.text.replace("\n\titem->cents = cents;", "\n\titem->cents = cents; (", 1))) == [
        "item->cents = cents"
    ]
    report = demo.typed(demo.text.replace("\titem->cents = cents; (", "\t(", 1))
    assert demo.covered(report) == ["gone"]
    assert report.findings[0].function == "price"
    line = report.findings[0].place.range.start.line
    assert demo.text.splitlines()[line - 1] == HEAD.rstrip("\n"), "its place is that of the function"
    back = demo.typed(demo.text.replace("\t(", "\titem->cents = cents;", 1))
    assert demo.covered(back) == ["item->cents = cents"]


@pytest.mark.parametrize("added", ["", "\n\n\n", "// one\n// two\n"])
def test_lines_above_do_not_matter(added: str) -> None:
    demo = Demo()
    report = demo.typed(added + demo.text.replace(f"{HEAD}{{\n{DECLARATION}", HEAD, 1))
    assert demo.covered(report) == ["item->cents = cents"]


@pytest.mark.parametrize("typed", ["/* as it ", '#include "ite', "#if A\n", '#include "item.h" /* \n#endif\n'])
def test_what_cannot_be_preprocessed_while_it_is_typed_is_told_like_what_does_not_parse(typed: str) -> None:
    demo = Demo()
    report = demo.typed(demo.text.replace(HEAD, typed + "\n" + HEAD, 1))
    assert report.messages
    assert all(message.syntax for message in report.messages)


def test_one_error_is_one_short_message_at_its_place() -> None:
    demo = Demo()
    report = demo.typed(demo.text.replace("\titem->cents = cents;\n\treturn 0;", "\titem->cents = ;\n\treturn 0;", 1))
    [message] = [message for message in report.messages if message.syntax]
    line = demo.text.splitlines()[message.line - 1]
    assert line == "\titem->cents = ;"
    assert line[message.column - 1 : message.end_column - 1] in ("=", ";")
    deleted = demo.typed(demo.text.replace(f"{HEAD}{{\n{DECLARATION}", HEAD, 1))
    assert len([message for message in deleted.messages if message.syntax]) == 1


@pytest.mark.parametrize(
    "head",
    ["static int price(const char *name, int", "static int price(const char *name, int cents", "static int price(const char *"],
)
def test_nothing_is_called_unreached_because_of_an_unfinished_edit(head: str) -> None:
    demo = Demo()
    report = demo.typed(demo.text.replace(HEAD.rstrip("\n"), head, 1))
    assert report.files[0].parse_errors
    reasons = {verdict.reason or "" for function in report.functions for verdict in function.verdicts.values()}
    assert not [reason for reason in reasons if "not reached" in reason]
