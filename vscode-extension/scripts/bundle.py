"""Puts the Python part of the extension into `bundled/`: `python scripts/bundle.py [--target linux-x64]`.

Always: the project's wheel, and `requirements.txt`, the runtime part of the project's requirements.lock with its hashes. With a
target, `libs` too: the wheel and all dependencies, unpacked, for every Python of `PYTHONS` side by side. That works because
compiled modules have the Python's version in their names, and the rest is the same. `manifest.json` says what is there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

EXTENSION = Path(__file__).resolve().parents[1]
PROJECT = EXTENSION.parent
BUNDLED = EXTENSION / "bundled"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = {  # wheel tags that a VS Code target can use, the newest first
    "linux-x64": (
        "manylinux_2_28_x86_64",
        "manylinux_2_27_x86_64",
        "manylinux_2_17_x86_64",
        "manylinux2014_x86_64",
        "linux_x86_64",
    ),
    "linux-arm64": ("manylinux_2_34_aarch64", "manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    "darwin-arm64": ("macosx_15_0_arm64", "macosx_13_0_arm64", "macosx_11_0_arm64"),
    "darwin-x64": (
        "macosx_15_0_x86_64",
        "macosx_13_0_x86_64",
        "macosx_10_13_x86_64",
        "macosx_10_12_x86_64",
        "macosx_10_9_x86_64",
    ),
    "win32-x64": ("win_amd64",),
}
_PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s\\]+)")
_UNUSED = re.compile(r"(^|/)(tests?|include)/|/libz3\.so\.|\.pyi$|\.data/(scripts|data|headers)/")  # not needed to run


def main() -> int:
    """Writes `bundled/` anew."""
    parser = argparse.ArgumentParser(description="Put the Python part of the extension into bundled/.")
    parser.add_argument("--target", choices=sorted(PLATFORMS), help="carry the dependencies for this platform")
    target = parser.parse_args().target
    shutil.rmtree(BUNDLED, ignore_errors=True)
    BUNDLED.mkdir()
    wheel = _project_wheel()
    requirements = _runtime_part((PROJECT / "requirements.lock").read_text(encoding="utf-8"))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (BUNDLED / "requirements.txt").write_text(requirements, encoding="utf-8")
    pythons = _unpack_all(wheel, target) if target is not None else []
    manifest = {
        "version": wheel.name.split("-")[1],
        "wheel": wheel.name,
        "sha256": digest,
        "platform": target,
        "pythons": pythons,
    }
    (BUNDLED / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return 0


def _project_wheel() -> Path:
    # what setuptools left of an earlier build would get into the wheel: it is made from a copy of the sources
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        for name in ("analysis", "server"):
            shutil.copytree(PROJECT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
            shutil.copy(PROJECT / name, source / name)
        if not _pip("wheel", "--no-deps", *_isolation(), "--wheel-dir", str(BUNDLED), str(source)):
            raise SystemExit("the project's wheel could not be built")
    (wheel,) = BUNDLED.glob("everproof-*.whl")
    return wheel


def _isolation() -> list[str]:
    """The project's environment has the pinned setuptools; elsewhere pip fetches one."""
    return ["--no-build-isolation"] if Path(sys.prefix) == PROJECT / ".venv" else []


def _runtime_part(lock: str) -> str:
    """The pins of the lock that the project's own dependencies lead to, as they are there, with their hashes."""
    with open(PROJECT / "pyproject.toml", "rb") as file:
        wanted = {_name(requirement) for requirement in tomllib.load(file)["project"]["dependencies"]}
    blocks = {match.group(1): block for block in re.split(r"\n(?=\S)", lock) if (match := _PIN.match(block))}
    asked_by = {name: set(re.findall(r"^    #(?: via)? +(\S+)", block, re.MULTILINE)) for name, block in blocks.items()}
    while more := {name for name, by in asked_by.items() if by & wanted} - wanted:
        wanted |= more
    missing = wanted - blocks.keys()
    if missing:
        raise SystemExit(f"not in requirements.lock: {', '.join(sorted(missing))}: run `make lock`")
    return "".join(blocks[name].rstrip() + "\n" for name in sorted(wanted))


def _name(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match is not None
    return match.group().lower().replace("_", "-")


def _unpack_all(wheel: Path, target: str) -> list[str]:
    """Unpacks everything for each Python that all dependencies have wheels for; answers which these are."""
    libs = BUNDLED / "libs"
    libs.mkdir()
    _unpack(wheel, libs)
    carried = []
    for version in PYTHONS:
        with tempfile.TemporaryDirectory() as folder:
            if _download(version, target, folder):
                carried.append(version)
                for path in sorted(Path(folder).glob("*.whl")):
                    _unpack(path, libs)
            else:
                print(f"Python {version} is left out: not every dependency has a wheel for it on {target}")
    if not carried:
        raise SystemExit(f"there is no Python that all dependencies have wheels for on {target}")
    _compile(libs, carried)
    return carried


def _compile(libs: Path, carried: list[str]) -> None:
    """Byte code for the Python that runs this: the first start then is as fast as the others. It is not compared with the
    sources, whose times an installation changes."""
    if f"{sys.version_info.major}.{sys.version_info.minor}" in carried:
        command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", str(libs)]
        subprocess.run(command, check=True)
        carry = f"import sys; sys.path.insert(0, {str(libs)!r}); from server.transport import class_code; class_code.write()"
        subprocess.run([sys.executable, "-I", "-S", "-c", carry], check=True)


def _download(version: str, target: str, folder: str) -> bool:
    abis = ("--abi", f"cp{version.replace('.', '')}", "--abi", "abi3", "--abi", "none")
    platforms = [option for tag in PLATFORMS[target] for option in ("--platform", tag)]
    fixed = ("--require-hashes", "--only-binary", ":all:", "--no-deps", "--implementation", "cp")
    where = ("--python-version", version, *platforms, *abis, "--dest", folder)
    return _pip("download", *fixed, *where, "--requirement", str(BUNDLED / "requirements.txt"))


def _unpack(wheel: Path, libs: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            if info.is_dir() or _UNUSED.search(info.filename):
                continue
            path = libs / re.sub(r"^[^/]+\.data/(purelib|platlib)/", "", info.filename)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(info))


def _pip(*arguments: str) -> bool:
    command = [sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
