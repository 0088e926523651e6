"""Settings of a workspace: `.everproof.toml`, and `everproof.*` of an editor, under the same names.

Every command and the language server read them by `workspace_settings`, so that they mean the same everywhere. What an editor
sets to something else than the default wins over the file, and what stands on a command line wins over both. A wrong setting is
reported by its name, and its default is used. The file comes with the workspace, so it is not trusted: it can choose a compiler
by a usual name, never a program by its path, and switch the store off, but not name one, which could say what its maker likes.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, cast, get_args, get_origin

import msgspec
from msgspec import Meta

from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.limits import SETTINGS_BYTES, Limits
from analysis.model.options import LIGHT, MOST_ROUNDS, UNWIND, CompilerFlags, Encoding, Engine, Options, Show
from analysis.model.unit_flags import flags_problems

FILE_NAME = ".everproof.toml"
OWN_RULES = os.path.join(".everproof", "rules")
"""Where rules of a workspace's own are."""
OWN_FUNCTIONS = os.path.join(".everproof", "functions")
"""Where a workspace says what functions do that it calls and does not define."""
NO_STORE = "none"
HEAD = "HEAD"
MERGE_BASE = "merge-base "
"""How a reference begins that is the last commit that a branch, which follows, has in common with the present one."""
SAVED = "saved"
SESSION_START = "session"
NO_REFERENCE = "none"
REFERENCE_NAMES = {SAVED: "the saved texts", SESSION_START: "the start of the session"}
"""What people are told of a reference that is not called as its setting."""


def is_session(reference: str) -> bool:
    """Whether a setting names the start of the session: `session`, or `session start`."""
    return reference.split(" ")[0] == SESSION_START


Mode = Literal["continuous", "onSave", "onDemand"]
Faint = Literal["information", "hint"]

