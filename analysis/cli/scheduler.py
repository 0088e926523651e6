"""`--scheduler`: provers that are workers of a Dask cluster."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

import click

from analysis.api import Provers
from analysis.cli.failure import Failure

Command = TypeVar("Command", bound=Callable[..., Any])

_CLUSTER = "analysis.session.provers.cluster"  # imported only when it is asked for: what it needs is optional


def scheduler_options(command: Command) -> Command:
    """Adds the options of `provers_of` to a command."""
    tls = click.option(
        "--scheduler-tls", metavar="DIR", help="Encrypt what goes to the scheduler: a folder with ca.pem, cert.pem and key.pem."
    )
    scheduler = click.option(
        "--scheduler",
        metavar="dask://HOST:PORT",
        help="Run provers on the workers of this Dask scheduler, and not as processes of this machine.",
    )
    return scheduler(tls(command))


def provers_of(address: str | None, tls: str | None) -> Provers | None:
    """The workers of a scheduler as provers; None without an address: then provers are on this machine. Raises Failure."""
    if address is None:
        if tls is not None:
            raise Failure("--scheduler-tls says how to reach a scheduler: use it with --scheduler.")
        return None
    try:
        connection = importlib.import_module(f"{_CLUSTER}.connection")
        pool = importlib.import_module(f"{_CLUSTER}.cluster_pool").ClusterPool
    except ImportError:
        raise Failure("--scheduler needs the package distributed: install everproof[cluster].") from None
    try:
        client = connection.connect(address, tls)
    except connection.ClusterError as error:
        raise Failure(f"{error}.") from None
    return Provers(sum(client.nthreads().values()), lambda jobs, notify: pool(client, notify))
