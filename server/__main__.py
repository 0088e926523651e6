"""`python -m server`: the language server, on standard input and output or, with `--tcp`, on a socket."""

from __future__ import annotations

import argparse
import gc
import logging
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence

from server.transport import early


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the server; its exit code is 0 after `shutdown`, 1 when the client went without, 2 when it could not start."""
    parser = argparse.ArgumentParser(prog="everproof serve", description="The Everproof language server.")
    parser.add_argument("--tcp", metavar="HOST:PORT", help="listen on a socket instead of standard input and output")
    parser.add_argument("--stdio", action="store_true", help="standard input and output, the default; some clients say so")
    parser.add_argument("--log", metavar="LEVEL", default="warning", choices=("debug", "info", "warning", "error"))
    parser.add_argument("--store", metavar="FILE|none", help="where results are kept between runs, if no setting says so")
    parser.add_argument("--checker-command", metavar="COMMAND", help="for tests: what to run as the checker process")
    parser.add_argument("--watch-loop", action="store_true", help="for measuring: statuses tell when the loop was held up")
    parser.add_argument("--clientProcessId", help=argparse.SUPPRESS)  # vscode-languageclient adds it; `initialize` says the same
    options = parser.parse_args(arguments)
    logging.basicConfig(level=options.log.upper(), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("pygls").setLevel(max(logging.getLogger().level, logging.WARNING))
    command = shlex.split(options.checker_command) if options.checker_command else early.CHECKER
    started = early.start(command) if options.tcp is None else None
    try:
        return _serve(command, started, options)
    finally:
        early.end(started)


def _serve(command: Sequence[str], started: subprocess.Popen[bytes] | None, options: argparse.Namespace) -> int:
    # only now: importing the server takes as long as the start of the checker, which goes on meanwhile. What it makes stays: no
    # collection looks at it, now or later, which would take a tenth of the start and hold up the event loop for 50 ms at a time
    gc.disable()
    from server.transport import class_code

    class_code.import_types(class_code.read())
    from analysis.model.settings import NO_STORE
    from server.app import EverproofServer
    from server.features.registration import register_all
    from server.transport.stdio import serve_stdio
    from server.transport.tcp import parse_address, serve_tcp

    store = os.path.abspath(options.store) if options.store not in (None, NO_STORE) else options.store
    server = EverproofServer(command, store, started, options.watch_loop)
    register_all(server)
    gc.freeze()
    gc.enable()
    if options.tcp is None:
        return serve_stdio(server)
    try:
        return serve_tcp(server, *parse_address(options.tcp))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"everproof serve: cannot listen on {options.tcp}: {error}\n")
        return 2


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
