"""The inputs of a run as C: objects that were there, results of functions outside, and the call of the entry."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analysis.c.functions import known
from analysis.cfa.linking.obstructed import MAIN
from analysis.model.run_inputs import RunInput, RunStart
from analysis.model.verifiers import CHECKS, is_assumption

MARK = "everproof: "
"""How the lines begin that the harness prints."""
FAILING = ("reach_error", "__VERIFIER_error")
"""Functions whose call is a failed assertion, whatever their bodies do."""
_MOST_WORDS = 100
_IN_REGISTERS = 6  # arguments that a wrapper can take, whatever their types are, but floating ones
_OBJECT = "everproof_object_"
_OPENED = {"stream": ("fopen", '("/dev/null", "r+")'), "directory": ("opendir", '(".")'), "descriptor": ("dup", "(0)")}
"""What is opened in place of what the run had opened."""
_SIGNATURE = "(long a0, long a1, long a2, long a3, long a4, long a5)"
_ARGUMENTS = "(a0, a1, a2, a3, a4, a5)"


class Harness(NamedTuple):
    """What a program is compiled and run with. `arguments` are those of the command line; `beside` is a C file of its own,
    `wrapped` are the functions that it wraps, `behind` is text behind the unit of the entry. `doubts`: what the run was given and
    the program is not."""

    arguments: tuple[bytes, ...]
    beside: str
    wrapped: tuple[str, ...]
    behind: str
    doubts: tuple[str, ...] = ()


class RefusedError(Exception):
    """Why a run cannot be made again, in one sentence."""


def harness_for(run: RunStart) -> Harness:
    """The harness of a run; raises RefusedError."""
    objects = _Objects(run)
    entry = _spelled(run.entry)
    wrappers = _Wrappers(run, objects)
    arguments: tuple[bytes, ...] = ()
    behind = ""
    if entry == MAIN:
        arguments = tuple(objects.words())
    else:
        given = ", ".join(objects.value(one) for one in run.inputs if one.kind == "parameter")
        call = f"int main(void) {{ {_globals(run, objects)}{entry}({given}); return 0; }}"
        call = f"int main(void) {{ {_globals(run, objects)}{entry}({given}); return 0; }}"
        behind = "\n".join(('# 1 "everproof harness"', *objects.declared("extern "), call, ""))
    made = objects.made(wrappers.names)
    text = "\n".join(("/* made by everproof replay */", *objects.declared(""), *wrappers.text(), *made, ""))
    return Harness(arguments, text, wrappers.names, behind, tuple(_doubts(run, objects)))


def stub_for(name: str) -> str:
    """The definition of a function that nothing defines, and that no input is about."""
    if name in CHECKS:
        return f"void {name}(int holds) {{ if (!holds) {_failed(name)} }}"
    if is_assumption(name):
        return f"void {name}(int holds) {{ if (!holds) {{ {_printed(f'{name} does not hold')} _exit(0); }} }}"
    if name in FAILING:
        return f"void {name}(void) {{ {_failed(name)} }}"
    return f"long {name}(void) {{ return 0; }}"


STUBS_BEGIN = "long write(int, const void *, unsigned long); void _exit(int);\n"


def _failed(name: str) -> str:
    return f"{{ {_printed(f'{name} is reached')} __builtin_trap(); }}"


def _printed(text: str) -> str:
    """A statement that prints a line, without what the C library keeps for later."""
    return f'write(2, "{MARK}{text}\\n", {len(MARK) + len(text) + 1});'


def _spelled(linkage: str) -> str:
    """How the text names what has a linkage name."""
    return linkage.rpartition("::")[2].partition("~")[0]


class _Objects:
    """The objects that were there before the run, or that functions outside returned."""

    def __init__(self, run: RunStart) -> None:
        self._run = run
        self._numbers = {id(one): number for number, one in enumerate(one for one in run.inputs if one.fresh is not None)}
        self._sizes = [one.fresh or 0 for one in run.inputs if one.fresh is not None]
        self._contents: dict[str, list[RunInput]] = defaultdict(list)
        for one in run.inputs:
            if one.kind == "memory":
                self._contents[one.name].append(one)
        is_main = _spelled(run.entry) == MAIN
        self.unknown = [name for name in self._contents if not name.startswith("fresh ") and (is_main or not _is_name(name))]
        """Objects that are not there before the run."""

    def declared(self, storage: str) -> list[str]:
        """The pointers to the objects."""
        return [f"{storage}char *{_OBJECT}{number};" for number in range(len(self._sizes))]

    def made(self, wrapped: Sequence[str]) -> list[str]:
        """A function that makes all objects before the program begins."""
        calloc = "__real_calloc" if "calloc" in wrapped else "calloc"
        made = [f"    {_OBJECT}{number} = {calloc}(1, {size});" for number, size in enumerate(self._sizes)]
        filled = [f"    {line}" for number in range(len(self._sizes)) for line in self._filled(number)]
        head = f"extern void *{calloc}(unsigned long, unsigned long);" if calloc == "calloc" else ""
        clear = "__attribute__((noinline)) static void everproof_clear(void) { volatile char left[1 << 16]; long at;"
        clear += " for (at = 0; at < sizeof left; at++) left[at] = 0; }"
        # else what is left of old frames leads to blocks that are lost
        end = "__attribute__((destructor)) static void everproof_end(void) { everproof_clear(); }"
        return [head, clear, end, "__attribute__((constructor)) static void everproof_begin(void) {", *made, *filled, "}"]

    def _filled(self, number: int) -> Iterator[str]:
        for one in self._contents.get(f"fresh {number}", ()):
            if not 0 <= one.offset <= self._sizes[number] - one.size:
                raise RefusedError("the run reads behind an object that it was given")
            yield self.stored(f"{_OBJECT}{number} + {one.offset}", one)

    def stored(self, address: str, one: RunInput) -> str:
        """A statement that puts an input at an address."""
        if one.fresh is not None or one.object:
            return f"*(void **)({address}) = {self.value(one)};"
        bytes_ = ", ".join(map(str, _bytes(one)))
        return f"{{ static const unsigned char given[] = {{{bytes_}}}; __builtin_memcpy({address}, given, sizeof given); }}"

    def value(self, one: RunInput) -> str:
        """An input as an expression of C."""
        if one.fresh is not None:
            return f"(void *){_OBJECT}{self._numbers[id(one)]}"
        if one.object.startswith("fresh "):
            return f"(void *)({_OBJECT}{one.object.removeprefix('fresh ')} + {one.number})"
        if one.object:
            return f"(void *)((char *)&{_spelled(one.object)} + {one.number})"
        if one.is_float:
            return _float(one.real)
        return f"{one.number}" if abs(one.number) < 1 << 31 else f"(long){one.number & (1 << 64) - 1:#x}UL"

    def words(self) -> Iterator[bytes]:
        """What the command line has to be for `main` to be given its arguments."""
        named = {one.name: one for one in self._run.inputs if one.kind == "parameter"}
        count = next((one.number for one in self._run.inputs if one.kind == "parameter" and one.fresh is None), 1)
        array = next((one for one in named.values() if one.fresh is not None), None)
        held = [] if array is None else self._contents.get(f"fresh {self._numbers[id(array)]}", [])
        content = {one.offset: one for one in held}
        count = min(max(count, 1), _MOST_WORDS)  # no system passes less; of more, runs look at the first ones
        for number in range(1, count):
            yield self._text(content.get(8 * number))

    def _text(self, pointer: RunInput | None) -> bytes:
        """A word; what the run did not read of it is made up."""
        if pointer is None or pointer.fresh is None:
            return b"a"
        known = {one.offset: one.number & 255 for one in self._contents.get(f"fresh {self._numbers[id(pointer)]}", ())}
        if known and max(known) > 10_000:
            raise RefusedError("a word of the command line is too long")
        read = [known.get(offset, ord("a")) for offset in range(max(known, default=0) + 1)]
        return bytes(read).partition(b"\0")[0]


class _Wrappers:
    """Functions that give the results of the run, by the number of the call."""

    def __init__(self, run: RunStart, objects: _Objects) -> None:
        self._objects = objects
        self._calls: dict[str, dict[int, list[RunInput]]] = defaultdict(lambda: defaultdict(list))
        for one in run.inputs:
            if one.kind in ("result", "allocation", "written"):
                self._calls[one.name][one.call].append(one)
        self.names = tuple(sorted(self._calls))

    def text(self) -> Iterator[str]:
        """Their definitions."""
        for opener, _ in _OPENED.values():
            yield f"extern void *{'__real_' if opener in self.names else ''}{opener}();"
        for name in self.names:
            calls = self._calls[name]
            given = [one for call in calls.values() for one in call]
            allocates = any(one.kind == "allocation" for one in given)
            size = next((one.size for one in given if one.is_float and one.kind == "result"), 0)
            type_ = {4: "float", 8: "double"}.get(size, "long")
            otherwise = f"__real_{name}{_ARGUMENTS}" if allocates or name == "calloc" else "0"
            if name not in {opener for opener, _ in _OPENED.values()}:
                yield f"extern {'void *' if name == 'calloc' else 'long '}__real_{name}();"
            yield f"{type_} __wrap_{name}{_SIGNATURE} {{"
            yield "    static long calls;"
            yield "    switch (calls++) {"
            for number, answers in sorted(calls.items()):
                yield f"    case {number}: {' '.join(self._answered(answers, otherwise))}"
            yield f"    default: return ({type_}){otherwise};"
            yield "    }"
            yield "}"

    def _answered(self, answers: list[RunInput], otherwise: str) -> Iterator[str]:
        for one in answers:
            if one.kind == "written":
                if one.offset >= _IN_REGISTERS:
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


def _doubts(run: RunStart, objects: _Objects) -> Iterator[str]:
    """What the run was given that the program cannot be given, as sentences."""
    for one in run.inputs:
        if one.kind in ("expression", "indeterminate"):
            yield f"the run depends on a value that C does not define{f', of {one.name}' if one.name else ''}"
    for name in objects.unknown:
        yield f"the run depends on bytes of {name}, which a function outside of the program has written"


def _globals(run: RunStart, objects: _Objects) -> str:
    """Statements that give variables what they held when the entry was called."""
    held = [one for one in run.inputs if one.kind == "memory" and not one.name.startswith("fresh ") and _is_name(one.name)]
    return "".join(f"{objects.stored(f'(char *)&{one.name} + {one.offset}', one)} " for one in held)


def _bytes(one: RunInput) -> bytes:
    if one.is_float:
        return struct.pack("<f" if one.size == 4 else "<d", one.real)
    return (one.number & (1 << 8 * one.size) - 1).to_bytes(one.size, "little")


def _float(value: float) -> str:
    if value != value:
        return '__builtin_nan("")'
    if value in (float("inf"), float("-inf")):
        return f"{'-' if value < 0 else ''}__builtin_inf()"
    return value.hex()


def _is_name(text: str) -> bool:
    return text.isidentifier()
