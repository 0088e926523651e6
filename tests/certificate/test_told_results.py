"""What results tell of what was passed is relied on where a caller tests them, and not where something has changed meanwhile."""

from __future__ import annotations

import pytest

from analysis.certificate.nonzero.requirement_search import RequirementSearch
from tests.support.explorations import program_of

_HEAD = """struct s { int n; struct s *next; };
static struct s one; static int flag;
static int has(struct s *p) { return p != 0; }
static int absent(struct s *p) { return !p; }
static int find(int n, struct s **out) { if (n < 3) { *out = 0; return -1; } *out = &one; return 0; }
static int wrong(int n, struct s **out) { *out = 0; if (n < 3) return -1; if (n == 7) return 0; *out = &one; return 0; }
static struct s *next(struct s *p) { return p ? p->next ? p->next : p : 0; }
static int check(struct s *a, struct s *b) { if (!a || !b) return 0; return 1; }
static int deep(struct s *p, int n) { if (n > 9) return p != 0; return deep(p, n + 1); }
static int lost(struct s *p) { int was = p != 0; p = &one; return was && p->n; }
static int cut(struct s **p) { struct s *old = *p; if (!old) return 0; *p = old->next; return 1; }
static int wipe(struct s *p, struct s *q) { if (!q) return 0; p->next = 0; return 1; }
static int stored(struct s **p) { if (!*p) return 0; return 2; }
static void clear(struct s **p) { *p = 0; }
"""


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        ("int f(struct s *p) { if (!has(p)) return 0; return p->n; }", True),
        ("int f(struct s *p) { if (has(p)) return 0; return p->n; }", False),
        ("int f(struct s *p) { if (absent(p)) return 0; return p->n; }", True),
        ("int f(struct s *p) { int ok = has(p); if (ok == 0) return 0; return p->n; }", True),
        ("int f(struct s *p) { int ok = has(p); p = p ? p->next : 0; if (!ok) return 0; return p->n; }", False),
        ("int f(struct s *p) { int ok = has(p); ok = flag; if (!ok) return 0; return p->n; }", False),
        ("int f(int n) { struct s *p; if (find(n, &p)) return 0; return p->n; }", True),
        ("int f(int n) { struct s *p; if (!find(n, &p)) return 0; return p->n; }", False),
        ("int f(int n) { struct s *p; if (wrong(n, &p)) return 0; return p->n; }", False),
        ("int f(int n) { struct s *p; int r = find(n, &p); clear(&p); if (r) return 0; return p->n; }", False),
        ("int f(struct s *p) { struct s *q = next(p); return q ? p->n : 0; }", True),
        ("int f(struct s *a, struct s *b) { if (check(a, b)) return a->n + b->n; return 0; }", True),
        ("int f(struct s *a, struct s *b) { if (check(a, a)) return a->n + b->n; return 0; }", False),
        ("int f(struct s *p, int n) { if (deep(p, n)) return p->n; return 0; }", True),
        ("int f(struct s *p) { if (lost(p)) return 0; return p->n; }", False),
        ("int f(struct s *p) { if (cut(&p)) return p->n; return 0; }", False),
        ("int f(struct s *p) { if (!p) return 0; if (wipe(p, p->next)) return p->next->n; return 0; }", False),
        ("int f(struct s **p) { if (!p) return 0; if (stored(p)) return (*p)->n; return 0; }", True),
        ("int f(struct s **p) { if (!p) return 0; int r = stored(p); clear(p); if (r) return (*p)->n; return 0; }", False),
        ("int f(struct s *p) { if ((char)has(p)) return p->n; return 0; }", True),
        ("int f(struct s *p) { if ((char)absent(p)) return 0; return p->n; }", False),  # what is cut off may be zero
    ],
)
def test_a_result_that_is_tested_tells(text: str, is_kept: bool) -> None:
    search = RequirementSearch(program_of(_HEAD + text), "null-dereference")
    found = search.follow("f")
    assert found is not None
    assert (not found.missing and not found.contract.needs) == is_kept, (found.missing, found.contract.needs)
