"""What is asked of CBMC, and what its output means. No test needs CBMC: a shell script answers in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import cbmc
from benchmarks.revised_programs import random_chain
from benchmarks.summary_reuse import BesideCbmc, Counts, Setup

ENDED = "\n** 1 of 2 failed (2 iterations)\nVERIFICATION FAILED\n"
UNWOUND = "[main.unwind.0] line 2 unwinding assertion loop 0: FAILURE\n"
RECURSION = "[f.recursion] line 4 recursion unwinding assertion: FAILURE\n"
HOLDS = "[main.assertion.1] line 3 x: SUCCESS\n"
FAILS = "[unwind.assertion.1] line 3 x: FAILURE\n"


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ("VERIFICATION SUCCESSFUL\n", "complete"),
        (UNWOUND + HOLDS + ENDED, "holds"),
        (RECURSION + HOLDS + ENDED, "holds"),
        (UNWOUND + FAILS + ENDED, "violated"),
        (UNWOUND + "[main.assertion.1] line 3 x: UNKNOWN\n" + ENDED, "unknown"),
        (ENDED, "unknown"),
        ("PARSING ERROR\n", "unknown"),
        ("", "unknown"),
    ],
)
def test_an_answer(output: str, answer: str) -> None:
    assert cbmc.said(output, "")[0] == answer


def test_an_error_is_named() -> None:
    assert cbmc.said("Parsing\nPARSING ERROR\n", "file 0.i line 3: syntax error before x\n") == (
        "unknown",
        "no result: file 0.i line 3: syntax error before x",
    )


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("void reach_error(void); int main(void) { reach_error(); }", "reach_error"),
        ("void reach_error() {}\nint main(void) { reach_error(); }", "reach_error"),
        ("void reach_error(void) { __assert_fail(); } int main(void) { reach_error(); }", ""),
        ("int main(void) { __VERIFIER_assert(1); }", "__VERIFIER_assert"),
        ("int main(void) { __ESBMC_assert(1, 0); }", "__ESBMC_assert"),
        ("void __VERIFIER_assert(int c) { if (!c) abort(); } int main(void) { __VERIFIER_assert(1); }", "abort"),
        ("int main(void) { __SEA_assume(1); }", "__SEA_assume"),
        ("extern void abort(void); int main(void) { abort(); }", "abort"),
        ("int main(void) { __VERIFIER_assume(nondet()); __CPROVER_assert(1, 0); }", ""),
    ],
)
def test_what_the_program_does_not_define(text: str, added: str) -> None:
    first, *_ = cbmc.with_checks(text).splitlines()
    assert first.startswith(f"void {added}(") if added else first == text.splitlines()[0]


def test_what_is_asked(tmp_path: Path) -> None:
    """Our bound is one less than that of CBMC, and it reads what the preprocessor makes of the files."""
    (tmp_path / "one.h").write_text("void reach_error(void);\n")
    one, other = tmp_path / "one.c", tmp_path / "other.c"
    one.write_text("not this\n")
    other.write_text("int other = LONG;\n")
    script = tmp_path / "cbmc"
    script.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words; cat 0.i 1.i > {tmp_path}/texts; echo VERIFICATION SUCCESSFUL\n')
    question = cbmc.Question((one, other), '#include "one.h"\nint main(void) { reach_error(); }\n', (), ("LONG=4",), "ILP32")
    assert cbmc.ask(("sh", str(script)), question, 5).answer == "complete"
    words = (tmp_path / "words").read_text()
    assert words.startswith("--unwind 6 ")
    assert words.endswith(" --ILP32 0.i 1.i\n")
    assert '"reached"' in (tmp_path / "texts").read_text()
    assert "int other = 4;" in (tmp_path / "texts").read_text()
    ready = question._replace(text="int main(void) { return LONG; }\n", is_preprocessed=True)
    cbmc.ask(("sh", str(script)), ready, 5)
    assert (tmp_path / "texts").read_text() == "int main(void) { return LONG; }\n" + cbmc.preprocessed(other, question, None)


def test_beside_summaries(tmp_path: Path) -> None:
    """A theory proves what CBMC, here, says to be violated: a difference of each of these revisions."""
    (tmp_path / "cbmc").write_text('#!/bin/sh\necho "[main.assertion.1] line 3 x: FAILURE"; echo VERIFICATION FAILED\n')
    chain = random_chain(300)
    ours, beside = Counts(Setup("lra", "lra"), 2), BesideCbmc(("sh", str(tmp_path / "cbmc")), 2)
    short = chain._replace(revisions=chain.revisions[:2])
    ours.chain(short)
    beside.chain(short)
    assert ours.row([ours]).startswith("| lra | 1 | 1 | 0 | 0 | 0 | ")
    assert beside.row([ours]).startswith("| CBMC | 0 | 0 | 1 | 0 |  | ")
    assert beside.differences([ours]) == ["CBMC seed 300 1"]
