"""Content digests: the same content has the same digest in every process and on every machine."""

from __future__ import annotations

import hashlib

import msgspec

_encoder = msgspec.msgpack.Encoder(order="deterministic")
_encoder_of_builtins = msgspec.msgpack.Encoder()
_WIDE = 1


def digest_text(*parts: str | bytes) -> str:
    """A 32-digit hexadecimal digest of the parts, which are kept apart (("ab", "c") is not ("a", "bc"))."""
    hasher = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hasher.update(len(data).to_bytes(8, "little"))
        hasher.update(data)
    return hasher.hexdigest()


def encoded(value: object) -> bytes:
    """A value made of the model's structs, tuples, strings and numbers as MessagePack. Integers beyond 64 bits, as constants of
    `__int128` can be, are an extension type. Raises UnicodeEncodeError for lone surrogates."""
    try:
        return _encoder.encode(value)
    except OverflowError:
        return _encoder_of_builtins.encode(_narrowed(msgspec.to_builtins(value, order="deterministic")))


def _narrowed(value: object) -> object:
    """Built-in values in which an extension stands for each integer beyond 64 bits."""
    match value:
        case dict():
            return {_narrowed(key): _narrowed(of) for key, of in value.items()}
        case list() | tuple():
            return [_narrowed(part) for part in value]
        case int() if not -(1 << 63) <= value < 1 << 64:
            return msgspec.msgpack.Ext(_WIDE, str(value).encode())
        case _:
            return value


def digest_value(value: object) -> str:
    """A digest of a value made of the model's structs, tuples, strings and numbers."""
    try:
        return digest_text(encoded(value))
    except UnicodeEncodeError:  # a string literal with bytes that are no UTF-8, which are kept as lone surrogates
        return digest_text(repr(value))
