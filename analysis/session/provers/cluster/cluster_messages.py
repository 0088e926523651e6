"""What a client and a worker say to each other, as bytes: MessagePack that is compressed, decoded into one type each."""

from __future__ import annotations

import math
import pickle
import zlib
from collections.abc import Collection
from typing import TypeVar, get_args

import msgspec

from analysis.cfa.graph import Cfa
from analysis.session.provers.asking.answer import Decided, Part, Status
from analysis.session.provers.asking.kept_answers import packed_decision, unpacked_decision
from analysis.session.provers.asking.question import Question
from analysis.session.provers.processes.task_outcome import Budget, End, Outcome
from analysis.store.packing import PackingError

_LONGEST = 1 << 30  # bytes, unpacked; more is no message of ours
_FAST = 1  # zlib's level: the network is mostly faster than more of it

Message = TypeVar("Message")


class MessageError(Exception):
    """The bytes are no message, or one that cannot be meant; the text says which."""


class Order(msgspec.Struct, frozen=True, tag=True):
    """A task for a worker of this `version`: the packed question, and what it may take (`processor` None: no bound)."""

    version: str
    question: bytes
    seconds: float
    megabytes: int
    processor: float | None

    @property
    def budget(self) -> Budget:
        """What the task may take."""
        return Budget(self.seconds, self.megabytes, math.inf if self.processor is None else self.processor)


class Reply(msgspec.Struct, frozen=True, tag=True):
    """How the task ended, as an `Outcome` says it; `answer` is packed."""

    end: End
    answer: bytes
    detail: str
    ms: float
    worked: float


_encoder = msgspec.msgpack.Encoder()
_orders = msgspec.msgpack.Decoder(Order)
_replies = msgspec.msgpack.Decoder(Reply)


def order_of(version: str, question: bytes, budget: Budget) -> bytes:
    """A task as bytes: the same for the same task, so that their digest names it."""
    processor = None if math.isinf(budget.processor) else budget.processor
    return _written(Order(version, question, budget.seconds, budget.megabytes, processor))


def reply_of(outcome: Outcome) -> bytes:
    """What became of a task, as bytes."""
    answer = b"" if outcome.end or not isinstance(outcome.answer, Decided) else packed_decision(outcome.answer)
    return _written(Reply(outcome.end, answer, outcome.detail, outcome.ms, outcome.worked))


def read_order(data: bytes) -> Order:
    """The order in bytes. Raises MessageError."""
    return _read(data, _orders)


def read_reply(data: object, ticket: int, question: Question) -> Outcome:
    """The outcome that a worker says a task with this question has had. Raises MessageError where it is no answer to it."""
    if not isinstance(data, bytes):
        raise MessageError(f"a {type(data).__name__} is no reply")
    reply = _read(data, _replies)
    _demand_amounts(reply.ms, reply.worked)
    answer = None if reply.end else _answer(reply.answer, question)
    return Outcome(ticket, reply.end, answer, reply.detail, reply.ms, reply.worked)


def _answer(packed: bytes, question: Question) -> Decided:
    try:
        decided = unpacked_decision(packed)
    except PackingError as error:
        raise MessageError(f"the answer cannot be read: {error}") from None
    _demand_amounts(decided.worked, decided.tried, decided.states, decided.queries)
    _check(decided, question)
    for part in decided.parts:
        _check(part, question)
    return decided


def _check(said: Decided | Part, question: Question) -> None:
    """Raises MessageError unless what is said is of a known kind, and about the functions and rules that were asked about."""
    functions = question.program.functions
    if said.status not in get_args(Status):
        raise MessageError(f"there is no status {said.status!r}")
    if isinstance(said, Part):
        if said.rule not in question.about.rules:
            raise MessageError(f"nobody asked about the rule {said.rule!r}")
        if not functions.keys() >= set(said.functions):
            raise MessageError("it is about functions that the question does not have")
    if any(step.function not in functions for step in said.steps):
        raise MessageError("a step of the run is in a function that the question does not have")
    edges = {name: _edges(question, name) for name in {step.function for step in said.steps}}
    if any(step.edge not in edges[step.function] for step in said.steps):
        raise MessageError("a step of the run is no edge of its function")
    about = said.functions if isinstance(said, Part) else (question.about.function,)
    fewest = min((len(_edges(question, name)) if name in functions else 0 for name in about if said.invariants), default=0)
    if any(not 0 <= one.edge < fewest for one in said.invariants):
        raise MessageError("an invariant is at no edge of its function")
    if said.status == "confirmed" and not said.steps:
        raise MessageError("a run without a step confirms nothing")


def _edges(question: Question, name: str) -> Collection[int]:
    """The ids of the edges of a function. What a question of this process has of it was pickled here."""
    cfa: Cfa = pickle.loads(question.program.functions[name])
    return cfa.by_id.keys()


def _demand_amounts(*amounts: float) -> None:
    """Raises MessageError for what is no amount: budgets are added up."""
    if not all(math.isfinite(amount) and amount >= 0 for amount in amounts):
        raise MessageError("it took a time, or a number of steps, that cannot be")


def _written(message: Order | Reply) -> bytes:
    return zlib.compress(_encoder.encode(message), _FAST)


def _read(data: bytes, decoder: msgspec.msgpack.Decoder[Message]) -> Message:
    try:
        unpacking = zlib.decompressobj()
        body = unpacking.decompress(data, _LONGEST)
        if not unpacking.eof:
            raise MessageError("it is cut off, or too long")
        return decoder.decode(body)
    except (zlib.error, msgspec.MsgspecError) as error:
        raise MessageError(str(error)) from None
