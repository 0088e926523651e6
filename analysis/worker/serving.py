"""The loop of the checker process: requests in, events out."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from collections.abc import Callable
from typing import BinaryIO

from analysis.wire import Event, Failed, Pong, Shutdown, frame
from analysis.worker.inbox import Inbox
from analysis.worker.service import Service

_log = logging.getLogger("everproof.worker")


def serve(requests: BinaryIO, events: BinaryIO) -> None:
    """Answers requests until the stream ends or a Shutdown comes."""
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # the first request may arrive before there is anything to interrupt
    sending = threading.Lock()

    def send(event: Event) -> None:
        with sending:
            events.write(frame(event))
            events.flush()

    inbox = Inbox(requests, alive=lambda ping: send(Pong(ping.generation)))

    service = Service(send, interrupted=lambda: inbox.waiting, notify=inbox.wake, has_news=lambda: inbox.news)
    signal.signal(signal.SIGUSR1, service.interrupt)
    with contextlib.closing(service):
        _answer(inbox, service, send)


def _answer(inbox: Inbox, service: Service, send: Callable[[Event], None]) -> None:
    while True:
        arrived = inbox.take(service.patience)
        idle = not arrived and not service.pending
        for request in arrived:
            if request is None or isinstance(request, Shutdown):
                return
            service.accept(request)
        try:
            if not idle:
                service.work()
                service.answer()
            elif inbox.news:
                inbox.news = False  # before what it announces is taken
                service.take_answers()
            elif service.looked:
                service.rest()
            else:
                service.look()
        except BrokenPipeError:
            return
        except Exception as error:  # the process must survive a defect of its own: the next edit may avoid it
            _log.exception("A check failed")
            send(Failed(service.generation, f"The check failed by a defect of Everproof: {type(error).__name__}: {error}"))
