"""What a pointer is made of: each symbol and each number that can be an address, once."""

from __future__ import annotations

from analysis.smt.encoding.storage.origins import Origins
from analysis.smt.logic.term_building import eq, ite, number, select, symbol
from analysis.smt.logic.terms import INT, array

P, Q = symbol("p", INT), symbol("q", INT)
MEMORY = symbol("m", array(INT, INT))


def test_the_symbols_and_addresses_of_a_term() -> None:
    term = ite(eq(P, number(5, INT)), select(MEMORY, P), number(1000, INT))
    assert set(Origins(100).of(term)) == {P, MEMORY, number(1000, INT)}


def test_terms_that_share_parts_have_what_they_are_made_of() -> None:
    origins = Origins(100)
    inner = select(MEMORY, P)
    assert set(origins.of(inner)) == {MEMORY, P}
    assert set(origins.of(ite(eq(Q, number(0, INT)), inner, number(200, INT)))) == {MEMORY, P, Q, number(200, INT)}
    assert set(origins.of(Q)) == {Q}
