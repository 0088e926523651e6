"""`everproof dump derivation`, through its main function."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from analysis.cli.main import main

TEXT = """\
void *malloc(unsigned long);
void free(void *);

static int *make(void)
{
    return malloc(4);
}

static void unused(void)
{
}

int main(void)
{
    int *p = make();
    *p = 1;
    free(p);
    return 0;
}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(TEXT)


def derivation(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert main(["dump", "derivation", "a.c", *options]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_configurations_derivations_summaries_and_call_sites(capsys: pytest.CaptureFixture[str]) -> None:
    made, rest = derivation(capsys, "--rule", "null-dereference").split("\n\n", 1)
    assert made.splitlines() == [
        "make: entry 0, exit 1; 5 configurations, 4 derivations",
        "  entered with nothing",
        "    by the call at main 0 -> 2, with nothing",
        "    summary: returns with nothing",
        "    summary: returns with null-dereference: the result is null-on-failure",
        "    0: nothing",
        "        $1 = malloc(4) => 2",
        "        $1 = malloc(4) => 2: null-dereference: the result is null-on-failure",
        "    2: nothing",
        "        return $1 => 1",
        "    2: null-dereference: the result is null-on-failure",
        "        return $1 => 1: null-dereference: the result is null-on-failure",
        "    1: nothing",
        "    1: null-dereference: the result is null-on-failure",
    ]
    lines = rest.splitlines()
    assert lines[:4] == [
        "main: entry 0, exit 1; 7 configurations, 6 derivations",
        "  entered with nothing",
        "    at the start of the program",
        "    summary: returns with nothing",
    ]
    assert "        p = make(), by the summary of make from nothing to nothing => 2" in lines
    assert "        p = make() enters make with nothing" in lines
    assert "    3: null-dereference: error: `p` can be null here and is dereferenced" in lines
    assert lines[-2:] == ["", "not reached: unused"]


def test_it_is_the_graph_that_a_check_makes(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--format", "json", "a.c"])
    work = json.loads(capsys.readouterr().out)["work"]
    sizes = re.findall(r"; (\d+) configurations?, (\d+) derivations?$", derivation(capsys), re.MULTILINE)
    assert sum(int(configurations) for configurations, _ in sizes) == work["configurations"]["recomputed"]
    assert sum(int(derivations) for _, derivations in sizes) == work["derivations"]["recomputed"]


def test_every_configuration_but_the_entry_is_derived_from_another_one(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.split(r"^  entered with (.*)\n", derivation(capsys), flags=re.MULTILINE)[1:]
    assert len(blocks) == 4
    for entry, block in zip(blocks[::2], blocks[1::2], strict=True):
        configurations, derived, fact = set(), set(), ""
        for line in block.splitlines():
            if match := re.match(r"    (\d+): (.*)", line):
                fact = match[2]
                configurations.add((match[1], fact))
            elif match := re.match(r"        .* => (\d+)(?:: (.*?))?(?:  \(known before\))?$", line):
                derived.add((match[1], match[2] or fact))
        assert configurations - derived == {("0", entry)}
        assert derived <= configurations


def test_one_function_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert derivation(capsys, "--function", "make").startswith("make: entry 0")
    assert derivation(capsys, "--function", "unused") == "not reached: unused\n"
    assert derivation(capsys, "--function", "unused", "--entry", "unused").startswith("unused: entry 0, exit 1; ")
    assert main(["dump", "derivation", "a.c", "--function", "gone"]) == 2
    assert "no function gone" in capsys.readouterr().err


def test_as_dot(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line.strip() for line in derivation(capsys, "--format", "dot", "--rule", "null-dereference").splitlines()]
    assert lines[0] == "digraph derivation {"
    assert 'subgraph "cluster main 0" { label="main, entered with nothing";' in lines
    assert any(
        line.endswith('[label="3: null-dereference: error: `p` can be null here and is dereferenced", color=red3];')
        for line in lines
    )
    nodes = {line.split(" [")[0] for line in lines if re.match(r'"[^"]*" \[label', line)}
    arrows = [re.match(r'("[^"]*") -> ("[^"]*") \[', line) for line in lines]
    ends = {end for arrow in arrows if arrow for end in arrow.groups()}
    assert ends <= nodes
    assert '"main 0 0 0" -> "a.c::make 0 0 0" [style=dashed];' in lines
    assert lines[-1] == "}"
    alone = derivation(capsys, "--format", "dot", "--function", "main")
    assert "make 0" not in alone


def test_what_cannot_be_explored_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump", "derivation", "a.c", "--entry", "gone"]) == 2
    assert "no function gone to enter" in capsys.readouterr().err
    assert main(["dump", "derivation", "gone.c"]) == 2
    assert main(["dump", "derivation", "a.c", "a.c"]) == 2
    assert "takes one file: 2 are given" in capsys.readouterr().err
    assert main(["dump", "formula", "a.c"]) == 2
    assert "'formula' is not one of 'ast', 'cfa', 'callgraph', 'delta', 'derivation'" in capsys.readouterr().err
