"""What the files of a program held at a reference, where that differs from what they hold on the disk.

What git ignores counts as it is on the disk: it is taken to be generated. A revision is read by
`session.files.git_versions`, which executes nothing that the repository names.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import Limits
from analysis.model.settings import HEAD, MERGE_BASE, REFERENCE_NAMES, SESSION_START
from analysis.session.files.git_versions import SOURCES, GitError, Repository, Stored


class ReferenceTexts(msgspec.Struct, frozen=True):
    """A reference. `texts` are those of files that differ from the disk, or are not there, by absolute path. `stored` are the
    files of a commit, `ignored` those that git ignores. The others are those of `task.ReferenceAnswer`."""

    name: str
    texts: dict[str, str]
    stored: frozenset[str] | None = None
    ignored: Callable[[], frozenset[str]] = frozenset
    watched: tuple[str, ...] = ()
    problem: str = ""

    def was_there(self, path: str) -> bool:
        """Whether a file that is on the disk now is to be taken for one of the reference."""
        real = os.path.realpath(path)
        return self.stored is None or real in self.stored or real in self.ignored()


def read_reference(program: str, reference: str, first: Mapping[str, str]) -> ReferenceTexts:
    """The reference of a setting; the start of the session where there is no such revision. `first` are the texts that files had
    when they were opened first."""
    folder = program if os.path.isdir(program) else os.path.dirname(program)
    if reference in REFERENCE_NAMES:
        return ReferenceTexts(REFERENCE_NAMES[reference], _session_texts(reference, first))
    watched: tuple[str, ...] = (os.path.join(folder, ".git"),)
    try:
        repository = Repository(folder)
    except GitError:
        return _of_session(first, watched)
    try:
        watched = repository.changing_files()
        commit = _commit(repository, reference)
        return _of_commit(repository, commit, folder, reference, watched)
    except GitError as error:
        problem = "" if reference == HEAD else f"Findings are not compared with {reference}: {error}."
        return ReferenceTexts(
            REFERENCE_NAMES[SESSION_START], _session_texts(SESSION_START, first), watched=watched, problem=problem
        )


def _of_session(first: Mapping[str, str], watched: tuple[str, ...], problem: str = "") -> ReferenceTexts:
    texts = _session_texts(SESSION_START, first)
    return ReferenceTexts(REFERENCE_NAMES[SESSION_START], texts, watched=watched, problem=problem)


def _session_texts(reference: str, first: Mapping[str, str]) -> dict[str, str]:
    return {path: text for path, text in first.items() if text != text_on_disk(path)} if reference == SESSION_START else {}


def _commit(repository: Repository, reference: str) -> str:
    head = repository.commit(HEAD)
    if reference == HEAD:
        return head
    return repository.merge_base(head, repository.commit(reference.removeprefix(MERGE_BASE).strip()))


def _of_commit(repository: Repository, commit: str, folder: str, reference: str, watched: tuple[str, ...]) -> ReferenceTexts:
    stored = {os.path.join(repository.top, one.path): one for one in repository.files(commit)}
    differing = [one for path, one in stored.items() if path.endswith(SOURCES) and not _is_as_stored(path, one)]
    texts = {os.path.join(repository.top, path): text for path, text in repository.texts(differing)}

    def ignored() -> frozenset[str]:
        return frozenset(os.path.join(repository.top, path) for path in repository.ignored())

    spelled = {_spelled(path, folder): text.decode("utf-8", "replace") for path, text in texts.items()}
    return ReferenceTexts(reference, spelled, frozenset(stored), _once(ignored), watched)


def _once(made: Callable[[], frozenset[str]]) -> Callable[[], frozenset[str]]:
    """The same, but made only when it is first asked for."""
    known: list[frozenset[str]] = []

    def get() -> frozenset[str]:
        if not known:
            known.append(made())
        return known[0]

    return get


def _is_as_stored(path: str, stored: Stored) -> bool:
    """Whether a file on the disk holds what a commit has of it: git's name for that is a digest of it."""
    try:
        if os.path.islink(path) or os.stat(path).st_size != stored.size:
            return False
        text = read_file(path, Limits().source_bytes)
    except (OSError, UnreadableError):
        return False
    digest = hashlib.sha1 if len(stored.object) == 40 else hashlib.sha256
    return digest(b"blob %d\0" % len(text) + text, usedforsecurity=False).hexdigest() == stored.object


def _spelled(path: str, folder: str) -> str:
    """A path of a repository as the folder's files are spelled, which may be below a symbolic link."""
    relative = os.path.relpath(path, os.path.realpath(folder))
    return path if relative.startswith(os.pardir) else os.path.join(folder, relative)


def program_texts(reference: ReferenceTexts, files: Iterable[str]) -> dict[str, str]:
    """The texts of a reference, and none for those of the present `files` of the program that were not there."""
    texts = dict(reference.texts)
    for path in map(os.path.abspath, files):
        if path not in texts and not reference.was_there(path):
            texts[path] = ""
    return texts


def missing_files(texts: Iterable[str], program: str, is_listed: Callable[[str], bool]) -> Iterator[str]:
    """The C files of the reference that are not on the disk and were a part of the program, as `is_listed` says."""
    inside = os.path.join(program, "")
    for path in texts:
        if path.endswith(".c") and path.startswith(inside) and not os.path.exists(path) and is_listed(path):
            yield path


def text_of(program: str, reference: str, first: Mapping[str, str], path: str) -> tuple[str, str]:
    """What people are told of a reference, and the text of a file there; empty if it was not there."""
    found = read_reference(program, reference, first)
    if path in found.texts:
        return found.name, found.texts[path]
    return found.name, (text_on_disk(path) or "") if found.was_there(path) else ""


def text_on_disk(path: str) -> str | None:
    """What a file on the disk holds; None if it cannot be read."""
    try:
        return read_file(path, Limits().source_bytes).decode("utf-8", "replace")
    except UnreadableError:
        return None
