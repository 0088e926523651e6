"""Opening or checking a folder runs nothing of it.

The class of defects: something that lies in the folder is executed, because flags or settings make a compiler load it,
because a program or a library is looked for in the current folder, or because Python looks for modules there. Each hostile
file here says that it ran, by a file beside the folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.main import main
from analysis.frontend.compiler import confinement
from benchmarks.canary import unconfined
from benchmarks.hostile_flags import has_sung, make_folder

PROGRAM = "#ifdef N\n#endif\nint main(void) { int *p = 0; return *p; }\n"
# names that a program of ours, or Python itself, imports: a module of that name in the current folder must not be it
MODULES = (
    *("analysis", "server", "benchmarks", "z3", "msgspec", "click", "yaml"),
    *("json", "struct", "multiprocessing", "pickle", "tree_sitter", "sitecustomize", "site"),
)  # fmt: skip


def hostile(root: Path, compiler: str) -> Path:
    """A folder whose every file says so when it runs."""
    folder = make_folder(root)
    song = str(root / "sang")
    for name in MODULES:
        module = f"open({song!r}, 'w').close()\n"
        (folder / f"{name}.py").write_text(module)
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "__init__.py").write_text(module)
    for name in ("a.c", "b.c", "@flags.c", "-fplugin=.c"):
        (folder / name).write_text(PROGRAM.replace("main", f"f{ord(name[0])}") if name != "a.c" else PROGRAM)
    said = [
        "-D@flags.txt",
        "-D",
        "@clang.txt",
        "-I@flags.txt",
        "-U@flags.txt",
        "@flags.txt",
        "-fplugin=./payload.so",
        "-B.",
        "-include",
        "@flags.txt",
    ]
    entries = [
        {"directory": str(folder), "file": name, "arguments": [str(folder / "gcc"), *said, name]} for name in ("a.c", "b.c")
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    settings = f'compiler = "{compiler}"\ndefines = ["@flags.txt", "X=1 -fplugin=./payload.so"]\nstandard = "c11 @flags.txt"\n'
    (folder / ".everproof.toml").write_text(settings + 'includeDirs = ["@flags.txt", "-fplugin=./payload.so"]\n')
    rules = folder / ".everproof" / "rules"
    rules.mkdir(parents=True)
    (rules / "evil.yaml").write_text("!!python/object/apply:os.system ['touch " + song + "']\n")
    (folder / "conftest.py").write_text(f"open({song!r}, 'w').close()\n")
    return folder


@pytest.fixture
def in_reach(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The hostile folder as the current one, with PATH and the like that name the current folder, and nothing confined."""
    folder = hostile(tmp_path, "gcc")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", os.pathsep.join((".", "", "bin", os.environ["PATH"])))
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere:")
    monkeypatch.setenv("COMPILER_PATH", ".")
    monkeypatch.setenv("GCC_EXEC_PREFIX", "./")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.setattr(confinement, "start", unconfined)
    return folder


COMMANDS: list[list[str]] = [
    ["check", "."],
    ["check", "a.c"],
    ["check", "-p", "compile_commands.json"],
    ["check", "--", "-fplugin=.c", "@flags.c"],
    ["check", "--compiler", "clang", "-D", "X=@flags.txt", "b.c"],
    ["check", "--certificate", "out.json", "a.c"],
    ["revisions", "a.c", "b.c"],
    ["certify", "compile_commands.json", "a.c"],
    ["rules"],
    ["dump", "cfa", "a.c"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_runs_anything_of_the_folder(in_reach: Path, command: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    main(command)
    assert not has_sung(in_reach), capfd.readouterr()


@pytest.mark.parametrize("command", [["check", "."], ["certify", "compile_commands.json", "a.c"]], ids=" ".join)
def test_nor_does_a_command_of_its_own_process(in_reach: Path, command: list[str]) -> None:
    words = [sys.executable, "-P", "-m", "analysis.cli", *command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert "Traceback" not in done.stderr
    assert not has_sung(in_reach), (done.stdout, done.stderr)


def test_processes_that_read_files_import_nothing_of_the_folder(in_reach: Path) -> None:
    """As in the checker process, which has threads and so starts Python anew for each of them."""
    for number in range(8):
        (in_reach / f"more{number}.c").write_text("int x;\n")
    code = (
        "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "if __name__ == '__main__':\n"
        " from analysis.api import Checker; from analysis.model.options import Options\n"
        " from analysis.session.units.parallel_building import build_many; "
        "from analysis.model.unit_flags import UnitFlags; import glob\n"
        " paths = sorted(glob.glob('more*.c')); flags = dict.fromkeys(paths, UnitFlags())\n"
        " assert len(list(build_many(paths, flags, Options(), {}, 2, None, None))) == 8\n"
    )
    script = in_reach.parent / "script.py"
    script.write_text(code)
    done = subprocess.run([sys.executable, "-P", str(script)], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, has_sung(in_reach)) == (0, False), done.stderr


def test_the_traps_are_set(in_reach: Path) -> None:
    """The control: what lies in the folder does sing when it is asked to."""

    def sings(*words: str, **more: Any) -> bool:
        subprocess.run(words, capture_output=True, check=False, cwd=in_reach, **more)
        return has_sung(in_reach)

    assert sings(sys.executable, "-c", "import analysis")
    assert sings("gcc", "-E", "-D@flags.txt", "-x", "c", "a.c", env={"PATH": "/usr/bin:/bin:/usr/local/bin"})
    assert sings("gcc", "-E", "-x", "c", "a.c")
    assert not sings(sys.executable, "-P", "-c", "import json")
