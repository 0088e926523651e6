"""What functions that look for something in a string find (C11 7.24.5). Strings are given without the zero at their end."""

from __future__ import annotations

from collections.abc import Callable


def span(text: bytes, characters: bytes) -> int:
    """How many characters at the start of a text are among these (C11 7.24.5.6)."""
    return len(text) - len(text.lstrip(characters)) if characters else 0


def span_without(text: bytes, characters: bytes) -> int:
    """How many characters at the start of a text are not among these (C11 7.24.5.3)."""
    return next((at for at, character in enumerate(text) if character in characters), len(text))


def _any_of(text: bytes, characters: bytes) -> int:
    at = span_without(text, characters)
    return at if at < len(text) else -1


SEARCHES: dict[str, Callable[[bytes, bytes], int]] = {
    "strcspn": span_without,
    "strpbrk": _any_of,
    "strspn": span,
    "strstr": bytes.find,
}
"""Functions of two strings: how many characters, or where the found one begins; -1 where nothing is found."""

CHARACTER_SEARCHES: dict[str, Callable[[bytes, int], int]] = {
    "strchr": bytes.find,
    "index": bytes.find,
    "strrchr": bytes.rfind,
    "rindex": bytes.rfind,
}
"""Functions of a string, here with the zero at its end, and a character: where they find it; -1 where they do not. The
zero is part of the string (C11 7.24.5.2p2), so it is always found."""

SPLITS = frozenset(("strsep",))
"""Functions that cut a piece off the text that their first argument leads to a pointer to. The result is that pointer, as it was
before: null only where it was null."""
