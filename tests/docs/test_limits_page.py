"""docs/limits.md says what the code does: every limit, its default and its range."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec
import pytest
from msgspec import Meta

from analysis.model import limits
from analysis.model.limits import Limits

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "limits.md").read_text("utf-8")


def _rows(title: str) -> list[list[str]]:
    """The cells of the table below a title."""
    part = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _meta(hint: Any) -> Meta:
    """The range in a type: Annotated[...], perhaps with None."""
    for part in (hint, *get_args(hint)):
        if get_origin(part) is Annotated:
            return next(meta for meta in part.__metadata__ if isinstance(meta, Meta))
    raise AssertionError(f"{hint} has no range")


def _camel(name: str) -> str:
    return re.sub(r"_(.)", lambda match: match.group(1).upper(), name)


def test_every_limit_has_a_range_and_a_row() -> None:
    hints = get_type_hints(Limits, include_extras=True)
    rows = {row[0].strip("`"): row for row in _rows("Limits that can be set")}
    assert rows.keys() == {_camel(field.name) for field in msgspec.structs.fields(Limits)}
    for field in msgspec.structs.fields(Limits):
        meta, row = _meta(hints[field.name]), rows[_camel(field.name)]
        lowest = f"{meta.ge}" if meta.gt is None else f"more than {meta.gt}"
        by = "by size" if field.name == "configurations" else "by budget"
        assert row[1:3] == [by if field.default is None else str(field.default), f"{lowest} to {meta.le}"]
        assert all(row[3:])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, 0, True, "3", 10**30, [], -(10**30), 1e400])
def test_what_is_outside_of_a_range(value: object) -> None:
    for field in msgspec.structs.fields(Limits):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(value, field.type)


def test_the_fixed_limits() -> None:
    rows = {row[0]: int(row[1].split()[0]) for row in _rows("Limits that are fixed")}
    assert rows == {
        "`.everproof.toml`": limits.SETTINGS_BYTES,
        "a compile_commands.json": limits.DATABASE_BYTES,
        "a baseline": limits.BASELINE_BYTES,
        "a certificate": limits.CERTIFICATE_BYTES,
        "a software verification witness": limits.WITNESS_BYTES,
        "a CI's report that an editor opens": limits.SARIF_BYTES,
        "JSON objects in it": limits.SARIF_OBJECTS,
        "findings in it": limits.SARIF_FINDINGS,
        "a file that `everproof cache import` takes in": limits.HANDED_OVER_BYTES,
        "what is in it, unpacked": limits.HANDED_OVER_UNPACKED,
        "the proof of one rule that is kept for the next text, with the functions that it is about": limits.PROOF_BYTES,
        "proofs of earlier texts, and other decisions, in the store": limits.EARLIER_DECISIONS,
        "rule files, or files of contracts, in one folder": limits.RULE_FILES,
        "contracts in one file": limits.CONTRACTS,
        "lists and tables in each other, in such a file": limits.YAML_LEVELS,
        "tokens of one file, its headers with it": limits.TOKENS,
        "records inside records": limits.RECORD_LEVELS,
        "pointers, arrays and functions around each other in a type": limits.TYPE_LEVELS,
        "parts of one type, typedefs written out": limits.TYPE_PARTS,
        "`typeof`, `va_arg`, `offsetof` and `__builtin_types_compatible_p` in each other": limits.OPERAND_LEVELS,
        "the parentheses of one of these": limits.OPERAND_BYTES,
    }
    named = {name for name, value in vars(limits).items() if name.isupper() and isinstance(value, int)}
    assert len(named) == len(rows) + 1  # LONGEST is in the ranges
