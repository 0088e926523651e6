"""What is kept of one file: its text as the compiler sees it, its unit, and what makes the next revision faster."""

from __future__ import annotations

import msgspec

from analysis.cfa.building.body_edit import Slot
from analysis.cfa.building.unit import Unit
from analysis.frontend.syntax.parser import SyntaxTree
from analysis.frontend.text.preprocess import Preprocessed, reports_error


class Built(msgspec.Struct, frozen=True):
    """One unit of a revision. Times in milliseconds; `parse_errors` counts places that the parser did not understand.
    `lowered` counts the functions that were lowered, not taken from an earlier revision.
    `slots` are functions that do not parse after edits of their bodies (`cfa.building.body_edit`); `parse_errors` includes
    theirs.
    `tree` makes parsing the next revision faster; it is large, and cannot be sent to another process.
    """

    preprocessed: Preprocessed
    unit: Unit
    parse_errors: int
    lowered: int
    parse_ms: float
    lower_ms: float
    tree: SyntaxTree | None = None
    slots: tuple[Slot, ...] = ()

    @property
    def is_c(self) -> bool:
        """Whether all of the text parses, and the preprocessor reports no error in it."""
        return not (self.parse_errors or self.unit.broken or reports_error(self.preprocessed))
