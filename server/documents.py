"""The documents that the client has open: their text, their versions, and the edits between the versions."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import PositionCodec, TextDocument, Workspace

from server.client_columns import Columns
from server.client_lines import Change, Edit, change_of, clamp, replace, split_lines, whole_change

_HISTORY = 500  # edits kept per document, to re-anchor results of earlier versions
_C_SUFFIXES = (".c", ".h")


class Document(TextDocument):
    """A text document with LSP's lines, and the edits that lead from its earlier versions to this one.

    Replaces how pygls splits lines and applies edits: see server.client_lines.
    """

    def __init__(
        self,
        uri: str,
        source: str | None = None,
        version: int | None = None,
        language_id: str | None = None,
        local: bool = True,
        sync_kind: types.TextDocumentSyncKind = types.TextDocumentSyncKind.Incremental,
        position_codec: PositionCodec | None = None,
    ) -> None:
        super().__init__(uri, source, version, language_id, local, sync_kind, position_codec)
        self._columns = Columns.of(self.position_codec.encoding)
        self._lines = split_lines(source or "")
        self._text: str | None = source or ""
        self._pending: list[Edit] = []
        self._changes: list[Change] = []
        self._history: deque[tuple[int, Edit]] = deque()
        self._history_base = version or 0
        self._sent: deque[tuple[int, int]] = deque(maxlen=_HISTORY)

    @property
    def lines(self) -> Sequence[str]:
        """The lines with their ends. Not to be kept: the next edit changes them."""
        return self._lines

    @property
    def source(self) -> str:
        """The text as the client has it now."""
        if self._text is None:
            self._text = "".join(self._lines)
        return self._text

    @cached_property
    def file_path(self) -> str:
        """The name that the checker knows the document by: its path, or a made-up one for what is no file (`untitled:`)."""
        return path_of(self.uri, self.language_id)

    @property
    def current_version(self) -> int:
        """The version, 0 for a client that sends none."""
        return self.version or 0

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Applies one change, whole or incremental, and remembers it as an edit."""
        lines, size = self._lines, len(self._lines)
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = self._place(change.range.start), self._place(change.range.end)
            before = lines[max(start[0] - 1, 0) : max(start, end)[0] + 1]
            edit = replace(lines, start, end, change.text)
        else:
            new = split_lines(change.text)
            edit = whole_change(lines, new)
            before = lines[max(edit.range.start.line - 2, 0) : edit.range.end.line - 1]
            self._lines = new
        self._text = None
        self._pending.append(edit)
        self._changes.append(change_of(edit, before, self._lines, size))

    def take_changes(self) -> list[Change]:
        """The edits since the last call, with what they changed."""
        changes, self._changes = self._changes, []
        return changes

    def take_edits(self) -> list[Edit]:
        """The edits since the last call; they belong to the version that the document has now."""
        edits, self._pending = self._pending, []
        if (self._history and self.current_version <= self._history[-1][0]) or self.current_version < self._history_base:
            self._history.clear()  # versions grow; of a client whose do not, only the last one counts
            self._history_base = self.current_version
            return edits
        for edit in edits:
            self._history.append((self.current_version, edit))
        while len(self._history) > _HISTORY:
            self._history_base = self._history.popleft()[0]
        return edits

    def sent(self, generation: int) -> None:
        """Remembers that the request `generation` sent this version to the checker."""
        self._sent.append((generation, self.current_version))

    def version_at(self, generation: int) -> int | None:
        """The version that the checker knew when the newest request it had seen was `generation`, None if it knew none."""
        known = [version for sent, version in self._sent if sent <= generation]
        return known[-1] if known else None

    def edits_since(self, version: int) -> list[Edit] | None:
        """The edits that lead from a version to the current one; None when they are not known any more."""
        if version < self._history_base:
            return None
        return [edit for at, edit in self._history if at > version]

    def position(self, position: types.Position) -> tuple[int, int]:
        """A client's position as a line and a code point, both from 0, inside the text."""
        return self._place(position)

    def _place(self, position: types.Position) -> tuple[int, int]:
        if position.line >= len(self._lines):
            return clamp(self._lines, position.line, 0)
        line = self._lines[position.line]
        return clamp(self._lines, position.line, self._columns.to_code_points(line, position.character))


