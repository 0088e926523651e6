import pytest

from analysis.cfa.unnamed_values import without_temporaries
from analysis.engines.automaton.facts.spelled import spell_path
from analysis.engines.automaton.functions.access_paths import Path, path_of
from analysis.model import ir
from analysis.model.c_types import Integer
from tests.support.lowered import cfa_of


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


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("n ? a : b", "... ? a : b"),
        ("n ? a : make(n)", "... ? a : make(n)"),
        ("n ? b : n > 1 ? a : b", "the result"),
        ("n ? a : a", "a"),
        ("make(n)", "make(n)"),
    ],
)
def test_a_value_without_a_name_is_shown_as_what_it_is_one_of(given: str, text: str) -> None:
    cfa = cfa_of(f"char *make(int n); void use(char *p); void f(int n, char *a, char *b) {{ use({given}); }}")
    effects = [edge.effect for edge in cfa.edges]
    [passed] = [
        argument for e in effects if isinstance(e, ir.Call) for argument in e.arguments if not isinstance(argument.type, Integer)
    ]
    assert spell_path(path_of(passed) or (), cfa) == text
