"""Functions outside of the program as C that gives the results of the run, by the number of the call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from analysis.c.functions import known
from analysis.model.c_types import Function
from analysis.model.run_inputs import RunInput, RunStart
from analysis.replaying.given_objects import Objects, RefusedError
from analysis.replaying.lock_answers import is_answered
from analysis.replaying.signatures import UNKNOWN, branches, parameters

_OPENED = {"stream": ("fopen", '("/dev/null", "r+")'), "directory": ("opendir", '(".")'), "descriptor": ("dup", "(0)")}
"""What is opened in place of what the run had opened."""


class Wrappers:
    """The functions that inputs of the run are about, with their `calls`; the linker wraps those of these `names`. `looks`: they
    branch on their arguments."""

    def __init__(self, run: RunStart, objects: Objects, externals: Mapping[str, Function], *, looks: bool) -> None:
        self._objects = objects
        self._externals = externals
        self._looks = looks
        self.calls: dict[str, dict[int, list[RunInput]]] = defaultdict(lambda: defaultdict(list))
        for one in run.inputs:
            if one.kind in ("result", "allocation", "written"):
                self.calls[one.name][one.call].append(one)
        self.names = tuple(name for name in sorted(self.calls) if not is_answered(name))

    def text(self) -> Iterator[str]:
        """Their definitions."""
        for opener, _ in _OPENED.values():
            yield f"extern void *{'__real_' if opener in self.names else ''}{opener}();"
        for name in self.names:
            yield from self._definition(name)

    def _definition(self, name: str) -> Iterator[str]:
        calls = self.calls[name]
        given = [one for call in calls.values() for one in call]
        taken = parameters(self._externals.get(name))
        taken = UNKNOWN if taken is None else taken
        allocates = any(one.kind == "allocation" for one in given)
        size = next((one.size for one in given if one.is_float and one.kind == "result"), 0)
        type_ = {4: "float", 8: "double"}.get(size, "long")
        passed = ", ".join(f"a{number}" for number in range(len(taken)))
        otherwise = f"__real_{name}({passed})" if allocates or name == "calloc" else "0"
        if name not in {opener for opener, _ in _OPENED.values()}:
            yield f"extern {'void *' if name == 'calloc' else 'long '}__real_{name}();"
        yield f"{type_} __wrap_{name}({', '.join(taken) or 'void'}) {{"
        yield f"    static long calls; {self._looked(name, taken)}"
        yield "    switch (calls++) {"
        for number, answers in sorted(calls.items()):
            yield f"    case {number}: {' '.join(self._answered(answers, otherwise, len(taken)))}"
        yield f"    default: return ({type_}){otherwise};"
        yield "    }"
        yield "}"

    def _looked(self, name: str, taken: Sequence[str]) -> str:
        """Statements that look at the arguments as the function would: at what has to be there in each call."""
        function = known(name)
        led = () if function is None else function.led
        # kept, since valgrind drops what is read in vain
        reads = "".join(f"everproof_looked += *(volatile char *)a{number}; " for number in led if number < len(taken))
        return reads + (branches(self._externals.get(name)) if self._looks else "")

    def _answered(self, answers: list[RunInput], otherwise: str, taken: int) -> Iterator[str]:
        for one in answers:
            if one.kind == "written":
                if one.offset >= taken:
                    raise RefusedError(f"{one.name} writes through its argument number {one.offset + 1}")
                yield self._objects.stored(f"(char *)a{one.offset}", one)
        result = next((one for one in answers if one.kind == "result"), None)
        failed = any(one.kind == "allocation" and one.number == 0 for one in answers)
        if result is not None and result.is_float:
            yield f"return {self._objects.value(result)};"
        elif result is not None:
            yield f"return (long){self._made(result) or self._objects.value(result)};"
        else:
            yield f"return (long){'0' if failed else otherwise};"

    def _made(self, result: RunInput) -> str:
        """What a function of the library returns that opens something, or returns its argument, where it did not fail; empty for
        others."""
        function = known(result.name)
        if function is None or result.fresh is not None or result.object:
            return ""
        if function.result in _OPENED:
            is_open = result.number >= 0 if function.result == "descriptor" else result.number != 0
            opener, call = _OPENED[function.result]
            return f"{'__real_' if opener in self.names else ''}{opener}{call}" if is_open else ""
        return f"a{function.of}" if function.result == "argument" and result.number != 0 else ""
