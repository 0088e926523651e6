"""How offsets move between two texts that differ in one place, and in no token."""

from __future__ import annotations

import msgspec

from analysis.cfa.graph import FunctionSource
from analysis.model.places import Site


class Shift(msgspec.Struct, frozen=True):
    """Texts agree up to `prefix`, and in their last bytes from `old_end` in the old and `new_end` in the new."""

    prefix: int
    old_end: int
    new_end: int

    def offset(self, offset: int, is_end: bool = False) -> int:
        """Where an offset into the old text is in the new one; what was replaced is where the replacement begins.

        Where text was only inserted, what ends there stays before the insertion, and what begins there comes after it.
        """
        if offset < self.prefix or (is_end and offset == self.prefix):
            return offset
        if offset >= self.old_end:
            return offset - self.old_end + self.new_end
        return min(offset, self.new_end)

    def source(self, source: FunctionSource) -> FunctionSource:
        """The source of a function of the old text, moved to the new one."""
        start = self.offset(source.start)

        def move(site: Site) -> Site:
            begin = self.offset(source.start + site.start)
            end = max(begin, self.offset(source.start + site.end, is_end=True))
            return Site(begin - start, end - start)

        sites = {edge: move(site) for edge, site in source.sites.items()}
        return FunctionSource(source.unit, start, sites, move(source.name_site), move(source.end_site))
