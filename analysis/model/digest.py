"""Content digests: the same content has the same digest in every process and on every machine."""

from __future__ import annotations

import hashlib

import msgspec

_encoder = msgspec.msgpack.Encoder(order="deterministic")


def digest_text(*parts: str | bytes) -> str:
    """A 32-digit hexadecimal digest of the parts, which are kept apart (("ab", "c") is not ("a", "bc"))."""
    hasher = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hasher.update(len(data).to_bytes(8, "little"))
        hasher.update(data)
    return hasher.hexdigest()


def digest_value(value: object) -> str:
    """A digest of a value made of the model's structs, tuples, strings and numbers."""
    try:
        return digest_text(_encoder.encode(value))
    except UnicodeEncodeError:  # a string literal with bytes that are no UTF-8, which are kept as lone surrogates
        return digest_text(repr(value))
