"""The rules' pages are generated from the rule files, and are up to date."""

import subprocess
import sys
from pathlib import Path

GENERATE = Path(__file__).resolve().parents[2] / "docs" / "generate.py"


def test_the_pages_of_the_rules_are_what_the_rule_files_say():
    done = subprocess.run([sys.executable, str(GENERATE), "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
