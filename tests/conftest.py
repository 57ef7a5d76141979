"""What holds for all tests: their markers and order, and which examples property tests try."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent

# A shell starts background jobs with Ctrl-C ignored, and so would be every program that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A test fails for what was changed, not for the luck of the draw: the examples are the same each time. `make test-long`
# looks for new ones, and what it finds becomes an `@example`. They may take as long as they do: benchmarks measure speed.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("fast", settings.get_profile("ci"), max_examples=20)
settings.register_profile("long", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Whole folders and files, from here. Single tests are marked where they stand.
MARKED = {
    "browser": ("browser",),
    "store": ("stores/providers",),
    "process": ("chat", "cli", "holodeck", "library", "server", "tools", "watch", "test_docs.py"),
    "slow": (
        *("test_docs.py", "stores/test_moving.py", "ingest/distributed", "ingest/test_llm_context.py"),
        *("convert/test_docx_hostile.py", "convert/test_hostile.py", "stores/test_damage.py"),
    ),
}
# Whoever has one of these at hand starts processes: files are read in a worker of their own.
STARTERS = ("CliRunner", "Library", "Sandbox", "multiprocessing", "subprocess")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their place, and have the files that take longest begin first: others fill the gaps at the end."""
    for item in items:
        place = Path(os.path.relpath(item.path, TESTS)).as_posix()
        for marker, places in MARKED.items():
            if any(place == one or place.startswith(f"{one}/") for one in places):
                item.add_marker(marker)
        module, fixtures = getattr(item, "module", None), getattr(item, "fixturenames", ())
        if "library" in fixtures or any(hasattr(module, name) for name in STARTERS):
            item.add_marker("process")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    # What a hostile document says is said a hundred thousand times.
    for item in items:
        if "hostile" in item.name:
            item.add_marker("slow")


@pytest.fixture(scope="session", autouse=True)
def _one_reader() -> Iterator[None]:
    """Tests run beside each other already, and each further process takes longer to start than their files to read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pinakes.ingest.pipeline._available_cores", lambda: 1)
        yield


# Reading in this process is quicker than in a worker; what workers are for has tests of its own.
READ_HERE = ("agent_config", "evaluation", "library", "search", "stores/test_moving.py", "tools", "verbatim")


@pytest.fixture(scope="module", autouse=True)
def _read_here(request: pytest.FixtureRequest) -> Iterator[None]:
    """Read files in this process where a test is about what is read, not about how."""
    place = Path(os.path.relpath(request.path, TESTS)).as_posix()
    with pytest.MonkeyPatch.context() as patch:
        if any(place == one or place.startswith(f"{one}/") for one in READ_HERE):
            from tests.ingest.fakes import InlineSandbox

            patch.setattr("pinakes.ingest.pipeline.Sandbox", InlineSandbox)
        yield
