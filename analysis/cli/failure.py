"""What ends a command early."""

from __future__ import annotations

import os
from collections.abc import Iterable

import click


class Failure(click.ClickException):
    """What was asked for could not be done; the text is one clear sentence with what to do about it. Exit code 2."""

    exit_code = 2


def demand_paths(paths: Iterable[str]) -> None:
    """Raises Failure for a file or folder that is not there."""
    for path in paths:
        if not os.path.exists(path):
            raise Failure(f"There is no file or folder {path}: check the spelling.")
