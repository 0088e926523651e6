"""Seeded defects are where the operators say, and their judgements are complete."""

from __future__ import annotations

import csv

from benchmarks.recall_peers import _LINES, _SAID
from benchmarks.recall_seeds import DRAWN, JUDGEMENTS, PROJECTS
from benchmarks.recall_sites import OPERATORS, sites

TEXT = b"""
static int store(struct list *list, const char *name)
{
    struct entry *entry = malloc(sizeof *entry);
    struct list *other;
    FILE *file;
    if (entry == NULL)
        return -1;
    if (!name || !*name)
        goto failed;
    if ((other = find(list, name)) == NULL)
        return 0;
    if (list->size)
        return 1;
    file = fopen(name, "r");
    entry->name = name;
    list->count = entry->count;
    free(entry);
    close(list->fd);
    list->fd = -1;
    pthread_mutex_unlock(&list->lock);
    return 0;
failed:
    if (file)
        fclose(file);
    return -1;
}
"""


def seeded() -> dict[str, list[tuple[int, str, str]]]:
    """By operator: the line, the subject, and the lines of the text that are new."""
    found: dict[str, list[tuple[int, str, str]]] = {}
    before = TEXT.decode().splitlines()
    for site in sites(TEXT):
        after = site.applied(TEXT).decode().splitlines()
        new = " ".join(line.strip() for line in after if line not in before)
        assert site.function == "store"
        assert site.lines == (2, 27)
        found.setdefault(site.operator, []).append((site.line, site.subject, new))
    return found


def test_tests_for_null_are_removed_and_what_they_do_else_stays() -> None:
    found = seeded()
    assert found["unchecked"] == [(7, "entry", ";")]
    assert found["null-check"] == [(9, "name", "if (0 || !*name)"), (11, "other", "other = find(list, name);")]


def test_calls_that_release_are_dropped_made_twice_or_made_before_a_use() -> None:
    found = seeded()
    assert [site[:2] for site in found["dropped"]] == [(18, "entry"), (19, "list->fd"), (25, "file")]
    assert found["after"] == [(17, "entry", "free(entry); list->count = entry->count; ;")]
    twice = {subject: new for _, subject, new in found["twice"]}
    assert twice.keys() == {"entry", "file"}  # the descriptor is overwritten by the next statement
    assert twice["file"] == "{ fclose(file); fclose(file); }"
    assert twice["entry"].count("free(entry);") in (1, 2)
    assert found["unlock"] == [(21, "pthread_mutex_unlock", ";")]


def test_a_site_does_not_depend_on_the_run() -> None:
    assert [site.applied(TEXT) for site in sites(TEXT)] == [site.applied(TEXT) for site in sites(TEXT)]


def test_each_candidate_is_judged_once_with_a_reason() -> None:
    with JUDGEMENTS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len({(row["project"], row["digest"]) for row in rows}) == len(rows)
    assert {row["project"] for row in rows} == set(PROJECTS)
    assert {row["operator"] for row in rows} == set(OPERATORS) == set(DRAWN)
    assert {row["part"] for row in rows} == {"open", "held"}
    assert {row["is_defect"] for row in rows} == {"yes", "no"}
    assert all(len(row["why"]) > 10 for row in rows)
    assert sum(1 for row in rows if row["is_defect"] == "yes") >= 150


def test_messages_of_other_tools_are_read_without_their_lines() -> None:
    said = "a.c:3:7: warning: use after 'free' of 'p' [CWE-416]\na.c:9: warning: memleak Memory leak: p, from line 4\n"
    found = [(int(match["line"]), _LINES.sub("", match["text"])) for match in _SAID.finditer(said)]
    assert found == [(3, "use after 'free' of 'p' [CWE-416]"), (9, "memleak Memory leak: p, from ")]
