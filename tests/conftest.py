"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# Examples may take as long as they do: how fast something is, benchmarks say.
settings.register_profile("patient", settings(), deadline=None)
settings.load_profile("patient")
