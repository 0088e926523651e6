"""What can come next from a stream, as far as the functions that read from it know (C11 7.21.6.2p9).

`scanf` takes as many characters as a field can have, and leaves the one behind them: behind a number no further digit comes. It
may be white space always, or the end.
"""

from __future__ import annotations

from analysis.interpreter.halting import not_modelled

END = -1
EVERYTHING = frozenset(range(END, 256))
_SPACES = frozenset(b" \t\n\v\f\r")
_NUMBER_BEGINS = frozenset(b"0123456789+-")


class Next:
    """`possible`: the characters that can come next, with -1 for the end; None: any. Methods end the run where what they are
    told is none of these."""

    def __init__(self, possible: frozenset[int] | None) -> None:
        self.possible = possible

    def skip(self) -> None:
        """White space is left out, as much as there is."""
        if self.possible is None or self.possible & _SPACES:
            self.possible = EVERYTHING - _SPACES

    def takes(self, character: int) -> None:
        """The character is read, and any may follow."""
        if self.possible is not None and character not in self.possible:
            not_modelled("a character that does not come next")
        self.possible = None

    def takes_number(self) -> None:
        """A number is read, which begins with any digit or sign."""
        if self.possible is not None and not self.possible >= _NUMBER_BEGINS:
            not_modelled("a number that begins with a certain character")
        self.possible = None

    def is_not(self, characters: frozenset[int]) -> None:
        """One comes that is none of these, nor the end."""
        self._only((EVERYTHING if self.possible is None else self.possible) - characters - {END})

    def ends(self, *, skips: bool) -> None:
        """Nothing comes any more; white space may, if it is left out."""
        if skips:
            self.skip()
        self._only(frozenset((END,)) if self.possible is None else self.possible & {END})

    def _only(self, possible: frozenset[int]) -> None:
        if not possible:
            not_modelled("a character that does not come next")
        self.possible = possible
