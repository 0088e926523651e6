"""Operators of symbolic execution, as the command is given them."""

from __future__ import annotations

import pytest

from analysis.model.symbolic_operators import SymbolicOperators, choices, read_operators


def test_words_say_all_that_they_are_read_from() -> None:
    for words in ((), ("merge=join",), ("refine=none", " check-at=target"), ("less-or-equal=aliased", "by=conditions")):
        operators = read_operators(words)
        assert read_operators(operators.words) == operators
    assert read_operators(()) == SymbolicOperators()
    assert read_operators(("merge=join",)) == SymbolicOperators(merge="join")
    assert sum(one.count("|") + 1 for one in choices()) == 5 + 2 + 3 + 2 + 2 + 2


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("merge=all", "merge cannot be all: it is one of sep, join."),
        ("merge", "merge cannot be nothing: it is one of sep, join."),
        ("depth=3", "There is no operator depth: there are refine, by, less-or-equal, merge, check-at, restart."),
        ("", "There is no operator without a name: there are"),
    ],
)
def test_what_is_no_operator_is_an_error(word: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_operators([word])


def test_predicates_track_constraints_by_variables() -> None:
    with pytest.raises(ValueError, match="leave out by=conditions"):
        read_operators(["refine=predicates", "by=conditions"])
