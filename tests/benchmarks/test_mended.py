"""The versions of a package before and after a patch of Debian's series, and what counts as found."""

from __future__ import annotations

import hashlib
import io
import shutil
import tarfile
from pathlib import Path

import pytest

from benchmarks import mended
from benchmarks.mended_defects import PACKAGES, PAIRS, Pair, Patched
from benchmarks.sources import SourcePackage

_TEXT = (
    "#include <stdlib.h>\nint first(int n)\n{\n    int *p = malloc(4);\n    return *p + n;\n}\nint twice(int n) { return n; }\n"
)
_EARLIER = "--- a/a.c\n+++ b/a.c\n@@ -7 +7 @@\n-int twice(int n) { return n; }\n+int twice(int n) { return 2 * n; }\n"
_MENDS = "--- a/a.c\n+++ b/a.c\n@@ -4,2 +4,2 @@\n     int *p = malloc(4);\n-    return *p + n;\n+    return p ? *p + n : n;\n"


def _archive(path: Path, files: dict[str, str]) -> str:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")
def test_a_defect_that_a_patch_mends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    series = {"debian/patches/series": "earlier\nmends\n", "debian/patches/earlier": _EARLIER, "debian/patches/mends": _MENDS}
    own, debian = _archive(downloads / "p.tar.gz", {"p-1/a.c": _TEXT}), _archive(downloads / "p.debian.tar.gz", series)
    (downloads / "p.dsc").touch()
    package = SourcePackage("p", "1", "p.tar.gz", own, "p.dsc", hashlib.sha256(b"").hexdigest())
    monkeypatch.setattr(mended, "CACHE", tmp_path)
    monkeypatch.setattr(mended, "_FOLDER", tmp_path / "mended")
    monkeypatch.setitem(PACKAGES, "p", Patched(package, "p.debian.tar.gz", debian))
    pair = Pair("p-1", "p", "mends", ("null-dereference",), ("a.c",))
    before, after = mended.provide(pair)
    assert "2 * n" in (before / "a.c").read_text()
    assert "p ? *p" not in (before / "a.c").read_text()
    assert (after / "a.c").read_text() == (before / "a.c").read_text().replace("*p + n", "p ? *p + n : n")


def test_the_pairs_are_of_packages_that_there_are() -> None:
    assert len({pair.name for pair in PAIRS}) == len(PAIRS) >= 20
    assert {pair.package for pair in PAIRS} == set(PACKAGES) - {"p"}


def test_a_check_that_takes_too_long_misses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not checked: a report that was cut short says nothing of the defect."""
    monkeypatch.setattr(mended, "_FOLDER", tmp_path)
    monkeypatch.setattr(mended, "provide", lambda _: (tmp_path, tmp_path))
    nothing = '{"messages": [], "findings": []}'
    pair = next(pair for pair in PAIRS if "null-dereference" in pair.rules)
    for killed, how, said in (
        ("check", "XCPU", "it took more than 600 s of the processor"),
        ("contracts", "SEGV", "it ended by signal 11"),
    ):
        script = f"case $3 in {killed}) kill -{how} $$;; *) echo '{nothing}';; esac"
        monkeypatch.setattr(mended, "limited", lambda command, _, said=script: ("/bin/sh", "-c", said, *command))
        assert mended.judge(pair, "automaton").said == f"not checked: {said}"
    assert not list(tmp_path.rglob("*.json"))