_LIMIT = re.compile(r"Expected (?:int|float) (>=|<=|>|<) ([0-9.e+]+)")
_EXPECTED = re.compile(r"Expected ([a-z |]+), got ([a-z]+)")
_WORDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "null": "null",
    "object": "a table",
    "str": "a string",
}
_COMPARED = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
TOPS = (".git", ".hg", ".svn")
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
    rules_dirs: Annotated[tuple[str, ...], Meta(description="Folders with rules of your own, beside `.everproof/rules`.")] = ()
    entries: Annotated[
        tuple[str, ...], Meta(description="Functions where checking begins. Empty: `main`, and every function that nobody calls.")
    ] = ()
    compiler: Annotated[
        str | None,
        Meta(description="The preprocessor: `gcc`, `clang`, `cc` or a path, or `none`. Not set: the first that is found."),
    ] = None
    compile_commands: Annotated[
        str | None, Meta(description="A compile_commands.json. Not set: the nearest one in the file's folder or a folder above.")
    ] = None
    include_dirs: Annotated[
        tuple[str, ...], Meta(description="Folders of headers, for files that compile_commands.json does not list.")
    ] = ()
    defines: Annotated[
        tuple[str, ...], Meta(description="Macros, `NAME` or `NAME=VALUE`, for files that compile_commands.json does not list.")
    ] = ()
    standard: Annotated[
        str | None, Meta(description="The C standard, as `c11`, for files that compile_commands.json does not list.")
    ] = None
    data_model: Annotated[
        Literal["LP64", "ILP32"], Meta(description="The sizes of types: 64 or 32 bits for `long` and pointers.")
    ] = "LP64"
    budgets: Annotated[
        Limits, Meta(description="Limits in bytes, seconds and counts. What exceeds a limit is unknown, never safe.")
    ] = Limits()
    store: Annotated[
        str | None,
        Meta(description="A file to keep results in; `none` for none. Not set: one for each workspace, in your cache folder."),
    ] = None
    unknown_hints: Annotated[bool, Meta(description="Show a hint at each function of which something stays unknown.")] = False
    show_unknown: Annotated[
        bool, Meta(description="Show a sign and a lens also at functions without a finding and without a proof.")
    ] = False
    proofs: Annotated[
        bool, Meta(description="Prove the functions of open files in the background, when there is nothing else to do.")
    ] = True
    engine: Annotated[
        Engine,
        Meta(description="Which provers are asked. `auto`: all but `summary`, which answers only about runs within a bound."),
    ] = "auto"
    encoding: Annotated[
        Encoding,
        Meta(description="How proofs treat integers: as numbers (`int`) or bits (`bv`); for `summary` also `lra`, `euf`."),
    ] = "auto"
    show: Annotated[
        Show,
        Meta(description="Which findings are shown: those that are `likely` to be right, or `all`. The others are counted."),
    ] = "likely"
    reference: Annotated[
        str,
        Meta(
            pattern=r"^(HEAD|merge-base \S+|saved|session( start)?|none)$",
            description="What findings are compared with: those that are not in it are new. `HEAD`: the last commit; "
            "`merge-base main`: the commit where this branch left `main`, or another branch; `saved`: the saved files; "
            "`session`: what there was when the session began, also used where there is no commit; `none`: nothing.",
        ),
    ] = HEAD
    older_findings: Annotated[
        Faint, Meta(description="How findings that are not new are shown: as `information` or as a `hint`.")
    ] = "information"
    unwind: Annotated[
        int,
        Meta(
            ge=1,
            le=MOST_ROUNDS,
            description="The bound of the engine `summary`: how often a loop goes back, and how many calls of a function "
            "are active at once.",
        ),
    ] = UNWIND
    invariants: Annotated[
        bool, Meta(description="Show the loop invariants of proved functions as inlay hints, without asking for each function.")
    ] = False
    code_lens: Annotated[bool, Meta(description="Show verdicts, and what edits did to contracts, above functions.")] = True
    self_audit: Annotated[
        bool,
        Meta(
            description="After a minute without typing, check from scratch, in the background, what was reused, and compare "
            "the results."
        ),
    ] = True
    check_folders: Annotated[
        bool, Meta(description="Check the folders when the server starts, before one of their files is opened.")
    ] = False
    trusted: Annotated[bool, Meta(description="Whether the workspace is trusted. If not, no compiler is run.")] = True

    def options(self, folders: tuple[str, ...]) -> Options:
        """The checker's options. Relative paths count from the first folder; rules in `.everproof/rules`, and contracts in
        `.everproof/functions`, are found in each."""
        root = folders[0] if folders else os.getcwd()
        return Options(
            flags=CompilerFlags(tuple(os.path.join(root, d) for d in self.include_dirs), self.defines, self.standard),
            compile_commands=os.path.join(root, self.compile_commands) if self.compile_commands else None,
            compiler=self.compiler or None,
            data_model=self.data_model,
            entries=self.entries,
            rules=self.rules,
            rules_dirs=(
                *(os.path.join(root, d) for d in self.rules_dirs),
                *_present(folders, OWN_RULES),
            ),
            functions_dirs=_present(folders, OWN_FUNCTIONS),
            trusted=self.trusted,
            budget="background",
            proofs=self.proofs,
            engine=self.engine,
            encoding=self.encoding,
            unwind=self.unwind,
            show=self.show,
            limits=self.budgets,
        )

    def store_path(self, folders: tuple[str, ...]) -> str | None:
        """The file to keep results in, `none`, or None for the default. A relative path counts from the first folder."""
        if self.store in (None, "", NO_STORE):
            return self.store or None
        return os.path.join(folders[0] if folders else os.getcwd(), os.path.expanduser(self.store or ""))


