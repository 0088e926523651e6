"""One prover process as its pool sees it: a channel to it, and signals."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from analysis.session.provers.processes.launcher import Launcher
from analysis.session.provers.processes.messages import Channel, ToPool, ToProver

_LOOK = 0.001  # seconds between two looks whether a process that was killed is gone


class ProverProcess:
    """A process that was asked for; it has an id when it has said so. Nothing here waits, but
    `join`."""

    def __init__(self, launcher: Launcher) -> None:
        end, self._by = launcher.launch()
        self._launcher = launcher
        self.channel = Channel(end)
        self.pid: int | None = None

    def send(self, message: ToProver) -> None:
        """Sends a message to it. If it has ended, `receive` shows that."""
        self.channel.send(message)

    def receive(self) -> list[ToPool]:
        """The messages that it has sent. Raises BreachError."""
        return self.channel.pull()

    def terminate(self) -> None:
        """Asks the process to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the process, also if it is stopped. A process that has not sent its id yet ends by itself,
        because its socket is closed."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self.pid is not None and self.channel.is_open:  # else its id may be another's by now
            with contextlib.suppress(OSError):
                os.kill(self.pid, number)

    def blame_launcher(self) -> None:
        """It was not there in time: the launcher may be stopped."""
        self._launcher.renew(self._by)

    def finish(self) -> None:
        """No order comes any more: it ends, if it is idle."""
        self.channel.finish()

    def close(self) -> None:
        """Gives up the channel."""
        self.channel.close()

    def join(self, until: float) -> None:
        """Waits until the process is gone, or the monotonic clock is there."""
        while self.pid is not None and _exists(self.pid) and time.monotonic() < until:
            time.sleep(_LOOK)  # it is the launcher's child: nobody tells this process of its end


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