class OpenDocuments(Workspace):
    """A pygls workspace with documents of type `Document`. It also finds a document by the path that the checker
    uses."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._by_path: dict[str, Document] = {}
        self.first_texts: dict[str, str] = {}  # what files held when they were opened first, by path

    @classmethod
    def adopt(cls, workspace: Workspace) -> OpenDocuments:
        """Makes a workspace with the folders and the encoding of another one, which must have no documents yet."""
        return cls(
            workspace.root_uri,
            types.TextDocumentSyncKind.Incremental,
            list(workspace.folders.values()),
            workspace.position_encoding,
        )

    def put_text_document(self, text_document: types.TextDocumentItem, notebook_uri: str | None = None) -> None:
        """A document is opened."""
        super().put_text_document(text_document, notebook_uri)
        document = self.find(text_document.uri)
        if document is not None:
            self._by_path[document.file_path] = document
            self.first_texts.setdefault(document.file_path, document.source)

    def remove_text_document(self, doc_uri: str) -> None:
        """A document is closed; the path may be open under another URI."""
        super().remove_text_document(doc_uri)
        self._by_path = {document.file_path: document for document in self.open_c()}

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> Document:
        return Document(doc_uri, source, version, language_id, position_codec=self.position_codec)

    @property
    def columns(self) -> Columns:
        """How the client counts columns."""
        return Columns.of(self.position_encoding)

    def find(self, uri: str) -> Document | None:
        """The open C document of a URI."""
        document = self.text_documents.get(unquote(uri))
        return document if isinstance(document, Document) and is_c(document) else None

    def at_path(self, path: str) -> Document | None:
        """The open C document that the checker knows by a path."""
        return self._by_path.get(path)

    def open_c(self) -> Iterable[Document]:
        """The open C documents, in the order they were opened."""
        return [d for d in self.text_documents.values() if isinstance(d, Document) and is_c(d)]

    def folder_paths(self) -> tuple[str, ...]:
        """The folders of the workspace that are on a file system; the root for clients that know no folders."""
        uris = [folder.uri for folder in self.folders.values()] or [self.root_uri or ""]
        paths = [to_fs_path(uri) for uri in uris if uri.startswith("file:")]
        return tuple(os.path.normpath(path) for path in paths if path and "\0" not in path)

    def contains(self, path: str) -> bool:
        """Whether a path lies in a folder of the workspace."""
        return any(path.startswith(folder.rstrip(os.sep) + os.sep) for folder in self.folder_paths())

    def uri_of(self, path: str) -> str:
        """The URI of a path, spelled as the client does when it has the document open."""
        document = self.at_path(path)
        return document.uri if document else _file_uri(path)


def is_c(document: TextDocument) -> bool:
    """Whether a document is C, by what the client says or, where headers count as C++, by its name."""
    return document.language_id == "c" or (document.filename or "").endswith(_C_SUFFIXES)


@lru_cache(maxsize=1000)
def _file_uri(path: str) -> str:
    uri: str | None = from_fs_path(path)
    return uri or path


def path_of(uri: str, language_id: str | None = "c") -> str:
    """The path that stands for a URI; of one that is no file, under a folder that does not exist, so that it is checked alone."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    if path and "\0" not in path:  # no system has a file of such a name
        return os.path.normpath(path)
    digest = hashlib.blake2b(uri.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in os.path.basename(unquote(uri).split(":")[-1])) or "unnamed"
    suffix = "" if name.endswith(_C_SUFFIXES) or language_id != "c" else ".c"
    return f"{os.sep}unsaved-{digest}{os.sep}{name}{suffix}"
