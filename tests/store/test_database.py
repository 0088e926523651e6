"""The file of records: whole or not at all, and never an error, whatever happens to it."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.store.database import DAMAGED, Store
from analysis.store.records import Group, Record, is_foreign

ONE = Record("unit", "one", b"first " * 500)
TWO = Record("unit", "two", bytes(range(256)) * 40)
KILLED = -9
NOBODY = 65534

# Writes a second version of a group, and kills itself before the Nth of SQLite's steps.
KILLING = """
import os, signal, sqlite3, sys
from analysis.store.database import Store
from analysis.store.records import Record
path, steps = sys.argv[1], int(sys.argv[2])
store = Store(path)
store.groups()
left = [steps]
def step():
    left[0] -= 1
    if left[0] <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return 0
store._open.set_progress_handler(step, 20)
store.write("p", "a program", [Record("unit", "one", b"new"), Record("unit", "three", bytes(300_000))], [("unit", "two")])
store.close()
"""

# Writes a group of its own.
WRITING = """
import sys
from analysis.store.database import Store
from analysis.store.records import Record
store = Store(sys.argv[1])
written = store.write(sys.argv[2], sys.argv[2], [Record("unit", "x", bytes(100_000))])
store.close()
sys.exit(0 if written and not store.take_messages() else 1)
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "kept" / "results.everproof")


def contents(store: Store) -> dict[str, bytes | None]:
    return {key: store.read("p", "unit", key) for key in ("one", "two", "three")}


def filled(path: str) -> Store:
    store = Store(path)
    assert store.write("p", "a program", [ONE, TWO])
    return store


def test_what_is_written_is_read_by_another_process(path: str) -> None:
    filled(path).close()
    store = Store(path)
    assert contents(store) == {"one": ONE.content, "two": TWO.content, "three": None}
    assert store.read("q", "unit", "one") is None
    assert store.read("p", "graph", "one") is None
    assert store.groups() == (Group("a program", 2, store.groups()[0].size),)
    assert store.take_messages() == ()


def test_writing_replaces_the_group_but_what_is_to_be_kept(path: str) -> None:
    store = filled(path)
    assert store.write("q", "another", [ONE])
    assert store.write("p", "a program", [Record("unit", "three", b"new")], [("unit", "two")])
    assert contents(store) == {"one": None, "two": TWO.content, "three": b"new"}
    assert store.read("q", "unit", "one") == ONE.content


def test_nothing_is_written_when_something_to_be_kept_is_gone(path: str) -> None:
    store = filled(path)
    assert not store.write("p", "a program", [Record("unit", "three", b"new")], [("unit", "four")])
    assert contents(store) == {"one": ONE.content, "two": TWO.content, "three": None}


def test_nothing_is_made_by_looking(path: str) -> None:
    store = Store(path)
    store.clear()
    assert not os.path.exists(path)


def test_the_group_that_was_not_used_for_longest_goes_first(path: str) -> None:
    store = Store(path, limit=25_000)
    noise = [os.urandom(10_000) for _ in range(3)]
    store.write("a", "a", [Record("unit", "x", noise[0])])
    store.write("b", "b", [Record("unit", "x", noise[1])])
    store.touch("a")
    store.write("c", "c", [Record("unit", "x", noise[2])])
    assert [group.label for group in store.groups()] == ["c", "a"]
    assert store.read("b", "unit", "x") is None
    assert store.read("a", "unit", "x") == noise[0]


def test_a_group_larger_than_the_limit_is_not_kept(path: str) -> None:
    store = Store(path, limit=5_000)
    store.write("a", "a", [Record("unit", "x", os.urandom(10_000))])
    assert store.groups() == ()


def test_clearing_gives_back_the_space(path: str) -> None:
    store = Store(path)
    store.write("a", "a", [Record("unit", "x", os.urandom(2_000_000))])
    store.close()
    assert store.size() > 2_000_000
    store.clear()
    store.close()
    assert store.size() < 100_000
    assert store.groups() == ()


def test_two_processes_write_to_one_store(path: str) -> None:
    one, other = filled(path), Store(path)
    assert contents(other)["one"] == ONE.content
    assert other.write("p", "a program", [Record("unit", "one", b"theirs")])
    assert contents(one)["one"] == b"theirs"
    assert not one.write("p", "a program", [Record("unit", "three", b"mine")], [("unit", "two")])  # the other has deleted two
    assert one.write("p", "a program", [Record("unit", "three", b"mine")])
    assert contents(other) == {"one": None, "two": None, "three": b"mine"}


def test_many_processes_begin_a_store_at_once(path: str) -> None:
    command = [sys.executable, "-c", WRITING, path]
    processes = [subprocess.Popen([*command, str(number)]) for number in range(6)]
    assert [process.wait() for process in processes] == [0] * 6
    store = Store(path)
    assert sorted(group.label for group in store.groups()) == [str(number) for number in range(6)]
    assert store.verify() == (6, 0)
    assert store.take_messages() == ()
    assert not os.path.exists(path + DAMAGED)


def test_a_damaged_record_counts_as_absent_and_is_said_once(path: str) -> None:
    store = filled(path)
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE records SET content = x'00' WHERE key = 'one'")
    connection.close()
    assert contents(store) == {"one": None, "two": TWO.content, "three": None}
    assert contents(store)["one"] is None
    (message,) = store.take_messages()
    assert "damaged" in message.text
    assert store.take_messages() == ()


