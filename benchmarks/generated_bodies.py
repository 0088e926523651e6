"""The insides of generated functions: for `benchmarks.generated`.

A function has as many statements as the measured distribution of edges asks for: assignments, loops, branches, switches, tests
of pointers before they are used, calls of the C library, allocations that are mostly tested, and locks that are mostly released.
The few that are not are the defects that there are to be found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from benchmarks.call_graphs import Node, drawn

EDGES = (1.0, 1.5, 6.0, 18.0, 50.0, 108.0, 174.0, 457.0, 1856.0)  # a function's, as percentiles
_DEFECTS = 0.01  # of the allocations and locks


class Body:
    """Writes the inside of one function."""

    def __init__(
        self, file: int, number: int, nodes: list[Node], kinds: list[str], random: Random, pointer: bool, visit: list[str]
    ) -> None:
        self._file = file
        self._number = number
        self._nodes = nodes
        self._kinds = kinds
        self._random = random
        self._pointer = pointer
        self._visit = visit
        self._calls = list(nodes[number].callees)
        random.shuffle(self._calls)
        self._calls += [call for call in self._calls if random.random() < 0.45]  # calls of one callee: 1.7 in the mean
        self._left = drawn(EDGES, random) - 3 * len(self._calls) - 2
        self._names = 0

    def lines(self) -> Iterator[str]:
        """The statements."""
        kind, file = self._kinds[self._number], self._file
        if not self._number:
            yield f"    struct node_{file} *p = list_{file};"
            yield "    int n = argc;"
            yield "    const char *s = argv[0];"
        yield "    int i = 0;"
        yield f"    int total = {'total_' + str(file) if kind == 'drop' else 'n'};"
        if kind == "make":
            yield f"    struct node_{file} *p = list_{file};"
        if self._pointer:
            yield (
                "    if (p != NULL && p->visit != NULL)" if self._has_structure else f"    if (list_{file} && list_{file}->visit)"
            )
            yield f"        total += {'p' if self._has_structure else f'list_{file}'}->visit({self._structure(file)}, total);"
        if self._visit and self._has_structure and self._random.random() < 0.3:
            yield f"    if (p != NULL) p->visit = {self._random.choice(self._visit)};"
        while self._left > 0 or self._calls:
            yield from self._statement(1)
        yield f"    total_{file} += total;"
        yield from {"make": self._end_of_make, "drop": self._end_of_drop}.get(kind, self._end)()

    @property
    def _has_structure(self) -> bool:
        return not self._number or self._kinds[self._number] != "plain"

    def _end(self) -> Iterator[str]:
        yield "    return total;"

    def _end_of_drop(self) -> Iterator[str]:
        if self._random.random() < 0.5:
            yield "    if (p != NULL)"
            yield "        free(p);"

    def _end_of_make(self) -> Iterator[str]:
        if self._random.random() < 0.7:
            yield "    p = malloc(sizeof *p);"
            if self._random.random() > _DEFECTS:
                yield "    if (p == NULL)"
                yield "        return NULL;"
            yield "    p->kind = n;"
            yield "    p->next = NULL;"
        yield "    return p;"

    def _statement(self, depth: int) -> Iterator[str]:
        room = depth < 4 and self._left > 6
        if self._calls and (self._left <= 0 or self._random.random() < 3 * len(self._calls) / (self._left + 1)):
            yield from self._call(self._calls.pop(), "    " * depth)
            return
        choices: list[tuple[float, Callable[[int], Iterator[str]]]] = [
            (30, self._assignment),
            (17, self._library_call),
            (11 if room else 0, self._branch),
            (5 if room else 0, self._loop),
            (2 if room else 0, self._switch),
            (5 if self._has_structure else 0, self._tested_use),
            (0.7, self._allocation),
            (0.1, self._locked),
        ]
        weights, writers = zip(*choices, strict=True)
        yield from self._random.choices(writers, weights)[0](depth)

    def _assignment(self, depth: int) -> Iterator[str]:
        self._left -= 1
        random = self._random
        yield "    " * depth + random.choice(
            [
                f"total += i * {random.randrange(2, 90)};",
                f"total ^= {random.randrange(1, 4000)};",
                f"i = total / {random.randrange(2, 90)};",
                f"total_{self._file} = total;",
                f"total = total % {random.randrange(2, 90)} + i;",
            ]
        )

    def _library_call(self, depth: int) -> Iterator[str]:
        self._left -= 1.5
        random = self._random
        yield "    " * depth + random.choice(
            [
                f'printf("%d of {random.randrange(90)}\\n", total);',
                f'fprintf(stderr, "%d: {random.randrange(90)}\\n", i);',
                "total += abs(i);",
                f'total += (int)strlen("{"x" * random.randrange(1, 9)}");',
                "total += i;" if self._has_structure else "total += atoi(s);",
            ]
        )

    def _branch(self, depth: int) -> Iterator[str]:
        self._left -= 2
        condition = self._random.choice(["total > {}", "i == {}", "total < i + {}", "total % 7 == {}", "i && total != {}"])
        yield "    " * depth + f"if ({condition.format(self._random.randrange(1, 7))}) {{"
        yield from self._block(depth, 4)
        if self._random.random() < 0.35:
            yield "    " * depth + "} else {"
            yield from self._block(depth, 3)
        yield "    " * depth + "}"

    def _loop(self, depth: int) -> Iterator[str]:
        self._left -= 4
        yield "    " * depth + f"for (i = 0; i < {self._random.randrange(2, 90)}; i++) {{"
        yield from self._block(depth, 4)
        yield "    " * depth + "}"

    def _switch(self, depth: int) -> Iterator[str]:
        cases = self._random.randrange(2, 8)
        self._left -= 2 * cases
        yield "    " * depth + f"switch (total % {cases}) {{"
        for case in range(cases):
            yield "    " * depth + f"case {case}:"
            yield from self._block(depth, 2)
            yield "    " * (depth + 1) + "break;"
        yield "    " * depth + "}"

    def _tested_use(self, depth: int) -> Iterator[str]:
        self._left -= 4
        indent = "    " * depth
        yield from self._random.choice(
            [
                [f"{indent}if (p != NULL)", f"{indent}    p->count += total;"],
                [f"{indent}if (p && p->next)", f"{indent}    total += p->next->count;"],
                [f"{indent}if (p != NULL && p->name != NULL)", f"{indent}    total += p->name[0];"],
            ]
        )

    def _allocation(self, depth: int) -> Iterator[str]:
        self._left -= 6
        self._names += 1
        indent, name = "    " * depth, f"text{self._names}"
        yield f"{indent}{{"
        yield f"{indent}    char *{name} = malloc((size_t)total + {self._random.randrange(2, 90)});"
        tested = self._random.random() > _DEFECTS
        if tested:
            yield f"{indent}    if ({name} != NULL) {{"
        yield f"{indent}        {name}[0] = 0;"
        if self._random.random() > _DEFECTS:
            yield f"{indent}        free({name});"
        if tested:
            yield f"{indent}    }}"
        yield f"{indent}}}"

    def _locked(self, depth: int) -> Iterator[str]:
        self._left -= 4
        indent = "    " * depth
        yield f"{indent}pthread_mutex_lock(&lock_{self._file});"
        yield f"{indent}total_{self._file}++;"
        if self._random.random() > _DEFECTS:
            yield f"{indent}pthread_mutex_unlock(&lock_{self._file});"

    def _block(self, depth: int, most: int) -> Iterator[str]:
        for _ in range(self._random.randrange(1, most + 1)):
            yield from self._statement(depth + 1)

    def _structure(self, file: int) -> str:
        return "p" if file == self._file and self._has_structure else f"list_{file}"

    def _call(self, callee: int, indent: str) -> Iterator[str]:
        file = self._nodes[callee].file
        if self._nodes[callee].rank <= self._nodes[self._number].rank:  # a recursion ends
            yield f"{indent}if (total > {self._random.randrange(1, 90)})"
            indent += "    "
        match self._kinds[callee]:
            case "make":
                self._names += 1
                name = f"made{self._names}"
                yield f"{indent}{{"
                yield f"{indent}    struct node_{file} *{name} = make_{callee}(total);"
                if self._random.random() > _DEFECTS:
                    yield f"{indent}    if ({name} != NULL)"
                yield f"{indent}        total += {name}->count;"
                if self._random.random() > _DEFECTS:
                    yield f"{indent}    list_{file} = {name};"
                yield f"{indent}}}"
            case "use":
                yield f"{indent}total += use_{callee}({self._structure(file)}, total);"
            case "drop":
                yield f"{indent}{{"
                yield f"{indent}    drop_{callee}(list_{file});"
                yield f"{indent}    list_{file} = NULL;"
                yield f"{indent}}}"
            case _:
                yield f'{indent}total += plain_{callee}(total, "{callee}");'
