"""What speaks for a possible finding, and what has to be assumed for it: names that an engine gives, and a score is made of.

Each is something that can be read off the path that is claimed. `Beginning` says where the value comes from: what the path begins
with that makes the value suspicious, such as a result that can be null, or memory that is allocated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

Beginning = Literal[
    "library-result",  # of a library function that this function calls
    "library-search",  # of one that returns null for some arguments only, such as `strchr` where there is no such character
    "own-test",  # this function tests the value for null, and goes on where it is
    "macro",  # a test for null, or a null, that is in the text of a macro, for all of its users
    "null-constant",  # it was set to null by this function
    "released-here",  # this function frees, closes, locks or destroys it
    "own-address",  # this function takes the address of something of its own that ends with it
    "function-result",  # a function of the program returns it so
    "handed-out",  # a function of the program frees it, and then stores or returns the freed pointer for its caller
    "allocated-elsewhere",  # a function of the program allocates or opens it, and returns it
    "owned-member",  # an object owns it, by what the whole program does with it, and a function loses it
    "argument",  # a caller passes it so
    "passed-failure",  # a caller passes it so, where memory, a file or input fails
    "whatever-called",  # runs of the function showed it, whatever they were passed
]
Needed = Literal[
    "way-unknown",  # whether the function gets to where the value comes from was not decided: the search had too many states
    "sum-wraps",  # an unsigned sum that is passed to a function or compared wraps to 0, as the size in `malloc(n + 1)`
    "in-memory",  # the value is read from a member, an element or a global variable
    "stored-failure",  # the same, where it was stored because memory, a file or input fails
    "reachable",  # memory was stored where others reach it, before its last pointer was lost
    "function-pointer",  # a call through a pointer lies between, of which it is not known which function it reaches
    "others-test",  # most other calls of the function that the value comes from test its result
    "others-do-not",  # most do not
    "environment",  # a result of a library function decides it: memory, files, input
    "straight",  # there is no branch between where it comes from and where it is used
    "answered-before",  # the system was asked the same before, and did not say null; only the program changes that (`getenv`)
    "found-before",  # what is looked for was looked for in the same string before, and found
    "idle-test",  # nothing depends on the test in this build, as where an assertion is compiled out
    "zero-asked",  # it is null only where nothing was asked for: the size that was asked for is 0
    "decided-inside",  # no failure of memory, files or input makes it null: the program's own data do
    "asked-about",  # a function of the program was passed the value, and its answer tested
    "asked-before",  # a function was asked about the same arguments before, or that one whether it gives null
    "unkept",  # a function was passed it that keeps it in other runs; its data decided otherwise, and its answer is not looked at
    "tested-before",  # the same was tested before, with the other outcome; only a function that was called can have changed it
    "loop-skipped",  # it was null before a loop that would set it, or a loop would keep it, which is passed without a turn
    "null-compared",  # the last branch needs that a pointer in memory is null, as a variable is that it is compared with
    "reported",  # where the value is null, a function of the program is called for its effect: it may not come back
    "many-conditions",  # the path from the beginning on takes many branches that must be possible together
    "taken-for-failure",  # the function that gives it returns a number that it has computed, which passes for a failure
    "sometimes-given",  # the function that allocates or opens it returns in other runs what belongs to somebody else
    "tagged-owner",  # data of the object that would own it say on the way of which kind the object is
    "never-used",  # a descriptor that the function which loses it uses for nothing
    "at-the-end",  # it is lost where the program ends
    "argument-asserted",  # the assertion is about what callers pass
    "result-asserted",  # the assertion is about the result of a call of a library function, or of one that is not known
    "own-result-asserted",  # the assertion is about the result of a function of the program
    "never-asserted",  # the assertion says that a place is never reached
]
Evidence = Literal[Beginning, Needed]

START = 50
"""The score of a possible finding without any evidence."""
_MOST = 99
POINTS: Mapping[Evidence, int] = {
    "library-result": 20,
    "library-search": -20,
    "own-test": 0,
    "released-here": 20,
    "own-address": 20,
    "null-constant": 0,
    "function-result": -20,
    "handed-out": 20,
    "allocated-elsewhere": 0,
    "owned-member": 20,
    "argument": -20,
    "passed-failure": -10,
    "whatever-called": 40,
    "macro": -30,
    "way-unknown": -20,
    "sum-wraps": -40,
    "in-memory": -30,
    "stored-failure": -10,
    "reachable": -30,
    "function-pointer": -30,
    "others-test": 15,
    "others-do-not": -15,
    "environment": 20,
    "straight": 20,
    "idle-test": -20,
    "zero-asked": -40,
    "decided-inside": -10,
    "asked-about": -20,
    "asked-before": -20,
    "loop-skipped": -20,
    "tested-before": -20,
    "unkept": -30,
    "answered-before": -90,
    "found-before": -40,
    "null-compared": -40,
    "reported": -40,
    "many-conditions": -10,
    "taken-for-failure": -30,
    "sometimes-given": -20,
    "tagged-owner": -30,
    "never-used": -20,
    "at-the-end": -20,
    "result-asserted": 10,
    "own-result-asserted": -10,
    "argument-asserted": -20,
    "never-asserted": -20,
}
"""What each piece of evidence adds to the score. The points were chosen by how often findings with this evidence were right on
real projects, where they were read by hand (docs/how-often-right.md). `benchmarks.judged_findings` measures that, and how well
points that are chosen on some projects do on another one."""


def points(evidence: Iterable[Evidence]) -> int:
    """The score of a possible finding with this evidence: at most 99, since 100 is that of a confirmed one."""
    return min(max(START + sum(POINTS[one] for one in evidence), 1), _MOST)
