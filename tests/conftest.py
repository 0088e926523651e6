"""For all tests: nothing is kept in the stores of whoever runs them."""

import os

os.environ["EVERPROOF_STORE"] = "none"  # processes that tests start inherit it
