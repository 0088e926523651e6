"""The parts of the benchmarks that decide what is measured: their sources."""

import hashlib

import pytest

from benchmarks.sources import FetchError, SourcePackage, _as_source_entries, fetch


def package(tarball_sha256, dsc_sha256):
    return SourcePackage("p", "1", "p.tar.gz", tarball_sha256, "p.dsc", dsc_sha256)


def test_a_tarball_with_another_digest_is_refused(tmp_path):
    (tmp_path / "p.tar.gz").write_bytes(b"changed")
    (tmp_path / "p.dsc").write_bytes(b"dsc")
    with pytest.raises(FetchError, match=r"p\.tar\.gz has the SHA-256 digest"):
        fetch(package(hashlib.sha256(b"original").hexdigest(), hashlib.sha256(b"dsc").hexdigest()), tmp_path)


def test_downloaded_files_with_the_right_digests_are_not_fetched_again(tmp_path):
    (tmp_path / "p.tar.gz").write_bytes(b"t")
    (tmp_path / "p.dsc").write_bytes(b"d")
    wanted = package(hashlib.sha256(b"t").hexdigest(), hashlib.sha256(b"d").hexdigest())
    assert fetch(wanted, tmp_path) == tmp_path / "p.tar.gz"


def test_both_styles_of_apt_sources_become_entries_for_sources():
    assert (
        _as_source_entries("deb http://mirror.example/debian stable main\n")
        == "deb-src http://mirror.example/debian stable main\n"
    )
    assert _as_source_entries("# deb\nTypes: deb\nSuites: stable\n") == "# deb\nTypes: deb-src\nSuites: stable\n"
