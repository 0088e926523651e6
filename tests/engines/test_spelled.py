import pytest

from analysis.cfa.unnamed_values import without_temporaries
from analysis.engines.automaton.facts.spelled import spell_path
from analysis.engines.automaton.functions.access_paths import Path


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("p",), "p"),
        (("p", "*"), "*p"),
        (("p", "*", ".next", "*", ".data"), "p->next->data"),
        (("@file.c::table", "[3]"), "table[3]"),
        (("@m", "&"), "&m"),
        (("s", ".name"), "s.name"),
        (("<result>",), "the result"),
        (("$3",), "the result"),
        (("x~2",), "x"),
    ],
)
def test_paths_are_shown_as_c(path: Path, text: str) -> None:
    assert spell_path(path) == text


def test_names_that_lowering_made_up_are_not_shown() -> None:
    assert without_temporaries("$2 = run(count, words)") == "run(count, words)"
    assert without_temporaries("$12 == 0") == "the result == 0"
    assert without_temporaries("price = 3") == "price = 3"
    assert without_temporaries("price$1 = 3") == "price$1 = 3"  # a name with a dollar (GNU C)
