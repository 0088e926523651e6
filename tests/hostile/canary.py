"""What a folder can hold that runs when somebody looks at it the wrong way: programs under the names of tools, modules under the
names of libraries, hooks, settings. Each would leave a mark, the *canary*, when it is run or imported."""

from __future__ import annotations

from pathlib import Path

_PROGRAMS = [
    "gcc",
    "cc",
    "clang",
    "cpp",
    "as",
    "ld",
    "cc1",
    "collect2",
    "python",
    "python3",
    "git",
    "sh",
    "make",
    "bison",
    "uname",
    "ldconfig",
    "everproof",
    "pip",
    "node",
]
_MODULES = [
    "sitecustomize",
    "usercustomize",
    "conftest",
    "everproof",
    "analysis",
    "server",
    "yaml",
    "click",
    "msgspec",
    "rich",
    "pygls",
    "z3",
    "tree_sitter",
    "watchfiles",
    "jsonschema",
    "json",
    "typing",
    "encodings",
    "multiprocessing",
    "concurrent",
    "ctypes",
    "sqlite3",
    "tomllib",
]
_PACKAGES = {"analysis": "worker", "server": "app", "multiprocessing": "spawn", "concurrent": "futures"}


def plant(folder: Path, mark: Path) -> None:
    """Puts all of it into a folder; whatever runs makes the file `mark`."""
    shell = f"#!/bin/sh\ntouch '{mark}'\nexit 0\n"
    python = f"open({str(mark)!r}, 'w').close()\n"
    for where in (folder, folder / "bin", folder / ".venv" / "bin", folder / "node_modules" / ".bin"):
        where.mkdir(parents=True, exist_ok=True)
        for name in _PROGRAMS:
            if not (where / name).is_dir():
                (where / name).write_text(shell)
                (where / name).chmod(0o755)
    for name in _MODULES:
        if name in _PACKAGES:
            (folder / name).mkdir(exist_ok=True)
            (folder / name / "__init__.py").write_text(python)
            (folder / name / "__main__.py").write_text(python)
            (folder / name / f"{_PACKAGES[name]}.py").write_text(python)
        else:
            (folder / f"{name}.py").write_text(python)
    packages = folder / ".venv" / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "run.pth").write_text(f"import os; {python}")
    (folder / "run.pth").write_text(f"import os; {python}")
    (folder / "pyvenv.cfg").write_text("home = .\n")
    hooks = folder / ".git" / "hooks"
    hooks.mkdir(parents=True)
    for name in ("pre-commit", "post-checkout", "fsmonitor-watchman"):
        (hooks / name).write_text(shell)
        (hooks / name).chmod(0o755)
    (folder / ".git" / "config").write_text(f"[core]\n\tfsmonitor = touch '{mark}'\n\tpager = touch '{mark}'\n")
    (folder / ".envrc").write_text(f"touch '{mark}'\n")
    (folder / "Makefile").write_text(f"$(shell touch '{mark}')\nall:\n\ttouch '{mark}'\n")
    (folder / ".vscode").mkdir()
    (folder / ".vscode" / "settings.json").write_text('{"everproof.server.command": ["./sh"], "everproof.compiler": "./gcc"}\n')
    (folder / "specs").write_text(f"*cpp:\n%:getenv(HOME {mark})\n")
    (folder / ".clang").write_text("-load ./payload.so\n")


def contents(folder: Path) -> dict[str, tuple[int, int, int]]:
    """What a folder holds, links not followed: type and mode, size and time of change of each entry, by path."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        found[str(path.relative_to(folder))] = status.st_mode, status.st_size, status.st_mtime_ns
    return found
