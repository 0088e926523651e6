"""Answers that were read from the store. They are as an earlier process wrote them (`store.store_key`); still, a proof with an
annotation comes with all that it takes to check it again, and for one who does not wait, it counts only then.
"""

from __future__ import annotations

import msgspec

from analysis.session.provers.asking.answer import Decided, Part


def is_to_check(read: Decided) -> bool:
    """Whether an answer about one rule is a proof that can be checked again."""
    return read.kept is not None


def without_proofs_to_check(read: Decided) -> Decided:
    """An answer about several rules without the proofs that can be checked again, each as the claim about the program."""
    parts = tuple(part for part in read.parts if part.kept is None)
    return read if len(parts) == len(read.parts) else msgspec.structs.replace(read, parts=parts)


def marked_as_kept(part: Part) -> Part:
    """A part of an answer whose proof, if it has one, is kept elsewhere."""
    return part if part.kept is None else msgspec.structs.replace(part, kept=b"")
