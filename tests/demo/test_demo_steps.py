"""The demo's edits fit the program that it types into, and leave it a program."""

import subprocess

from analysis.session.contracts.words import EXPECTS, EXPECTS_NOTHING, REQUIRES
from demo.editor import position
from demo.live_session import FILE, FOLDER, STEPS, says_what_callers_keep


def edited_text():
    text = FILE.read_text(encoding="utf-8")
    for step in STEPS:
        place = step.after + step.selected
        assert text.count(place) == 1, step.says
        text = text.replace(place, step.after + step.typed)
    return text


def test_every_step_finds_its_place_and_changes_the_text():
    assert "fclose(file);\n\tfor (item" in edited_text()
    assert "static int total(void)\n{\n\t/* of the first kind only */" in edited_text()


def test_the_program_is_accepted_by_the_compiler_after_the_last_step(tmp_path):
    (tmp_path / FILE.name).write_text(edited_text(), encoding="utf-8")
    command = ["cc", "-fsyntax-only", "-Wall", "-Werror=implicit-function-declaration", "-I", str(FOLDER), FILE.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_positions_count_utf16_units():
    assert position("a\n\U0001f600b", 3) == {"line": 1, "character": 2}
    assert position("a\n\U0001f600b", 2) == {"line": 1, "character": 0}


def test_what_callers_keep_is_counted_by_the_words_that_contracts_use():
    assert says_what_callers_keep(f"{EXPECTS}`line != NULL` (proved)")
    assert says_what_callers_keep(f"{REQUIRES}argument 1 not to be NULL")
    assert not says_what_callers_keep(f"{EXPECTS_NOTHING} (proved)")
    assert not says_what_callers_keep("always returns 0 (proved)")
