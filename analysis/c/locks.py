"""Functions that take and release locks, as one thread sees them (C11 7.26.4, POSIX threads, the Linux kernel), by what the
tables say of them."""

from __future__ import annotations

from analysis.c.functions import LIBRARY, all_with


def _has(word: str) -> frozenset[str]:
    return all_with(lambda function: word in function.besides)


LOCKS = _has("locks")
"""Each waits for the lock, and takes it."""
LOCKS_AT_ZERO, LOCKS_OTHERWISE = _has("locks-at-zero"), _has("locks-otherwise")
"""Each waits for the lock, and takes it if it returns 0; if it does not."""
TRIES_AT_ZERO, TRIES_OTHERWISE = _has("tries-at-zero"), _has("tries-otherwise")
"""The same for those that do not wait."""
UNLOCKS = _has("unlocks")
MAKES_LOCK = _has("makes-lock")
MAKES_ANY_LOCK = _has("any-kind")
"""The lock may be a recursive one, unless the second argument is 0."""
ENDS_LOCK = _has("ends-lock")
HAS_KINDS = frozenset(name for name in LIBRARY if name.startswith(("pthread_mutex_", "mtx_")))
"""Functions of locks that may be recursive. Some locks are made without a call: initialisers such as
`PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP` name their kind (GNU libc). Bytes that are all 0 are a lock that is not recursive."""


def lock_of(name: str) -> int:
    """The number of the argument that leads to the lock, of a function in one of these sets."""
    return LIBRARY[name].positions("lock")[0]
