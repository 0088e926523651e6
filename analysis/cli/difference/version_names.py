"""The names of the two versions, where one word names both as git has it: `A..B`, and `A...B` for what B has brought since both
had their last common commit. A side that is left out is the last commit."""

from __future__ import annotations

import os
from collections.abc import Sequence

from analysis.cli.failure import Failure
from analysis.session.files.git_versions import GitError, Repository

LAST = "HEAD"
_DIGITS = 12  # of a commit's name, as messages have it


def named_apart(versions: Sequence[str]) -> tuple[str, ...]:
    """The versions, one word each. Raises Failure if there is no common commit."""
    if len(versions) != 1 or ".." not in versions[0] or os.path.exists(versions[0]) or os.pardir in versions[0].split(os.sep):
        return tuple(versions)
    old, _, new = versions[0].partition("..")
    is_since = new.startswith(".")
    old, new = old or LAST, (new[1:] if is_since else new) or LAST
    return (_common(old, new), new) if is_since else (old, new)


def _common(old: str, new: str) -> str:
    try:
        repository = Repository(".")
        return repository.merge_base(repository.commit(old), repository.commit(new))[:_DIGITS]
    except GitError as error:
        raise Failure(f"{old}...{new} names no common commit of two revisions of a git repository here: {error}.") from None
