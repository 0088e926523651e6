"""The file that keeps results between runs: SQLite in WAL mode (https://sqlite.org/wal.html).

It holds records, (kind, key) -> bytes, in groups: a group is what is kept of one program, written in one transaction, so that
it is there as a whole or not at all whenever a process is killed, and of two processes that write one, the last is right.
What is in the file is never more than a copy of what can be computed: whatever is wrong with it costs time, and at most one
message, never an answer.

- A record that is not as this user's Everproof wrote it counts as absent, and is deleted (`store_key`).
- A file that SQLite finds damaged is renamed to `*.damaged`, and a new one begun.
- A file that cannot be made, read or written: nothing is kept, everything else goes on.
- A file of another schema version is emptied; one that is not ours is left alone.
- When the records take more than `limit` bytes, the groups that were not used for longest go.

Contents are data: nothing here or in `packing` can execute anything.
The one module that imports sqlite3. Tests: tests/store.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeVar

from analysis.model.report import Message
from analysis.store.records import APPLICATION, Group, Record, Row, content_of, is_foreign, row_of
from analysis.store.store_key import read_key

SCHEMA = 2
LIMIT = 512_000_000
DAMAGED = ".damaged"

_BUSY_SECONDS = 10.0
_TABLES = (
    "CREATE TABLE groups (name TEXT PRIMARY KEY, label TEXT NOT NULL, used INTEGER NOT NULL)",
    "CREATE TABLE records (name TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, checksum TEXT NOT NULL,"
    " size INTEGER NOT NULL, content BLOB NOT NULL, PRIMARY KEY (name, kind, key))",
)
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT}
_UNUSABLE = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_NOLFS,
}

Answer = TypeVar("Answer")


class Store:
    """One store in one file, opened when it is first used. Not for several threads at once.

    `refuse_others`: a file that is no store of ours may be the user's, who named it: it is not set aside, but left alone.
    """

    def __init__(self, path: str, *, limit: int = LIMIT, refuse_others: bool = False) -> None:
        self.path = os.path.abspath(path)
        self._limit = limit
        self._refuse_others = refuse_others
        self._open: sqlite3.Connection | None = None
        self._inode = -1
        self._unusable = False
        self.why_unusable = ""
        self._messages: dict[Message, None] = {}
        self._key: bytes | None = None

    @property
    def usable(self) -> bool:
        """Whether anything can be kept, as far as is known."""
        return not self._unusable

    def take_messages(self) -> tuple[Message, ...]:
        """What went wrong since the last call, each once."""
        taken, self._messages = tuple(self._messages), {}
        return taken

    def read(self, group: str, kind: str, key: str) -> bytes | None:
        """The content of a record, None if there is none or it is damaged."""
        return self._try(lambda connection: self._read(connection, group, kind, key), None)

    def touch(self, group: str) -> None:
        """Notes that the group was of use."""
        self._try(lambda connection: _touch(connection, group), None)

    def write(self, group: str, label: str, records: Iterable[Record], kept: Collection[tuple[str, str]] = ()) -> bool:
        """Makes the group consist of the records, and of those that it has already under the (kind, key)s in `kept`.

        False, and nothing has changed, when one of these is not there any more, or when nothing can be written now.
        """
        given = tuple(records)
        wanted = {(record.kind, record.key) for record in given}.union(kept)

        def write(connection: sqlite3.Connection) -> bool:
            rows = [row_of(self._secret(), group, record) for record in given]
            return self._write(connection, group, label, rows, wanted)

        return self._try(write, False)

    def groups(self) -> tuple[Group, ...]:
        """What is in the store, the most recently used first."""
        query = (
            "SELECT label, count(kind), total(length(content)) FROM groups LEFT JOIN records USING (name)"
            " GROUP BY name ORDER BY used DESC"
        )

        def ask(connection: sqlite3.Connection) -> tuple[Group, ...]:
            return tuple(Group(str(label), int(count), int(size)) for label, count, size in connection.execute(query))

        return self._try(ask, ())

    def named(self, kind: str) -> tuple[tuple[str, str], ...]:
        """The (group, key) of each record of a kind, those of the most recently used groups first."""
        query = "SELECT name, key FROM records JOIN groups USING (name) WHERE kind = ? ORDER BY used DESC, key"

        def ask(connection: sqlite3.Connection) -> tuple[tuple[str, str], ...]:
            return tuple((str(name), str(key)) for name, key in connection.execute(query, (kind,)))

        return self._try(ask, ())

    def verify(self) -> tuple[int, int]:
        """Reads everything; how many records there are, and how many more were damaged and are deleted now."""

        def ask(connection: sqlite3.Connection) -> tuple[int, int]:
            problems = connection.execute("PRAGMA quick_check(1)").fetchone()
            if problems != ("ok",):
                raise sqlite3.DatabaseError(str(problems))
            names = connection.execute("SELECT name, kind, key FROM records").fetchall()
            good = sum(self._read(connection, *name) is not None for name in names)
            return good, len(names) - good

        return self._try(ask, (0, 0))

    def clear(self) -> None:
        """Deletes everything in the store; the file stays, for other processes may have it open."""

        def delete(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                connection.execute("DELETE FROM records")
                connection.execute("DELETE FROM groups")
            _shrink(connection)

        if os.path.exists(self.path):
            self._try(delete, None)

    def size(self) -> int:
        """The bytes that the store takes on the disk."""
        total = 0
        for suffix in ("", "-wal"):
            with contextlib.suppress(OSError):
                total += os.path.getsize(self.path + suffix)
        return total

    def close(self) -> None:
        """Closes the file; it is opened again when it is used again."""
        if self._open is not None:
            with contextlib.suppress(sqlite3.Error):
                self._open.close()
            self._open = None

    def _secret(self) -> bytes:
        """The user's key, read when it is first needed."""
        if self._key is None:
            self._key = read_key()
        return self._key

    def _try(self, action: Callable[[sqlite3.Connection], Answer], otherwise: Answer) -> Answer:
        """The action's answer; `otherwise` when the file is of no use. A damaged file is set aside, then it is tried again."""
        for _ in range(2):
            try:
                connection = self._connection()
                return otherwise if connection is None else action(connection)
            except (sqlite3.Error, sqlite3.Warning, OSError, ValueError, OverflowError, TypeError) as error:
                if not self._recovered(error):
                    return otherwise
        return otherwise

    def _connection(self) -> sqlite3.Connection | None:
        if self._open is None and not self._unusable:
            if self._refuse_others and is_foreign(self.path):
                self._give_up("it is not a store of Everproof")
                return None
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
            try:
                self._inode = os.stat(self.path).st_ino
                _prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._open = connection
        return self._open

    def _recovered(self, error: Exception) -> bool:
        """Handles an error of SQLite. Returns whether to try again."""
        code = getattr(error, "sqlite_errorcode", None)
        primary = None if code is None else code & 0xFF
        if primary in _BUSY:
            return False
        if code == sqlite3.SQLITE_READONLY and os.access(self.path, os.W_OK):
            return self._set_aside()  # the file itself says so, in a byte that was damaged
        failed_to_read = primary == sqlite3.SQLITE_IOERR and code != sqlite3.SQLITE_IOERR_SHORT_READ
        if isinstance(error, OSError) or primary in _UNUSABLE or failed_to_read:
            self._give_up(getattr(error, "strerror", None) or str(error))
            return False
        return self._set_aside()

    def _give_up(self, why: str) -> None:
        self.close()
        self._unusable, self.why_unusable = True, why
        self._say(f"The store {self.path} cannot be used ({why}); results are not kept.")

    def _set_aside(self) -> bool:
        self.close()
        try:
            if os.stat(self.path).st_ino == self._inode:  # else another process has done it already
                os.replace(self.path, self.path + DAMAGED)
                for suffix in ("-wal", "-shm"):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(self.path + suffix)
        except FileNotFoundError:
            pass
        except OSError as error:
            self._give_up(error.strerror or str(error))
            return False
        self._say(f"The store {self.path} was damaged; it is {os.path.basename(self.path)}{DAMAGED} now, and a new one is begun.")
        return True

    def _say(self, text: str) -> None:
        self._messages[Message("warning", "", text)] = None

    def _read(self, connection: sqlite3.Connection, group: str, kind: str, key: str) -> bytes | None:
        query = "SELECT checksum, size, content FROM records WHERE name = ? AND kind = ? AND key = ?"
        row = connection.execute(query, (group, kind, key)).fetchone()
        if row is None:
            return None
        content = content_of(self._secret(), group, kind, key, row)
        if content is not None:
            return content
        with _transaction(connection):
            connection.execute("DELETE FROM records WHERE name = ? AND kind = ? AND key = ?", (group, kind, key))
        self._say(f"A record in the store {self.path} was damaged, or others wrote it; what it held is computed again.")
        return None

    def _write(
        self,
        connection: sqlite3.Connection,
        group: str,
        label: str,
        rows: Sequence[Row],
        wanted: set[tuple[str, str]],
    ) -> bool:
        with _transaction(connection):
            have = set(connection.execute("SELECT kind, key FROM records WHERE name = ?", (group,)))
            if not wanted <= have.union((row.kind, row.key) for row in rows):
                return False
            gone = sorted(have - wanted)
            connection.executemany(
                "DELETE FROM records WHERE name = ? AND kind = ? AND key = ?", [(group, kind, key) for kind, key in gone]
            )
            connection.execute("INSERT OR REPLACE INTO groups VALUES (?, ?, 0)", (group, label))
            connection.executemany("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?)", rows)
            _touch(connection, group)
            self._evict(connection)
        _shrink(connection)
        return True

    def _evict(self, connection: sqlite3.Connection) -> None:
        query = "SELECT name, total(length(content)) FROM groups LEFT JOIN records USING (name) GROUP BY name ORDER BY used DESC"
        total = 0.0
        for name, size in connection.execute(query).fetchall():
            total += size
            if total > self._limit:
                connection.execute("DELETE FROM records WHERE name = ?", (name,))
                connection.execute("DELETE FROM groups WHERE name = ?", (name,))


