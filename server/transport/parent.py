"""The server ends when the editor that started it is gone, even if something else holds its standard input open.

LSP 3.17, `InitializeParams.processId`. pygls does not watch it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

_INTERVAL = 1.0  # seconds


def watch_parent(process_id: int, before_exit: Callable[[], None]) -> None:
    """Watches a process from a thread of its own; when it is gone, calls `before_exit` and ends this process with code 1.

    Only on POSIX: elsewhere asking after a process with signal 0 would end it.
    """
    if os.name == "posix" and process_id != os.getpid():
        is_parent = os.getppid() == process_id
        threading.Thread(target=_watch, args=(process_id, is_parent, before_exit), name="parent watch", daemon=True).start()


def _watch(process_id: int, is_parent: bool, before_exit: Callable[[], None]) -> None:
    never = threading.Event()
    while not is_gone(process_id, is_parent):
        never.wait(_INTERVAL)
    before_exit()
    os._exit(1)  # the reader may be blocked on an input that nobody closes


def is_gone(process_id: int, is_parent: bool) -> bool:
    """Whether a process has ended. A parent that has ended is known by our new one, even while its entry is still there."""
    if is_parent and os.getppid() != process_id:
        return True
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
