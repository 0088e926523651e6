"""Unsaved headers for a compiler that reads files: a mirror of the folders they are in.

The mirror is a temporary folder in which `/home/me/p/x.h` is `<root>/home/me/p/x.h`: the unsaved text. Beside it are links to all
else in `/home/me/p`, and to the neighbours of each folder above, so that `#include "y.h"` and `#include "../z.h"` work inside.
The compiler runs in the mirrored folder, with mirrored include folders, and the root is cut out of its line markers.

A header that is reached through a folder that is only linked, as in `sub/../x.h`, is the one on disk. That shows in the line
markers; then the folders of all headers are mirrored, and the compiler is run again (`bypassed`).

Where nothing but `.c` files is unsaved, hardly anybody includes them. The compiler is run without a mirror then, and with one if
its line markers show that it read such a file: to link the neighbours of all folders takes seconds where there are thousands.

The mirror is kept and only brought up to date between runs: that costs one look at each folder. Runs with the same overlay
share it; one with another overlay waits until they are done. It is removed when its process ends; if that was killed, another
process does it, which its lock tells (`flock`, which ends with the process).
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from multiprocessing.util import Finalize

from analysis.model.file_reading import UnreadableError, read_file

_MOST_LINKS = 20_000  # entries of one folder; more are not mirrored
_INCLUDED = re.compile(rb'\n# 1 "([^"\n]*)" 1')
_PREFIX = "everproof-mirror-"
_YOUNG = 60.0  # seconds
_SYSTEM = ("/usr/", "/lib/", "/opt/")


class Mirror:
    """One mirror; safe to use from several threads, not from several processes."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._encoded = os.fsencode(root)
        self._folders: dict[str, int] = {}  # real folders that exist in the mirror, and their times when they were linked
        self._written: dict[str, bytes] = {}
        self._learnt: set[str] = set()  # folders that have to be mirrored, as earlier runs showed
        self._readers = 0
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def holding(self, dirty: Mapping[str, bytes], folders: Sequence[str]) -> Iterator[None]:
        """Keeps the mirror at the texts of the files that differ from the disk while the body runs.

        `folders`: those in which headers are looked for.
        """
        with self._changed:
            wanted = {*(os.path.dirname(path) for path in dirty), *folders, *self._learnt}
            wanted = {os.path.normpath(folder) for folder in wanted if not folder.startswith(_SYSTEM)}
            while self._readers and (dirty != self._written or not wanted <= self._folders.keys()):
                self._changed.wait()
            if not self._readers:
                self._synchronise(dirty, wanted)
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    def inside(self, path: str) -> str:
        """The mirrored folder; the folder itself when it is not mirrored."""
        normal = os.path.normpath(path)
        return self.root + normal if normal in self._folders else path

    def bypassed(self, text: bytes, folder: str) -> bool:
        """Whether a run in the (real) folder read an unsaved file from the disk after all, so that it has to be done again."""
        names = sorted(set(_INCLUDED.findall(text)))
        dirty = {os.path.basename(path) for path in self._written}
        if not any(self._real(name, folder) in self._written for name in names if os.path.basename(os.fsdecode(name)) in dirty):
            return False
        read = (self._real(name, folder) for name in names)
        learnt = {os.path.dirname(path) for path in read if not path.startswith((self.root, *_SYSTEM))} - self._folders.keys()
        self._learnt |= learnt
        return bool(learnt)

    def _real(self, name: bytes, folder: str) -> str:
        """The file that a line marker of a run in the mirrored folder names, links resolved."""
        return os.path.realpath(os.path.join(self.inside(folder), os.fsdecode(name)))

    def strip(self, text: bytes) -> bytes:
        """The text without the root, in line markers and in expansions of `__FILE__`."""
        return text.replace(b'"' + self._encoded + b"/", b'"/')

    def _synchronise(self, dirty: Mapping[str, bytes], wanted: set[str]) -> None:
        for path in [path for path in self._written if path not in dirty]:
            self._restore(path)
        for folder in sorted(wanted | self._folders.keys()):
            self._link(folder)
        for path, text in dirty.items():
            if self._written.get(path) != text:
                self._write(path, text)

    def _link(self, folder: str) -> None:
        """Makes the mirrored folder and, when the real one has changed, its links; the folders above, too."""
        parent = os.path.dirname(folder)
        if parent != folder and parent not in self._folders:
            self._link(parent)
        try:
            changed = os.stat(folder).st_mtime_ns
        except OSError:
            changed = -1  # an unsaved file in a folder that is not there yet
        if self._folders.get(folder) == changed:
            return
        mirrored = self.root + folder
        if os.path.islink(mirrored):
            os.unlink(mirrored)
        os.makedirs(mirrored, exist_ok=True)
        self._folders[folder] = changed
        if changed == -1:
            return
        with contextlib.suppress(OSError):
            there = set(os.listdir(mirrored))
            for name in sorted(os.listdir(folder))[:_MOST_LINKS]:
                if name not in there and not name.startswith(_PREFIX):
                    os.symlink(os.path.join(folder, name), os.path.join(mirrored, name))

    def _write(self, path: str, text: bytes) -> None:
        mirrored = self.root + path
        with contextlib.suppress(OSError):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(mirrored)
            with open(mirrored, "xb") as file:
                file.write(text)
            self._written[path] = text

    def _restore(self, path: str) -> None:
        del self._written[path]
        with contextlib.suppress(OSError):
            os.unlink(self.root + path)
            if os.path.exists(path):
                os.symlink(path, self.root + path)


