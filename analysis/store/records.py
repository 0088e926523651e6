"""What a store holds: records in groups, and how one is on the disk."""

from __future__ import annotations

import hashlib
import hmac
import zlib
from typing import NamedTuple

from analysis.model.digest import digest_text
from analysis.model.file_reading import UnreadableError, read_start

APPLICATION = 0x45565052  # SQLite's application id of our files: EVPR
_MAGIC = b"SQLite format 3\0"


class Record(NamedTuple):
    """One record to keep. A group has at most one record of each kind and key."""

    kind: str
    key: str
    content: bytes


class Group(NamedTuple):
    """What there is of a group; `size` in bytes, as stored."""

    label: str
    records: int
    size: int


class Row(NamedTuple):
    """A record as it is stored: compressed (zlib at its fastest), with the size that it had, and a code for all the rest that
    only who has the user's key can make (BLAKE2 with a key, RFC 7693)."""

    group: str
    kind: str
    key: str
    checksum: str
    size: int
    content: bytes


def row_of(secret: bytes, group: str, record: Record) -> Row:
    """A record as it is to be stored. `secret` is the user's key."""
    content, size = zlib.compress(record.content, 1), len(record.content)
    return Row(group, record.kind, record.key, _code(secret, group, record.kind, record.key, size, content), size, content)


def content_of(secret: bytes, group: str, kind: str, key: str, stored: tuple[object, ...]) -> bytes | None:
    """What is in a stored record, of which code, size and content were read; None if it is not as the user's Everproof wrote it,
    under this very name."""
    code, size, content = stored
    if not (isinstance(code, str) and isinstance(content, bytes) and isinstance(size, int)):
        return None
    if not hmac.compare_digest(code.encode("utf-8", "replace"), _code(secret, group, kind, key, size, content).encode()):
        return None
    return zlib.decompress(content, bufsize=max(size, 1))


def is_foreign(path: str) -> bool:
    """Whether there is something at the path that is no store of ours."""
    try:
        head = read_start(path, 72)
    except UnreadableError as error:
        return not error.missing
    return bool(head) and not (head.startswith(_MAGIC) and head[68:72] == APPLICATION.to_bytes(4, "big"))


def _code(secret: bytes, group: str, kind: str, key: str, size: int, content: bytes) -> str:
    hasher = hashlib.blake2b(key=secret, digest_size=32, person=b"everproof record")
    hasher.update(digest_text(group, kind, key, str(size)).encode())
    hasher.update(content)
    return hasher.hexdigest()
