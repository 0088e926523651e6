"""Effects of calls, closed over what they call: after any changes the same as from scratch, and what stays the same is the same
object."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analysis.cfa.linking.call_effects import Cell, Effects, Own, WithCallees, with_callees

NAMES = ("f", "g", "h", "i", "j")
CELLS = st.frozensets(st.sampled_from([Cell("global", name) for name in "abc"]), max_size=2)
EFFECTS = st.builds(Effects, CELLS, CELLS, st.booleans(), st.booleans())
CALLS = st.lists(st.tuples(st.sampled_from(NAMES), EFFECTS), max_size=3).map(tuple)
FUNCTIONS = st.dictionaries(st.sampled_from(NAMES), st.builds(Own, EFFECTS, CALLS, st.just(frozenset[str]())))
ENDING = st.frozensets(st.sampled_from(NAMES), max_size=1)
NOTHING = WithCallees({}, frozenset(), {})


@st.composite
def revisions(draw: st.DrawFn) -> list[tuple[dict[str, Own], frozenset[str]]]:
    """Some revisions; most functions stay as they were."""
    found = [(draw(FUNCTIONS), draw(ENDING))]
    for _ in range(draw(st.integers(1, 4))):
        functions, ending = found[-1]
        changed = {**functions, **draw(FUNCTIONS.filter(lambda some: len(some) <= 2))}
        for name in draw(st.frozensets(st.sampled_from(NAMES), max_size=1)):
            changed.pop(name, None)
        found.append((changed, draw(st.one_of(st.just(ending), ENDING))))
    return found


@given(revisions())
def test_effects_are_those_from_scratch(chain: list[tuple[dict[str, Own], frozenset[str]]]) -> None:
    before = NOTHING
    for functions, ending in chain:
        now = with_callees(functions, ending, before)
        assert now.effects == with_callees(functions, ending, NOTHING).effects
        before = now


@given(FUNCTIONS, ENDING)
def test_what_did_not_change_is_the_same_object(functions: dict[str, Own], ending: frozenset[str]) -> None:
    once = with_callees(functions, ending, NOTHING)
    again = with_callees(dict(functions), ending, once)
    assert all(again.effects[name] is once.effects[name] for name in functions)