def _present(folders: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The folders of this name that are in the folders of a workspace."""
    return tuple(found for folder in folders if os.path.isdir(found := os.path.join(folder, name)))


_DEFAULTS = Settings()
_FIELDS = {field.encode_name: field for field in msgspec.structs.fields(Settings)}
_LIMITS = {field.name: field for field in msgspec.structs.fields(Limits)}


def settings_folder(start: str) -> str:
    """The folder whose settings and rules are those of a file or folder: the nearest one upward that has any, but not beyond the
    top of a project; if there is none, the folder itself."""
    given = os.path.abspath(start)
    first = here = given if os.path.isdir(given) else os.path.dirname(given)
    while True:
        if any(os.path.lexists(os.path.join(here, name)) for name in (FILE_NAME, OWN_RULES, OWN_FUNCTIONS)):
            return here
        above = os.path.dirname(here)
        if above == here or any(os.path.lexists(os.path.join(here, top)) for top in TOPS):
            return first
        here = above


def workspace_settings(folders: tuple[str, ...], editor: object = None) -> tuple[Settings, list[str]]:
    """The settings in force in a workspace, and one sentence for each wrong one. The file is that of the first folder that has
    one; relative paths count from the first folder. `editor` is what a client sent for the section `everproof`."""
    text, problems = None, []
    for folder in folders:
        try:
            text = read_file(os.path.join(folder, FILE_NAME), SETTINGS_BYTES)
            break
        except UnreadableError as error:
            if not error.missing:
                problems.append(f"{FILE_NAME} is not used: {error.reason}.")
                break
    found, wrong = read(editor, text)
    root = folders[0] if folders else os.getcwd()
    missing = (name for name in found.include_dirs if not os.path.isdir(os.path.join(root, name)))
    if found.compiler is not None and _is_inside(found.compiler, folders):  # some editors read settings from the folder, too
        wrong.append(
            f"The setting compiler names {found.compiler}, which is in the opened folder and is not run: name one outside of it."
        )
        found = msgspec.structs.replace(found, compiler=None)
    return found, [
        *problems,
        *wrong,
        *(f"The setting includeDirs names the folder {name}, which does not exist." for name in missing),
    ]


def read(editor: object, file_text: bytes | None) -> tuple[Settings, list[str]]:
    """The settings in force, and one sentence for each wrong one.

    `editor` is what the client sent for the section `everproof`, `file_text` the content of `.everproof.toml`.
    """
    problems: list[str] = []
    table = dict(_parse_file(file_text, problems))
    for name in sorted(table.keys() & _CLIENT_ONLY - _FIELDS.keys()):
        problems.append(f"in {FILE_NAME}: {name}: only an editor can set this.")
        del table[name]
    values = _accepted(table, f"in {FILE_NAME}: ", problems)
    if values.pop("trusted", None) is not None:  # the workspace cannot declare itself trusted
        problems.append(f"in {FILE_NAME}: trusted: only an editor can set this.")
    compiler = values.get("compiler")
    if isinstance(compiler, str) and not _FILE_COMPILER.fullmatch(compiler):
        problems.append(f'in {FILE_NAME}: compiler: "{compiler}" is not a usual compiler name; set it in the editor instead.')
        del values["compiler"]
    if isinstance(values.get("budgets"), Limits):
        values["budgets"] = _lowered(cast("Limits", values["budgets"]), problems)
    if values.get("store") not in (None, NO_STORE):
        problems.append(f'in {FILE_NAME}: store: only "{NO_STORE}" can be set here; name a file in the editor instead.')
        del values["store"]
    for name, value in _accepted(_as_table(editor, "everproof", problems), "everproof.", problems).items():
        if value != getattr(_DEFAULTS, _FIELDS[name].name):
            values[name] = value
    if values.get("encoding") in LIGHT and values.get("engine") != "summary":
        problems.append(f'encoding: only the engine "summary" has "{values.pop("encoding")}"; using "{_DEFAULTS.encoding}".')
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
    problems.append(f"{name}: must be a table of settings.")
    return {}


def _accepted(table: Mapping[str, object], prefix: str, problems: list[str]) -> dict[str, object]:
    """The settings of a table that are well-formed, converted. Null means: not set."""
    accepted: dict[str, object] = {}
    for name in sorted(table):
        value = table[name]
        if value is None or (name in _CLIENT_ONLY and name not in _FIELDS):
            continue
        if name not in _FIELDS:
            problems.append(f"{prefix}{name}: there is no such setting{_nearest(name, _FIELDS)}.")
        elif name == "budgets":
            accepted[name] = _budgets(_as_table(value, f"{prefix}budgets", problems), f"{prefix}budgets.", problems)
        else:
            _accept(accepted, name, value, prefix, problems)
    return accepted


def _accept(accepted: dict[str, object], name: str, value: object, prefix: str, problems: list[str]) -> None:
    default = getattr(_DEFAULTS, _FIELDS[name].name)
    try:
        found = msgspec.convert(value, _FIELDS[name].type)
    except msgspec.ValidationError as error:
        problems.append(f"{prefix}{name}: {_plain(error, _bare(_FIELDS[name].type))}; using {_shown(default)}.")
        return
    wrong = [why for one, why in flags_problems(*_flags(name, found)) if one == name]
    problems += [f"{prefix}{name}: {why}; using {_shown(default)}." for why in wrong]
    if not wrong:
        accepted[name] = found


def _flags(name: str, value: Any) -> tuple[tuple[str, ...], str | None]:
    """The macros and the standard that a setting names, if it is one of those."""
    return value if name == "defines" else (), value if name == "standard" else None


def _is_inside(program: str, folders: tuple[str, ...]) -> bool:
    """Whether a program that is named by a path lies in one of the folders, links followed or not."""
    if os.path.basename(program) == program:
        return False
    named = os.path.expanduser(program)
    paths = {form(os.path.join(folder, named)) for folder in folders for form in (os.path.abspath, os.path.realpath)}
    roots = {form(folder) for folder in folders for form in (os.path.abspath, os.path.realpath)}
    return any(path.startswith(os.path.join(root, "")) for path in paths for root in roots)


def _lowered(budgets: Limits, problems: list[str]) -> Limits:
    """Budgets as the workspace's file can set them: a folder must not lift what bounds the memory that it takes, or the time of
    the compiler."""
    usual = Limits()
    given: dict[str, float] = {}
    for name in Limits.__struct_fields__:
        if name.endswith(("_megabytes", "_bytes")) or name == "preprocess_seconds":
            most: float = getattr(usual, name)
            if getattr(budgets, name) > most:
                problems.append(f"in {FILE_NAME}: budgets.{_camel(name)}: can only be lowered here; using {_shown(most)}.")
                given[name] = most
    return msgspec.structs.replace(budgets, **given)


def _budgets(table: Mapping[str, object], prefix: str, problems: list[str]) -> Limits:
    """Limits by their names, camelCase or snake_case. They can be lowered and raised, but must be positive."""
    values: dict[str, object] = {}
    for name in sorted(table):
        field = _LIMITS.get(_snake(name))
        if table[name] is None:
            continue
        if field is None:
            problems.append(f"{prefix}{name}: there is no such budget{_nearest(name, map(_camel, _LIMITS))}.")
            continue
        usual = "the usual one" if field.default is None else _shown(field.default)
        try:
            number = msgspec.convert(table[name], field.type)
        except msgspec.ValidationError as error:
            problems.append(f"{prefix}{name}: {_plain(error, _bare(field.type))}; using {usual}.")
            continue
        if math.isfinite(number):
            values[field.name] = number
        else:
            problems.append(f"{prefix}{name}: must be a number; using {usual}.")
    return Limits(**values)  # type: ignore[arg-type]


def _nearest(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant."""
    names = {_snake(one): one for one in known}
    found = difflib.get_close_matches(_snake(name).lower().replace("-", "_"), names, n=1, cutoff=0.75)
    return f"; the nearest is {names[found[0]]}" if found else ""


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match.group(1).upper(), name)


