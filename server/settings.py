"""Settings: `everproof.*` of the editor and `.everproof.toml` of the workspace, under the same names.

What the editor sets to something else than the default wins over the file. A wrong setting is reported by its name and
its default is used. The file comes with the workspace, so it is not trusted: it can choose a compiler by a usual name,
never a program by its path, and switch the store off, but not name one, which could say what its maker likes.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from typing import Annotated, Literal, cast

import msgspec
from msgspec import Meta

from analysis.model.limits import Limits
from analysis.model.options import CompilerFlags, Options

FILE_NAME = ".everproof.toml"
NO_STORE = "none"
Mode = Literal["continuous", "onSave", "onDemand"]

_FILE_COMPILER = re.compile(r"none|([A-Za-z0-9_]+-)*(gcc|clang|cc)(-[0-9]+(\.[0-9]+)*)?")
_CLIENT_ONLY = frozenset({"trace", "server", "serverCommand", "serverPath", "enable", "gutter", "statusBar", "testing"})


class Settings(msgspec.Struct, frozen=True, rename="camel"):
    """All settings. `budgets` has the names of `Limits` in camel case; None or empty means: the default."""

    mode: Annotated[
        Mode, Meta(description="When to check: while you type, on each save, or only when a command asks for it.")
    ] = "continuous"
    rules: Annotated[
        tuple[str, ...], Meta(description='Names of the rules to check; `["all"]` for every rule. Empty: the default rules.')
    ] = ()
    rules_dirs: Annotated[
        tuple[str, ...], Meta(description="Folders with rules of your own; `.everproof/rules` is always one.")
    ] = ()
    entries: Annotated[
        tuple[str, ...], Meta(description="Entry functions. Empty: `main`, else every function that nobody calls.")
    ] = ()
    compiler: Annotated[
        str | None,
        Meta(description="The preprocessor: `gcc`, `clang`, `cc` or a path, or `none`. Not set: the first that is found."),
    ] = None
    compile_commands: Annotated[
        str | None, Meta(description="A compile_commands.json. Not set: the one found upward from the file.")
    ] = None
    include_dirs: Annotated[
        tuple[str, ...], Meta(description="Folders of headers, for files that no compile_commands.json knows.")
    ] = ()
    defines: Annotated[
        tuple[str, ...], Meta(description="Macros, `NAME` or `NAME=VALUE`, for files that no compile_commands.json knows.")
    ] = ()
    standard: Annotated[
        str | None, Meta(description="The C standard, as `c11`, for files that no compile_commands.json knows.")
    ] = None
    data_model: Annotated[
        Literal["LP64", "ILP32"], Meta(description="The sizes of types: 64 or 32 bits for `long` and pointers.")
    ] = "LP64"
    budgets: Annotated[
        Limits, Meta(description="Limits in bytes, seconds and counts. What goes over one is said to be unknown, never safe.")
    ] = Limits()
    store: Annotated[
        str | None,
        Meta(description="A file to keep results in; `none` for none. Not set: one for each workspace, in your cache folder."),
    ] = None
    unknown_hints: Annotated[bool, Meta(description="Show hints where a verdict stays unknown.")] = False
    proofs: Annotated[
        bool, Meta(description="Prove functions of open files in the background, when nothing else is to be done.")
    ] = True
    invariants: Annotated[
        bool, Meta(description="Show the loop invariants of proved functions as inlay hints, without asking for each function.")
    ] = False
    code_lens: Annotated[bool, Meta(description="Show verdicts above functions.")] = True
    check_folders: Annotated[
        bool, Meta(description="Check the folders when the server starts, before a file of them is opened.")
    ] = False
    trusted: Annotated[bool, Meta(description="Whether the workspace is trusted. If not, no compiler is run.")] = True

    def options(self, folders: tuple[str, ...]) -> Options:
        """The checker's options. Relative paths count from the first folder; rules in `.everproof/rules` are found in each."""
        root = folders[0] if folders else os.getcwd()
        own_rules = [os.path.join(folder, ".everproof", "rules") for folder in folders]
        return Options(
            flags=CompilerFlags(tuple(os.path.join(root, d) for d in self.include_dirs), self.defines, self.standard),
            compile_commands=os.path.join(root, self.compile_commands) if self.compile_commands else None,
            compiler=self.compiler or None,
            data_model=self.data_model,
            entries=self.entries,
            rules=self.rules,
            rules_dirs=(
                *(os.path.join(root, d) for d in self.rules_dirs),
                *(directory for directory in own_rules if os.path.isdir(directory)),
            ),
            trusted=self.trusted,
            proofs=self.proofs,
            limits=self.budgets,
        )

    def store_path(self, folders: tuple[str, ...]) -> str | None:
        """The file to keep results in, `none`, or None for the default. A relative path counts from the first folder."""
        if self.store in (None, "", NO_STORE):
            return self.store or None
        return os.path.join(folders[0] if folders else os.getcwd(), os.path.expanduser(self.store or ""))


