"""Edits after which a function violates a rule that it was proved of, or could have been: what a proof, a contract or an invariant
rests on is far from it, two calls down, in a header, in an initialiser, in a contract of the project.

In the texts, `<<this|that>>` is what is there before and after the edit, and `=== NAME` begins a file; the first one is `a.c`.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Break(NamedTuple):
    """One edit, the function that violates the rule after it, and the rule."""

    name: str
    function: str
    rule: str
    text: str

    def files(self, *, after: bool) -> dict[str, str]:
        """The texts of the files, by name."""
        chosen = re.sub(r"<<(.*?)\|\|(.*?)>>", lambda found: found[2 if after else 1], self.text, flags=re.DOTALL)
        parts = re.split(r"^=== (.*)\n", chosen, flags=re.MULTILINE)
        return {"a.c": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


_NULL, _ZERO, _FREE, _USE, _LEAK, _OTHER = (
    "null-dereference",
    "division-by-zero",
    "double-free",
    "use-after-free",
    "memory-leak",
    "invalid-free",
)
_S = "#include <stdlib.h>\nstruct s { int n; struct s *next; };\nstatic struct s one;\n"
_ROWS: tuple[tuple[str, str, str, str], ...] = (
    # what a callee returns
    ("the result two calls down", "main", _NULL, _S + """
static struct s *c(int n) { return n > 3 ? <<&one||0>> : &one; }
static struct s *b(int n) { return c(n + 1); }
static struct s *a(int n) { return b(n); }
int main(int n, char **v) { (void)v; return a(n)->n; }
"""),
    ("the result three calls down, in another file", "main", _NULL, """
struct s { int n; };
struct s *a(int n);
int main(int n, char **v) { (void)v; return a(n)->n; }
=== b.c
struct s { int n; };
struct s *c(int n);
struct s *a(int n) { return c(n); }
=== c.c
struct s { int n; };
static struct s one;
struct s *c(int n) { if (n > 2) return <<&one||(void *)0>>; return &one; }
"""),
    ("a test removed below", "get", _NULL, _S + """
static int has(struct s *p) { return <<p != 0||1>>; }
int get(struct s *p) { if (!has(p)) return 0; return p->n; }
"""),
    ("a test inverted below", "get", _ZERO, """
static int is_good(int n) { return n <<!=||==>> 0; }
static int good(int n) { return is_good(n); }
int get(int n) { if (!good(n)) return 0; return 8 / n; }
"""),
    ("an exit that returns", "get", _NULL, _S + """
static void stop(void) { <<exit(1)||one.n = 1>>; }
static void fail(void) { stop(); }
int get(struct s *p) { if (!p) fail(); return p->n; }
"""),
    ("an exit under a condition", "get", _NULL, _S + """
static void fail(int n) { <<||if (n)>> abort(); }
int get(struct s *p, int n) { if (!p) fail(n); return p->n; }
"""),
    ("noreturn removed", "get", _NULL, """
<<__attribute__((noreturn))||>> void fail(void);
int get(int *p) { if (!p) fail(); return *p; }
"""),
    ("the least of a result", "get", _ZERO, """
static int least(int n) { return n < 1 ? <<1||0>> : n; }
static int most(int n) { return least(n); }
int get(int n) { return 8 / most(n); }
"""),
    ("an out-parameter is set to null", "get", _NULL, _S + """
static void set(struct s **p) { *p = <<&one||0>>; }
static void pass(struct s **p) { set(p); }
int get(void) { struct s *p = &one; pass(&p); return p->n; }
"""),
    ("an out-parameter is not set", "get", _NULL, _S + """
static int find(int n, struct s **p) { <<if (n < 3) return 0; *p = &one; return 1||if (n < 3) *p = &one; return 1>>; }
int get(int n) { struct s *p = 0; if (!find(n, &p)) return 0; return p->n; }
"""),
    ("the result stands for another condition", "get", _NULL, _S + """
