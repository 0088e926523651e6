"""`everproof serve`."""

from __future__ import annotations

import importlib.util
import runpy
import sys

import click

from analysis.cli.failure import Failure


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.option("--tcp", metavar="HOST:PORT", help="Listen there instead of using standard input and output.")
@click.option("--store", metavar="FILE|none", help="Where results are kept between runs, if no setting says so.")
@click.option("--stdio", is_flag=True, help="Use standard input and output, which is the default.")
@click.pass_context
def serve(context: click.Context, tcp: str | None, store: str | None, stdio: bool) -> None:
    """Start the language server."""
    del stdio  # editors pass it by habit
    if importlib.util.find_spec("server") is None:
        raise Failure("The language server is not installed: install everproof again.")
    # The analysis does not know the server (the layers): it only starts it by name, in this process.
    given = [*(["--tcp", tcp] if tcp else []), *(["--store", store] if store else [])]
    sys.argv = ["everproof serve", *given, *context.args]
    runpy.run_module("server", run_name="__main__", alter_sys=True)
