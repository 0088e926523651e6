"""How the reasons of obstacles are told. Some are no lack of understanding of the function that has them:

- An open order: the expression is followed from left to right, and nothing is proved, but by `certificate.nonzero` and
  `certificate.ownership`.
- Another file of the program that may have another text: the function is followed, and nothing is proved of the program.
"""

from __future__ import annotations

OPEN_ORDER = "operands that C may evaluate in either order"
"""How the reason of an open order begins (`open_order`)."""

RETURNS = "a call of a function that may return, though it is declared not to"
"""Where such a function may return: what its callers do then is not in their CFAs (`obstructed`)."""
_ELSEWHERE = "a program with "


def is_open_order(reason: str) -> bool:
    """Whether an obstacle is an open order."""
    return reason.startswith(OPEN_ORDER)


def elsewhere(path: str, why: str) -> str:
    """The reason of an obstacle that all functions of other files have, where a file has something that puts all in doubt."""
    return f"{_ELSEWHERE}{path}, which has {why}"


def described(reason: str) -> str:
    """The reason of an obstacle in a sentence that begins with the function that has it."""
    if is_open_order(reason):
        return f"contains {reason}, and the order may matter"
    return f"is in {reason}" if reason.startswith(_ELSEWHERE) else f"contains {reason}, which is not supported"