def test_verify_counts_and_deletes_damaged_records(path: str) -> None:
    store = filled(path)
    assert store.verify() == (2, 0)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE records SET size = size + 1 WHERE key = 'one'")
    connection.close()
    assert store.verify() == (1, 1)
    assert store.verify() == (1, 0)


def test_a_file_that_is_no_database_is_set_aside(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_text("this is no database, and long enough to be looked at " * 10)
    store = filled(path)
    assert contents(store)["two"] == TWO.content
    (message,) = store.take_messages()
    assert DAMAGED in message.text
    assert Path(path + DAMAGED).read_text().startswith("this is no database")


def test_a_file_of_the_users_is_left_alone(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_text("int main(void) { return 0; }\n")
    store = Store(path, refuse_others=True)
    assert not store.write("p", "a program", [ONE])
    assert Path(path).read_text() == "int main(void) { return 0; }\n"
    (message,) = store.take_messages()
    assert "not a store" in message.text


def test_what_is_foreign(path: str, tmp_path: Path) -> None:
    assert not is_foreign(path)
    filled(path).close()
    assert not is_foreign(path)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    assert is_foreign(str(other))
    assert is_foreign(str(tmp_path))


def test_a_store_of_another_schema_begins_anew(path: str) -> None:
    filled(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    store = Store(path)
    assert contents(store)["one"] is None
    assert store.write("p", "a program", [ONE])
    assert store.take_messages() == ()


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store(str(tmp_path / "file" / "below" / "results.everproof"))
    assert not store.write("p", "a program", [ONE])
    assert store.read("p", "unit", "one") is None
    assert store.groups() == ()
    assert len(store.take_messages()) == 1
    assert store.take_messages() == ()


@contextmanager
def without_rights() -> Iterator[None]:
    """As somebody for whom what is read-only is so: root is another user meanwhile."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


def test_a_store_that_cannot_be_written_is_said_once() -> None:
    with tempfile.TemporaryDirectory() as folder:  # not below the test's own folder, which nobody else may enter
        path = os.path.join(folder, "results.everproof")
        filled(path).close()
        os.chmod(path, stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
        os.chmod(folder, stat.S_IRUSR | stat.S_IXUSR | stat.S_IROTH | stat.S_IXOTH)
        with without_rights():
            store = Store(path)
            assert not store.write("p", "a program", [ONE])
            assert len(store.take_messages()) == 1
            assert not store.write("p", "a program", [ONE])
            assert store.take_messages() == ()
        os.chmod(folder, stat.S_IRWXU)


def test_a_process_that_is_killed_while_it_writes_leaves_all_or_nothing(path: str) -> None:
    before = {"one": ONE.content, "two": TWO.content, "three": None}
    after = {"one": b"new", "two": TWO.content, "three": bytes(300_000)}
    killed = 0
    for steps in (1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 30):
        filled(path).close()
        ended = subprocess.run([sys.executable, "-c", KILLING, path, str(steps)], check=False)
        killed += ended.returncode == KILLED
        store = Store(path)
        assert contents(store) == (before if ended.returncode == KILLED else after)
        assert store.verify()[1] == 0
        assert store.take_messages() == ()
        store.close()
    assert killed >= 3  # else the points were not inside the writing any more


def test_a_damaged_file_that_says_it_must_not_be_written_is_set_aside(path: str) -> None:
    filled(path).close()
    image = bytearray(Path(path).read_bytes())
    image[18] = 3  # the version of the format that a writer has to know
    Path(path).write_bytes(bytes(image))
    store = Store(path)
    assert store.read("p", "unit", ONE.key) in (None, ONE.content)
    assert store.write("p", "a program", [ONE, TWO])
    assert store.read("p", "unit", TWO.key) == TWO.content
    assert "was damaged" in store.take_messages()[0].text
    store.close()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_bytes_are_damaged_what_is_read_was_written(path: str, data: st.DataObject) -> None:
    for name in (path, path + "-wal", path + "-shm"):
        Path(name).unlink(missing_ok=True)
    filled(path).close()
    image = bytearray(Path(path).read_bytes())
    kind = data.draw(st.sampled_from(("bytes", "cut", "page")))
    if kind == "cut":
        image = image[: data.draw(st.integers(0, len(image)))]
    elif kind == "page":
        start = 512 * data.draw(st.integers(0, len(image) // 512 - 1))
        image[start : start + 512] = data.draw(st.binary(min_size=512, max_size=512))
    else:
        for _ in range(data.draw(st.integers(1, 8))):
            image[data.draw(st.integers(0, len(image) - 1))] = data.draw(st.integers(0, 255))
    Path(path).write_bytes(bytes(image))
    store = Store(path)
    for record in (ONE, TWO):
        assert store.read("p", "unit", record.key) in (None, record.content)
    store.verify()
    assert store.write("p", "a program", [ONE, TWO]) or store.write("p", "a program", [ONE, TWO])
    assert (store.read("p", "unit", "one"), store.read("p", "unit", "two")) == (ONE.content, TWO.content)
    store.close()
