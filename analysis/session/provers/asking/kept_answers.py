"""What provers have decided, by the content of the question: in memory, and in the store.

Only final decisions are kept, and for each search that found none, how long it took. One group of the store
holds those about one program; they are read one by one, when they are asked for, and written together. Those about earlier texts
stay, up to a number, so that going back to one, in another branch or on another day, costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from analysis.model.digest import digest_text
from analysis.model.limits import EARLIER_DECISIONS
from analysis.session.keeping.handed_over import HandedProof, is_key
from analysis.session.keeping.surroundings import others_asked, tool_digest
from analysis.session.provers.asking.answer import Decided
from analysis.store.database import Store
from analysis.store.packing import Codec, PackingError
from analysis.store.records import Record

DECISIONS = "decisions: "
"""How the labels of their groups begin in the store."""

_KIND = "decision"
_ORDER = "order of decisions"
_FEW = 1_000  # decisions in memory, beside twice those about the present text


@cache
def _codec() -> Codec[Decided]:
    """Made when it is first needed."""
    return Codec(Decided)


def packed_decision(decided: Decided) -> bytes:
    """A decision as bytes."""
    return _codec().encode(decided)


def unpacked_decision(data: bytes) -> Decided:
    """The decision that was packed. Raises PackingError."""
    return _codec().decode(data)


@cache
def _order_codec() -> Codec[tuple[str, ...]]:
    return Codec(tuple[str, ...])


class Decisions:
    """The decisions about one program; `asked` is what it was opened by. Without a store they are in memory only."""

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._known: dict[str, Decided] = {}
        self._own: set[str] = set()
        self._there: frozenset[str] | None = None  # what the store had when it was asked first, or written last
        self._missing: set[str] = set()
        self._asked: tuple[str, ...] = ()
        self._kept: frozenset[str] = frozenset()
        self._most = _FEW

    def open(self, asked: tuple[str, ...]) -> None:
        """Chooses the group of stored decisions: those about the program and settings that `asked` names."""
        if asked != self._asked:
            self._asked, self._missing, self._kept, self._there = asked, set(), frozenset(), None

    def forget(self) -> None:
        """From now on everything is decided anew."""
        self._known, self._store, self._missing, self._own = {}, None, set(), set()
        self._there = frozenset()

    def is_own(self, key: str) -> bool:
        """Whether a prover of this session has decided it. If not, it was read, and anybody may have written it."""
        return key in self._own

    def get(self, keys: Iterable[str]) -> dict[str, Decided]:
        """What is known, by key."""
        found = {}
        for key in keys:
            if key not in self._known and key not in self._missing and self._is_there(key):
                self._read(key)
            if key in self._known:
                found[key] = self._known[key] = self._known.pop(key)  # the last that was used is the last to go
        if self._store is not None:
            self._store.close()  # nothing is open while processes are forked
        return found

    def has(self, key: str) -> bool:
        """Whether something is known, or was in the store when that was asked first, or written last."""
        return key in self._known or self._is_there(key)

    def _is_there(self, key: str) -> bool:
        """Whether the store has something under a key, as far as is known: to open it takes longer than most answers."""
        if self._there is None:
            others = others_asked(self._asked)
            self._there = frozenset((*self._saved(), *(() if others is None else self._saved(_group(others)))))
            if self._store is not None:
                self._store.close()
        return key in self._there

    def add(self, key: str, decided: Decided) -> None:
        """Takes in a decision, if it is one that may be kept."""
        if decided.final or decided.tried:
            self._know(key, decided)
            self._own.add(key)
            self._kept -= {key}

    def unsaved(self, keys: frozenset[str]) -> bool:
        """Whether what is known of these keys, those of the present text, is not what is in the store."""
        self._most = _FEW + 2 * len(keys)
        return self._store is not None and self._store.usable and frozenset(self._known).intersection(keys) != self._kept

    def save(self, keys: frozenset[str]) -> None:
        """Keeps what is known of these keys; of what was kept before, the last that were saved."""
        if self._store is None:
            return
        present = frozenset(self._known).intersection(keys)
        records = [Record(_KIND, key, _codec().encode(self._known[key])) for key in sorted(present)]
        earlier = [key for key in self._saved() if key not in present][:EARLIER_DECISIONS]
        label = DECISIONS + " ".join(self._asked[1:])
        order = Record(_ORDER, _ORDER, _order_codec().encode((*sorted(present), *earlier)))
        if not self._store.write(self._group, label, [*records, order], [(_KIND, key) for key in earlier]):
            alone = Record(_ORDER, _ORDER, _order_codec().encode(tuple(sorted(present))))
            self._store.write(self._group, label, [*records, alone])  # another process has written meanwhile
        self._store.close()
        self._there = None
        self._kept = present  # what could not be written now is not tried again and again

    def _saved(self, group: str | None = None) -> tuple[str, ...]:
        """The keys of what is kept, the last that were saved first; none where that cannot be read."""
        data = None if self._store is None else self._store.read(group or self._group, _ORDER, _ORDER)
        try:
            return () if data is None else _order_codec().decode(data)
        except PackingError:
            return ()

    @property
    def _group(self) -> str:
        return _group(self._asked)

    def _stored(self, key: str) -> bytes | None:
        """What is kept under a key; of a program at a reference, also what is kept of it as it is now."""
        data = None if self._store is None else self._store.read(self._group, _KIND, key)
        others = others_asked(self._asked)
        if data is None and others is not None and self._store is not None:
            data = self._store.read(_group(others), _KIND, key)
        return data

    def _read(self, key: str) -> None:
        data = self._stored(key)
        try:
            if data is not None:
                self._know(key, _codec().decode(data))
                self._kept |= {key}
                return
        except PackingError:
            pass
        if len(self._missing) >= self._most:
            self._missing.clear()
        self._missing.add(key)

    def _know(self, key: str, decided: Decided) -> None:
        """Takes it in, in the place of the oldest if there are many: an edit makes others of the questions about a function."""
        self._known.pop(key, None)
        self._known[key] = decided
        if len(self._known) > self._most:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._own.discard(oldest)
            self._kept -= {oldest}


def handed_proofs(store: Store) -> tuple[HandedProof, ...]:
    """The proofs in a store that can be checked again, to be handed over; the most recently used first."""
    found: dict[str, HandedProof] = {}
    for group, key in store.named(_KIND):
        data = store.read(group, _KIND, key)
        try:
            decided = None if data is None else _codec().decode(data)
        except PackingError:
            continue
        if decided is not None and key not in found and len(found) < EARLIER_DECISIONS:
            if decided.kept:
                found[key] = HandedProof(key, decided.kept)
            elif decided.status == "possible" and is_key(decided.reason):
                found[key] = HandedProof(key, at=decided.reason)
    return tuple(one for one in found.values() if not one.at or one.at in found)


def take_in(store: Store, folder: str, proofs: Sequence[HandedProof]) -> bool:
    """Keeps proofs that another machine has handed over, for the program of a folder. None is an answer: each says only where the
    next proof is looked for. Returns whether they are there."""
    asked = ("folder", folder)
    decisions = Decisions(store)
    decisions.open(asked)
    before = decisions._saved()
    new = {one.key: Decided("possible", final=False, reason=one.at, kept=one.proof or None) for one in proofs}
    new = {key: decided for key, decided in new.items() if key not in before}
    records = [Record(_KIND, key, _codec().encode(decided)) for key, decided in new.items()]
    kept = before[: max(EARLIER_DECISIONS - len(new), 0)]
    order = Record(_ORDER, _ORDER, _order_codec().encode((*kept, *new)))
    written = store.write(_group(asked), DECISIONS + folder, [*records, order], [(_KIND, key) for key in kept])
    store.close()
    return written


def _group(asked: tuple[str, ...]) -> str:
    return digest_text(tool_digest(), _KIND, *asked)
