"""Releases of a library: what is unpacked of them, and what is measured on a chain of them."""

import hashlib
import io
import tarfile

import pytest

from benchmarks.release_edits import edits, write_versions
from benchmarks.release_edits import measure as measure_edits
from benchmarks.release_edits import table as edit_table
from benchmarks.releases import Library, _download, measure, table, unpack
from benchmarks.sources import FetchError

LEAK = "#include <stdlib.h>\nvoid f(void)\n{\n    int *p = malloc(4);\n    if (p)\n        *p = 1;\n}\n"
FIXED = LEAK.replace("*p = 1;", "*p = 1;\n    free(p);")
OTHER = "int g(int a)\n{\n    return a + %d;\n}\n"


def archive(path, files):
    with tarfile.open(path, "w:gz") as made:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            made.addfile(member, io.BytesIO(text.encode()))
    return path


def test_only_the_library_is_unpacked(tmp_path):
    files = {
        "lib-1/src/a.c": '#include "part.c"\n#include "a.h"\n',
        "lib-1/src/part.c": "int part;\n",
        "lib-1/src/a.h": "int a;\n",
        "lib-1/src/test.c": "int main;\n",
        "lib-1/src/deeper/b.c": "int b;\n",
        "lib-1/src/README": "",
        "lib-1/other/src/c.c": "int c;\n",
        "lib-1/setup.py": "",
    }
    library = Library("lib", "src", {}, left_out=frozenset({"test.c"}), included={"part.c": "part.inc"})
    target = tmp_path / "out"
    target.mkdir()
    unpack(archive(tmp_path / "lib-1.tar.gz", files), library, target)
    assert {path.name: path.read_text() for path in target.iterdir()} == {
        "a.c": '#include "part.inc"\n#include "a.h"\n',
        "part.inc": "int part;\n",
        "a.h": "int a;\n",
    }
    with pytest.raises(FetchError, match="holds no C files in lib"):
        unpack(tmp_path / "lib-1.tar.gz", Library("lib", "lib", {}), target.with_name("empty"))


def test_an_archive_with_another_digest_is_refused(tmp_path):
    (tmp_path / "lib-1.tar.gz").write_bytes(b"changed")
    with pytest.raises(FetchError, match=r"lib-1\.tar\.gz has the SHA-256 digest"):
        _download("lib", "1", hashlib.sha256(b"original").hexdigest(), tmp_path)


def test_a_chain_of_releases_is_measured(tmp_path):
    for version, texts in {
        "1.0": {"a.c": LEAK, "b.c": OTHER % 1},
        "1.1": {"a.c": FIXED, "b.c": "// moved\n" + OTHER % 1},
        "1.2": {"a.c": LEAK, "b.c": OTHER % 2, "c.c": "int h(void)\n{\n    return 0;\n}\n"},
    }.items():
        (tmp_path / version).mkdir()
        for name, text in texts.items():
            (tmp_path / version / name).write_text(text)
    measured = measure([tmp_path / version for version in ("1.0", "1.1", "1.2")], 1)
    first, second = measured.steps
    assert min(measured.chain, measured.apart) > 0
    assert (first.old, first.new, first.functions) == ("1.0", "1.1", 2)
    assert ([f.old.name.split("::")[-1] for f in first.change.modified], first.change.added) == (["f"], ())
    assert first.reused > 0
    assert (first.from_scratch, first.differences) == (None, ())
    assert (first.introduced, first.fixed, first.findings) == (0, 1, 0)
    assert [f.old.name for f in second.change.modified] == ["f", "g"]
    assert (second.from_scratch, second.reused, second.functions) == ("c.c is new or gone", 0, 3)
    assert (second.introduced, second.fixed, second.findings) == (1, 0, 1)
    lines = table("lib", measured).splitlines()
    assert lines[0] == "### lib"
    assert lines[4].startswith("| 1.0 to 1.1 | 2 | 0 | 0 | 1 | ")
    assert lines[5].endswith("| none | 1 | 0 | 1 |")
    assert lines[-1] == "Not checked as an edit of the version before, because of its files: 1.2: c.c is new or gone."
    assert len({line.count("|") for line in lines[2:6]}) == 1


def test_an_edit_is_one_function_of_the_next_release_in_the_old_one(tmp_path):
    header = "static inline int twice(int a)\n{\n    return %s;\n}\n"
    for version, texts in {
        "1": {"h.h": header % "a + a", "a.c": '#include "h.h"\n' + LEAK + OTHER % 1, "b.c": '#include "h.h"\nint b = 1;\n'},
        "2": {"h.h": header % "2 * a", "a.c": '#include "h.h"\n\n' + OTHER % 2 + "int new;\n" + FIXED, "b.c": '#include "h.h"\n'},
    }.items():
        (tmp_path / version).mkdir()
        for name, text in texts.items():
            (tmp_path / version / name).write_text(text)
    old, new, made = tmp_path / "1", tmp_path / "2", tmp_path / "made"
    changes = edits(old, new)
    assert [change.file for change in changes] == ["h.h", "a.c", "a.c"]
    names = write_versions(old, changes, made)
    assert names == ["1-0", "1-1", "1-2", "1-3"]
    assert {path.name: path.read_text() for path in (made / "1-0").iterdir()} == {p.name: p.read_text() for p in old.iterdir()}
    assert (made / "1-1" / "h.h").read_text() == header % "2 * a"
    assert (made / "1-2" / "a.c").read_text() == '#include "h.h"\n' + FIXED + OTHER % 1
    assert (made / "1-3" / "a.c").read_text() == '#include "h.h"\n' + FIXED + OTHER % 2
    assert (made / "1-3" / "b.c").read_text() == (old / "b.c").read_text()
    assert measure_edits(old, new, 2) is None
    walk = measure_edits(old, new, 3)
    assert walk is not None
    assert (walk.steps, walk.repaired, walk.differences) == (3, 3, ())
    assert walk.recomputed < walk.reused
    assert edit_table("lib", [walk]).splitlines()[4].startswith("| 1 to 2 | 3 | 3 | ")
