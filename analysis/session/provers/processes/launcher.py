"""The process that forks provers: it has loaded the work and with it the solver, and nothing else: no
program, no thread, no open file of the checker's. So a new prover starts quickly, also after one was killed.

This replaces multiprocessing's fork server, where a caller waits without end for a server that was stopped or
has died. Here no caller waits: a request is one byte with the prover's end of a socket. The launcher forks.
The child serves that socket and sends its process id on it (`messages.Born`). If the id does not come in
time, the launcher is killed and the next request starts another (`renew`).

The launcher ends when the other end of its own socket is closed, which is at the latest when its
owner ends. Provers are its children. They do not need it, and go on when it is killed.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import socket
import subprocess
import sys
import threading
from typing import NoReturn

from analysis.session.provers.processes.messages import Born, say
from analysis.session.provers.processes.prover_process import serve

_START = "import sys; sys.path[:] = {path!r}; from analysis.session.provers.processes.launcher import main; main({fd}, {work!r})"
_FAREWELL = 1.0  # seconds


class Launcher:
    """Starts provers that do `work` (module:function). For several threads."""

    def __init__(self, work: str) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None

    @property
    def pid(self) -> int | None:
        """The id of the process, if there is one."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def launch(self) -> tuple[socket.socket, object]:
        """Has a prover started: the pool's end of its socket, and which launcher it is, for
        `renew`. Does not wait for it. OSError if the system has nothing left to give."""
        with self._lock:
            here, there = socket.socketpair()
            try:
                if self._process is None or self._process.poll() is not None:
                    self._start()
                try:
                    self._request(there)
                except (BrokenPipeError, ConnectionError):  # it has just died
                    self._start()
                    self._request(there)
            except BaseException:
                here.close()
                raise
            finally:
                there.close()
            return here, self._process

    def renew(self, launcher: object) -> None:
        """Kills this launcher, if it is still the one that is used: it does not do what it is asked
        for."""
        with self._lock:
            if self._process is launcher:
                self._end()

    def _request(self, there: socket.socket) -> None:
        assert self._requests is not None
        socket.send_fds(self._requests, [b"."], [there.fileno()])

    def _start(self) -> None:
        self._end()
        here, there = socket.socketpair()
        here.setblocking(False)
        program = _START.format(path=sys.path, fd=there.fileno(), work=self._work)
        site = ("-S",) if sys.flags.no_site else ()
        try:
            # -P: the current folder, which may be one that the user has only opened, is not searched for modules
            self._process = subprocess.Popen(
                [sys.executable, *site, "-P", "-c", program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # a stray print must not get into a report
                pass_fds=[there.fileno()],
                env={**os.environ, "PYTHONHASHSEED": "0"},  # the order of a set is the same in every prover
            )
        except BaseException:
            here.close()
            raise
        finally:
            there.close()
        self._requests = here

    def _end(self) -> None:
        if self._requests is not None:
            self._requests.close()
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # only the system can hold that up
                self._process.wait(_FAREWELL)
        self._process = self._requests = None


_launchers: dict[str, Launcher] = {}


def launcher_of(work: str) -> Launcher:
    """The launcher of this process for the work. All pools share it."""
    return _launchers.setdefault(work, Launcher(work))


def main(fd: int, work: str) -> None:
    """Runs in the launcher: forks a prover for each request, until there is nobody to ask for
    one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the user means the process that waits for this one
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how provers ended: the system forgets them at once
    with contextlib.suppress(ImportError, AttributeError):  # each prover will end by it
        importlib.import_module(work.partition(":")[0])
    requests = socket.socket(fileno=fd)
    while True:
        byte, found, _, _ = socket.recv_fds(requests, 1, 1)
        if not byte:
            return
        for number in found:
            with socket.socket(fileno=number) as end, contextlib.suppress(OSError):
                pid = os.fork()  # a failure closes the socket, which says it
                if pid == 0:
                    _become_prover(requests, end, work)
                say(end, Born(pid))


def _become_prover(requests: socket.socket, end: socket.socket, work: str) -> NoReturn:
    code = 1
    try:
        requests.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        serve(end, work)
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)