def unsaved(overlay: Mapping[str, bytes]) -> dict[str, bytes]:
    """The texts that differ from the files on the disk."""
    return {path: text for path, text in overlay.items() if _differs(path, text)}


def are_rarely_included(paths: Iterable[str]) -> bool:
    """Whether all these are files of C, not headers, that are on the disk. Then a compiler that reads none of them there gives
    what it would give with any other text in them."""
    return all(path.endswith(".c") and os.path.exists(path) for path in paths)


def included(text: bytes, folder: str) -> set[str]:
    """The files that the line markers of a run in a folder name, links resolved."""
    return {os.path.realpath(os.path.join(folder, os.fsdecode(name))) for name in _INCLUDED.findall(text)}


def _differs(path: str, text: bytes) -> bool:
    try:
        return os.path.getsize(path) != len(text) or read_file(path, len(text)) != text
    except (OSError, UnreadableError):
        return True


@functools.cache
def _mirror_of(process: int) -> Mirror:
    _remove_left_behind(tempfile.gettempdir())
    folder = os.path.realpath(tempfile.mkdtemp(prefix=_PREFIX))
    _lock(folder)
    root = os.path.join(folder, "root")
    os.mkdir(root)
    Finalize(None, shutil.rmtree, (folder, True), exitpriority=0)  # also at the end of a process of a pool, unlike atexit
    return Mirror(root)


def _lock(folder: str) -> int | None:
    """Locks a mirror for as long as this process lives, whatever ends it. None if another process has it."""
    try:
        lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _remove_left_behind(folder: str) -> None:
    """Removes the mirrors of this user whose processes were killed: each has links to thousands of files."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False) and _is_left_behind(entry):
                lock = _lock(entry.path)
                if lock is not None:
                    shutil.rmtree(entry.path, ignore_errors=True)
                    os.close(lock)


def _is_left_behind(entry: os.DirEntry[str]) -> bool:
    """Whether it is our own, and was not made just now, perhaps without its lock yet."""
    found = entry.stat(follow_symlinks=False)
    return found.st_uid == os.getuid() and time.time() - found.st_mtime > _YOUNG


def shared_mirror() -> Mirror:
    """The mirror of this process; made when first needed, removed when the process ends."""
    return _mirror_of(os.getpid())
