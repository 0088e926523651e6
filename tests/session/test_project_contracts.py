"""What a project says of functions that it calls and does not define: findings, proofs, and when neither may use it.

The class: a contract that counts where it must not. That is, for another program, for a function that is not the one that it
speaks of, after it was changed, for a proof that does not list it, and for a prover that does not follow it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import msgspec
import pytest
from support.markers import difference, read_markers
from support.program_edits import LARGE

from analysis.api import Checker
from analysis.engines.automaton import Algorithm
from analysis.model.assumptions import PROJECT_CONTRACTS
from analysis.model.options import Options
from analysis.model.report import Report, RuleVerdict
from analysis.store.database import Store
from tests.support.described_projects import HEAP, found_in, project_checker, safe_ones, verdicts_of, write_project
from tests.support.settled import answered, settled_verdicts

POOL = Path(__file__).parents[2] / "fixtures" / "contracts" / "pool"
CONTRACTS = (POOL / ".everproof" / "functions" / "pool.yaml").read_text("utf-8")
HEADER = (POOL / "pool.h").read_text("utf-8")


def _messages(folder: Path) -> list[tuple[str, str, str]]:
    report = project_checker(folder, engine="automaton").check()
    return [(one.severity, Path(one.path).name, one.text) for one in report.messages]


def _relied_on(verdict: RuleVerdict) -> str:
    return next((one for one in verdict.assumptions if one.startswith(PROJECT_CONTRACTS.sentence)), "")


# -- findings and proofs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bad", "good"])
def test_findings_are_where_the_comments_say(name: str) -> None:
    path = POOL / f"{name}.c"
    checker = Checker(Options(engine="automaton", functions_dirs=(str(POOL / ".everproof" / "functions"),)))
    checker.open([str(path)])
    report = checker.check()
    assert not report.messages
    found = Counter((one.place.range.start.line, one.rule) for one in report.findings)
    problems = difference(path, read_markers(path).findings, found)
    assert not problems, f"\n{problems}"


def test_without_contracts_nothing_of_that_is_found(tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", None, bad=(POOL / "bad.c").read_text())
    (folder / "pool.h").write_text(HEADER)
    assert [one for one in found_in(folder) if one[1] in HEAP] == []


def test_proofs_rest_on_contracts_and_list_them(tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", CONTRACTS, good=(POOL / "good.c").read_text())
    (folder / "pool.h").write_text(HEADER)
    found = verdicts_of(folder)
    assert {("checked", rule) for rule in ("double-free", "memory-leak")} <= safe_ones(found)
    assert {("looked", rule) for rule in ("double-free", "memory-leak", "division-by-zero")} <= safe_ones(found)
    assert {("written", rule) for rule in (*HEAP, "null-dereference")} <= safe_ones(found)
    assert found["checked", "null-dereference"].is_conditional  # the pool must not be null
    said = _relied_on(found["looked", "division-by-zero"])
    assert "pool_look (.everproof/functions/own.yaml)" in said
    assert "log_open" not in said
    for (function, rule), verdict in found.items():
        assert verdict.verdict != "safe" or _relied_on(verdict), (function, rule)


def test_what_violates_a_rule_by_its_contracts_is_never_safe(tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", CONTRACTS, bad=(POOL / "bad.c").read_text())
    (folder / "pool.h").write_text(HEADER)
    checker = project_checker(folder)
    found = settled_verdicts(checker)
    assert checker.report is not None
    wrong = {(one.function, one.rule) for one in checker.report.findings}
    checker.close()
    marked = read_markers(POOL / "bad.c").findings
    assert len(wrong) == sum(marked.values())
    assert not wrong & safe_ones(found)


def test_what_is_not_complete_helps_to_find_and_proves_nothing(tmp_path: Path) -> None:
    incomplete = "\n".join(line for line in CONTRACTS.splitlines() if "complete" not in line)
    incomplete = incomplete.replace("    never_returns: true\n", "")
    text = (POOL / "good.c").read_text() + (POOL / "bad.c").read_text().replace("int looked", "int looked_").partition("\n")[2]
    with_them = write_project(tmp_path / "with", incomplete, all=text)
    without = write_project(tmp_path / "without", None, all=text)
    for folder in (with_them, without):
        (folder / "pool.h").write_text(HEADER)
    assert ("twice", "double-free") in found_in(with_them)
    assert ("used", "use-after-free") in found_in(with_them)
    assert ("twice", "double-free") not in found_in(without)
    found = verdicts_of(with_them)
    assert safe_ones(found) <= safe_ones(verdicts_of(without))
    assert not any(_relied_on(verdict) for verdict in found.values())


OWN_RULE = """
name: no-release
summary: A release
severity: note
help: {what: w, why: y, example: e, fix: f}
names: {$FREE: {library: frees}}
transitions:
  - {from: start, when: "$FREE($_)", error: "A release"}
