"""What a message from the client is, before anybody looks at its parameters: JSON-RPC 2.0 as LSP
3.17 uses it.

    a request        id (a string or an integer) and method     answered once, whatever is wrong with it
    a notification   method, no id                              never answered
    a response       id and result or error, no method          never answered
    anything else                                               answered with an error, whose id is null if there is none to use

Batches are not part of LSP: what in one expects an answer is refused. Text with half of a surrogate
pair, which JavaScript can send, gets U+FFFD in its place: it has the same length in UTF-16, and can
be written down.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
CANCELLED = -32800

Id = str | int

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class Request(NamedTuple):
    """Wants an answer. `message` is all of it."""

    id: Id
    method: str
    message: dict[str, Any]


class Notification(NamedTuple):
    """Wants none."""

    method: str
    message: dict[str, Any]


class Response(NamedTuple):
    """Is one."""

    id: Id
    message: dict[str, Any]


class Wrong(NamedTuple):
    """Is no message; the error to answer with."""

    id: str | int | float | None
    code: int
    text: str


Message = Request | Notification | Response | Wrong


def messages_in(body: bytes) -> list[Message]:
    """What was sent in one frame."""
    try:
        found = json.loads(body.decode())
        if _SURROGATE.search(body):
            found = _whole(found)
    except (ValueError, RecursionError) as error:
        return [Wrong(None, PARSE_ERROR, f"This is not JSON: {error}")]
    if isinstance(found, list):
        wanted = [item for item in found if not isinstance(item, dict) or "method" not in item or "id" in item]
        ids = [_id_to_name(item) for item in wanted] or [None]
        return [Wrong(id_, INVALID_REQUEST, "LSP has no batches of messages.") for id_ in ids]
    return [message_of(found)]


def message_of(found: Any) -> Message:
    """What a JSON value is."""
    if not isinstance(found, dict):
        return Wrong(None, INVALID_REQUEST, "A message is an object.")
    wrong = _what_is_wrong(found)
    if wrong is not None:
        return Wrong(_id_to_name(found), INVALID_REQUEST, wrong)
    if "method" not in found:
        return Response(found["id"], found)
    if "id" in found:
        return Request(found["id"], found["method"], found)
    return Notification(found["method"], found)


def is_id(value: object) -> bool:
    """Whether a request may have it."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def _what_is_wrong(found: dict[str, Any]) -> str | None:
    if found.get("jsonrpc") != "2.0":
        return 'A message has "jsonrpc": "2.0".'
    if "method" in found and not isinstance(found["method"], str):
        return "A method is a string."
    if "method" not in found and not ("id" in found and ("result" in found or "error" in found)):
        return "A message has a method, a result or an error."
    if "id" in found and not is_id(found["id"]):
        return "An id is a string or an integer."
    return None


def _id_to_name(found: Any) -> str | int | float | None:
    """The id to answer to something that is wrong."""
    value = found.get("id") if isinstance(found, dict) else None
    return value if isinstance(value, str | int | float) and not isinstance(value, bool) else None


def _whole(value: Any) -> Any:
    """The value without halves of surrogate pairs."""
    match value:
        case str():
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case list():
            return [_whole(item) for item in value]
        case dict():
            return {_whole(key): _whole(item) for key, item in value.items()}
    return value
