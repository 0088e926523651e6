"""The revisions of a git repository: their files, and a revision as a folder.

The repository may be somebody else's, and its configuration may name programs for git to run: hooks, filters, a monitor of
files, a pager, commands for differences, for passwords and for connections. So git is only asked which objects there are and
what they hold (`rev-parse`, `merge-base`, `ls-tree`, `cat-file`, `ls-files`). These run none of the programs but the monitor,
which is switched off, and connections, which a repository that lacks objects on purpose would make: no protocol is allowed.
Nothing is checked out. Links and repositories inside the repository are left out.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from analysis.frontend.compiler.compiler_flags import DATABASE_NAME
from analysis.frontend.compiler.compiler_run import compiler_environment, find_program_file
from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import Limits
from analysis.model.settings import FILE_NAME

SOURCES = (".c", ".h", ".i", ".inc", ".def")
"""How the names of C source text end."""
_KEPT = (DATABASE_NAME, FILE_NAME)
_RULES = ".everproof"
_MOST_FILES = 50_000
_MOST_BYTES = 500_000_000
_SECONDS = 120
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_SAFE = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "protocol.allow=never",
)


class GitError(Exception):
    """Why git has nothing to say, as the end of a sentence."""


class Stored(NamedTuple):
    """A file of a revision: its path from the top of the repository, the object that it is, and its size in bytes."""

    path: str
    object: str
    size: int


class Repository:
    """The git repository that a folder is in."""

    def __init__(self, folder: str) -> None:
        """Raises GitError if the folder is in none, or git is missing; so do all methods where git fails."""
        self._folder = folder
        top = self._ask("rev-parse", "--show-toplevel").rstrip("\n")
        here = os.path.realpath(folder)
        if not top or os.path.commonpath([os.path.realpath(top), here]) != os.path.realpath(top):
            raise GitError("its working tree is elsewhere")
        self.top = os.path.realpath(top)
        self.below = os.path.relpath(here, self.top)

    def commit(self, revision: str) -> str:
        """The commit that a revision is; raises GitError if there is none."""
        return self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()

    def write(self, commit: str, into: Path) -> None:
        """Writes what can matter of a commit into an empty folder: C source text, what it includes, and settings. C source text
        that git ignores is generated: that of the working tree stands for that of the commit. So does a database of compile
        commands that the commit lacks."""
        stored = {one.path: one for one in self.files(commit)}
        wanted = [path for path in stored if _is_wanted(path)]
        included = self._copy([stored[path] for path in wanted], into)
        more = [path for path in stored if path not in wanted and os.path.basename(path) in included]
        self._copy([stored[path] for path in more], into)
        for path in self.ignored():
            self._copy_ignored(path, into)
        if DATABASE_NAME not in stored:
            self._move_database(into)

    def merge_base(self, commit: str, other: str) -> str:
        """The best common ancestor of two commits; raises GitError if there is none."""
        return self._ask("merge-base", commit, other).strip()

    def changing_files(self) -> tuple[str, ...]:
        """The files that change when another commit or branch is checked out, or a branch is moved."""
        own, common, *_ = self._ask("rev-parse", "--absolute-git-dir", "--git-common-dir").split("\n")
        common = os.path.join(os.path.realpath(self._folder), common)
        branch = self._ask("rev-parse", "--symbolic-full-name", "HEAD").strip()
        names = [os.path.join(own, "HEAD"), os.path.join(own, "logs", "HEAD"), os.path.join(common, "packed-refs")]
        if _is_inside(branch) and branch.startswith("refs/"):
            names.append(os.path.join(common, branch))
        return tuple(map(os.path.normpath, names))

    def files(self, commit: str) -> Iterator[Stored]:
        """The files of a commit, without links and what is in repositories inside it."""
        listed = self._ask("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
        entries = listed.split("\0")[:-1]
        if len(entries) > _MOST_FILES:
            raise GitError(f"the commit {commit[:12]} has more than {_MOST_FILES:,} files")
        for entry in entries:
            words, _, path = entry.partition("\t")
            mode, _, object_, size = words.split()
            if mode in ("100644", "100755") and _is_inside(path):
                if not size.isdigit():
                    raise GitError(f"it lacks what {path} holds")
                yield Stored(path, object_, int(size))

    def _copy(self, files: Sequence[Stored], into: Path) -> set[str]:
        """Writes files; the names of files that they include."""
        included: set[str] = set()
        for path, text in self.texts(files):
            _write(into / path, text)
            included.update(os.path.basename(os.fsdecode(name)) for name in _INCLUDE.findall(text))
        return included

    def texts(self, files: Sequence[Stored]) -> Iterator[tuple[str, bytes]]:
        """What files hold, each with its path from the top. Files that are too large to be checked are left out."""
        limit = Limits().source_bytes
        files = [one for one in files if one.size <= limit]
        if sum(one.size for one in files) > _MOST_BYTES:
            raise GitError(f"the C source text of the commit has more than {_MOST_BYTES:,} bytes")
        contents = self._run(("cat-file", "--batch"), "".join(f"{one.object}\n" for one in files).encode())
        at = 0
        for one in files:
            end = contents.index(b"\n", at)
            words = contents[at:end].split()
            if len(words) != 3 or words[1] != b"blob":
                raise GitError(f"it lacks what {one.path} holds")
            size = int(words[2])
            yield one.path, contents[end + 1 : end + 1 + size]
            at = end + size + 2

    def ignored(self) -> Iterator[str]:
        """The files of the working tree that git ignores, and that are C source text."""
        listed = self._ask("ls-files", "-o", "-i", "--exclude-standard", "-z", "--", ":/").split("\0")[:-1]
        for path in listed[:_MOST_FILES]:
            whole = os.path.normpath(os.path.join(self.below, path))
            if whole.endswith(SOURCES) and _is_inside(whole):
                yield whole

    def _copy_ignored(self, path: str, into: Path) -> None:
        source = os.path.join(self.top, path)
        if (into / path).exists() or os.path.islink(source):
            return
        try:
            text = read_file(source, Limits().source_bytes)
        except UnreadableError:
            return
        _write(into / path, text)

    def _move_database(self, into: Path) -> None:
        """Writes the database of compile commands of the working tree, with the paths of what is in the folder."""
        found = next((path for path in _above(os.path.join(self.top, self.below), self.top) if os.path.isfile(path)), None)
        if found is None:
            return
        try:
            entries = json.loads(read_file(found, Limits().source_bytes))
            moved = [self._moved(entry, into) for entry in entries] if isinstance(entries, list) else []
        except (UnreadableError, ValueError, RecursionError):
            return  # what is wrong with it is said of the working tree
        target = into / os.path.relpath(found, self.top)
        _write(target, json.dumps([entry for entry in moved if entry is not None]).encode())

    def _moved(self, entry: object, into: Path) -> dict[str, object] | None:
        """An entry of a database, None if its file is not there."""
        if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("directory", "file")):
            return None
        file = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        if self._there(file, into) == file:
            return None
        moved: dict[str, object] = {
            "directory": self._there(entry["directory"], into, make=True),
            "file": self._there(file, into),
        }
        if isinstance(entry.get("arguments"), list):
            moved["arguments"] = [self._replaced(str(word), into) for word in entry["arguments"]]
        if isinstance(entry.get("command"), str):
            moved["command"] = self._replaced(entry["command"], into)
        return moved

    def _replaced(self, text: str, into: Path) -> str:
        """A text with the paths of what is in the folder."""
        return re.sub(re.escape(self.top) + r"(?:/[^\s:;,\"']*)?", lambda found: self._there(found.group(), into), text)

    def _there(self, path: str, into: Path, *, make: bool = False) -> str:
        """The path in the folder, if it is there; else the path itself. `make`: a folder is made where it is missing."""
        relative = os.path.relpath(os.path.realpath(path), self.top)
        if relative.startswith(os.pardir):
            return path
        target = into / relative
        if make:
            target.mkdir(parents=True, exist_ok=True)
        return str(target) if target.exists() else path

    def _ask(self, *words: str) -> str:
        return os.fsdecode(self._run(words))

    def _run(self, words: Sequence[str], given: bytes = b"") -> bytes:
        safe = [word for setting in _SAFE for word in ("-c", setting)]
        command = [_program(), "--no-pager", "--no-replace-objects", "--literal-pathspecs", *safe, *words]
        if words[0] == "ls-files":
            command.remove("--literal-pathspecs")  # which `:/` is none of
        try:
            done = subprocess.run(
                command, cwd=self._folder, env=_environment(), input=given, capture_output=True, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise GitError(f"git did not answer within {_SECONDS} s") from None
        if done.returncode:
            said = os.fsdecode(done.stderr).strip().partition("\n")[0].removeprefix("fatal: ").rstrip(".")
            raise GitError(said or "it has no such revision")
        return done.stdout


def _program() -> str:
    found = find_program_file("git")
    if found is None:
        raise GitError("there is no git on PATH")
    return found


def _environment() -> dict[str, str]:
    """No configuration but that of the repository, no questions, no connections, and nothing that the caller's variables name."""
    return {
        **compiler_environment(),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _is_inside(path: str) -> bool:
    """Whether a path of a repository leads to a place below its top that is not git's own."""
    return not {"", ".", "..", ".git"} & set(path.lower().split("/"))


def _is_wanted(path: str) -> bool:
    name = os.path.basename(path)
    return name.endswith(SOURCES) or name in _KEPT or path.startswith(f"{_RULES}/") or f"/{_RULES}/" in path


def _above(folder: str, top: str) -> Iterable[str]:
    """Where a database of compile commands may be: in the folder, and in those above it as far as the top."""
    while True:
        yield os.path.join(folder, DATABASE_NAME)
        if os.path.normpath(folder) == os.path.normpath(top):
            return
        folder = os.path.dirname(os.path.normpath(folder))


def _write(path: Path, text: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