"""


def test_rules_of_a_project_mean_its_functions_too(tmp_path: Path) -> None:
    contracts = "functions: [{name: put, arguments: [{}, {frees: true}]}, {name: look, arguments: [{reads: true}]}]"
    text = "void put(int n, int *p);\nvoid look(int *p);\nvoid f(int *p) { look(p); put(1, p); }\n"
    folder = write_project(tmp_path / "p", contracts, a=text)
    (folder / "rules").mkdir()
    (folder / "rules" / "own.yaml").write_text(OWN_RULE)
    report = project_checker(folder, engine="automaton", rules=("no-release",), rules_dirs=(str(folder / "rules"),)).check()
    assert [(one.rule, one.place.range.start.column) for one in report.findings] == [("no-release", 27)]


# -- provers that do not follow contracts -------------------------------------------------------------------------------------

WHOLE = """
struct pool;
void *pool_get(struct pool *pool, unsigned size);
void pool_put(struct pool *pool, void *block);
struct pool *pool_of(void);
int main(void)
{
    struct pool *pool = pool_of();
    int *number;
    if (!pool) return 1;
    number = pool_get(pool, 4);
    if (!number) return 1;
    BODY
    return 0;
}
"""


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("", "memory-leak"),
        ("pool_put(pool, number); pool_put(pool, number);", "double-free"),
        ("pool_put(pool, number); return *number;", "use-after-free"),
    ],
)
def test_no_prover_refutes_what_only_a_contract_shows(tmp_path: Path, body: str, rule: str) -> None:
    contracts = CONTRACTS + "  - {name: pool_of, result: {pointer: own, may_be_null: true}, complete: true}\n"
    folder = write_project(tmp_path / "p", contracts, a=WHOLE.replace("BODY", body))
    checker = project_checker(folder)
    found = settled_verdicts(checker)
    assert checker.report is not None
    assert [(one.rule, one.status) for one in checker.report.findings if one.rule == rule] == [(rule, "possible")]
    assert found["main", rule].verdict != "safe"
    checker.close()


OUTSIDE = """
int level(void);
int *place(void);
int share(void) { return 1 / (level() - LEVEL); }
int follow(void) { return *place(); }
int main(void) { int n = share(); return n + follow(); }
"""
LEVELS = """
functions:
  - {name: level, result: {least: 1, greatest: 3}, complete: true}
  - {name: place, result: {pointer: own, may_be_null: false}, complete: true}
