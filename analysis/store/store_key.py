"""The key by which a store's records are known as the user's own: 32 random bytes, in a file that only the user can read.

It is not beside the store. Who can write to a store, or brings one along, does not have the key, and records without it count as
absent. `EVERPROOF_STORE_KEY` in the environment names another file, so that machines that share a store can share the key. It is
made if it is not there; one that is no key is left alone, for it may be something else of the user's.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile

import platformdirs

from analysis.model.file_reading import UnreadableError, read_start

KEY_VARIABLE = "EVERPROOF_STORE_KEY"
_BYTES = 32


def key_path() -> str:
    """The file of the key."""
    folder = platformdirs.user_data_dir("everproof", appauthor=False)
    return os.path.abspath(os.environ.get(KEY_VARIABLE) or os.path.join(folder, "store.key"))


def read_key() -> bytes:
    """The key, made if there is none. Raises OSError with a clause that names the file, if it can neither be read nor made."""
    path = key_path()
    try:
        key = _read(path)
        if key is None and os.path.exists(path):
            key = _read(path)  # another process may have made it just now
            if key is None and os.environ.get(KEY_VARIABLE):
                raise OSError(f"{KEY_VARIABLE} names {path}, which has not {_BYTES} bytes")
        if key is None:
            _make(path)
            key = _read(path)
    except OSError as error:
        raise OSError(f"its key {path} cannot be read or made: {error.strerror}" if error.strerror else str(error)) from error
    if key is None:
        raise OSError(f"its key {path} cannot be made")
    return key


def _read(path: str) -> bytes | None:
    """What is there, None if it is no key."""
    try:
        found = read_start(path, _BYTES + 1)
    except UnreadableError as error:
        if error.missing:
            return None
        raise OSError(f"{path}: {error.reason}") from None
    return found if len(found) == _BYTES else None


def _make(path: str) -> None:
    """Makes the file as a whole. Where another process has made it meanwhile, that one stays."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    number, made = tempfile.mkstemp(dir=os.path.dirname(path), prefix="store.key.")  # only the user can read it
    try:
        with os.fdopen(number, "wb") as file:
            file.write(secrets.token_bytes(_BYTES))
        if not os.path.exists(path):
            _put(made, path)
        elif _read(path) is None:
            os.replace(made, path)  # it is no key
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(made)


def _put(made: str, path: str) -> None:
    try:
        os.link(made, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        os.replace(made, path)