static int find(int n, struct s **p) { *p = n > 2 ? &one : 0; return n > <<2||1>>; }
int get(int n) { struct s *p; if (!find(n, &p)) return 0; return p->n; }
"""),
    # what callers keep
    ("one more caller passes null", "use", _NULL, _S + """
static int use(struct s *p) { return p->n; }
static int between(struct s *p) { return use(p); }
int main(int n, char **v) { (void)v; return n > 1 ? between(&one) : between(<<&one||0>>); }
"""),
    ("the caller's test goes", "use", _NULL, _S + """
static int use(struct s *p) { return p->n; }
static int between(struct s *p) { <<if (!p) return 0;||>> return use(p); }
int main(int n, char **v) { (void)v; return between(n > 1 ? &one : 0); }
"""),
    ("a caller in another file", "use", _NULL, """
int use(int *p);
int use(int *p) { return *p; }
int other(void) { int n = 1; return use(&n); }
=== b.c
int use(int *p);
int more(void) { <<return 0||return use(0)>>; }
"""),
    ("the address of the function is taken", "use", _NULL, """
static int use(int *p) { return *p; }
void give(int (*f)(int *));
int main(void) { int n = 1; <<||give(use);>> return use(&n); }
"""),
    ("main is called", "main", _NULL, """
int main(int n, char **v);
int again(void);
int again(void) { return <<2||main(0, 0)>>; }
int main(int n, char **v) { (void)n; return v[0] == 0; }
"""),
    ("main is called from another file", "main", _NULL, """
int main(int n, char **v) { (void)n; return v[0] == 0; }
=== b.c
int main(int n, char **v);
int again(int n) { return <<n||main(n, 0)>>; }
"""),
    # recursion
    ("recursion that ends with null", "main", _NULL, _S + """
static struct s *last(int n) { if (n > 3) return <<&one||0>>; return last(n + 1); }
int main(int n, char **v) { (void)v; return last(n)->n; }
"""),
    ("recursion made", "main", _NULL, _S + """
static struct s *b(int n);
static struct s *a(int n) { return n ? b(n - 1) : &one; }
static struct s *b(int n) { return n > 5 ? <<&one||(n > 9 ? 0 : a(n))>> : &one; }
int main(int n, char **v) { (void)v; return a(n)->n; }
"""),
    ("recursion through a third function", "main", _ZERO, """
static int c(int n);
static int a(int n) { return n > 0 ? c(n - 1) : 1; }
static int b(int n) { return <<1||n - n>>; }
static int c(int n) { return n > 7 ? b(n) : a(n - 1); }
int main(int n, char **v) { (void)v; return 8 / a(n); }
"""),
    # pointers to functions
    ("a function pointer leads elsewhere", "main", _NULL, _S + """
static struct s *good(void) { return &one; }
static struct s *bad(void) { return 0; }
static struct s *(*get)(void) = <<good||bad>>;
int main(void) { (void)good; (void)bad; return get()->n; }
"""),
    ("a table of functions gets one more", "main", _ZERO, """
static int two(void) { return 2; }
static int zero(void) { return 0; }
static int (*const table[])(void) = {two, <<two||zero>>};
int main(int n, char **v) { (void)v; (void)zero; return 8 / table[n & 1](); }
"""),
    ("a setter stores another function", "main", _ZERO, """
static int two(void) { return 2; }
static int zero(void) { return 0; }
static int (*get)(void) = two;
static void choose(void) { get = <<two||zero>>; }
int main(void) { choose(); return 8 / get(); }
"""),
    ("a callback frees", "main", _USE, """
#include <stdlib.h>
static void look(int *p) { (void)p; }
static void drop(int *p) { free(p); }
static void each(void (*f)(int *), int *p) { f(p); }
int main(void) { int *p = malloc(4); if (!p) return 1; *p = 2; each(<<look||drop>>, p); int n = *p; <<free(p);||>> (void)look; (void)drop; return n; }
"""),
    # data
    ("a global's initialiser", "main", _ZERO, """
