"""Memory that was freed goes back to the system."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
from analysis.model.collecting import Trimmer, _resident
trimmer = Trimmer()
trimmer.trim()
before = _resident()
blocks = [bytes(1000) for _ in range(100_000)]
blocks = blocks[-1:]  # the last one keeps the C library from giving back what is below it
held = _resident()
trimmer.trim()
print(before >> 20, held >> 20, _resident() >> 20)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries give it back by themselves, or cannot")
def test_what_was_freed_below_a_block_in_use_goes_back() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    before, held, after = map(int, ran.stdout.split())
    assert held > before + 80
    assert after < before + 20
