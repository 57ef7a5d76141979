"""How often a test that tries its luck does so: some times each run, and many times in `make test-long`."""

from __future__ import annotations

import os


def tries(usual: int, long: int) -> int:
    """Return the number of tries for this run."""
    return long if os.environ.get("HYPOTHESIS_PROFILE") == "long" else usual
