"""Which headers are the system's, so that what they declare is what the libraries define.

A preprocessor calls headers so that flags name (`-isystem`), and those that say so themselves (`#pragma GCC system_header`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

from analysis.frontend.text.preprocess import Preprocessed
from analysis.model.unit_flags import UnitFlags


def of_the_system(preprocessed: Preprocessed, flags: UnitFlags) -> Callable[[int], bool]:
    """Tells of an offset in the preprocessed text whether it comes from a header of the system's that is neither in a folder that
    the flags name nor beside the file."""
    lines = preprocessed.line_map
    folders = [preprocessed.folder, *(folder.path for one in (flags, *flags.others) for folder in one.folders)]
    own = tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)

    @cache
    def is_own(path: bytes) -> bool:
        return os.path.realpath(os.path.join(preprocessed.folder, os.fsdecode(path))).startswith(own)

    return lambda offset: lines.in_system_header(offset) and not is_own(lines.path_at(offset))
