"""Puts the pictures of the documentation where they belong, out of those that `make e2e` took: `python tests/e2e/pictures.py`.

256 colours are enough for a screenshot, and make it a third of the size.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

TAKEN = Path(__file__).resolve().parent / "artifacts" / "vscode"
PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"
CHOSEN = {
    "findings": "editing/findings",
    "hover": "editing/hover-function",
    "derivation": "editing/derivation",
    "states": "editing/states",
    "problems": "folder/problems",
    "restricted": "restricted/restricted",
    "testing": "editing/testing",
    "narrow-light": "pictures-light/finding",
    "narrow-dark": "pictures-dark/problems",
    "narrow-contrast": "pictures-contrast/step",
}


def main() -> int:
    """Writes the pictures."""
    PICTURES.mkdir(exist_ok=True)
    for name, taken in CHOSEN.items():
        with Image.open(TAKEN / f"{taken}.png") as picture:
            small = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
            small.save(PICTURES / f"{name}.png", optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
