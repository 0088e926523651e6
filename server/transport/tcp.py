"""Speaking LSP over a TCP connection, for one client."""

from __future__ import annotations

import asyncio
import logging
import sys

from server.app import EverproofServer
from server.transport.connection import serve

logger = logging.getLogger(__name__)


def serve_tcp(server: EverproofServer, host: str, port: int) -> int:
    """Waits for a client, serves it until it is done; the exit code. Port 0: any free one, which is said on standard error.

    Raises OSError when the address cannot be used.
    """
    asyncio.run(_serve(server, host, port))
    return 0 if server.shutdown_requested else 1


async def _serve(server: EverproofServer, host: str, port: int) -> None:
    client: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.get_running_loop().create_future()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if client.done():
            writer.close()  # one client only
        else:
            client.set_result((reader, writer))

    listener = await asyncio.start_server(connected, host, port)
    async with listener:
        address = listener.sockets[0].getsockname()
        sys.stderr.write(f"Everproof listens on {address[0]}:{address[1]}\n")
        sys.stderr.flush()
        reader, writer = await client
        listener.close()
        try:
            await serve(server, reader, writer)
        finally:
            writer.close()
            try:
                await writer.wait_closed()
            except ConnectionError:
                logger.debug("The client was gone first.")


def parse_address(text: str) -> tuple[str, int]:
    """HOST:PORT taken apart; raises ValueError with a sentence for the user."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise ValueError(f'"{text}" is not HOST:PORT.')
    return host.strip("[]") or "127.0.0.1", int(port)
