"""Fetches Debian source packages with apt and trusts nothing but their digests.

The mirror is the one the machine's own apt configuration names: its entries are copied into a private configuration in
the cache folder with `deb` turned into `deb-src`, so nothing outside the cache is written and no root is needed.
"""

import hashlib
import re
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

_APT_SOURCES = Path("/etc/apt")


class FetchError(Exception):
    """A program could not be fetched or prepared; the message says what to do about it."""


@dataclass(frozen=True)
class SourcePackage:
    """One Debian source package, and the SHA-256 digests of the two files of it that we use."""

    name: str
    version: str
    tarball: str
    tarball_sha256: str
    dsc: str
    dsc_sha256: str


def fetch(package: SourcePackage, downloads: Path) -> Path:
    """The verified upstream tarball of `package` in `downloads`; downloaded if it is not there yet.

    Raises FetchError where apt cannot provide it or a digest differs.
    """
    downloads.mkdir(parents=True, exist_ok=True)
    wanted = {package.tarball: package.tarball_sha256, package.dsc: package.dsc_sha256}
    if not all((downloads / name).is_file() for name in wanted):
        _download(package, downloads)
    for name, digest in wanted.items():
        verify(downloads / name, digest)
    return downloads / package.tarball


def unpacked(tarball: Path, root: Path) -> Path:
    """The folder that a tarball has at its top, unpacked into `source` in a folder that is made anew."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    with tarfile.open(tarball) as archive:
        archive.extractall(root / "source", filter="data")
    found = list((root / "source").iterdir())
    return found[0] if len(found) == 1 else root / "source"


def verify(path: Path, digest: str) -> None:
    """Raises FetchError unless the file is there and has this SHA-256 digest."""
    if not path.is_file():
        raise FetchError(f"there is no {path.name}; fetch it yourself, put it into {path.parent} and try again.")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != digest:
        raise FetchError(f"{path} has the SHA-256 digest {found}, expected {digest}. Delete it and try again.")


def _download(package: SourcePackage, downloads: Path) -> None:
    if shutil.which("apt-get") is None:
        raise FetchError(
            f"apt-get is missing. Put {package.tarball} and {package.dsc} (Debian source package {package.name} "
            f"{package.version}) into {downloads} and try again."
        )
    options = _private_apt(downloads / "apt")
    _run(["apt-get", *options, "-qq", "update"], downloads)
    _run(["apt-get", *options, "-qq", "source", "--download-only", f"{package.name}={package.version}"], downloads)


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()[-3:]
        raise FetchError(f"`{command[0]} ... {' '.join(command[-2:])}` failed: {' '.join(said)}. Debian 12 sources are needed.")


def _private_apt(root: Path) -> list[str]:
    """The options that make apt-get read the private configuration below `root`, which is written here."""
    parts = root / "sources.list.d"
    for folder in (parts, root / "lists" / "partial", root / "archives" / "partial"):
        folder.mkdir(parents=True, exist_ok=True)
    candidates = [_APT_SOURCES / "sources.list", *sorted((_APT_SOURCES / "sources.list.d").glob("*"))]
    for index, path in enumerate(candidates):
        if path.suffix in (".list", ".sources") and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            (parts / f"{index}{path.suffix}").write_text(_as_source_entries(text), encoding="utf-8")
    settings = {
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": parts,
        "Dir::State::lists": root / "lists",
        "Dir::Cache::archives": root / "archives",
        "Dir::Cache::pkgcache": "",
        "Dir::Cache::srcpkgcache": "",
    }
    return [argument for key, value in settings.items() for argument in ("-o", f"{key}={value}")]


def _as_source_entries(text: str) -> str:
    """An apt sources file, one-line or deb822 style, that offers the source packages of what the given one offers."""
    text = re.sub(r"(?m)^deb(?=\s)", "deb-src", text)
    return re.sub(r"(?m)^Types:.*$", "Types: deb-src", text)
