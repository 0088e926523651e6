"""What was proved before an edit, while nobody knows whether it still is: after an edit that does not parse it is neither gone
nor proved, and nothing is blamed."""

from __future__ import annotations

from analysis.model.places import Place, Position, Range
from analysis.model.report import RECHECKED, UNPARSED, FunctionReport, RuleVerdict
from analysis.session.provers.rechecked_proofs import RecheckedProofs

PROVED = RuleVerdict("safe", None, (), "symbolic", certified=True)
OPEN = RuleVerdict("unknown", "nothing was proved", (), "automaton")
BROKEN = RuleVerdict("unknown", "not proved", (), "predicate", broken="after a.c:42 (i = i + 2) `i <= n` does not hold")
PLACE = Place("/w/a.c", Range(Position(1, 1), Position(1, 2)))


class Session:
    """One program, from report to report; nothing is being asked."""

    def __init__(self) -> None:
        self._known = RecheckedProofs()

    def says(self, verdicts: dict[str, RuleVerdict], *, parses: bool, asked: bool = False) -> dict[str, RuleVerdict]:
        """The verdicts on one rule, by function, as they are shown."""
        functions = [FunctionReport(name, PLACE, {"rule": verdict}, (), ()) for name, verdict in verdicts.items()]
        reports = {f"a.c::{function.name}": function for function in functions}
        shown = self._known.marked(functions, reports, functions, lambda name, rule: asked, understood=parses)
        return {function.name: function.verdicts["rule"] for function in shown}


def test_an_edit_that_does_not_parse_takes_no_proof_away() -> None:
    session = Session()
    assert session.says({"f": PROVED, "g": PROVED, "h": OPEN}, parses=True)["f"] == PROVED
    shown = session.says({"f": OPEN, "g": BROKEN, "h": OPEN}, parses=False)
    assert [(shown[name].verdict, shown[name].rechecked, shown[name].reason) for name in "fg"] == [
        ("unknown", True, UNPARSED)
    ] * 2
    assert not shown["g"].broken
    assert shown["h"] == OPEN


def test_what_does_not_parse_itself_was_proved_too() -> None:
    session = Session()
    session.says({"f": PROVED, "g": PROVED}, parses=True)
    session.says({"g": PROVED}, parses=False)
    again = session.says({"f": OPEN, "g": PROVED}, parses=True, asked=True)
    assert (again["f"].rechecked, again["f"].reason) == (True, RECHECKED)
    settled = session.says({"f": BROKEN, "g": PROVED}, parses=True)
    assert settled["f"] == BROKEN
