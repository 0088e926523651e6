"""A memo of queries: what was settled once is not asked again (invariant I12).

A query is the set of formulas that are asserted and assumed; its key is a digest of the digests of its formulas, sorted and each
once, so that neither order nor repetition matters, nor in which process it was asked. Only `sat` and `unsat` are kept: what was
interrupted, ran out of its budget or is beyond the solver may be asked again.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable

from analysis.smt.logic.term_building import FALSE, TRUE
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import SAT, UNSAT, Answer, Budget, Model, Solver


def query_digest(formulas: Iterable[Term]) -> bytes:
    """The key of a query: 16 bytes."""
    digests: set[bytes] = set()
    for formula in formulas:
        if formula is FALSE:
            return FALSE.digest
        parts = formula.args if formula.op == "and" else (formula,)
        digests.update(part.digest for part in parts if part is not TRUE)
    return hashlib.blake2b(b"".join(sorted(digests)), digest_size=16).digest()


class Memo:
    """Answers by query digest; the least recently used go when there are more than `most`. `hits` and `misses` count lookups."""

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._answers: OrderedDict[bytes, Answer] = OrderedDict()
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, digest: bytes) -> Answer | None:
        """The answer of a query, None if it was not settled yet."""
        known = self._answers.get(digest)
        if known is None:
            self.misses += 1
            return None
        self.hits += 1
        self._answers.move_to_end(digest)
        return known

    def put(self, digest: bytes, answer: Answer) -> None:
        """Keeps an answer if it is settled."""
        if not answer.is_settled:
            return
        self._answers[digest] = answer
        self._answers.move_to_end(digest)
        if len(self._answers) > self._most:
            self._answers.popitem(last=False)


class MemoSolver:
    """A `solver.Solver` that looks into a memo before it asks another one.

    The other solver sees only what is needed for the checks that it is asked: scopes that are opened and closed between two of
    them do not reach it.
    """

    def __init__(self, inner: Solver, memo: Memo) -> None:
        self._inner = inner
        self._memo = memo
        self._stack: list[list[Term]] = [[]]
        self._sent: list[int] = [0]  # for each scope that the inner solver has: how many of its formulas
        self._assumptions: tuple[Term, ...] = ()
        self._answer: Answer | None = None
        self._is_asked = False
        self._budget: Budget | None = None

    def push(self) -> None:
        """See solver.Solver."""
        self._answer = None
        self._stack.append([])

    def pop(self, levels: int = 1) -> None:
        """See solver.Solver."""
        if not 0 <= levels < len(self._stack):
            raise ValueError(f"{levels} scopes to close, {len(self._stack) - 1} are open")
        self._answer = None
        del self._stack[len(self._stack) - levels :]
        surplus = len(self._sent) - len(self._stack)
        if surplus > 0:
            self._inner.pop(surplus)
            del self._sent[len(self._stack) :]

    def add(self, *formulas: Term) -> None:
        """See solver.Solver."""
        self._answer = None
        self._stack[-1].extend(formulas)

    def check(self, *assumptions: Term, budget: Budget | None = None) -> Answer:
        """See solver.Solver."""
        self._assumptions, self._budget = assumptions, budget
        digest = query_digest([*(formula for scope in self._stack for formula in scope), *assumptions])
        known = self._memo.get(digest)
        self._is_asked = known is None
        if known is None:
            known = self._ask()
            self._memo.put(digest, known)
        self._answer = known
        return known

    def _ask(self) -> Answer:
        for level, scope in enumerate(self._stack):
            if level == len(self._sent):
                self._inner.push()
                self._sent.append(0)
            if self._sent[level] < len(scope):
                self._inner.add(*scope[self._sent[level] :])
                self._sent[level] = len(scope)
        return self._inner.check(*self._assumptions, budget=self._budget)

    def _really(self, wanted: Answer) -> None:
        """Asks the inner solver the last check, if the memo answered it: models and cores are only there."""
        if self._answer != wanted:
            raise ValueError(f"the last check did not answer {wanted.status}")
        if not self._is_asked:
            self._is_asked = True
            if self._ask() != wanted:
                raise ValueError("the solver ran out of its budget or was interrupted when it was asked again")

    def model(self) -> Model:
        """See solver.Solver. After an answer out of the memo the inner solver is asked now; ValueError if it does not come to
        an answer this time."""
        self._really(SAT)
        return self._inner.model()

    def core(self) -> tuple[Term, ...]:
        """See solver.Solver, and `model`."""
        self._really(UNSAT)
        return self._inner.core()

    def interrupt(self) -> None:
        """See solver.Solver."""
        self._inner.interrupt()

    def resume(self) -> None:
        """See solver.Solver."""
        self._inner.resume()
