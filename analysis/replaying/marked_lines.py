"""The lines that a harness prints."""

from __future__ import annotations

MARK = "everproof: "
"""How they begin."""
DECLARATIONS = "long write(int, const void *, unsigned long); void _exit(int);\nvolatile static int everproof_looked;\n"
"""What the statements below, and those of `signatures`, need."""


def printed(text: str) -> str:
    """A statement that prints a line, without what the C library keeps for later."""
    return f'write(2, "{MARK}{text}\\n", {len(MARK) + len(text) + 1});'
