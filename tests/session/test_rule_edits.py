"""Rules that come, go and change, with the program or alone: the answers are those from scratch, and mostly found by repair."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from random import Random

import msgspec
import pytest
from support.program_edits import LARGE, Chain
from support.rule_edits import EditedRules

from analysis.api import Checker
from analysis.engines.automaton import Algorithm

_STEPS = 14
_OWN = """\
name: no-beep
summary: A beep
severity: note
help: {what: It beeps., why: Nobody wants that., example: "beep();", fix: Be quiet.}
transitions:
  - {from: start, when: "beep(...)", error: "MESSAGE"}
"""
_BEEPING = """\
extern void beep(int);
static void twice(int n) { beep(n); beep(n); }
static int other(int n) { return n + 1; }
int main(void) { twice(other(1)); return 0; }
"""


@pytest.mark.parametrize("algorithm", ["incr-back", "incr-fwd"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_program_under_changing_rules_is_repaired(seed: int, algorithm: Algorithm, tmp_path: Path) -> None:
    random, folder = Random(seed), tmp_path / "rules"
    rules = EditedRules(random, folder)
    options = msgspec.structs.replace(LARGE, rules_dirs=(str(folder),))
    chain = Chain(random, tmp_path, 300, algorithm, options)
    for _ in range(_STEPS):
        done = rules.edit()
        if random.random() < 0.4:
            done += "; " + chain.edit()
        chain.compare(done)
    assert chain.repaired > _STEPS / 3


def test_a_rule_concerns_the_functions_in_which_it_matches(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(_BEEPING)
    folder = tmp_path / "rules"
    folder.mkdir()
    checker = Checker(msgspec.structs.replace(LARGE, rules_dirs=(str(folder),)))
    checker.open([str(tmp_path / "a.c")])
    nothing = checker.check()
    assert not nothing.findings
    (folder / "own.yaml").write_text(_OWN.replace("MESSAGE", "Hush"))
    checker.refresh()
    found = checker.check()
    assert [(f.rule, f.message, f.function) for f in found.findings] == [("no-beep", "Hush", "twice")]
    assert [(one.function, one.reason) for one in found.rechecked] == [("twice", "rule")]
    assert found.work.configurations.recomputed == 2  # an error at each call
    assert found.work.configurations.reused == nothing.work.configurations.recomputed
    (folder / "own.yaml").write_text(_OWN.replace("MESSAGE", "Quiet"))
    checker.refresh()
    reworded = checker.check()
    assert [f.message for f in reworded.findings] == ["Quiet"]
    assert reworded.work.configurations.recomputed == 0
    assert not reworded.rechecked
    (folder / "own.yaml").unlink()
    checker.refresh()
    gone = checker.check()
    assert not gone.findings
    assert [list(f.verdicts) for f in gone.functions] == [list(f.verdicts) for f in nothing.functions]
    assert gone.work.configurations.recomputed == 0


def test_a_rule_of_the_users_that_says_what_the_shipped_one_says_is_about_functions_of_the_program(tmp_path: Path) -> None:
    """The shipped rule is about the library's `close` only."""
    own = "void close(int *n) { ++*n; }\nint use(int n) { int *p = &n; close(p); close(p); return n; }\n"
    (tmp_path / "a.c").write_text(own + "int main(void) { return use(3); }\n")
    folder = tmp_path / "rules"
    folder.mkdir()
    checker = Checker(msgspec.structs.replace(LARGE, rules=("descriptor-after-close",), rules_dirs=(str(folder),)))
    checker.open([str(tmp_path / "a.c")])
    assert not checker.check().findings
    shipped = resources.files("analysis.rules") / "shipped" / "descriptor-after-close.yaml"
    copy = folder / shipped.name
    copy.write_bytes(shipped.read_bytes())
    checker.refresh()
    assert [(f.rule, f.function) for f in checker.check().findings] == [("descriptor-after-close", "use")]
    copy.unlink()
    checker.refresh()
    assert not checker.check().findings
