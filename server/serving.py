"""The main loop of one connection, whatever it runs over."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Protocol

from pygls.io_ import run_async

from server.app import EverproofServer

if TYPE_CHECKING:
    from pygls.io_ import AsyncReader

logger = logging.getLogger(__name__)


class MessageWriter(Protocol):
    """What pygls writes messages to."""

    def write(self, data: bytes) -> None:
        """Takes a whole message, without waiting."""

    def close(self) -> None:
        """No message comes after this."""


async def serve(server: EverproofServer, reader: AsyncReader, writer: MessageWriter) -> None:
    """Handles messages until `exit` or the end of the input, and ends the checker process."""
    server.protocol.set_writer(writer)
    try:
        await run_async(threading.Event(), reader, server.protocol, logger, server.report_server_error)
    except SystemExit:
        logger.debug("The client said exit.")
    except (BrokenPipeError, ConnectionError, EOFError):
        logger.info("The client is gone.")
    finally:
        await server.end()
