"""What holds for all tests."""

from __future__ import annotations

import signal

from hypothesis import settings

# A shell starts background jobs with Ctrl-C ignored, and so would be every program that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Examples may take as long as they do: how fast something is, benchmarks say.
settings.register_profile("patient", settings(), deadline=None)
settings.load_profile("patient")