static const int step = <<2||0>>;
static int get(void) { return step; }
int main(void) { return 8 / get(); }
"""),
    ("a pointer's initialiser", "main", _NULL, _S + """
static struct s *head = <<&one||0>>;
int main(void) { return head->n; }
"""),
    ("a member's initialiser", "main", _NULL, _S + """
static struct s two = {1, <<&one||0>>};
int main(void) { return two.next->n; }
"""),
    ("a member's initialiser in an array", "main", _NULL, _S + """
static struct s table[2] = {{1, &one}, {2, <<&one||0>>}};
int main(int n, char **v) { (void)v; return table[n & 1].next->n; }
"""),
    ("const removed and written", "main", _ZERO, """
static <<const||>> int step = 2;
void set(int n);
void set(int n) { <<(void)n||step = n>>; }
int main(int n, char **v) { (void)v; set(n - 1); return 8 / step; }
"""),
    ("a member is set to null elsewhere", "get", _NULL, _S + """
static struct s two = {1, &one};
static int get(void) { return two.next->n; }
static void reset(struct s *p) { p->next = <<&one||0>>; }
int main(int n, char **v) { (void)v; if (n > 1) reset(&two); return get(); }
"""),
    ("a member is not set by the constructor", "get", _NULL, _S + """
static struct s *make(int n) { struct s *p = calloc(1, sizeof *p); if (!p) exit(1); p->n = n; <<p->next = &one;||>> return p; }
static int get(struct s *p) { return p->next->n; }
int main(int n, char **v) { (void)v; struct s *p = make(n); n = get(p); free(p); return n; }
"""),
    ("a whole record is overwritten", "get", _NULL, "#include <string.h>\n" + _S + """
static struct s two = {1, &one};
static int get(void) { return two.next->n; }
static void clear(struct s *p) { <<p->n = 0||memset(p, 0, sizeof *p)>>; }
int main(int n, char **v) { (void)v; if (n > 1) clear(&two); return get(); }
"""),
    ("a global is set in another file", "main", _NULL, """
extern int *where;
void set(void);
int main(void) { set(); return *where; }
=== b.c
static int n;
int *where = &n;
void set(void) { where = <<&n||0>>; }
"""),
    ("a global is written through an alias", "main", _NULL, _S + """
static struct s *head = &one;
static struct s **link = <<0||&head>>;
static void cut(void) { if (link) *link = 0; }
int main(void) { cut(); return head->n; }
"""),
    # the preprocessor, types and declarations
    ("a header's constant", "main", _ZERO, """
#include "h.h"
static int get(void) { return STEP; }
int main(void) { return 8 / get(); }
=== h.h
#define STEP <<2||0>>
"""),
    ("a header's enumerator", "main", _ZERO, """
#include "h.h"
static int get(void) { return LEAST; }
int main(void) { return 8 / get(); }
=== h.h
enum { <<NONE, LEAST||LEAST, NONE>> };
"""),
    ("a header's inline function", "main", _NULL, """
#include "h.h"
int main(int n, char **v) { (void)v; return *at(n); }
=== h.h
static int cell;
static inline int *at(int n) { return n > 4 ? <<&cell||0>> : &cell; }
"""),
    ("a macro that checks", "get", _NULL, """
#define CHECK(p) <<if (!(p)) return 0||(void)(p)>>
static int below(int *p) { CHECK(p); return *p; }
int get(int *p) { return below(p); }
"""),
    ("a macro in a callee", "get", _ZERO, """
#define LOW <<1||0>>
static int low(int n) { return n < LOW ? LOW : n; }
int get(int n) { return 8 / low(n); }
"""),
    ("a condition of the preprocessor", "get", _NULL, """
