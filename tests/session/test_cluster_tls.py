"""A scheduler that speaks TLS: who has a certificate of its authority may use it, and nobody else.

The cluster has one worker process and listens on the loopback interface only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from distributed import LocalCluster, Security
from support.prover_program import TEXT

from analysis.cli.main import main
from analysis.session.provers.cluster.connection import ClusterError, connect


def certified(folder: Path, authority: trustme.CA) -> Path:
    """A folder as `--scheduler-tls` takes it, with a new certificate of the authority."""
    folder.mkdir()
    certificate = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    for blob in certificate.cert_chain_pems:
        blob.write_to_path(folder / "cert.pem", append=True)
    return folder


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def address(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = certified(tmp_path_factory.mktemp("scheduler") / "tls", authority)
    ca, cert, key = (str(folder / name) for name in ("ca.pem", "cert.pem", "key.pem"))
    ends = {
        f"tls_{end}_{kind}": file for end in ("scheduler", "worker", "client") for kind, file in (("cert", cert), ("key", key))
    }
    security = Security(tls_ca_file=ca, require_encryption=True, **ends)
    options = {"protocol": "tls", "host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, security=security, **options) as cluster:
        yield cluster.scheduler_address.replace("tls://", "dask://")


def test_a_check_is_proved_over_tls(
    address: str, authority: trustme.CA, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / "a.c", certified(tmp_path / "mine", authority)
    file.write_text(TEXT)
    asked = ["check", str(file), "--store", "none", "--format", "json", "--scheduler", address, "--scheduler-tls", str(folder)]
    assert main(asked) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert {finding["status"] for finding in findings} == {"confirmed"}


def test_who_has_no_certificate_of_the_authority_is_refused(address: str, tmp_path: Path) -> None:
    """A certificate of another authority, and a client that speaks no TLS."""
    with pytest.raises(ClusterError, match=r"^There is no Dask scheduler at dask://"):
        connect(address, str(certified(tmp_path / "other", trustme.CA())))
    with pytest.raises(ClusterError, match=r"^There is no Dask scheduler at dask://"):
        connect(address)


@pytest.mark.parametrize("name", ["ca.pem", "cert.pem", "key.pem"])
def test_what_is_no_certificate_or_key_is_said(address: str, authority: trustme.CA, tmp_path: Path, name: str) -> None:
    folder = certified(tmp_path / "broken", authority)
    (folder / name).write_text("no key\n")
    with pytest.raises(ClusterError, match=r"key\.pem are no certificates and no key that belong together"):
        connect(address, str(folder))
