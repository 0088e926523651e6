"""`python -m analysis.cli` is the command `everproof`."""

import sys

from analysis.cli.main import main

sys.exit(main())
