"""What ends a command early."""

from __future__ import annotations

import os
from collections.abc import Iterable

import click

from analysis.session.files.named_files import no_such_file


class Failure(click.ClickException):
    """What was asked for could not be done; the text is one clear sentence with what to do about it. Exit code 2."""

    exit_code = 2


def demand_paths(paths: Iterable[str]) -> None:
    """Raises Failure for a file or folder that is not there."""
    for path in paths:
        if not os.path.exists(path):
            raise Failure(no_such_file(path))