_DEFAULTS = Settings()
_FIELDS = {field.encode_name: field for field in msgspec.structs.fields(Settings)}
_LIMITS = {field.name: field for field in msgspec.structs.fields(Limits)}


def read(editor: object, file_text: bytes | None) -> tuple[Settings, list[str]]:
    """The settings in force, and one sentence for each wrong one.

    `editor` is what the client sent for the section `everproof`, `file_text` the content of `.everproof.toml`.
    """
    problems: list[str] = []
    values = _accepted(_parse_file(file_text, problems), f"in {FILE_NAME}: ", problems)
    values.pop("trusted", None)  # the workspace cannot declare itself trusted
    compiler = values.get("compiler")
    if isinstance(compiler, str) and not _FILE_COMPILER.fullmatch(compiler):
        problems.append(f'in {FILE_NAME}: compiler: "{compiler}" is not a usual compiler name; set it in the editor instead.')
        del values["compiler"]
    if values.get("store") not in (None, NO_STORE):
        problems.append(f'in {FILE_NAME}: store: only "{NO_STORE}" can be said here; set a file in the editor instead.')
        del values["store"]
    for name, value in _accepted(_as_table(editor, "everproof", problems), "everproof.", problems).items():
        if value != getattr(_DEFAULTS, _FIELDS[name].name):
            values[name] = value
    return Settings(**{_FIELDS[name].name: value for name, value in values.items()}), problems  # type: ignore[arg-type]


def _parse_file(text: bytes | None, problems: list[str]) -> Mapping[str, object]:
    if text is None:
        return {}
    try:
        return tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(f"{FILE_NAME} is not valid TOML: {error}.")
        return {}


def _as_table(value: object, name: str, problems: list[str]) -> Mapping[str, object]:
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return cast("Mapping[str, object]", value)
    problems.append(f"{name}: expected a table of settings.")
    return {}


def _accepted(table: Mapping[str, object], prefix: str, problems: list[str]) -> dict[str, object]:
    """The settings of a table that are well-formed, converted. Null means: not set."""
    accepted: dict[str, object] = {}
    for name in sorted(table):
        value = table[name]
        if value is None or (name in _CLIENT_ONLY and name not in _FIELDS):
            continue
        if name not in _FIELDS:
            problems.append(f"{prefix}{name}: there is no such setting.")
        elif name == "budgets":
            accepted[name] = _budgets(_as_table(value, f"{prefix}budgets", problems), f"{prefix}budgets.", problems)
        else:
            _accept(accepted, name, value, prefix, problems)
    return accepted


def _accept(accepted: dict[str, object], name: str, value: object, prefix: str, problems: list[str]) -> None:
    try:
        accepted[name] = msgspec.convert(value, _FIELDS[name].type)
    except msgspec.ValidationError as error:
        default = getattr(_DEFAULTS, _FIELDS[name].name)
        problems.append(f"{prefix}{name}: {_plain(error)}; using {_shown(default)}.")


def _budgets(table: Mapping[str, object], prefix: str, problems: list[str]) -> Limits:
    """Limits by their names, camelCase or snake_case. They can be lowered and raised, but must be positive."""
    values: dict[str, object] = {}
    for name in sorted(table):
        field = _LIMITS.get(_snake(name))
        if table[name] is None:
            continue
        if field is None:
            problems.append(f"{prefix}{name}: there is no such budget.")
            continue
        try:
            number = msgspec.convert(table[name], field.type)
        except msgspec.ValidationError as error:
            problems.append(f"{prefix}{name}: {_plain(error)}; using {_shown(field.default)}.")
            continue
        if number > 0:
            values[field.name] = number
        else:
            problems.append(f"{prefix}{name}: must be more than 0; using {_shown(field.default)}.")
    return Limits(**values)  # type: ignore[arg-type]


def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda match: "_" + match.group(1).lower(), name)


def _plain(error: msgspec.ValidationError) -> str:
    """msgspec's words for a person who did not write the code."""
    text = str(error).split(" - at ")[0].replace("`", "")
    return text[:1].lower() + text[1:]


def _shown(value: object) -> str:
    if value is None or value == ():
        return "none"
    return str(value)
