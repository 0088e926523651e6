"""Edges in sentences, as people read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.cfa.marks import is_marked, marked, with_places
from analysis.cli.main import main
from analysis.model import ir
from tests.support.runs import program_of


def test_a_mark_names_an_edge_by_what_it_does() -> None:
    program = program_of("int g(void);\nstatic int f(int n) { g(); return 100 / n; }\nint main(void) { return f(1); }")
    [name] = [name for name in program.functions if name.endswith("f")]
    edges = {type(edge.effect).__name__: edge.id for edge in program.functions[name].edges}
    text = f"it is at {marked(program, name, edges['Return'])}, not at {marked(program, name, edges['Call'])}"
    assert is_marked(text)
    assert with_places(text, program, None) == "it is at f() (return 100 / n), not at f() (g())"
    assert with_places("⟦gone⟧3⟧ and ⟦main⟧99⟧", program, None) == "gone() and main()"
    assert (is_marked("no mark"), with_places("no mark", program, None)) == (False, "no mark")
    with pytest.raises(KeyError):
        marked(program, name, 99)


def test_a_mark_names_the_call_whose_result_is_used() -> None:
    program = program_of('#include <string.h>\nvoid f(char *line) { line[strcspn(line, "\\n")] = 0; }')
    [edge] = [edge.id for edge in program.functions["f"].edges if type(edge.effect).__name__ == "Assign"]
    assert with_places(marked(program, "f", edge), program, None) == 'f() (line[strcspn(line, "\\n")] = 0)'


def test_a_reason_has_words_for_values_without_a_name() -> None:
    program = program_of("char *g(void); void f(char *s, int c) { use(c ? s : c > 1 ? g() : s + 1); use(g()); }")
    calls = [edge for edge in program.functions["f"].edges if type(edge.effect).__name__ == "Call"]
    chosen, given = (edge for edge in calls if edge.effect.callee.name == "use")  # type: ignore[union-attr]
    named = [str(ir.root(ir.strip_casts(edge.effect.arguments[0])).name) for edge in (chosen, given)]  # type: ignore[union-attr]
    text = [f"`{name}` is lost at {marked(program, 'f', edge.id)}" for name, edge in zip(named, (chosen, given), strict=True)]
    assert (
        with_places("; ".join(text), program, None) == "a value is lost at f() (use(the result)); `g()` is lost at f() (use(g()))"
    )
    assert with_places(f"`$3` is lost, `{named[0]}` at ⟦gone⟧3⟧", program, None) == "a value is lost, a value at gone()"


CUT_LINE = """\
#include <string.h>
int f(const char *text, int n)
{
    char line[16];
    line[strcspn(text, "x")] = 0;
    return n > 0 ? 100 / n : 0;
}
"""


def test_no_reason_names_a_temporary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.c"
    file.write_text(CUT_LINE)
    main(["check", "--store", "none", "--rule", "division-by-zero", "--engine", "predicate", "--format", "json", str(file)])
    [function] = json.loads(capsys.readouterr().out)["functions"]
    reason = function["verdicts"]["division-by-zero"]["reason"]
    assert 'line[strcspn(text, "x")] in f() may be outside of its array' in reason


TEXT = """\
int f(int n)
{
    return 100 / n;
}
"""
OPEN = """\
int opaque(void);
int f(void) { int n = opaque();
    return 100 / n;
}
"""


def test_a_reason_quotes_what_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the names of constants and the sizes that the program writes, which the graph knows as numbers."""
    file = tmp_path / "a.c"
    file.write_text(
        "#include <string.h>\nstruct s { int kind; };\nenum { FIRST, SECOND };\nstruct s *find(int);\n"
        "void clear(void)\n{\n\tmemset(find(1), 0, sizeof(struct s));\n}\n"
        "int is_second(void)\n{\n\tstruct s *one = find(2);\n\treturn one->kind == SECOND;\n}\n"
    )
    main(["contracts", str(file)])
    said = capsys.readouterr().out
    assert f"may be null at {file}:7 (memset(find(1), 0, sizeof(struct s)))" in said
    assert f"may be null at {file}:12 (return one->kind == SECOND)" in said


def test_reasons_name_lines_also_after_lines_above_were_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "store")
    file = tmp_path / "a.c"
    for above in ("", "\n\n"):
        file.write_text(above + OPEN)
        main(["check", "--store", store, "--rule", "division-by-zero", "--format", "json", str(file)])
        [function] = json.loads(capsys.readouterr().out)["functions"]
        line = 3 + above.count("\n")
        reason = function["verdicts"]["division-by-zero"]["reason"]
        assert reason == f"not proved: `n` may be zero at {file}:{line} (return 100 / n)"


@pytest.mark.parametrize("text", ["int main(void) { int *p = (int *)8; return *p; }", TEXT, "int f(int *p) { return p[3]; }"])
def test_no_reason_has_the_numbers_of_a_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    file = tmp_path / "a.c"
    file.write_text(text)
    main(["check", "--store", "none", "--format", "json", str(file)])
    report = json.loads(capsys.readouterr().out)
    reasons = [v["reason"] for f in report["functions"] for v in f["verdicts"].values()] + [
        f["reason"] for f in report["findings"]
    ]
    for reason in filter(None, reasons):
        assert not is_marked(reason)
        assert all(word not in reason for word in ("edge ", "location ", "⟦", "certificate", "candidate", "a way "))
