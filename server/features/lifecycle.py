"""`initialize`, `initialized`, `shutdown`."""

from __future__ import annotations

from lsprotocol import types

from server.app import EverproofServer
from server.features import configuration, watched_files
from server.transport.parent import watch_parent
from server.transport.protocol import knows_tags


def register(server: EverproofServer) -> None:
    """Registers the handlers."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin()
        server.converter.has_tags = knows_tags(server.client_capabilities)
        configuration.remember_initial(server, params.initialization_options)
        if params.process_id is not None:
            watch_parent(params.process_id, server.scheduler.kill_for_good)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        server.scheduler.start()
        await configuration.pull(server)
        if server.settings.check_folders and server.settings.mode != "onDemand":
            server.scheduler.check_soon()
        await watched_files.watch(server)

    @server.feature(types.SHUTDOWN)
    async def shutdown(params: None) -> None:
        server.shutdown_requested = True
        await server.end()
