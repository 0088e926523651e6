"""What contracts prove of a program in this process, with or without what is known of the one before."""

from __future__ import annotations

from copy import copy

import pytest

from analysis.certificate.pointed import whole_program
from analysis.cfa.graph import Program
from analysis.cpa.framework.algorithm import Cancellation
from analysis.session.portfolio import contract_proofs, range_proofs
from analysis.session.portfolio.contract_proofs import OfFunction
from analysis.session.portfolio.kept_data import KeptData
from analysis.session.portfolio.request import Request
from analysis.session.portfolio.request_terms import About

_RULES = tuple(sorted({*contract_proofs.OF_BLOCKS, *contract_proofs.OF_VALUES, *range_proofs.RULES}))


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgets what is known of the last program."""
    monkeypatch.setattr(contract_proofs, "_last_blocks", None)
    monkeypatch.setattr(contract_proofs, "_last_values", {})
    monkeypatch.setattr(contract_proofs, "HERE", KeptData())
    monkeypatch.setattr(range_proofs, "_last", None)
    monkeypatch.setattr(whole_program, "_last", [])


def from_nothing(program: Program) -> list[OfFunction]:
    """What is answered where nothing is known of another program, nor of this one."""
    with pytest.MonkeyPatch.context() as patch:
        forget(patch)
        return answers(copy(program))


def answers(program: Program) -> list[OfFunction]:
    """What is answered about all rules that contracts prove."""
    entries = ("main",) if "main" in program.functions else ()
    return list(contract_proofs.prove(Request(program, entries, About("contracts", _RULES)), 1000.0, Cancellation()))
