"""What runs in a Dask worker: a task is done by a prover process beside it, in the limits that the order names."""

from __future__ import annotations

import threading

from distributed import Reschedule, get_worker

from analysis.session.provers.cluster.cluster_messages import MessageError, Order, read_order, reply_of
from analysis.session.provers.cluster.question_packing import unpack_question
from analysis.session.provers.cluster.tool_version import tool_version
from analysis.session.provers.processes.prover_pool import Pool
from analysis.session.provers.processes.task_outcome import Outcome
from analysis.session.provers.proofs import WORK
from analysis.store.packing import PackingError

_LOOK = 0.5  # seconds between two looks whether the task is still wanted
_here = threading.local()


def greet() -> str:
    """Which Everproof this worker has."""
    return tool_version()


def answer(data: bytes) -> bytes:
    """The reply to an order, both as `cluster_messages` writes them. No exception leaves it, for Dask would pickle that, but the
    one that says that nobody waits for the task."""
    try:
        order = read_order(data)
        return reply_of(_refused(order) or _done(order))
    except (MessageError, PackingError) as error:
        return reply_of(Outcome(0, "refused", detail=f"a worker could not read the question ({error})"))


def _refused(order: Order) -> Outcome | None:
    if order.version == tool_version():
        return None
    return Outcome(0, "refused", detail=f"a worker has another version of Everproof: {tool_version()} instead of {order.version}")


def _done(order: Order) -> Outcome:
    question, pool = unpack_question(order.question), _pool()
    ticket = pool.submit(question, order.budget)
    while True:
        for outcome in pool.take():
            if outcome.ticket == ticket:
                return outcome
        if not pool.wait(_LOOK) and not _is_wanted():
            pool.cancel(ticket)
            raise Reschedule  # Dask drops the result of what was cancelled; what is wanted again is done again


def _pool() -> Pool:
    """The prover of this thread of the worker, which keeps what it knows of the last program."""
    found: Pool | None = getattr(_here, "pool", None)
    if found is None:
        found = _here.pool = Pool(WORK, 1)
    return found


def _is_wanted() -> bool:
    worker = get_worker()
    state = worker.state.tasks.get(worker.get_current_task())
    return state is not None and state.state != "cancelled"
