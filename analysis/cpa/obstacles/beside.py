"""What runs beside a function, and whether that changes anything for it: handlers of signals, and other threads.

A handler can run between any two edges (C11 5.1.2.3p5, 7.14.1.1), and others, or the same one again, while it runs: masks of
signals are not looked at. A thread runs beside all that was started before it, and what others do runs beside it. So what was
proved of a function as if it ran alone holds if nothing that it, or anything it calls, reads can be changed meanwhile.

- *Functions that run beside*: those whose addresses can come to the argument of `signal`, `sigaction`, `pthread_create` and their
  like (`code_addresses`).
- *What they change*: all that they and what they call write, as far as it can be seen from outside. A handler that never returns
  changes nothing for the function that it interrupts: that does not go on. (After `longjmp` it is the function with the `setjmp`
  that goes on, which nothing is proved of, nor of those that call it.) Where there are other threads, it is no exception.
- *What is read*: variables by name, and memory, which is one place. A read of a `volatile` variable is none: lowering
  has it give any value.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from functools import cached_property

import msgspec

from analysis.c.control import BY_NUMBER, ERRNO, STARTS, SWITCHES, Start
from analysis.c.functions import is_harmless
from analysis.cfa.callgraph import callees, components
from analysis.cfa.graph import Cfa, Program
from analysis.cpa.obstacles.accesses import own
from analysis.cpa.obstacles.code_addresses import UNKNOWN, CodeAddresses
from analysis.cpa.obstacles.exposed_variables import exposed, is_closed, is_system
from analysis.cpa.obstacles.passed_code import may_call_back
from analysis.model import ir
from analysis.model.c_types import Floating, Integer
from analysis.model.kept_with import kept_with
from analysis.model.spelling import display_name


class Changes(msgspec.Struct):
    """What can be changed: variables by name, memory behind pointers, `errno`; or `everything`, and why nothing less is said."""

    variables: set[str] = msgspec.field(default_factory=set)
    memory: bool = False
    errno: bool = False
    everything: str = ""


@kept_with
def beside(program: Program) -> Beside:
    """What runs beside the functions of a program."""
    return Beside(program)


def runs_alone(program: Program) -> bool:
    """Whether nothing of a program runs beside its functions."""
    found = beside(program)
    return not found.starters or not (found.threads or found.handlers)


class Beside:
    """What runs beside the functions of one program. Nothing is looked for before it is asked about."""

    def __init__(self, program: Program) -> None:
        self._program: Program = weakref.proxy(program)
        self._referred = weakref.ref(program)
        self._changes: dict[frozenset[str], Changes] = {}
        self._clashes: dict[tuple[str, frozenset[str]], str | None] = {}
        self._first: dict[frozenset[str], Mapping[str, str]] = {}

    def obstacle(self, functions: Iterable[str]) -> str | None:
        """Why what is true of these functions and all that they call, as if they ran alone, may be false; None if it is true."""
        if not self.starters:
            return None
        started, names = self.threads | self.handlers, tuple(functions)
        if not started:
            return None
        if self._reach_threads(names):
            started = frozenset(self._program.functions)  # what others do runs beside it
        first = self._first_clashes(started)
        found = min((one for name in names if (one := first.get(name)) is not None), default=None)
        return None if found is None else self._clash(found, started)

    # -- functions that run beside ------------------------------------------------------------------------------

    @cached_property
    def starters(self) -> tuple[tuple[str, ir.Call, Start], ...]:
        """The calls after which something can run beside: in which function, the call, and what it starts."""
        return tuple(
            (name, call, STARTS[target])
            for name, cfa in self._program.functions.items()
            if own(cfa).starting
            for call in own(cfa).calls
            for target in self._program.targets(call)
            if target in STARTS and target not in self._program.functions
        )

    @cached_property
    def threads(self) -> frozenset[str]:
        """The functions with which threads can start."""
        return self._started(thread=True)

    @cached_property
    def handlers(self) -> frozenset[str]:
        """The functions that can be called for a signal."""
        return self._started(thread=False)

    @cached_property
    def returning_handlers(self) -> frozenset[str]:
        """The functions that can be called for a signal and may return to what they interrupt."""
        return frozenset(name for name in self.handlers if self._returns(name))

    def _started(self, *, thread: bool) -> frozenset[str]:
        found: set[str] = set()
        for name, call, start in self.starters:
            if start.thread != thread:
                continue
            if start.argument >= len(call.arguments):
                return self._program.address_taken | {UNKNOWN}
            given = call.arguments[start.argument]
            found |= self._addresses.in_memory() if start.inside else self._addresses.of(name, given)
        return frozenset(found)

    @cached_property
    def _addresses(self) -> CodeAddresses:
        return CodeAddresses(self._program, self._closed)

    @cached_property
    def _closed(self) -> bool:
        """Whether no code but the program's and the system's runs."""
        program = self._referred()
        return program is not None and is_closed(program)

    # -- what they change ---------------------------------------------------------------------------------------

    @cached_property
    def _in_threads(self) -> frozenset[str]:
        return self._below(self.threads)

    def _changed_by(self, started: frozenset[str]) -> Changes:
        known = self._changes.get(started)
        if known is None:
            alone = bool(self.threads)  # other threads go on while a handler that never returns runs
            known = self._changes[started] = Changes()
            interrupting = {name for name in started if alone or self._returns(name)}
            for name in sorted(self._below(interrupting)):
                if name in self._program.functions:
                    self._add(known, self._program.functions[name])
                elif name in interrupting:
                    self._add_external(known, name, None)
        return known

    def _add(self, changes: Changes, cfa: Cfa) -> None:
        """Adds what a function changes by itself."""
        mine = own(cfa)
        changes.variables |= mine.writes
        changes.memory |= mine.writes_memory
        if not mine.understood:
            changes.everything = changes.everything or f"{display_name(cfa.name)}() is not understood in full"
        for call in mine.calls:
            targets = self._program.targets(call)
            if not targets:
                changes.everything = changes.everything or f"{display_name(cfa.name)}() calls an unknown function"
            for target in targets:
                if target not in self._program.functions:
                    self._add_external(changes, target, call)

    def _add_external(self, changes: Changes, name: str, call: ir.Call | None) -> None:
        """Adds what an external function changes; without a call, it is called for a signal or as a thread."""
        changes.errno = True
        known = self._program.externals.get(name)
        if is_harmless(name) or (known is not None and known.noreturn and name not in SWITCHES):
            return
        start = STARTS.get(name)
        if start is not None and not start.thread:
            return  # what it starts is among what runs beside
        if not is_system(self._program, name) or name in SWITCHES or call is None:
            changes.everything = (
                changes.everything or f"{name if name == UNKNOWN else display_name(name) + '()'} may change everything"
            )
            return
        program = self._referred()
        if start is None and (program is None or may_call_back(program, name, call)):
            changes.everything = changes.everything or f"{display_name(name)}() may call a function that it is passed"
        changes.memory = changes.memory or name in BY_NUMBER or any(map(_leads_on, call.arguments))

    def _returns(self, started: str) -> bool:
        """Whether a function that is called for a signal can return to what it interrupts."""
        return started not in self._program.functions or started in self._returning

    @cached_property
    def _returning(self) -> frozenset[str]:
        """The least set: a function returns if its exit can be reached over calls that do, or if it changes contexts."""
        open_ = dict.fromkeys(name for name in self._below(self.handlers) if name in self._program.functions)
        found: set[str] = set()
        grown = True
        while grown:
            grown = False
            for name in list(open_):
                if self._reaches_exit(self._program.functions[name], found):
                    found.add(name)
                    del open_[name]
                    grown = True
        return frozenset(found)

    def _reaches_exit(self, cfa: Cfa, returning: set[str]) -> bool:
        seen, waiting = {cfa.entry}, [cfa.entry]
        while waiting:
            for edge in cfa.outgoing.get(waiting.pop(), ()):
                passed = not isinstance(edge.effect, ir.Call) or self._passes(edge.effect, returning)
                if isinstance(edge.effect, ir.Unsupported) or passed is None:
                    return True
                if passed and edge.target not in seen:
                    seen.add(edge.target)
                    waiting.append(edge.target)
        return cfa.exit in seen

    def _passes(self, call: ir.Call, returning: set[str]) -> bool | None:
        """Whether a call can return; None: what was interrupted can go on though it does not."""
        targets = self._program.targets(call)
        if any(target in SWITCHES for target in targets):
            return None
        return not targets or any(self._comes_back(target, returning) for target in targets)

    def _comes_back(self, target: str, returning: set[str]) -> bool:
        if target in self._program.functions:
            return target in returning
        known = self._program.externals.get(target)
        return known is None or not known.noreturn

    # -- whether it matters -------------------------------------------------------------------------------------

    def _reach_threads(self, functions: Iterable[str]) -> bool:
        """Whether these functions, or what they can call, also run in threads."""
        return bool(self._in_threads) and not self._below(functions).isdisjoint(self._in_threads)

    def _first_clashes(self, started: frozenset[str]) -> Mapping[str, str]:
        """For each function for which it matters what runs beside: the first, by name, of itself and all that it can call that
        reads what can be changed."""
        if started not in self._first:
            program, found = self._referred(), dict[str, str]()
            calls: Mapping[str, tuple[str, ...]] = {} if program is None else callees(program)
            for group in () if program is None else components(program):
                called = {one for name in group for one in calls[name]}
                first = [found[one] for one in called if one in found]
                first += [name for name in group if self._clash(name, started) is not None]
                if first:
                    found.update(dict.fromkeys(group, min(first)))
            self._first[started] = found
        return self._first[started]

    def _clash(self, name: str, started: frozenset[str]) -> str | None:
        """What of that which a function reads can be changed by what runs beside, in words."""
        key = name, started
        if key not in self._clashes:
            cfa = self._program.functions.get(name)
            self._clashes[key] = None if cfa is None else self._clash_of(cfa, self._changed_by(started))
        return self._clashes[key]

    def _clash_of(self, cfa: Cfa, changes: Changes) -> str | None:
        mine, where = own(cfa), f"{display_name(cfa.name)}() reads"
        memory = mine.reads_memory or any(self._reads_memory(call) for call in mine.calls)
        errno = any(target in ERRNO for call in mine.calls for target in self._program.targets(call))
        if changes.everything and (mine.reads or memory or errno):
            return f"{where} what can change while it runs: {changes.everything}, at any time"
        found = sorted(mine.reads & changes.variables) or sorted(mine.reads & self._pointed if changes.memory else ())
        if found:
            return f"{where} {display_name(found[0])}, which a signal handler or a thread can change at any time"
        if memory and (changes.memory or not changes.variables.isdisjoint(self._pointed)):
            return f"{where} memory that a signal handler or a thread can change at any time"
        if errno and changes.errno:
            return f"{where} errno, which a signal handler or a thread can change at any time"
        return None

    def _reads_memory(self, call: ir.Call) -> bool:
        """Whether an external function is passed a pointer."""
        outside = any(target not in self._program.functions for target in self._program.targets(call) or ("",))
        return outside and any(map(_leads_on, call.arguments))

    @cached_property
    def _pointed(self) -> frozenset[str]:
        """The variables with static storage that pointers can lead to: all that other files can name, unless the whole program is
        known."""
        program = self._referred()
        return frozenset() if program is None else exposed(program)

    def _below(self, functions: Iterable[str]) -> frozenset[str]:
        """These functions and all that they can call."""
        program = self._referred()
        called: Mapping[str, tuple[str, ...]] = {} if program is None else callees(program)
        reached = set(functions)
        waiting = list(reached)
        while waiting:
            new = set(called.get(waiting.pop(), ())) - reached
            reached |= new
            waiting += new
        return frozenset(reached)


def _leads_on(argument: ir.Expr) -> bool:
    """Whether an argument can lead to objects of the program."""
    bare = ir.strip_casts(argument)
    if isinstance(argument.type, Integer | Floating) and isinstance(bare.type, Integer | Floating):
        return False
    if isinstance(bare, ir.AddressOf):
        bare = ir.root(bare.lvalue)
    return not isinstance(bare, ir.IntConst | ir.StringConst)
