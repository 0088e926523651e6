"""Projects with contracts of their own in `.everproof/functions`, and what is said of them."""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import RuleVerdict
from analysis.model.settings import Settings
from analysis.store.database import Store
from tests.support.settled import settled_verdicts

HEAP = ("double-free", "memory-leak", "resource-leak", "use-after-free", "use-after-close")
RULES = (*HEAP, "null-dereference", "division-by-zero")
LIMITS = Limits(proof_seconds=300.0, program_seconds=5.0, task_seconds=5.0)


def write_project(folder: Path, contracts: str | None, **files: str) -> Path:
    """Writes a folder with these C files, and with these contracts, if any."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.c").write_text(text)
    if contracts is not None:
        (folder / ".everproof" / "functions").mkdir(parents=True, exist_ok=True)
        (folder / ".everproof" / "functions" / "own.yaml").write_text(contracts)
    return folder


def project_checker(folder: Path, store: Store | None = None, **options: object) -> Checker:
    """A checker of the folder with its contracts; it proves everything, unless the options say otherwise."""
    given = {"rules": RULES, "proofs": True, "everywhere": True, "budget": "background", "limits": LIMITS, **options}
    found = Settings().options((str(folder),))
    checker = Checker(Options(functions_dirs=found.functions_dirs, **given), store=store)  # type: ignore[arg-type]
    checker.open([str(folder)])
    return checker


def found_in(folder: Path) -> list[tuple[str, str]]:
    """The function and the rule of each finding of the automaton engine."""
    report = project_checker(folder, engine="automaton").check()
    return [(one.function, one.rule) for one in report.findings]


def verdicts_of(folder: Path, **options: object) -> dict[tuple[str, str], RuleVerdict]:
    """The verdicts of all functions and rules when the provers are done."""
    checker = project_checker(folder, **options)
    found = settled_verdicts(checker)
    checker.close()
    return found


def safe_ones(found: dict[tuple[str, str], RuleVerdict]) -> set[tuple[str, str]]:
    """The functions and rules that are safe."""
    return {key for key, verdict in found.items() if verdict.verdict == "safe"}