def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda match: "_" + match.group(1).lower(), name)


def _plain(error: msgspec.ValidationError, type_: Any) -> str:
    """What is wrong with a value for a setting of this type, in words of TOML and JSON, not of Python."""
    message, _, inside = str(error).partition(" - at ")
    text = message.replace("`", "")
    limit, kinds = _LIMIT.fullmatch(text), _EXPECTED.fullmatch(text)
    if limit is not None:
        number = float(limit[2])
        return f"must be {_COMPARED[limit[1]]} {int(number) if number.is_integer() else number}"
    if get_origin(type_) is Literal:
        return f"must be {_one_of(get_args(type_))}"
    if "matching regex" in text:  # only one setting has a form
        return f"must be {_one_of((HEAD, MERGE_BASE + 'BRANCH', SAVED, SESSION_START, NO_REFERENCE))}"
    if kinds is not None:
        expected = " or ".join(_WORDS.get(kind, kind) for kind in kinds[1].split(" | ") if kind != "null")
        return f"{'each item must' if inside else 'must'} be {expected}, not {_WORDS.get(kinds[2], kinds[2])}"
    return text[:1].lower() + text[1:]


def _bare(type_: Any) -> Any:
    """A type without what is annotated to it."""
    return get_args(type_)[0] if get_origin(type_) is Annotated else type_


def _one_of(values: Sequence[str]) -> str:
    quoted = [f'"{value}"' for value in values]
    return " or ".join(part for part in (", ".join(quoted[:-1]), quoted[-1]) if part)


def _shown(value: object) -> str:
    if value is None or value == ():
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
