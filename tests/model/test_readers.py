"""The class: every read of a file of the user's goes through `analysis.model.file_reading`, which a pipe, a device or a huge file
cannot hold up. The other calls that open something are listed here, each with what it opens; a new one has to be looked at."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KNOWN = {
    ("analysis/model/file_reading.py", "open"): "this is the one",
    ("analysis/model/file_reading.py", "os.open"): "this is the one",
    ("analysis/worker/__main__.py", "os.fdopen"): "our own standard input and output",
    ("analysis/worker/__main__.py", "os.open"): "/dev/null",
    ("analysis/worker/reference/task.py", "os.fdopen"): "our own standard output",
    ("analysis/model/collecting.py", "open"): "/proc/self",
    ("analysis/cli/closing.py", "os.open"): "/dev/null",
    ("analysis/cli/closing.py", "os.fdopen"): "/dev/null",
    ("analysis/smt/solving/z3_horn.py", "os.open"): "/dev/null",
    ("server/transport/stdio.py", "os.fdopen"): "our own standard output",
    ("analysis/rules/load.py", "read_bytes"): "the rules that come with Everproof",
    ("analysis/rules/load.py", "read_text"): "the schema that comes with Everproof",
    ("server/transport/class_code.py", "read_bytes"): "what comes with the server",
    ("analysis/session/provers/processes/prover_process.py", "open"): "/proc/self",
    ("analysis/session/provers/cluster/tool_version.py", "read_bytes"): "what comes with Everproof",
    ("server/loop_watch.py", "open"): "/proc/self",
    ("server/process_memory.py", "open"): "/proc",
    ("analysis/cli/output.py", "open"): "writes what --output names",
    ("analysis/cli/handing_over.py", "open"): "writes what the user names",
    ("analysis/worker/auditing/audit_report.py", "open"): "writes a report into the user's cache folder",
    ("analysis/store/store_key.py", "os.fdopen"): "writes the key",
    ("analysis/frontend/compiler/overlay.py", "open"): "writes into our own temporary folder",
    ("analysis/frontend/compiler/overlay.py", "os.open"): "locks our own temporary folder",
    ("analysis/frontend/compiler/confinement.py", "os.open"): "folders, for Landlock",
    ("analysis/frontend/compiler/confinement.py", "open"): "/proc",
    ("analysis/frontend/compiler/stand_ins.py", "open"): "writes into our own temporary folder",
}
_OPENING = {"open", "read_bytes", "read_text", "fdopen"}
_NAMED = re.compile(rf"\b({'|'.join(sorted(_OPENING))})\s*\(")


def _calls(path: Path) -> Counter[str]:
    """The calls in a module that may open a file, by how they are spelled."""
    found, text = Counter[str](), path.read_text("utf-8")
    if not _NAMED.search(text):
        return found  # most modules: to parse them all takes seconds
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(name) if name in _OPENING:
                    found[name] += 1
                case ast.Attribute(ast.Name("os" | "io" as module), name) if name in _OPENING:
                    found[f"{module}.{name}"] += 1
                case ast.Attribute(_, name) if name in _OPENING - {"open"}:
                    found[name] += 1
                case ast.Attribute(ast.Call(ast.Name("Path")), "open"):
                    found["Path.open"] += 1
    return found


def test_nothing_else_opens_files() -> None:
    found = {}
    for package in ("analysis", "server"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for name in _calls(path):
                found[str(path.relative_to(ROOT)), name] = path
    assert len(found) > 10  # it does see them
    assert found.keys() - KNOWN.keys() == set()
    assert KNOWN.keys() - found.keys() == set()
