"""`everproof cache`."""

from __future__ import annotations

import click

from analysis.cli.failure import Failure


@click.command()
@click.argument("action", type=click.Choice(["stat", "clear", "verify"]))
def cache(action: str) -> None:
    """Show, empty or verify the store of results. This version keeps no results between runs."""
    raise Failure(f"There is nothing to {action}: this version keeps no results between runs, so it has no store.")
