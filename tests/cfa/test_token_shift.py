"""Tokens of a text in another one: what is still there is found, and nothing else is taken for it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analysis.cfa.building.token_shift import token_shift
from analysis.cfa.graph import FunctionSource
from analysis.model.places import GONE, Site

WORDS = st.lists(st.sampled_from([b"a", b"b", b"{", b"}", b"int", b"\n", b"p->q", b'"x y"', b'\n# 7 "a.c"\n']), max_size=12)


@given(WORDS, WORDS)
def test_a_token_that_is_found_is_the_same_one_and_the_order_stays(old: list[bytes], new: list[bytes]) -> None:
    before, after = b" ".join(old), b" ".join(new)
    shift = token_shift(before, after)
    ends, offset = [], 0
    for word in old:
        span = shift.span(offset, offset + len(word)) if word.strip() and not word.startswith(b"\n#") else None
        if span is not None and word.isalnum():
            assert after[span[0] : span[1]] == word
            ends.append(span)
        offset += len(word) + 1
    assert ends == sorted(ends)


def source_of(text: bytes, *parts: bytes) -> FunctionSource:
    sites = {number: Site(text.index(part), text.index(part) + len(part)) for number, part in enumerate(parts)}
    return FunctionSource(
        "a.c", 0, sites, Site(text.index(b"f"), text.index(b"f") + 1), Site(text.index(b"}"), text.index(b"}") + 1)
    )


TEXT = b'int f(void) {\n# 2 "a.c"\n int *p = 0;\n return *p;\n}\n# 5 "a.c"\nint g(void) { return *q; }\n'


def test_sites_stay_at_their_tokens_where_lines_get_other_numbers() -> None:
    edited = TEXT.replace(b'{\n# 2 "a.c"\n int *p = 0;', b"").replace(b"# 5", b"# 4")
    moved = token_shift(TEXT, edited).source(source_of(TEXT, b"return *p;", b"*p = 0"))
    start = moved.start + moved.sites[0].start
    assert edited[start : moved.start + moved.sites[0].end] == b"return *p;"
    assert start < edited.index(b"int g")
    assert moved.sites[1] == GONE


def test_what_was_gone_stays_gone() -> None:
    edited = TEXT.replace(b"*p = 0", b"")
    once = token_shift(TEXT, edited).source(source_of(TEXT, b"*p = 0"))
    assert token_shift(edited, TEXT).source(once).sites == {0: GONE}


def test_of_a_site_that_was_cut_the_rest_is_left() -> None:
    edited = TEXT.replace(b"return *p;", b"return")
    moved = token_shift(TEXT, edited).source(source_of(TEXT, b"return *p;"))
    assert edited[moved.start + moved.sites[0].start : moved.start + moved.sites[0].end] == b"return"
