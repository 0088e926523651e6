"""The main loop of one connection, whatever it runs over."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from typing import Protocol

from server.app import EverproofServer
from server.transport.envelopes import PARSE_ERROR, Wrong
from server.transport.frames import Frames, MessageReader, NotAFrame

logger = logging.getLogger(__name__)


class MessageWriter(Protocol):
    """What pygls writes messages to."""

    def write(self, data: bytes) -> None:
        """Takes a whole message, without waiting."""

    def close(self) -> None:
        """No message comes after this."""


async def serve(server: EverproofServer, reader: MessageReader, writer: MessageWriter) -> None:
    """Handles messages until `exit` or the end of the input, and ends the checker process."""
    server.protocol.set_writer(writer)
    end_on_signals(server)
    try:
        await _converse(server, Frames(reader))
    except SystemExit:
        logger.debug("The client said exit.")
    except (BrokenPipeError, ConnectionError, EOFError):
        logger.info("The client is gone.")
    finally:
        await server.protocol.answered()
        await server.end()


async def _converse(server: EverproofServer, frames: Frames) -> None:
    """Handles messages until the input ends. No message may end it but `exit`."""
    while True:
        try:
            body = await frames.next()
            if body is None:
                return
            server.protocol.receive(body)
        except NotAFrame as found:
            server.protocol.refuse(Wrong(None, PARSE_ERROR, str(found)))
        except (BrokenPipeError, ConnectionError, EOFError):
            raise
        except Exception:
            logger.exception("A message could not be handled")


def end_on_signals(server: EverproofServer) -> None:
    """On SIGTERM and SIGINT the checker is killed and the process ends, though a thread may be reading from the client."""

    def end(number: int) -> None:
        if server.begun:
            server.scheduler.kill_for_good()
        os._exit(128 + number)

    if os.name == "posix":
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end, number)
