"""Where a store is: in the user's cache folder, one file for each workspace.

Not in the workspace: a folder from elsewhere could bring a store along that says what its maker likes. The
file's name is a digest of the path of the project's root. The root is the nearest folder, from the given one
upward, that looks like the top of a project. `EVERPROOF_STORE` in the environment says otherwise where
nothing else does: a file, or `none`.
"""

from __future__ import annotations

import os

import platformdirs

from analysis.model.digest import digest_text
from analysis.store.database import SCHEMA, Store

NONE = "none"
VARIABLE = "EVERPROOF_STORE"
_TOPS = (".git", ".hg", ".svn", ".everproof.toml", ".everproof", "compile_commands.json")


def open_store(chosen: str | None, folder: str) -> Store | None:
    """The store that a user chose, else that of the workspace of a folder; None for none. This neither reads nor
    creates anything."""
    named = chosen or os.environ.get(VARIABLE) or None
    if named is None:
        return Store(default_path(folder))
    return None if named == NONE else Store(named, refuse_others=True)


def default_path(folder: str) -> str:
    """The file of the store of the folder's workspace."""
    name = f"{digest_text(workspace_root(folder))}-{SCHEMA}.everproof"
    return os.path.join(platformdirs.user_cache_dir("everproof", appauthor=False), name)


def workspace_root(folder: str) -> str:
    """The nearest folder, from the given one upward, that looks like the top of a project; the folder itself if none does."""
    start = here = os.path.realpath(folder)
    while True:
        if any(os.path.exists(os.path.join(here, top)) for top in _TOPS):
            return here
        above = os.path.dirname(here)
        if above == here:
            return start
        here = above
