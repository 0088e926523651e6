"""The versions of a program on the disk, and one version as an edit of another.

A checker reuses work of a file only under the path that the file had before. So the first version keeps its paths, and the files
of a later one are given to the checker as unsaved texts of their counterparts in the first: of a folder, the file with the same
path below it; of a single file, the file itself, whatever its name. What the checker reports is renamed afterwards.

That is only the same program if the compiler would find the same headers at the other place. Where it might not, or where
files are new or gone, `edits` says why the version cannot be had in this way; it is then checked at its own place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

import msgspec

from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.places import Place
from analysis.model.report import Report
from analysis.session.files.program_files import ProgramFiles, find_program

_ITSELF = ""  # the key of the file that is the version
_SUFFIXES = (".c", ".h", ".i", ".inc", ".def")
_MOST_FILES = 50_000
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>|(\w))', re.MULTILINE)


class Version(msgspec.Struct, frozen=True):
    """A version: its name as the user gave it, its folder, and the texts in it that can matter.

    `paths` and `texts` are absolute paths and contents by key: the path relative to `root`, or `_ITSELF`. `outside` are
    headers, by path relative to `root`, that are outside of it or not found there. `unclear`: why the headers are not known.
    """

    name: str
    root: str
    program: ProgramFiles
    paths: dict[str, str]
    texts: dict[str, bytes]
    outside: tuple[str, ...]
    unclear: str | None

    @property
    def files(self) -> tuple[str, ...]:
        """The keys of the C files of the program."""
        keys = {path: key for key, path in self.paths.items()}
        return tuple(keys.get(os.path.abspath(file), file) for file in self.program.files)

    def spelled(self, key: str) -> str:
        """The path of a file or header as a report on this version spells it."""
        path = self.paths[key]
        given = {os.path.abspath(file): file for file in self.program.files}.get(path)
        if given is not None:
            return given
        relative = os.path.relpath(path)
        return path if os.path.isabs(self.name) or relative.startswith(os.pardir) else relative


def read_version(name: str, options: Options) -> Version:
    """The version that a file or folder is."""
    program = find_program((name,), options)
    if os.path.isdir(name):
        root = os.path.abspath(name)
        reader = _Reader(root, dict(_below(root)))
        reader.read(key for key in sorted(reader.known) if key.endswith(_SUFFIXES))
    else:
        root = os.path.dirname(os.path.abspath(name))
        reader = _Reader(root, {_ITSELF: os.path.abspath(name)})
        reader.read([_ITSELF])
    paths = {key: reader.known[key] for key in reader.texts}
    return Version(name, root, program, paths, reader.texts, tuple(sorted(reader.outside)), reader.unclear)


def edits(base: Version, version: Version) -> dict[str, str] | str:
    """The unsaved texts, by absolute path, by which a checker of `base` checks `version`; a sentence why there are none."""
    why = _why_apart(base, version)
    if why is not None:
        return why
    changes: dict[str, str] = {}
    for key, text in version.texts.items():
        path = _counterpart(base, key)
        if path == version.paths[key] or text == base.texts.get(key):
            continue
        try:
            changes[path] = text.decode()
        except UnicodeDecodeError:
            return f"{version.spelled(key)} is not in UTF-8"
    return changes


def renamed(report: Report, base: Version, version: Version) -> Report:
    """A report on `version` that was made at the paths of `base`, with the paths of `version`."""
    names = {_counterpart(base, key): version.spelled(key) for key in version.texts}
    said = {base.spelled(key): version.spelled(key) for key in base.files if key in version.texts}

    def path(given: str) -> str:
        return names.get(os.path.abspath(given), given) if given else given

    def place(at: Place) -> Place:
        return msgspec.structs.replace(at, path=path(at.path))

    replace = msgspec.structs.replace
    return replace(
        report,
        files=tuple(replace(file, path=path(file.path)) for file in report.files),
        functions=tuple(replace(function, place=place(function.place)) for function in report.functions),
        findings=tuple(
            replace(f, place=place(f.place), trace=tuple(replace(step, place=place(step.place)) for step in f.trace))
            for f in report.findings
        ),
        messages=tuple(replace(m, path=path(m.path), text=_said(m.text, said)) for m in report.messages),
    )


def _said(text: str, names: Mapping[str, str]) -> str:
    if not any(name in text for name in names):
        return text
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w./-])(?:{pattern})(?![\w/-])", lambda match: names[match.group()], text)


def _counterpart(base: Version, key: str) -> str:
    return base.paths.get(key) or os.path.join(base.root, key)


def _why_apart(base: Version, version: Version) -> str | None:
    """Why a version is no edit of another one, None if it is one."""
    if base.program.messages != version.program.messages:
        return "not all of its files can be used"
    if os.path.isdir(base.name) != os.path.isdir(version.name):
        return "a file is followed by a folder, or a folder by a file"
    if problem := base.unclear or version.unclear:
        return problem
    if base.files != version.files:
        differ = sorted(set(base.files) ^ set(version.files))
        return f"{differ[0]} is new or gone" if differ else "its files are in another order"
    if base.root == version.root:
        own = base.paths.get(_ITSELF)  # the compiler would read the other version's text in its place
        return "a version includes another one" if own != version.paths.get(_ITSELF) and _includes(own, version) else None
    if os.path.isdir(base.name):
        gone = sorted(base.texts.keys() - version.texts.keys())
        if gone:
            return f"{gone[0]} is gone"
    for key in version.outside:
        here, there = os.path.join(base.root, key), os.path.join(version.root, key)
        if (os.path.exists(here) or os.path.exists(there)) and os.path.realpath(here) != os.path.realpath(there):
            return f"it includes {key}, which is not part of the version"
    return _flags_apart(base, version)


def _includes(path: str | None, version: Version) -> bool:
    return path is not None and path in (version.paths[key] for key in version.texts)


def _flags_apart(base: Version, version: Version) -> str | None:
    """Why the compiler flags of two versions do not correspond."""
    pattern = re.compile(re.escape(version.root) + r"(?=/|$)")
    fixed = re.compile(re.escape(base.root) + r"(?=/|$)")
    single = not os.path.isdir(version.name)
    for file, other in zip(base.program.files, version.program.files, strict=True):
        mine, theirs = base.program.flags[file].texts(), version.program.flags[other].texts()
        if any(fixed.search(argument) for argument in theirs):
            return "its compiler flags name the first version's folder"
        if single and any(pattern.search(argument) for argument in theirs):
            return "its compiler flags name its own folder"
        if tuple(pattern.sub(lambda _: base.root, argument) for argument in theirs) != mine:
            return f"the compiler flags of {other} are not those of {file}"
    return None


def _below(root: str) -> Iterable[tuple[str, str]]:
    """Every file below a folder that is not hidden, with its key."""
    count = 0
    for where, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(where, name)
            if not name.startswith(".") and os.path.isfile(path):
                count += 1
                if count > _MOST_FILES:
                    return
                yield os.path.relpath(path, root), path


class _Reader:
    """Reads texts and, transitively, what they include; `known` are the files that may be read, by key, as far as known yet."""

    def __init__(self, root: str, known: dict[str, str]) -> None:
        self.root = root
        self.known = known
        self.texts: dict[str, bytes] = {}
        self.outside: set[str] = set()
        self.unclear: str | None = None
        self._whole = _ITSELF not in known
        if len(known) >= _MOST_FILES:
            self.unclear = f"it has more than {_MOST_FILES:,} files"
        self._names: dict[str, list[str]] = {}
        for key in known:
            self._names.setdefault(os.path.basename(key), []).append(key)

    def read(self, keys: Iterable[str]) -> None:
        """Reads the files and what they include."""
        waiting = list(keys)
        while waiting:
            key = waiting.pop()
            if key in self.texts:
                continue
            try:
                self.texts[key] = read_file(self.known[key], Limits().source_bytes)
            except UnreadableError:  # the check says what is wrong with it
                self.unclear = f"{key or self.known[key]} cannot be read"
                continue
            for match in _INCLUDE.finditer(self.texts[key]):
                waiting += self._included(key, match)

    def _included(self, key: str, match: re.Match[bytes]) -> list[str]:
        quoted, angled, computed = match.groups()
        if computed is not None:
            if not self._whole:
                self.unclear = "a macro says what it includes"
            return []
        name = os.fsdecode(quoted or angled)
        found = os.path.normpath(os.path.join(os.path.dirname(key), name))
        if quoted is not None and found not in self.known:
            path = os.path.join(self.root, found)
            if self._whole or found.startswith(os.pardir) or os.path.isabs(name) or not os.path.isfile(path):
                self.outside.add(found)
            else:
                self.known[found] = path
        same_name = self._names.get(os.path.basename(name), []) if self._whole else []  # found along the -I folders
        return [found, *same_name] if quoted is not None and found in self.known else same_name
