"""What the pool and a prover say to each other, and how it is written on the stream socket between
them.

    pool -> prover   Order(turn)    do this task
                     Cancel(turn)   it is not wanted any more
    prover -> pool   Born(pid)      the process exists (its launcher says so)
                     Ready(pid)     it has loaded what it needs, and reads orders
                     Beat(turn)     it has the order; sent when the order arrives, and then as often as the order asks for
                     Reply(turn)    how the task ended

Each order has a `turn` of its own, also when a task is tried again, and all that is said about it
names that turn: an answer to another order is never taken for the one that is waited for. A message
is a frame: its length, then msgpack. The task and the answer in it are pickled; no process of
another user is at either end.
"""

from __future__ import annotations

import contextlib
import socket
import struct

import msgspec

from analysis.session.provers.processes.task_outcome import End

_LENGTH = struct.Struct(">I")
_LONGEST = 1 << 31  # bytes; more is no message of ours


class Order(msgspec.Struct, frozen=True, tag=True):
    """A task to do: `payload` is pickled, for the work to take. `beat`: seconds from one sign of
    life to the next."""

    turn: int
    payload: bytes
    megabytes: int
    beat: float


class Cancel(msgspec.Struct, frozen=True, tag=True):
    """The order is not wanted any more."""

    turn: int


class Born(msgspec.Struct, frozen=True, tag=True):
    """The process has this id."""

    pid: int


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The process has loaded what it needs, and reads orders."""

    pid: int


class Beat(msgspec.Struct, frozen=True, tag=True):
    """The prover has this order, and its task had the processor for so many seconds."""

    turn: int
    worked: float


class Reply(msgspec.Struct, frozen=True, tag=True):
    """How an order ended. `answer` is the pickled result of the work. `spent`: the process has used up its
    memory and ends now."""

    turn: int
    end: End
    answer: bytes = b""
    detail: str = ""
    spent: bool = False


ToProver = Order | Cancel
ToPool = Born | Ready | Beat | Reply

_encoder = msgspec.msgpack.Encoder()
_to_prover: msgspec.msgpack.Decoder[ToProver] = msgspec.msgpack.Decoder(ToProver)
_to_pool: msgspec.msgpack.Decoder[ToPool] = msgspec.msgpack.Decoder(ToPool)


class BreachError(Exception):
    """The other end does not keep to the protocol."""


def frame(message: ToProver | ToPool) -> bytes:
    """The message as it is sent. Raises ValueError if it is too long."""
    body = _encoder.encode(message)
    if len(body) > _LONGEST:
        raise ValueError(f"a message of {len(body)} bytes is too long")
    return _LENGTH.pack(len(body)) + body


def say(end: socket.socket, message: ToProver | ToPool) -> None:
    """Sends a message on a blocking socket. OSError if nobody is there."""
    end.sendall(frame(message))


def receive_order(end: socket.socket) -> ToProver:
    """The next message to the prover, from a blocking socket. EOFError or OSError if nobody is
    there any more."""
    (length,) = _LENGTH.unpack(_exactly(end, _LENGTH.size))
    return _to_prover.decode(_exactly(end, length))


def _exactly(end: socket.socket, length: int) -> bytes:
    found = bytearray()
    while len(found) < length:
        part = end.recv(min(length - len(found), 1 << 20))
        if not part:
            raise EOFError
        found += part
    return bytes(found)


class Channel:
    """The pool's end: it never waits. Bytes that the other end does not take yet are buffered. An incomplete message is
    not delivered."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._end = end
        self._unsent = bytearray()
        self._received = bytearray()
        self.is_open = True

    def fileno(self) -> int:
        """For selectors."""
        return self._end.fileno()

    @property
    def has_unsent(self) -> bool:
        """Whether to call `push` when the socket can be written."""
        return self.is_open and bool(self._unsent)

    def send(self, message: ToProver) -> None:
        """Sends a message as far as that is possible now."""
        self._unsent += frame(message)
        self.push()

    def push(self) -> None:
        """Sends what is left."""
        try:
            while self._unsent:
                del self._unsent[: self._end.send(memoryview(self._unsent)[: 1 << 18].tobytes())]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent.clear()  # nobody is there: `pull` will see it, after what was said before

    def pull(self) -> list[ToPool]:
        """What has arrived. Sets `is_open` to False when the other end is closed. Raises
        BreachError."""
        try:
            found = self._end.recv(1 << 20)
            self.is_open = bool(found)
        except BlockingIOError:
            return []
        except OSError:
            found, self.is_open = b"", False
        self._received += found
        messages, begin = [], 0
        while len(self._received) - begin >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._received, begin)
            if length > _LONGEST:
                raise BreachError("what was sent is not a message")
            if len(self._received) - begin - _LENGTH.size < length:
                break
            begin += _LENGTH.size
            try:
                messages.append(_to_pool.decode(memoryview(self._received)[begin : begin + length].tobytes()))
            except msgspec.MsgspecError as error:
                raise BreachError(str(error)) from None
            begin += length
        del self._received[:begin]
        return messages

    def finish(self) -> None:
        """Nothing more will be sent: an idle prover ends by this, and then its end is closed."""
        with contextlib.suppress(OSError):
            self._end.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Gives up the socket."""
        self.is_open = False
        self._end.close()
