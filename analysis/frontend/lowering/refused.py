"""What lowering raises where it does not model a piece of C."""

from __future__ import annotations


class RefusedError(Exception):
    """Lowering does not model this piece of C; the reason goes into an Unsupported edge."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
