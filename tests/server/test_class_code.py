"""What a package of the server carries of lsprotocol's classes is what attrs would have made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# what attrs compiles is counted; a class of the protocol is made, compared and shown
_START = """
import builtins, sys
from pathlib import Path
from server.transport import class_code
path = Path(sys.argv[1])
if sys.argv[2] == "write":
    class_code.write(path)
compiled, compile_ = [], builtins.compile
def counted(source, filename, *rest, **more):
    compiled.append(filename)
    return compile_(source, filename, *rest, **more)
builtins.compile = counted
sys.modules.pop("lsprotocol.types", None)
class_code.import_types(class_code.read(path))
from lsprotocol import types
one = types.Position(line=1, character=2)
print(sum("lsprotocol" in name for name in compiled), one, one == types.Position(1, 2), one < types.Position(1, 3))
"""


def _start(path: Path, how: str = "read") -> str:
    return subprocess.run([sys.executable, "-c", _START, str(path), how], capture_output=True, text=True, check=True).stdout


def test_what_is_carried_is_not_compiled(tmp_path: Path) -> None:
    path = tmp_path / "carried"
    assert _start(path, "write") == "0 1:2 True True\n"
    assert _start(path) == "0 1:2 True True\n"


@pytest.mark.parametrize("damage", [None, b"", b"other Python", b"half"])
def test_what_is_not_there_or_damaged_is_compiled(tmp_path: Path, damage: bytes | None) -> None:
    path = tmp_path / "carried"
    if damage == b"half":
        _start(path, "write")
        path.write_bytes(path.read_bytes()[:1000])
    elif damage is not None:
        path.write_bytes(damage)
    compiled, rest = _start(path).split(" ", 1)
    assert int(compiled) > 100
    assert rest == "1:2 True True\n"