#define STRICT <<1||0>>
static int below(int *p) {
#if STRICT
    if (!p) return 0;
#endif
    return *p;
}
int get(int *p) { return below(p); }
"""),
    ("a parameter becomes unsigned", "get", _ZERO, """
static int above(<<int||unsigned>> n) { return n > -1 ? 1 : 0; }
int get(void) { return 8 / above(3); }
"""),
    ("a result becomes narrower", "get", _ZERO, """
static <<int||unsigned char>> wide(int n) { return n ? 256 : 1; }
int get(int n) { return 8 / wide(n); }
"""),
    ("a typedef becomes narrower", "get", _ZERO, """
#include "h.h"
static count wide(int n) { return n ? (count)512 : (count)1; }
int get(int n) { return 8 / wide(n); }
=== h.h
typedef <<int||unsigned char>> count;
"""),
    ("a member becomes narrower", "get", _ZERO, """
struct s { <<int||unsigned char>> n; };
static void set(struct s *p) { p->n = 256; }
int get(void) { struct s one; set(&one); return 8 / one.n; }
"""),
    ("a bit-field", "get", _ZERO, """
struct s { unsigned n <<: 4||: 3>>; };
static void set(struct s *p) { p->n = 8; }
int get(void) { struct s one; set(&one); return 8 / one.n; }
"""),
    ("a member moves into a union", "get", _ZERO, """
<<struct||union>> s { int n, m; };
static void set(<<struct||union>> s *p) { p->n = 2; p->m = 0; }
int get(void) { <<struct||union>> s one; set(&one); return 8 / one.n; }
"""),
    ("a variable becomes volatile", "get", _ZERO, """
static <<||volatile>> int step;
int get(void) { if (step == 0) return 0; return 8 / step; }
"""),
    ("a variable becomes static", "get", _ZERO, """
int get(void) { <<||static>> int n = 1; int was = n; n = 0; return 8 / was; }
int twice(void) { return get() + get(); }
"""),
    # a callee is gone, or comes from elsewhere
    ("a callee is deleted", "get", _NULL, _S + """
struct s *find(int n);
<<struct s *find(int n) { (void)n; return &one; }||>>
static struct s *pass(int n) { return find(n); }
int get(int n) { return pass(n)->n; }
"""),
    ("a file's callee is deleted", "get", _NULL, """
int *find(int n);
int get(int n) { return *find(n); }
=== b.c
static int cell;
<<int *find(int n) { (void)n; return &cell; }||int *found(int n) { (void)n; return &cell; }>>
"""),
    ("a static callee is another file's now", "get", _NULL, """
<<static int cell; static int *find(void) { return &cell; }||int *find(void);>>
int get(void) { return *find(); }
=== b.c
int *find(void);
int *find(void) { return 0; }
"""),
    ("a weak callee", "get", _NULL, """
<<||__attribute__((weak))>> int *find(void);
static int cell;
int *find(void) { return &cell; }
int get(void) { return *find(); }
"""),
    ("a second definition", "get", _NULL, """
int *find(void);
int get(void) { return *find(); }
=== b.c
static int cell;
int *find(void) { return &cell; }
=== c.c
int *find(void);
<<int *other(void) { return 0; }||int *find(void) { return 0; }>>
"""),
    ("an own malloc", "get", _NULL, """
void *own(unsigned long size);
int get(void) { int *p = own(4); return *p; }
=== b.c
#include <stdlib.h>
void *own(unsigned long size) { void *p = malloc(size); <<if (!p) abort();||>> return p; }
"""),
    # contracts of the project
    ("a contract of the project: null", "get", _NULL, """
int *pool_get(void);
int get(void) { return *pool_get(); }
=== .everproof/functions/pool.yaml
functions: [{name: pool_get, result: {pointer: own, may_be_null: <<false||true>>}, complete: true}]
"""),
    ("a contract of the project: a range", "get", _ZERO, """
