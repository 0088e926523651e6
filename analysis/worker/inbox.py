"""The requests that have arrived, read by a thread of its own. It also gives signs of life, so that
the server can tell a long check from a process that was stopped."""

from __future__ import annotations

import logging
import signal
import threading
from collections import deque
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from analysis.wire import Ping, Request, read_request

_log = logging.getLogger("everproof.worker")


class Inbox:
    """The requests that have arrived, None at the end: no more will come. And whether there is
    `news` from provers. `alive` is called, in the reading thread, for each Ping."""

    def __init__(self, stream: BinaryIO, alive: Callable[[Ping], None]) -> None:
        self._requests: deque[Request | None] = deque()
        self._changed = threading.Condition()
        self._stream = stream
        self._alive = alive
        self._main = threading.main_thread().ident or 0
        self.news = False
        threading.Thread(target=self._read, name="requests", daemon=True).start()

    def _read(self) -> None:
        try:
            while (request := read_request(self._stream)) is not None:
                if isinstance(request, Ping):
                    self._alive(request)
                else:
                    self._put(request)
        except (msgspec.DecodeError, OSError) as error:
            _log.error("The request stream cannot be understood: %s", error)
        self._put(None)

    def _put(self, request: Request | None) -> None:
        """Hands the request over, and wakes the main thread, should it be deep in a check
        (Service.interrupt)."""
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()
        signal.pthread_kill(self._main, signal.SIGUSR1)

    def wake(self) -> None:
        """There is news from provers: wakes the main thread if it waits, and leaves it alone if it
        is at work."""
        with self._changed:
            self.news = True
            self._changed.notify_all()

    @property
    def waiting(self) -> bool:
        """Whether a request waits to be taken."""
        return bool(self._requests)

    def take(self, patience: float | None) -> list[Request | None]:
        """All requests that wait; if there is none, the first that comes within `patience` seconds
        (None: without end), unless there is news before."""
        with self._changed:
            self._changed.wait_for(lambda: self._requests or self.news, patience)
            taken = list(self._requests)
            self._requests.clear()
        return taken
