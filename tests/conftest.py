"""For all tests: nothing is kept in the stores of whoever runs them; where CI is set, the answer depends on the commit alone."""

import os

from hypothesis import settings

os.environ["EVERPROOF_STORE"] = "none"  # processes that tests start inherit it

# A developer's run draws new examples each time; a submission is judged by the same ones each time.
settings.register_profile("ci", derandomize=True, print_blob=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
