"""Records count only as the user's own Everproof wrote them, under the very name that they were written under."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.model.digest import digest_text
from analysis.store.database import Store
from analysis.store.records import Record, row_of
from analysis.store.store_key import KEY_VARIABLE, key_path, read_key

_OTHER_KEY = b"k" * 32


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A store with what was found of two programs."""
    store = Store(str(tmp_path / "kept.everproof"))
    store.write("right", "a.c", [Record("decision", "f", b"safe"), Record("decision", "g", b"open")])
    store.write("wrong", "b.c", [Record("decision", "f", b"open")])
    store.close()
    return store.path


def _moved(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM records WHERE name = 'wrong'")
    connection.execute("UPDATE records SET name = 'wrong' WHERE key = 'f'")


def _exchanged(connection: sqlite3.Connection) -> None:
    connection.execute(
        "UPDATE records SET (content, size, checksum) ="
        " (SELECT content, size, checksum FROM records WHERE name = 'right' AND key = 'f') WHERE name = 'wrong'"
    )


def _written_with_another_key(connection: sqlite3.Connection) -> None:
    row = row_of(_OTHER_KEY, "wrong", Record("decision", "f", b"safe"))
    connection.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?)", row)


def _with_a_plain_digest(connection: sqlite3.Connection) -> None:
    row = row_of(_OTHER_KEY, "wrong", Record("decision", "f", b"safe"))
    plain = row._replace(checksum=digest_text("wrong", "decision", "f", str(row.size), row.content))
    connection.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?)", plain)


def _with_no_text_for_a_code(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE records SET checksum = x'00' WHERE name = 'wrong'")


@pytest.mark.parametrize("forge", [_moved, _exchanged, _written_with_another_key, _with_a_plain_digest, _with_no_text_for_a_code])
def test_what_is_not_as_it_was_written_is_absent(path: str, forge: Callable[[sqlite3.Connection], None]) -> None:
    with sqlite3.connect(path) as connection:
        forge(connection)
    store = Store(path)
    assert store.read("wrong", "decision", "f") is None
    (message,) = store.take_messages()
    assert "was damaged, or others wrote it" in message.text
    store.close()


def test_a_store_of_another_user_has_nothing(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, str(tmp_path / "own" / "store.key"))
    store = Store(path)
    assert store.verify() == (0, 3)
    assert store.write("right", "a.c", [Record("decision", "f", b"own")])
    assert store.read("right", "decision", "f") == b"own"
    store.close()


@pytest.mark.skipif(os.name == "nt", reason="there are no such modes")
def test_the_key_is_made_once_and_only_its_user_can_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, str(tmp_path / "new" / "store.key"))
    key = read_key()
    assert (len(key), read_key()) == (32, key)
    assert stat.S_IMODE(os.stat(key_path()).st_mode) == 0o600
    assert os.listdir(tmp_path / "new") == ["store.key"]


def test_what_is_no_key_is_replaced_in_the_data_folder_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = tmp_path / "id_rsa"
    named.write_bytes(b"of the user's")
    monkeypatch.setenv(KEY_VARIABLE, str(named))
    with pytest.raises(OSError, match=r"EVERPROOF_STORE_KEY names .*id_rsa, which has not 32 bytes"):
        read_key()
    assert named.read_bytes() == b"of the user's"
    monkeypatch.delenv(KEY_VARIABLE)
    monkeypatch.setattr("platformdirs.user_data_dir", lambda *_, **__: str(tmp_path))
    (tmp_path / "store.key").write_bytes(b"short")
    assert len(read_key()) == 32


def test_without_a_key_nothing_is_kept(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(KEY_VARIABLE, str(tmp_path / "file" / "store.key"))
    store = Store(path)
    assert store.read("right", "decision", "f") is None
    assert not store.usable
    said = store.take_messages()[0].text
    assert "results are not kept" in said
    assert "its key" in said
