"""What ends a command early."""

from __future__ import annotations

import click


class Failure(click.ClickException):
    """What was asked for could not be done; the text is one clear sentence with what to do about it. Exit code 2."""

    exit_code = 2
