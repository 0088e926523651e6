"""A contract as Markdown, for hovers."""

from __future__ import annotations

from analysis.wire import ContractText


def contract_markdown(contract: ContractText, defined: str = "", change: str = "") -> str:
    """What callers have to keep, and can rely on. `defined` is a link to where the function is defined, if that is elsewhere;
    `change` what edits did to the contract."""
    source = "" if contract.path or not contract.lines else contract.lines[0].known  # of a library function: that of all
    lines = [f"- {line.text}" + ("" if source else f" *({line.known})*") for line in contract.lines]
    if contract.more:
        lines.append(f"- … {contract.more} more: `everproof contracts --function {contract.function}`")
    after = [f"*{_sentence(source)}*" if source else "", _sentence(contract.callers), _sentence(change)]
    if not contract.is_whole:
        after.append("*Not all of it is known yet. Hover again in a moment.*")
    if defined:
        after.append(f"Defined in {defined}.")
    shown = [f"```c\n{contract.declaration}\n```", "\n".join(lines), "  \n".join(filter(None, after))]
    return "\n\n".join(filter(None, shown))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""
