"""The class: whatever stands under the name of a file in a folder is a file that is read, or a clause that says why it is not."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path
from unittest.mock import patch

import pytest

from analysis.model import file_reading
from analysis.model.file_reading import UnreadableError, is_regular, read_file


def test_a_regular_file_and_a_link_to_it(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_bytes(b"int x;" * 1000)
    (tmp_path / "link.c").symlink_to(path)
    assert read_file(path, 6000) == read_file(str(tmp_path / "link.c"), 6000) == b"int x;" * 1000
    assert is_regular(tmp_path / "link.c")


def _made(folder: Path, kind: str) -> Path:
    path = folder / "it"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(path))
    elif kind == "endless":
        path.symlink_to("/dev/zero")
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "dangling":
        path.symlink_to(folder / "nothing")
    elif kind == "large":
        with path.open("wb") as file:
            file.truncate(1 << 40)  # takes no room on the disk
    elif kind == "secret":
        path.write_text("")
        path.chmod(0)
    return path


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("pipe", "it is a pipe"),
        ("folder", "it is a folder"),
        ("socket", "it is a socket"),
        ("endless", "it is a device"),
        ("loop", "too many levels of symbolic links"),
        ("dangling", "no such file or directory"),
        ("large", "it is larger than 1,000 bytes"),
        ("missing", "no such file or directory"),
        pytest.param("secret", "permission denied", marks=pytest.mark.skipif(os.geteuid() == 0, reason="root reads all")),
    ],
)
def test_anything_else_is_a_reason(tmp_path: Path, kind: str, reason: str) -> None:
    path = _made(tmp_path, kind)
    with pytest.raises(UnreadableError) as raised:
        read_file(path, 1000)
    assert raised.value.reason == reason
    assert raised.value.missing == (reason == "no such file or directory")
    assert is_regular(path) == (kind in ("large", "secret"))


def test_a_name_that_is_no_name() -> None:
    with pytest.raises(UnreadableError):
        read_file("a\0b", 10)
    assert not is_regular("a\0b")


def test_what_is_swapped_for_a_pipe_in_between(tmp_path: Path) -> None:
    """The name meant a regular file when it was looked at, and a pipe when it was opened."""
    pipe = _made(tmp_path, "pipe")
    regular = tmp_path / "regular"
    regular.write_text("")
    seen = os.stat(regular)
    with patch.object(file_reading.os, "stat", lambda _path: seen), pytest.raises(UnreadableError) as raised:
        read_file(pipe, 10)
    assert raised.value.reason == "it is a pipe"


def test_a_file_that_grows_while_it_is_read(tmp_path: Path) -> None:
    """It was small when it was looked at."""
    path = tmp_path / "grows"
    path.write_bytes(b"x" * 5000)
    small = os.stat_result((stat.S_IFREG | 0o644, 1, 1, 1, 0, 0, 10, 0, 0, 0))
    with (
        patch.object(file_reading.os, "stat", lambda _path: small),
        patch.object(file_reading.os, "fstat", lambda _file: small),
        pytest.raises(UnreadableError) as raised,
    ):
        read_file(path, 4999)
    assert raised.value.reason == "it is larger than 4,999 bytes"