"""


@pytest.mark.parametrize(("contracts", "level", "confirmed"), [(LEVELS, "5", False), (LEVELS, "2", True), (None, "5", True)])
def test_a_run_confirms_nothing_by_what_a_contract_excludes(
    tmp_path: Path, contracts: str | None, level: str, confirmed: bool
) -> None:
    folder = write_project(tmp_path / "p", contracts, a=OUTSIDE.replace("LEVEL", level))
    checker = project_checker(folder)
    checker.check()
    answered(checker)
    assert checker.report is not None
    found = [(one.rule, one.status) for one in checker.report.findings]
    checker.close()
    assert found == ([("division-by-zero", "confirmed")] if confirmed else [])


ENDING = """
DECLARED
int level(void);
int main(void) { int n = level(); if (n == LEVEL) stop(); return 1 / n; }
"""


@pytest.mark.parametrize(("level", "found"), [("0", []), ("1", [("division-by-zero", "confirmed")])])
@pytest.mark.parametrize("through", ["void stop(void);", "void end(void);\nvoid (*stop_)(void) = end;\n#define stop() stop_()"])
def test_no_run_goes_on_after_what_never_returns(tmp_path: Path, level: str, found: list[tuple[str, str]], through: str) -> None:
    names = "{name: stop, never_returns: true, complete: true}, {name: end, never_returns: true, complete: true}"
    text = ENDING.replace("DECLARED", through).replace("LEVEL", level)
    checker = project_checker(write_project(tmp_path / "p", f"functions: [{names}]", a=text))
    checker.check()
    answered(checker)
    assert checker.report is not None
    assert [(one.rule, one.status) for one in checker.report.findings] == found
    checker.close()


def test_a_declaration_in_another_file_says_that_a_function_never_returns(tmp_path: Path) -> None:
    text = ENDING.replace("DECLARED", "void stop(void);").replace("LEVEL", "0")
    checker = project_checker(
        write_project(tmp_path / "p", None, a=text, b="_Noreturn void stop(void);\nvoid f(void) { stop(); }\n")
    )
    checker.check()
    answered(checker)
    assert checker.report is not None
    assert checker.report.findings == ()
    checker.close()


def test_what_never_returns_leaves_an_order_open(tmp_path: Path) -> None:
    contracts = "functions: [{name: stop, never_returns: true, complete: true}]"
    folder = write_project(tmp_path / "p", contracts, a="int stop(void);\nint f(int n) { return stop() + 1 / n; }\n")
    assert verdicts_of(folder)["f", "division-by-zero"].verdict != "safe"


def test_null_for_a_block_to_free_is_not_safe_unless_the_contract_says_so(tmp_path: Path) -> None:
    text = "void put(void *block);\nvoid f(void *p) { put(p); }\n"
    strict = write_project(tmp_path / "a", "functions: [{name: put, arguments: [{frees: true}], complete: true}]", a=text)
    lenient = "functions: [{name: put, arguments: [{frees: true, may_be_null: true}], complete: true}]"
    assert verdicts_of(strict)["f", "null-dereference"].is_conditional
    assert ("f", "null-dereference") not in {
        key for key, verdict in verdicts_of(write_project(tmp_path / "b", lenient, a=text)).items() if verdict.is_conditional
    }


def test_what_only_a_contract_keeps_from_violating_a_rule_is_not_left_out_of_the_verdict(tmp_path: Path) -> None:
    """The class: a program that is safe because of a contract that nothing lists."""
    text = "void put(void *block);\nint main(void) { int *p = 0; put(p); return 0; }\n"
    for number, contracts in enumerate((None, "functions: [{name: put, arguments: [{}], complete: true}]")):
        found = verdicts_of(write_project(tmp_path / str(number), contracts, a=text))["main", "null-dereference"]
        assert not found.no_place
        assert found.verdict != "safe" or _relied_on(found)


# -- to which functions a contract applies -----------------------------------------------------------------------------------

PUT = "functions: [{name: put, arguments: [{frees: true}], complete: true}]"
FREED = "{ put(p); put(p); }"


def test_a_function_of_the_program_is_what_its_body_says(tmp_path: Path) -> None:
    text = f"extern int n;\nvoid put(int *p) {{ n = *p; }}\nvoid f(int *p) {FREED}\n"
    folder = write_project(tmp_path / "p", PUT, a=text)
    assert found_in(folder) == []
    ((severity, name, said),) = _messages(folder)
    assert (severity, name) == ("warning", "own.yaml")
    assert said.startswith("The contract of put is not used: ")
    assert said.endswith("a.c defines the function.")


def test_a_static_function_of_the_name_is_another_one(tmp_path: Path) -> None:
    folder = write_project(
        tmp_path / "p",
        PUT,
        a=f"extern int n;\nstatic void put(int *p) {{ n = *p; }}\nvoid f(int *p) {FREED}\n",
        b=f"void put(int *p);\nvoid g(int *p) {FREED}\n",
    )
    assert found_in(folder) == [("g", "double-free")]
    assert _messages(folder) == []


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ("void put(int *p, int n);", "it is declared with 2 arguments, not 1"),
        ("void put(long p);", "its argument 1 is no pointer"),
        ("void put(void (*p)(void));", "its argument 1 is a pointer to a function"),
        ("void put(int *p, ...);", "it is declared with further arguments"),
        ("int *put(int *p);", "it returns a pointer"),
        ("struct s { int *p; }; struct s put(int *p);", "it returns a structure, of which a contract says nothing"),
        ("void put();", "it is declared without its parameters, or not at all"),
    ],
)
def test_a_contract_of_another_function_does_not_count(tmp_path: Path, declared: str, why: str) -> None:
    folder = write_project(tmp_path / "p", PUT, a=f"{declared}\n", b=f"void put(int *p);\nvoid f(int *p) {FREED}\n")
    assert found_in(folder) == []
    said = [text for *_, text in _messages(folder) if text.startswith("The contract of put is not used: in ")]
    assert [text.partition(", ")[2] for text in said] == [f"{why}."]


@pytest.mark.parametrize(
    ("declared", "least", "greatest", "holds"),
    [
        ("unsigned char", 256, 256, False),
        ("unsigned char", 0, 255, True),
        ("signed char", -129, 1, False),
        ("signed char", -128, 127, True),
        ("unsigned", -1, 10, False),
        ("_Bool", 1, 2, False),
        ("_Bool", 0, 1, True),
        ("int", 1, 2147483648, False),
        ("unsigned long", 0, 18446744073709551615, True),
    ],
)
def test_a_range_that_a_result_cannot_hold_does_not_count(
    tmp_path: Path, declared: str, least: int, greatest: int, *, holds: bool
) -> None:
    """What is returned is converted: an `unsigned char` that is said to be 256 is zero."""
    contracts = f"functions: [{{name: level, result: {{least: {least}, greatest: {greatest}}}, complete: true}}]"
    folder = write_project(tmp_path / "p", contracts, a=f"{declared} level(void);\nint f(void) {{ return 1 / (int)level(); }}\n")
    said = [text for *_, text in _messages(folder)]
    name = {"unsigned": "unsigned int"}.get(declared, declared)
    why = f"it returns {name}, which does not hold all of {least} to {greatest}"
    wrong = [] if holds else [f"The contract of level is not used: in {folder / 'a.c'}, {why}."]
    assert said == wrong


def test_a_function_that_nobody_declares_needs_no_message(tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", PUT, a="int f(void) { return 1; }\n")
    assert _messages(folder) == []


# -- programs, revisions and the store ---------------------------------------------------------------------------------------

TEXT = f"void put(int *p);\nvoid f(int *p) {FREED}\n"


def test_two_programs_in_one_process_have_their_own_contracts(tmp_path: Path) -> None:
    one, other = write_project(tmp_path / "one", PUT, a=TEXT), write_project(tmp_path / "other", None, a=TEXT)
    checkers = [project_checker(folder, engine="automaton") for folder in (one, other, one)]
    found = [[(f.function, f.rule) for f in checker.check().findings] for checker in checkers]
    assert found == [[("f", "double-free")], [], [("f", "double-free")]]
    reads = PUT.replace("frees", "reads")
    write_project(one, reads)
    for checker in checkers:
        checker.refresh()
    assert [len(checker.check().findings) for checker in checkers] == [0, 0, 0]


def test_a_contract_that_changes_changes_findings_and_proofs(tmp_path: Path) -> None:
    text = "int level(void);\nint f(void) { return 1 / level(); }\nint g(int n) { return 1 / (n * n + 1 ? 1 : 2); }\n"
    positive = "functions: [{name: level, result: {least: 1, greatest: 3}, complete: true}]"
    folder = write_project(tmp_path / "p", positive, a=text)
    checker = project_checker(folder)
    assert settled_verdicts(checker)["f", "division-by-zero"].verdict == "safe"
    for contracts, is_safe in (
        (positive.replace("least: 1", "least: 0"), False),
        (positive, True),
        (positive.replace(", complete: true", ""), False),
        (positive, True),
        ("functions: []", False),
    ):
        write_project(folder, contracts)
        checker.refresh()
        assert (settled_verdicts(checker)["f", "division-by-zero"].verdict == "safe") == is_safe, contracts
    checker.close()


def test_what_is_kept_in_the_store_depends_on_contracts(tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", PUT, a=TEXT)
    path = str(tmp_path / "kept.everproof")

    def checked() -> list[str]:
        checker = project_checker(folder, Store(path), engine="automaton")
        found = [finding.rule for finding in checker.check().findings]
        assert checker.save()
        return found

    assert checked() == ["double-free"]
    write_project(folder, PUT.replace("frees", "reads"))
    assert checked() == []
    write_project(folder, PUT)
    assert checked() == ["double-free"]


WRAPPED = """
void put(int *p);
int *get(void);
void stop(void);
static void drop(int *p) { put(p); }
static int *make(void) { return get(); }
int one(void) { int *p = make(); *p = 1; drop(p); return *p; }
int two(int n) { int *p = make(); if (!p) stop(); *p = n; if (n) drop(p); return n; }
int three(int *p) { drop(p); drop(p); return 1; }
int four(int n) { return n + 1; }
"""
ENTRIES = {
    "put": ("{name: put, arguments: [{frees: true}], complete: true}", "{name: put, arguments: [{keeps: true}], complete: true}"),
    "get": ("{name: get, result: {new: block, may_be_null: true}}", "{name: get, result: {pointer: own, may_be_null: true}}"),
    "stop": ("{name: stop, never_returns: true, complete: true}", "{name: stop, complete: true}"),
}


def _said(report: Report) -> list[tuple[str, dict[str, tuple[str, str | None, tuple[str, ...]]]]]:
    return [(f.name, {rule: (v.verdict, v.reason, v.assumptions) for rule, v in f.verdicts.items()}) for f in report.functions]


@pytest.mark.parametrize("algorithm", ["incr-back", "incr-fwd"])
def test_contracts_that_change_are_repaired_to_what_a_check_from_nothing_finds(tmp_path: Path, algorithm: Algorithm) -> None:
    random, seen = Random(5), set[tuple[tuple[str, str], ...]]()
    folder = write_project(tmp_path / "p", "functions: []", a=WRAPPED)
    options = msgspec.structs.replace(LARGE, functions_dirs=(str(folder / ".everproof" / "functions"),), engine="automaton")
    checker = Checker(options, algorithm=algorithm)
    checker.open([str(folder)])
    checker.check()
    for _ in range(25):
        chosen = [random.choice(("", *versions)) for versions in ENTRIES.values()]
        write_project(folder, f"functions: [{', '.join(filter(None, chosen))}]")
        checker.refresh()
        fresh = Checker(options)
        fresh.open([str(folder)])
        found, wanted = checker.check(), fresh.check()
        assert found.findings == wanted.findings, chosen
        assert _said(found) == _said(wanted), chosen
        assert checker.scratch is None
        assert algorithm == "incr-fwd" or "four" not in {one.function for one in found.rechecked}
        seen.add(tuple((one.function, one.rule) for one in found.findings))
    assert len(seen) > 4
