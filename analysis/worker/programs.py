"""The programs of the workspace, each with its checker, and the texts that the editor has of them.

Each folder is a program; a file that was opened outside every folder is one by itself. Programs are named by their folder or
file, all paths are absolute.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import msgspec

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Message
from analysis.model.settings import OWN_FUNCTIONS
from analysis.store.database import Store
from analysis.store.store_location import open_store
from analysis.wire import Configure, Edit


class Programs:
    """The checkers, by program. `notify` is called, in any thread, when a checker's provers have news."""

    def __init__(self, notify: Callable[[], None]) -> None:
        self.checkers: dict[str, Checker] = {}
        self._notify = notify
        self._options = Options()
        self._folders: tuple[str, ...] = ()
        self._edits: dict[str, Edit] = {}
        self._chosen_store: str | None = None
        self._stores: dict[str, Store] = {}
        self._aside: dict[str, Checker] | None = None  # what was known before a full check that is under way
        self._missed: list[tuple[str, Edit]] = []  # edits that these were not told of

    def configure(self, request: Configure) -> None:
        """Other settings or folders: every program is checked from nothing."""
        self._options, self._chosen_store = request.options, request.store
        self._folders = tuple(os.path.abspath(folder) for folder in request.folders)
        self._drop()

    def is_open(self, path: str) -> bool:
        """Whether the editor has sent a file's text."""
        return path in self._edits

    def edit(self, path: str, edit: Edit) -> None:
        """Takes over a file's text, or that it was closed."""
        if edit.text is None:
            self._edits.pop(path, None)
            gone = self.checkers.pop(path, None)  # a file outside every folder is of interest only while it is open
            if gone is not None:
                gone.close()
        else:
            self._edits[path] = edit
        if self._aside is not None:
            self._missed.append((path, edit))
        for checker in self.checkers.values():
            _change(checker, edit)

    def saved(self, path: str, version: int) -> None:
        """A version of an open file was saved."""
        for checker in self.checkers.values():
            checker.contracts.saved(path, version, self.version(path))

    def version(self, path: str) -> int | None:
        """The version of an open file's text."""
        edit = self._edits.get(path)
        return None if edit is None else edit.version

    def bring_up_to_date(self) -> bool:
        """Makes a checker for each program that there is now, and gives each its files. Whether the files of any one changed."""
        differs = False
        for key in self._keys():
            if key not in self.checkers:
                jobs = 2 if key in self._folders else 1
                options, store = self._options_of(key), self._store_of(key)
                self.checkers[key] = checker = Checker(options, jobs=jobs, store=store, notify=self._notify)
                for edit in self._edits.values():
                    checker.change(edit.path, edit.text, edit.version)
            extra = [path for path in self._edits if path.endswith(".c") and self._folder_of(path) == key]
            differs = self.checkers[key].open_workspace(key, extra) or differs
        return differs

    def begin_afresh(self) -> None:
        """Makes all checkers anew, which know nothing, and sets aside what was known, until `drop_aside` or `take_back`."""
        for checker in self.checkers.values():
            checker.close()  # its provers; what it knows stays
        if self._aside is None:
            self._aside, self._missed = self.checkers, []
        self.checkers = {}
        self.bring_up_to_date()
        for checker in self.checkers.values():
            checker.forget()

    def drop_aside(self) -> None:
        """The full check is complete: what was known before it does not count any more."""
        self._aside, self._missed = None, []

    @property
    def is_known_aside(self) -> bool:
        """Whether a full check is under way of what was checked before: that is shown until it is complete."""
        return self._aside is not None and any(checker.report is not None for checker in self._aside.values())

    def take_back(self) -> None:
        """The full check was cancelled: what was known before it counts again, with the texts as they are now."""
        if self._aside is None:
            return
        for checker in self.checkers.values():
            checker.close()
        self.checkers = self._aside
        for path, edit in self._missed:
            if edit.text is None:
                self.checkers.pop(path, None)
            for checker in self.checkers.values():
                _change(checker, edit)
        self.drop_aside()

    def clear_store(self) -> None:
        """Forgets what is kept of the programs, and what is in memory."""
        for key in self._keys():
            opened = self._store_of(key)
            if opened is not None:
                opened.clear()
                opened.close()
        self._drop()

    def take_messages(self) -> tuple[Message, ...]:
        """What is wrong with the stores, once."""
        return tuple(message for store in self._stores.values() for message in store.take_messages())

    def close(self) -> None:
        """Ends all provers."""
        for checker in self.checkers.values():
            checker.close()

    def leave(self) -> None:
        """Ends all provers, for good. What they have answered so far is kept."""
        self.close()
        for checker in self.checkers.values():
            checker.keep_answers()

    def checker_of(self, path: str) -> Checker | None:
        """The checker of the program that a file belongs to."""
        return self.checkers.get(self.program_of(path))

    def text(self, path: str) -> str | None:
        """The text that the editor has of a file."""
        edit = self._edits.get(path)
        return None if edit is None else edit.text

    @property
    def texts(self) -> dict[str, str]:
        """The texts of the open files, by absolute path."""
        return {path: edit.text for path, edit in self._edits.items() if edit.text is not None}

    @property
    def chosen_store(self) -> str | None:
        """The store that was chosen; None for the default."""
        return self._chosen_store

    def in_order(self, focus: Iterable[str]) -> list[str]:
        """The programs, those that the user looks at first."""
        wanted = [self.program_of(os.path.abspath(path)) for path in focus]
        return list(dict.fromkeys([*(key for key in wanted if key in self.checkers), *self.checkers]))

    def to_wake(self) -> list[Checker]:
        """The checkers that are not ready for an edit, while somebody has a file of theirs open."""
        edited = {self.program_of(path) for path in self._edits}
        return [checker for key, checker in self.checkers.items() if key in edited and checker.resting]

    def _drop(self) -> None:
        self.close()
        self.drop_aside()
        self.checkers.clear()

    def _keys(self) -> list[str]:
        """The programs there are: folders, and files outside of them."""
        return [*self._folders, *(path for path in self._edits if path.endswith(".c") and not self._folder_of(path))]

    def _options_of(self, key: str) -> Options:
        """The options for one program: what a folder says of functions holds for that folder alone."""
        own = tuple(found for found in self._options.functions_dirs if found == os.path.join(key, OWN_FUNCTIONS))
        return msgspec.structs.replace(self._options, functions_dirs=own)

    def program_of(self, path: str) -> str:
        """The program that a file belongs to."""
        return self._folder_of(path) or path

    def _folder_of(self, path: str) -> str | None:
        """The innermost folder of the workspace that the file is in."""
        inside = [folder for folder in self._folders if path.startswith(folder.rstrip(os.sep) + os.sep)]
        return max(inside, key=len, default=None)

    def _store_of(self, key: str) -> Store | None:
        """The store of a program; programs of one workspace have the same."""
        store = open_store(self._chosen_store, key if key in self._folders else os.path.dirname(key))
        return None if store is None else self._stores.setdefault(store.path, store)


def _change(checker: Checker, edit: Edit) -> None:
    checker.change(edit.path, edit.text, edit.version)
    if edit.text is None:
        checker.refresh()
