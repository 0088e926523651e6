"""Code lens: the verdict above each function, and what edits did to its contract since the file was saved."""

from __future__ import annotations

from lsprotocol import types

from analysis.model.report import FunctionReport, as_called
from server.app import EverproofServer
from server.convert import conditions, overall, proved, stale_reason, violated_rules
from server.features import commands
from server.proof_words import BROKEN, broken, recheck_words, rechecked, reuse_texts
from server.results import FileState

_LONGEST_REASON = 80  # characters of a reason that a lens shows; the hover shows all


def register(server: EverproofServer) -> None:
    """Registers the handler."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))
    async def code_lens(params: types.CodeLensParams) -> list[types.CodeLens]:
        document = server.documents.find(params.text_document.uri)
        state = server.results.state(document.file_path) if document is not None else None
        if document is None or state is None or not server.settings.code_lens:
            return []
        return [
            types.CodeLens(server.converter.range(function.place), command)
            for function in state.functions
            if function.place.path == state.path and not function.place.gone
            for command in (
                lens_command(function, state, document.uri, server.settings.show_unknown),
                _change(server, function, state),
            )
            if command is not None
        ]


def _change(server: EverproofServer, function: FunctionReport, state: FileState) -> types.Command | None:
    """What edits did to the contract of a function; None if it is as before, or nothing is known of it."""
    news = server.contract_news.of(state.path, function.name, server.last_check)
    if news is None or news[0].is_same:
        return None
    change, is_current = news
    is_stale = not is_current or stale_reason(state, function) is not None
    return types.Command(f"{change.text} (stale)" if is_stale else change.text, "", "Compared with the text that was saved last.")


def lens_command(function: FunctionReport, state: FileState, uri: str, show_unknown: bool = False) -> types.Command | None:
    """Returns what is known in a few words, findings and conditions first; None if that is nothing, unless it is asked for. The
    tooltip has the assumptions, and the rules if they are too many for the lens. A click shows the trace of the first finding,
    if there is one."""
    rules = proved(function)
    parts = [f"✓ proved: {_named(rules)}"] if rules else []
    is_first = overall(function)[0] == "violated" or bool(conditions(function))
    open_parts = _open_parts(function, state, show_unknown)
    parts = [*open_parts, *parts] if is_first else [*parts, *open_parts]
    again, lost = rechecked(function), broken(function)
    parts += [f"↻ {recheck_words(function)}: {_named(again)}"] * bool(again) + [f"? {BROKEN}: {_named(list(lost))}"] * bool(lost)
    if not parts:
        return None
    title = " · ".join(parts)
    if stale_reason(state, function) is not None:
        title += " (stale)"
    finding = next((f for f in state.findings if f.function == function.name and f.trace), None)
    assumed = sorted({a for rule in rules for a in function.verdicts[rule].assumptions})
    entries = {function.verdicts[rule].entries for rule in rules}
    called = sorted(as_called(names) for names in entries if names and function.name not in names)
    lines = ["Proved: " + ", ".join(rules) + "."] * (len(rules) > _FEW)
    lines += ["Proved " + "; ".join(called) + "."] * bool(called) + ["Assuming: " + "; ".join(assumed) + "."] * bool(assumed)
    lines += [f"{text[0].upper()}{text[1:]}." for text in dict.fromkeys((*lost.values(), *reuse_texts(function).values()))]
    tooltip = " ".join(lines) or None
    if finding is None:
        return types.Command(title, "", tooltip)
    return types.Command(title, commands.TRACE, tooltip, arguments=[uri, finding.fingerprint, commands.BACK])


def _open_parts(function: FunctionReport, state: FileState, show_unknown: bool) -> list[str]:
    """What is to be said besides what is proved. A finding that is held back is as quiet as what is unknown."""
    verdict, reason = overall(function)
    if verdict == "violated":
        confirmed, possible, held_back = violated_rules(function, state.findings)
        named = [("✗ confirmed", confirmed), ("⚠ possible", possible), ("? held back", held_back if show_unknown else [])]
        return [f"{word}: {_short(', '.join(rules))}" for word, rules in named if rules]
    if conditions(function):
        return [f"◐ {_short(conditions(function))}"]
    return [f"? unknown: {_short(reason or '')}"] if show_unknown and verdict == "unknown" else []


_FEW = 3  # rules that are named in a lens


def _named(rules: list[str]) -> str:
    return ", ".join(rules) if len(rules) <= _FEW else f"{len(rules)} rules"


def _short(reason: str) -> str:
    return reason if len(reason) <= _LONGEST_REASON else reason[: _LONGEST_REASON - 1] + "…"
