import os
from pathlib import Path

from analysis.session.files.texts import Texts


def test_an_unsaved_text_hides_the_disk_until_it_is_taken_back(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("int a;")
    texts = Texts()
    on_disk = texts.digest(str(file))
    texts.change(str(file), "int b;", 7)
    assert texts.read(str(file), 100) == b"int b;"
    assert texts.version(str(file)) == 7
    assert texts.digest(str(file)) != on_disk
    texts.change(str(file), None, None)
    assert texts.version(str(file)) is None
    assert texts.digest(str(file)) == on_disk


def test_a_file_changed_within_the_clock_s_resolution_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("int a;")
    status = file.stat()
    texts = Texts()
    before = texts.digest(str(file))
    file.write_text("int b;")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    texts.begin()
    assert texts.digest(str(file)) != before


def test_an_old_file_is_not_read_twice(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("int a;")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    texts = Texts()
    before = texts.digest(str(file))
    file.write_text("int b;")
    os.utime(file, (1_000_000_000, 1_000_000_000))  # neither size nor time tells
    texts.begin()
    assert texts.digest(str(file)) == before


def test_what_cannot_be_read_has_no_digest(tmp_path: Path) -> None:
    texts = Texts()
    assert texts.digest(str(tmp_path)) is None
    assert texts.digest(str(tmp_path / "none.c")) is None
    assert texts.read(str(tmp_path / "none.c"), 10) is None
    (tmp_path / "long.c").write_text("int a;")
    assert texts.read(str(tmp_path / "long.c"), 3) is None
