"""For all tests: nothing is kept in the stores of whoever runs them, and their key is not used; where CI is set, the answer
depends on the commit alone.

No test depends on how busy the machine is: property-based tests have no deadline, a slow generator is no failure, and seconds
that a test gives provers are seconds of work, not of the clock.
A test that sets a deadline of its own, or that no longer ignores slowness, is refused when tests are collected.

`EVERPROOF_NIGHTLY` (`make nightly`) multiplies the examples of all property-based tests.
"""

import atexit
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from analysis.model import budgets

os.environ["EVERPROOF_STORE"] = "none"  # processes that tests start inherit it
_KEYS = tempfile.mkdtemp(prefix="everproof")
os.environ["EVERPROOF_STORE_KEY"] = os.path.join(_KEYS, "store.key")
atexit.register(shutil.rmtree, _KEYS, ignore_errors=True)

# As lowering sets it (`cfa.building.unit`): hypothesis refuses a test that changes it, as the first to lower a program would.
sys.setrecursionlimit(20_000)

budgets.BY_THE_CLOCK = budgets.BUDGETS["full"].wait

_SLOW = HealthCheck.too_slow
_NIGHTLY = 20  # times as many examples

# A developer's run draws new examples each time; a submission is judged by the same ones each time.
settings.register_profile("everproof", deadline=None, suppress_health_check=[_SLOW])
settings.register_profile("ci", parent=settings.get_profile("everproof"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "everproof")


@pytest.fixture(autouse=True)
def _modules_of_the_current_folder() -> Iterator[None]:
    """The command line forbids modules of the current folder to all that its process starts. A test that runs it in this process
    must not forbid them to the tests that come after it."""
    yield
    os.environ.pop("PYTHONSAFEPATH", None)


def pytest_collection_finish() -> None:
    """What collecting the tests has made stays to the end: the garbage collector need not look at it after each of them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def settings_of(test: object) -> settings:
    """The settings that a property-based test runs with."""
    chosen: settings = getattr(test, "_hypothesis_internal_use_settings", None) or settings.default
    return chosen


def depends_on_time(test: object) -> bool:
    """Whether a property-based test can fail because the machine is slow."""
    if not is_hypothesis_test(test):
        return False
    chosen = settings_of(test)
    return chosen.deadline is not None or _SLOW not in chosen.suppress_health_check


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuses tests that depend on time; at night, asks for more examples."""
    tests = {getattr(item, "obj", None): item.nodeid.partition("[")[0] for item in items}
    timed = sorted({name for test, name in tests.items() if depends_on_time(test)})
    if timed:
        raise pytest.UsageError(f"tests that depend on how fast the machine is: {', '.join(timed)}")
    if os.environ.get("EVERPROOF_NIGHTLY"):
        for test in filter(is_hypothesis_test, tests):
            chosen = settings_of(test)
            test._hypothesis_internal_use_settings = settings(chosen, max_examples=_NIGHTLY * chosen.max_examples)  # type: ignore[union-attr]
