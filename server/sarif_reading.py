"""Reads the findings that a run of Everproof elsewhere, such as a CI's, has written as SARIF 2.1.0 [SARIF].

The file is data of whoever wrote it: its size, its objects and its findings are bounded, only the fields below are decoded,
into these types and no others, and a path in it leads nowhere outside of the workspace (`ci_findings`). Tests:
tests/server/test_sarif_reading.py.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import SARIF_BYTES, SARIF_FINDINGS, SARIF_OBJECTS
from analysis.model.report import FINGERPRINT_NAME

_TOOL = "everproof"
_MOST_CHARACTERS = 2_000  # of a message
_Number = Annotated[int, Meta(ge=1, le=100_000_000)]


class SarifError(Exception):
    """A file that is of no use; the text is one clear sentence."""


class CiFinding(msgspec.Struct, frozen=True):
    """A finding as the file has it. `uri` is that of its file, often relative to the top of the project; lines and columns count
    from 1."""

    rule: str
    message: str
    uri: str
    start: tuple[int, int]
    end: tuple[int, int]
    fingerprint: str


class _Struct(msgspec.Struct, rename="camel"):
    """Fields as SARIF spells them; others are passed over."""


class _Text(_Struct):
    text: str = ""


class _Artifact(_Struct):
    uri: str = ""


class _Region(_Struct):
    start_line: _Number = 1
    start_column: _Number = 1
    end_line: _Number | None = None
    end_column: _Number | None = None


class _Physical(_Struct):
    artifact_location: _Artifact | None = None
    region: _Region | None = None


class _Location(_Struct):
    physical_location: _Physical | None = None


class _Fingerprints(_Struct):
    ours: str | None = msgspec.field(name=FINGERPRINT_NAME, default=None)


class _Result(_Struct):
    rule_id: str = ""
    message: _Text = msgspec.field(default_factory=_Text)
    locations: list[_Location] = []
    partial_fingerprints: _Fingerprints = msgspec.field(default_factory=_Fingerprints)
    baseline_state: str = ""
    suppressions: list[_Struct] = []


class _Driver(_Struct):
    name: str = ""


class _Tool(_Struct):
    driver: _Driver


class _Run(_Struct):
    tool: _Tool
    results: list[_Result] | None = None


class _Log(_Struct):
    version: str
    runs: list[_Run]


_decoder = msgspec.json.Decoder(_Log)


def read_sarif(path: str) -> tuple[CiFinding, ...]:
    """The findings in a file that are neither suppressed nor gone since its baseline, each once; raises SarifError."""
    try:
        data = read_file(path, SARIF_BYTES)
        if data.count(b"{") > SARIF_OBJECTS:  # each takes a hundred times the memory that it takes in the file
            raise SarifError(f"{path} is not read: it has more than {SARIF_OBJECTS:,} objects.")
        log = _decoder.decode(data)
    except UnreadableError as error:
        raise SarifError(f"{path} cannot be read: {error.reason}.") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SarifError(f"{path} is not SARIF 2.1.0: {error}.") from None
    except RecursionError:
        raise SarifError(f"{path} is not read: it is nested too deeply.") from None
    if log.version != "2.1.0":
        raise SarifError(f"{path} has version {log.version[:20]!r} of SARIF; only 2.1.0 is read.")
    runs = [run for run in log.runs if run.tool.driver.name == _TOOL]
    if not runs:
        raise SarifError(f"{path} has no run of Everproof: write it with `everproof check --format sarif`.")
    results = [result for run in runs for result in run.results or ()]
    if len(results) > SARIF_FINDINGS:
        raise SarifError(f"{path} is not read: it has more than {SARIF_FINDINGS:,} findings.")
    found = (_finding(one) for one in results if one.baseline_state != "absent" and not one.suppressions)
    return tuple({one.fingerprint: one for one in found if one is not None}.values())


def _finding(result: _Result) -> CiFinding | None:
    """A finding with a place and a fingerprint; None of what has none."""
    fingerprint = result.partial_fingerprints.ours
    physical = result.locations[0].physical_location if result.locations else None
    if fingerprint is None or physical is None or physical.artifact_location is None:
        return None
    region = physical.region or _Region()
    start = region.start_line, region.start_column
    end = region.end_line or region.start_line, region.end_column or region.start_column
    return CiFinding(
        result.rule_id,
        result.message.text[:_MOST_CHARACTERS],
        physical.artifact_location.uri,
        start,
        max(start, end),
        fingerprint,
    )
