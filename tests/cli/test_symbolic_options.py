"""`--symbolic-options`: proofs by symbolic execution with chosen operators, and words that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.main import main

_BRANCHES = " ".join(f"if (__VERIFIER_nondet_int()) n = n + {1 << bit};" for bit in range(6))
PROGRAM = f"""extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
int main(void) {{ int a = __VERIFIER_nondet_int(), n = 0; if (a) return 0; {_BRANCHES} if (a) reach_error(); return n; }}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.c").write_text(PROGRAM)


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["check", "--rule", "assertion", "--store", "none", *words, "p.c"])
    out, err = capsys.readouterr()
    return code, out, err


def document(capsys: pytest.CaptureFixture[str], operators: str) -> Any:
    _, out, _ = asked(capsys, "--engine", "symbolic", "--symbolic-options", operators, "--format", "json")
    return json.loads(out)


@pytest.mark.full_budget
def test_operators_decide_what_a_proof_takes(capsys: pytest.CaptureFixture[str]) -> None:
    everything, needed = (document(capsys, operators) for operators in ("refine=none", "refine=predicates"))
    for report in (everything, needed):
        (verdict,) = (one["verdicts"]["assertion"] for one in report["functions"])
        assert (verdict["verdict"], verdict["engine"]) == ("safe", "symbolic")
    states = [report["work"]["abstract_states"]["recomputed"] for report in (everything, needed)]
    assert states[0] > 3 * states[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--symbolic-options", "merge=join"), "--symbolic-options is about --engine symbolic: use them together."),
        (("--engine", "symbolic", "--symbolic-options", "merge=all"), "merge cannot be all: it is one of sep, join."),
        (("--engine", "symbolic", "--symbolic-options", "=join"), "There is no operator without a name"),
        (("--engine", "symbolic", "--symbolic-options", ""), "There is no operator without a name"),
    ],
)
def test_what_cannot_be_used_is_said(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = asked(capsys, *words)
    assert (code, out) == (2, "")
    assert said in err
