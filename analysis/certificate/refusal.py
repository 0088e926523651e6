"""Why a certificate is not accepted."""

from __future__ import annotations


class RefusedError(Exception):
    """The annotation is no proof, or it could not be checked; the text says where and why."""
