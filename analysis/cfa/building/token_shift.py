"""Where the tokens of an old text are in a new one: for functions that do not parse now, which keep what was found in them.

Both texts are compared token by token between their common head and tail; numbers in line markers, which change in all that
follows when a line is added or taken away, count for nothing. A token that is in both texts keeps its place. One that is not has
none any more, and nothing that was said of it moves to what stands there now, which may be another function.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analysis.cfa.graph import FunctionSource
from analysis.frontend.text.difference import difference
from analysis.model.places import GONE, Site
from analysis.model.token_matching import matching

_MARKER = re.compile(rb'(?:^|\n)# \d{1,9}(?= ")')
_TOKEN = re.compile(
    rb"""^\#[^\n]*|\s+|([A-Za-z_$][\w$]*|\d[\w.]*|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|.)""", re.DOTALL | re.MULTILINE
)


class _Moved(NamedTuple):
    """A token that is in both texts."""

    start: int
    end: int
    by: int


class TokenShift:
    """The tokens of an old text in a new one: all before `first`, all from `last` on, moved `by` so many bytes, and of those
    between them the ones that were `kept`, in order."""

    def __init__(self, first: int, last: int, by: int, kept: Sequence[_Moved]) -> None:
        self._first, self._last, self._by = first, last, by
        self._kept = kept
        self._starts = [token.start for token in kept]

    def near(self, offset: int) -> int:
        """Where an offset is, or what is left of the text around it."""
        if offset < self._first:
            return offset
        if offset >= self._last:
            return offset + self._by
        at = bisect_left(self._starts, offset)
        if at < len(self._kept):
            return self._kept[at].start + self._kept[at].by
        return self._last + self._by

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """What is left of a stretch of the old text: from the first to the last of its tokens that is still there."""
        begin = start if start < self._first else start + self._by if start >= self._last else None
        finish = end if end <= self._first else end + self._by if end > self._last else None
        at = bisect_left(self._starts, start)
        inside = [token for token in self._kept[at : bisect_left(self._starts, end)] if token.end <= end]
        if begin is None and inside:
            begin = inside[0].start + inside[0].by
        if finish is None and inside:
            finish = inside[-1].end + inside[-1].by
        if begin is None:
            begin = self._last + self._by if end > self._last else None
        if finish is None:
            finish = self._first if start < self._first else None
        return None if begin is None or finish is None else (begin, max(begin, finish))

    def source(self, source: FunctionSource) -> FunctionSource:
        """The source of a function of the old text, in the new one. Sites of which nothing is left are gone."""
        start = self.near(source.start)

        def move(site: Site) -> Site:
            span = None if site == GONE else self.span(source.start + site.start, source.start + site.end)
            return GONE if span is None else Site(span[0] - start, span[1] - start)

        sites = {edge: move(site) for edge, site in source.sites.items()}
        end = self.near(source.start + source.end_site.end - 1) - start if source.end_site != GONE else 0
        end_site = move(source.end_site)
        return FunctionSource(
            source.unit, start, sites, move(source.name_site), Site(max(end, 0), max(end, 0)) if end_site == GONE else end_site
        )


def token_shift(old: bytes, new: bytes) -> TokenShift:
    """The shift from an old text to a new one."""
    start, old_end, new_end = difference(old, new)
    if _MARKER.search(old, start, old_end) and _MARKER.search(new, start, new_end):
        start, old_end, new_end = difference(_blank(old), _blank(new))
    start = max(old.rfind(b"\n", 0, start) + 1, 0)
    tail = old.find(b"\n", old_end)
    tail = len(old) if tail < 0 else tail
    ends = tail, new_end + tail - old_end
    before, after = list(_tokens(old, start, ends[0])), list(_tokens(new, start, ends[1]))
    return TokenShift(start, ends[0], len(new) - len(old), list(_kept(old, new, before, after)))


def _blank(text: bytes) -> bytes:
    return _MARKER.sub(lambda match: match.group()[:1].ljust(len(match.group())), text)


def _tokens(text: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _TOKEN.finditer(text, start, end) if match.group(1) is not None)


def _kept(old: bytes, new: bytes, before: Sequence[tuple[int, int]], after: Sequence[tuple[int, int]]) -> Iterator[_Moved]:
    """The tokens that are in both, in the order of the old text."""
    words = [old[start:end] for start, end in before]
    others = [new[start:end] for start, end in after]
    for one, another in matching(words, others):
        yield _Moved(*before[one], after[another][0] - before[one][0])
