"""A connection to a Dask scheduler whose workers have this Everproof."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Security

from analysis.session.provers.cluster import cluster_worker
from analysis.session.provers.cluster.tool_version import tool_version

SCHEME = "dask://"
_PATIENCE = 15.0  # seconds to connect
_LARGE = "1GB"  # from here on Dask warns of a large task


class ClusterError(Exception):
    """Why a scheduler is of no use, as a sentence."""


def connect(address: str, tls: str | None = None) -> Client:
    """A client of the scheduler at dask://HOST:PORT. `tls` is a folder with ca.pem, cert.pem and key.pem: then nothing is sent
    that is not encrypted, and both ends have to have a certificate of this authority. Raises ClusterError."""
    place = address.removeprefix(SCHEME)
    if place == address or not place.rpartition(":")[2].isdigit():
        raise ClusterError(f"{address} is no address of a scheduler: write {SCHEME}HOST:PORT")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what goes wrong is said once, by us
    dask.config.set({"distributed.admin.large-graph-warning-threshold": _LARGE})
    security = None if tls is None else _security(Path(tls))
    try:
        client = Client(
            f"{'tcp' if security is None else 'tls'}://{place}", timeout=_PATIENCE, set_as_default=False, security=security
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise ClusterError(
            f"There is no Dask scheduler at {address} ({_first_line(error)}): start one, see docs/guide.md"
        ) from None
    try:
        _demand_same_version(client, address)
    except BaseException:
        client.close()
        raise
    return client


def _security(folder: Path) -> Security:
    missing = [name for name in ("ca.pem", "cert.pem", "key.pem") if not (folder / name).is_file()]
    if missing:
        raise ClusterError(
            f"{folder} has no {' and no '.join(missing)}: --scheduler-tls takes a folder with ca.pem, cert.pem, key.pem"
        )
    ca, cert, key = (str(folder / name) for name in ("ca.pem", "cert.pem", "key.pem"))
    security = Security(tls_ca_file=ca, tls_client_cert=cert, tls_client_key=key, require_encryption=True)
    try:
        security.get_connection_args("client")
    except OSError as error:
        raise ClusterError(
            f"{ca}, {cert} and {key} are no certificates and no key that belong together ({_first_line(error)})"
        ) from None
    return security


def _demand_same_version(client: Client, address: str) -> None:
    versions: dict[str, Any] = client.run(cluster_worker.greet, on_error="return")
    if not versions:
        raise ClusterError(f"The Dask scheduler at {address} has no workers: start some, see docs/guide.md")
    mine = tool_version()
    for worker, version in sorted(versions.items()):
        if not isinstance(version, str):
            raise ClusterError(f"The worker {worker} has no Everproof that can be used: install {mine} there")
        if version != mine:
            raise ClusterError(f"The worker {worker} has Everproof {version}, and this is {mine}: install the same everywhere")


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
