"""The wheel holds what Everproof needs: built from the files of the repository, it is installed elsewhere, and used."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.docs.texts import ROOT, tracked

_PROGRAM = "#include <stdlib.h>\nint first(void)\n{\n\tint *p = malloc(4);\n\t*p = 1;\n\tfree(p);\n\treturn 0;\n}\n"
_TOP = ("pyproject.toml", "README.md", "LICENSE", "NOTICE")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in tracked():
        if name in _TOP or name.startswith(("analysis/", "server/")):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(built), str(source)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, capture_output=True)
    (found,) = built.glob("everproof-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment with the wheel. Libraries are those of this environment, but not its Everproof: an
    editable one is found by a .pth file, and those are read in an environment's own folder only."""
    environment = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    words = ["--python", str(python), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, capture_output=True)
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.parent


def run(program: Path, *words: str, cwd: Path, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([program, *words], cwd=cwd, input=given, capture_output=True, check=False)


def test_it_is_the_wheel_that_is_used(installed: Path, tmp_path: Path) -> None:
    said = run(installed / "python", "-c", "import analysis, server; print(analysis.__file__, server.__file__)", cwd=tmp_path)
    assert said.stdout.decode().count(str(installed.parent)) == 2


def test_a_file_is_checked(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(_PROGRAM)
    words = ["check", "--store", "none", "--engine", "automaton", "--format", "json", "a.c"]
    done = run(installed / "everproof", *words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, b"")
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["rule"], finding["range"]["start"]["line"]) == ("null-dereference", 5)


def test_the_language_server_answers(installed: Path, tmp_path: Path) -> None:
    messages = (
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    )
    bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
    given = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies)
    done = run(installed / "everproof", "serve", cwd=tmp_path, given=given)
    assert b'"capabilities"' in done.stdout
    assert done.returncode == 0


def test_no_tests_and_no_benchmarks_are_in_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"analysis", "server"}
