"""Provers on a Dask cluster say what provers here say; what happens to workers costs time, never an answer.

The cluster has two worker processes and listens on the loopback interface only.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from distributed import Client, LocalCluster
from support.prover_program import TEXT

from analysis.api import Checker, Provers
from analysis.cli.main import main
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Report
from analysis.session.portfolio.request_terms import About, Terms
from analysis.session.provers.asking.program_slices import Contents, Slicer
from analysis.session.provers.asking.question import Question
from analysis.session.provers.cluster import connection
from analysis.session.provers.cluster.cluster_pool import ClusterPool
from analysis.session.provers.cluster.connection import ClusterError, connect
from analysis.session.provers.processes.task_outcome import Budget

LONG = Options(limits=Limits(task_seconds=120.0))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    options = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **options) as cluster:
        yield cluster.scheduler_address.replace("tcp://", "dask://")


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with connect(address) as client:
        yield client


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "a.c"
    file.write_text(TEXT)
    return file


def checked(file: Path, provers: Provers | None = None) -> Report:
    checker = Checker(LONG, jobs=2, provers=provers)
    checker.open([str(file)])
    checker.check()
    return checker.prove()


def answers(report: Report) -> list[object]:
    """What a report says, without how long it took."""
    verdicts = [
        (function.name, rule, verdict.verdict, verdict.engine, verdict.reason)
        for function in report.functions
        for rule, verdict in function.verdicts.items()
    ]
    return [report.findings, report.refuted, verdicts]


def provers(client: Client) -> Provers:
    return Provers(2, lambda _, notify: ClusterPool(client, notify))


def question_about(file: Path) -> Question:
    """A question about a program, whose answer nobody waits for."""
    checker = Checker(LONG)
    checker.open([str(file)])
    slice_ = Slicer(checker.inspect().program, ["bad"], Contents()).slice("bad")
    return Question(slice_, About("function", ("null-dereference",), "bad"), False, Terms(), 60.0)


def until(holds: Callable[[], object]) -> None:
    """Waits for something that another process does, however long that takes."""
    never = threading.Event()
    while not holds():
        never.wait(0.01)


def test_a_check_says_the_same_and_a_lost_worker_costs_time_only(client: Client, file: Path) -> None:
    """Both workers are stopped, so that none is done with its task when one of them is killed."""
    here = checked(file)
    pids = client.run(os.getpid)
    for pid in pids.values():
        os.kill(pid, signal.SIGSTOP)
    there: list[Report] = []
    thread = threading.Thread(target=lambda: there.append(checked(file, provers(client))))
    thread.start()
    until(lambda: any(client.processing().values()))
    lost = next(worker for worker, tasks in client.processing().items() if tasks)
    os.kill(pids.pop(lost), signal.SIGKILL)
    for pid in pids.values():
        os.kill(pid, signal.SIGCONT)
    thread.join()
    assert answers(there[0]) == answers(here)
    assert {finding.status for finding in here.findings} == {"confirmed"}
    assert lost not in client.nthreads()


def test_a_task_that_is_not_wanted_ends(client: Client, file: Path) -> None:
    ended = threading.Event()
    pool = ClusterPool(client, ended.set)
    ticket = pool.submit(question_about(file), Budget(seconds=600.0))
    pool.cancel(ticket)
    assert pool.wait(60)
    assert [(outcome.ticket, outcome.end) for outcome in pool.take()] == [(ticket, "interrupted")]
    assert ended.is_set()
    assert pool.open == 0
    until(lambda: not any(client.processing().values()))


def test_versions_that_differ_are_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "tool_version", lambda: "0.9.9 with Python 3.11.2 (abc)")
    with pytest.raises(ClusterError, match=r"^The worker tcp://127\.0\.0\.1:\d+ has Everproof .*, and this is 0\.9\.9"):
        connect(address)


def test_what_is_no_scheduler(
    tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_PATIENCE", 0.2)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        free = f"dask://127.0.0.1:{nobody.getsockname()[1]}"
        assert main(["check", str(file), "--scheduler", free]) == 2
        assert capsys.readouterr().err.startswith(f"everproof: There is no Dask scheduler at {free}")
        assert main(["check", str(file), "--scheduler", "tcp://127.0.0.1:1"]) == 2
        assert "write dask://HOST:PORT" in capsys.readouterr().err
        assert main(["check", str(file), "--scheduler", free, "--scheduler-tls", str(tmp_path)]) == 2
        assert "has no ca.pem and no cert.pem and no key.pem" in capsys.readouterr().err
        assert main(["check", str(file), "--scheduler-tls", str(tmp_path)]) == 2
        assert "use it with --scheduler" in capsys.readouterr().err
