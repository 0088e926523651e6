"""The one model of what is known and what is being done, told by `everproof/status`; lenses and hovers say the same.

A verdict is never shown as current when the text it is about has changed, and a function that nothing is known of is
`unknown` with a reason.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from lsprotocol import types

from analysis.wire import CheckDone
from server.convert import Converter, overall, stale_reason
from server.documents import Document
from server.results import FileState, Results

METHOD = "everproof/status"
State = Literal["checking", "idle", "failed"]


def payload(document: Document, state: State, results: Results, converter: Converter, message: str | None) -> dict[str, Any]:
    """The parameters of the notification for one document. `message` says more about the state, where there is more to say."""
    known = results.state(document.file_path)
    return {
        "uri": document.uri,
        "version": document.current_version,
        "state": state,
        "message": message,
        "functions": _functions(known, converter) if known is not None else [],
    }


def _functions(known: FileState, converter: Converter) -> list[dict[str, Any]]:
    functions = []
    for function in known.functions:
        if function.place.path != known.path:
            continue
        verdict, reason = overall(function)
        stale = stale_reason(known, function)
        functions.append(
            {
                "name": function.name,
                "range": converter.range(function.place),
                "verdict": verdict,
                "stale": stale is not None,
                "reason": stale if stale is not None and reason is None else reason,
            }
        )
    return functions


def times(done: CheckDone | None) -> dict[str, float] | None:
    """The milliseconds of the last complete check, by stage. They go with a status, and are no news by themselves."""
    return None if done is None else {stage: round(ms, 3) for stage, ms in msgspec.structs.asdict(done.times).items()}


def plain(value: Any) -> Any:
    """The parameters as plain JSON values, to compare what is to be said with what was said last."""
    match value:
        case types.Range():
            return {"start": plain(value.start), "end": plain(value.end)}
        case types.Position():
            return {"line": value.line, "character": value.character}
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list():
            return [plain(item) for item in value]
        case _:
            return value
