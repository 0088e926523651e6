from analysis.model.places import Place, Position, Range
from analysis.model.report import Finding
from analysis.session.files.suppressions import read_suppressions, split

RULES = ("null-dereference", "memory-leak")


def finding(line: int, rule: str = "null-dereference") -> Finding:
    here = Position(line, 3)
    return Finding(rule, "possible", "error", "m", Place("a.c", Range(here, here)), "f", "1", ())


def silenced_lines(text: str, rule: str = "null-dereference") -> list[int]:
    comments = {"a.c": read_suppressions("a.c", text.encode(), RULES)}
    lines = range(1, text.count("\n") + 2)
    return [line for line in lines if split((finding(line, rule),), comments)[1]]


def test_a_comment_covers_its_own_line_and_the_next() -> None:
    assert silenced_lines("a;\n// everproof: ignore null-dereference checked by caller\nb;\nc;\n") == [2, 3]


def test_a_comment_behind_code_counts() -> None:
    assert silenced_lines("a;\n*p = 1; // everproof: ignore null-dereference never null\n", "null-dereference") == [2, 3]


def test_a_block_comment_counts_and_its_end_is_no_reason() -> None:
    assert silenced_lines("/* everproof: ignore null-dereference it is set */\n") == [1, 2]
    assert silenced_lines("/* everproof: ignore null-dereference */\n") == []


def test_only_the_named_rule_is_silenced() -> None:
    assert silenced_lines("// everproof: ignore null-dereference r\n", "memory-leak") == []


def test_without_a_reason_nothing_is_silenced_and_a_message_says_so() -> None:
    found = read_suppressions("a.c", b"\n// everproof: ignore memory-leak\n", RULES)
    assert found.valid == ()
    assert [(m.line, "reason" in m.text) for m in found.messages] == [(2, True)]


def test_a_rule_that_does_not_exist_is_said() -> None:
    found = read_suppressions("a.c", b"// everproof: ignore memory-leek it is fine\n", RULES)
    assert found.valid == ()
    assert ["memory-leek" in m.text for m in found.messages] == [True]


def test_text_in_a_string_is_no_comment() -> None:
    assert silenced_lines('puts("// everproof: ignore null-dereference no");\n') == []
    assert silenced_lines('puts("\\"// everproof: ignore null-dereference no");\n') == []


def test_the_reason_reaches_the_report() -> None:
    comments = {"a.c": read_suppressions("a.c", b"// everproof: ignore memory-leak freed by the OS\n", RULES)}
    kept, silenced = split((finding(2, "memory-leak"), finding(9)), comments)
    assert [f.place.range.start.line for f in kept] == [9]
    assert [why for _, why in silenced] == ["freed by the OS"]


def test_bytes_that_are_no_utf8_do_not_matter() -> None:
    assert read_suppressions("a.c", b"\xe9 // everproof: ignore memory-leak gr\xfcnde\n", RULES).valid[0].rule == "memory-leak"