int level(void);
static int below(void) { return level(); }
int get(void) { return 8 / below(); }
=== .everproof/functions/pool.yaml
functions: [{name: level, result: {least: <<1||0>>, greatest: 3}, complete: true}]
"""),
    ("a contract of the project: never returns", "get", _NULL, """
void fail(void);
int get(int *p) { if (!p) fail(); return *p; }
=== .everproof/functions/pool.yaml
functions: [{name: fail, never_returns: <<true||false>>, complete: true}]
"""),
    ("a contract of the project: frees", "get", _USE, """
#include <stdlib.h>
void take(int *p);
int get(void) { int *p = malloc(4); if (!p) return 0; *p = 1; take(p); int n = *p; <<free(p);||>> return n; }
=== .everproof/functions/pool.yaml
functions: [{name: take, arguments: [{<<reads||frees>>: true, may_be_null: true}], complete: true}]
"""),
    ("a contract of the project: deleted", "get", _NULL, """
int *pool_get(void);
int get(void) { return *pool_get(); }
=== .everproof/functions/pool.yaml
functions: [{name: <<pool_get||pool_got>>, result: {pointer: own, may_be_null: false}, complete: true}]
"""),
    # blocks of memory
    ("a callee frees", "main", _FREE, """
#include <stdlib.h>
static void c(int *p) { <<*p = 1||free(p)>>; }
static void b(int *p) { c(p); }
int main(void) { int *p = malloc(4); if (!p) return 1; b(p); free(p); return 0; }
"""),
    ("a callee frees no more", "main", _LEAK, """
#include <stdlib.h>
static void c(int *p) { <<free(p)||(void)p>>; }
static void b(int *p) { c(p); }
int main(void) { int *p = malloc(4); if (!p) return 1; b(p); return 0; }
"""),
    ("a callee keeps a pointer and frees it later", "main", _USE, """
#include <stdlib.h>
static int *kept;
static void keep(int *p) { <<(void)p||kept = p>>; }
static void end(void) { free(kept); kept = 0; }
int main(void) { int *p = malloc(4); if (!p) return 1; keep(p); end(); *p = 1; <<free(p);||>> return 0; }
"""),
    ("a callee returns its argument", "main", _FREE, """
#include <stdlib.h>
static int *same(int *p) { int *q = malloc(4); if (q && p) *q = *p; <<return q||free(q); return p>>; }
int main(void) { int *p = malloc(4); if (!p) return 1; *p = 1; int *q = same(p); free(p); free(q); return 0; }
"""),
    ("a callee returns no block", "main", _OTHER, """
#include <stdlib.h>
static int cell;
static int *make(void) { return <<malloc(4)||&cell>>; }
static int *made(void) { return make(); }
int main(void) { int *p = made(); (void)cell; free(p); return 0; }
"""),
    ("a callee frees on one path", "main", _FREE, """
#include <stdlib.h>
static int store(int *p, int n) { if (n > 4) { <<||free(p);>> return 0; } free(p); return 1; }
int main(int n, char **v) { (void)v; int *p = malloc(4); if (!p) return 1; if (!store(p, n)) free(p); return 0; }
"""),
    ("a thread is started", "main", _NULL, """
#include <pthread.h>
static int *where; static int cell;
static void *clear(void *p) { where = 0; return p; }
static void begin(void) { <<(void)clear||pthread_t t; pthread_create(&t, 0, clear, 0)>>; }
int main(void) { where = &cell; begin(); if (where) return *where; return 0; }
"""),
    ("a handler of signals is installed", "main", _NULL, """
#include <signal.h>
static int *volatile where; static int cell;
static void clear(int n) { (void)n; where = 0; }
int other(void) { <<(void)clear||signal(SIGINT, clear)>>; return 0; }
static int *plain = &cell;
int main(void) { other(); where = plain; if (where) return *where; return 0; }
"""),
)

BREAKS: tuple[Break, ...] = tuple(Break(*row) for row in _ROWS)
"""The edits."""