def _prepare(connection: sqlite3.Connection) -> None:
    """Makes the tables where there are none; empties a file of another schema."""
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # counts for a new file only
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")  # a power failure may cost the last writes, but damages nothing
    connection.execute("PRAGMA journal_size_limit = 1000000")
    if _identity(connection) == (APPLICATION, SCHEMA):
        return
    with _transaction(connection):
        if _identity(connection) == (APPLICATION, SCHEMA):
            return  # another process was faster
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        if tables and _identity(connection)[0] != APPLICATION:
            raise sqlite3.DatabaseError("the file is not a store")
        for (table,) in tables:
            connection.execute('DROP TABLE "{}"'.format(str(table).replace('"', '""')))
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _identity(connection: sqlite3.Connection) -> tuple[int, int]:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return application, version


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of the block or nothing; waits for other writers."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")


def _touch(connection: sqlite3.Connection, group: str) -> None:
    """A count, not a time: it orders uses, and depends on nothing else."""
    connection.execute("UPDATE groups SET used = (SELECT max(used) + 1 FROM groups) WHERE name = ?", (group,))


def _shrink(connection: sqlite3.Connection) -> None:
    """Gives back space when a quarter of the file is free."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    if free * 4 > pages:
        connection.executescript("PRAGMA incremental_vacuum")  # `execute` would free one page
