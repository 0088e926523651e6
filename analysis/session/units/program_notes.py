"""What there is to say of files that can mean several things: each sentence once, however many files it is about."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from analysis.cfa.linking.programs import Meant
from analysis.frontend.compiler.meaning_flags import OTHER_FLAGS
from analysis.model.report import Message
from analysis.model.unit_flags import shown
from analysis.session.units.unit_view import UnitView

_MOST = 3  # names in one sentence


def program_notes(units: Sequence[UnitView], meanings: Sequence[Meant]) -> Mapping[str, tuple[Message, ...]]:
    """The sentences, each under the path of the first file that it is about."""
    found: dict[str, tuple[Message, ...]] = {}
    doubtful = {unit.path: meant.doubtful for unit, meant in zip(units, meanings, strict=True) if meant.doubtful}
    if doubtful:
        first = next(iter(doubtful))
        found[first] = (Message("warning", first, _several_programs(list(doubtful.values()))),)
    ambiguous = [unit.path for unit in units if unit.built.unit.doubt == OTHER_FLAGS]
    if ambiguous:
        first = ambiguous[0]
        found[first] = (*found.get(first, ()), Message("warning", first, _several_flags(ambiguous)))
    return found


def _several_programs(doubtful: Sequence[Mapping[str, str]]) -> str:
    """`doubtful`: for each file the names whose definition is in doubt, with the file of the one that is taken."""
    names = sorted({name.partition("~")[0] for of in doubtful for name in of})
    taken = dict.fromkeys(path for of in doubtful for path in of.values())
    others = len(doubtful) - 1
    where = "from here" + (f" and {others} more {'files' if others > 1 else 'file'}" if others else "")
    is_taken = f"that of {next(iter(taken))} is taken" if len(taken) == 1 else f"those of {_listed(list(taken))} are taken"
    return f"Several programs define {_listed(names)}: {where}, {is_taken}, and nothing is proved of what uses it."


def _several_flags(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - 1} more are" if len(paths) > 1 else " is"
    file = shown(os.path.basename(paths[0]))
    return (
        f"{file}{more} compiled with different flags, which give it another text: only the first counts, and nothing is proved."
    )


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:_MOST]) + (f" and {len(words) - _MOST} more" if len(words) > _MOST else "")
