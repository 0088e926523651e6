"""The findings of releases that were judged by hand: the table, and how it is compared with what the command says."""

from __future__ import annotations

from benchmarks.judged_changes import MORE, STATES, Judged, judged, told
from benchmarks.releases import LIBRARIES


def test_the_table_says_of_each_finding_what_the_change_did_and_why() -> None:
    rows = judged()
    assert len(rows) >= 40
    assert len({row[:7] for row in rows}) == len(rows)
    assert {row.state for row in rows} == set(STATES)
    assert len({row.library for row in rows}) == 4
    for row in rows:
        library = LIBRARIES.get(row.library) or MORE[row.library]
        assert {row.old, row.new} <= library.releases.keys()
        assert row.why.endswith(".")


def test_what_the_command_says_is_found_by_rule_function_message_and_step() -> None:
    row = Judged("l", "1", "2", "memory-leak", "f", "lost", "", "fixed", "It is freed.")

    def finding(*steps: str) -> dict[str, object]:
        trace = [{"text": step} for step in steps]
        return {"rule": "memory-leak", "function": "f", "message": "lost", "trace": trace}

    document = {"introduced": [finding("a")], "fixed": [], "unchanged": [finding("b")]}
    assert told(row, document) == "introduced"
    assert told(row._replace(state="unchanged"), document) == "unchanged"
    assert told(row._replace(state="unchanged", step="a"), document) == "introduced"
    assert told(row._replace(step="c"), document) == ""
