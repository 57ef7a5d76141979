"""What holds for all tests: their markers and order, and which examples property tests try."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from loccit.models.embedding.onnx import OnnxEmbedder

TESTS = Path(__file__).parent

# A shell starts background jobs with Ctrl-C ignored, and so would be every program that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A test fails for what was changed, not for the luck of the draw: the examples are the same each time. `make test-long`
# looks for new ones, and what it finds becomes an `@example`. They may take as long as they do: benchmarks measure speed.
settings.register_profile("ci", max_examples=50, derandomize=True, deadline=None)
settings.register_profile("fast", settings.get_profile("ci"), max_examples=20)
settings.register_profile("long", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Whole folders and files, from here. Single tests are marked where they stand.
MARKED = {
    "browser": ("browser",),
    "store": ("index/providers",),
    "process": ("chat", "cli", "holodeck", "library", "requests", "server", "tools", "watch", "test_docs.py"),
    "slow": (
        *("test_docs.py", "index/test_moving.py", "ingest/distributed", "ingest/test_llm_context.py"),
        *(
            "read/test_docx_hostile.py",
            "read/test_hostile.py",
            "index/test_damage.py",
            "index/test_publishing.py",
        ),
        *("evaluation/test_corpus.py", "ingest/test_limits.py", "server/test_process_pool.py"),
    ),
}
# Whoever has one of these at hand starts processes: files are read in a worker of their own.
STARTERS = ("CliRunner", "Library", "Sandbox", "multiprocessing", "subprocess")


def _is_in(path: Path, places: tuple[str, ...]) -> bool:
    """Whether a file is one of these places or below one of them."""
    place = Path(os.path.relpath(path, TESTS)).as_posix()
    return any(place == one or place.startswith(f"{one}/") for one in places)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their place, and have the files that take longest begin first: others fill the gaps at the end."""
    for item in items:
        for marker, places in MARKED.items():
            if _is_in(item.path, places):
                item.add_marker(marker)
        module, fixtures = getattr(item, "module", None), getattr(item, "fixturenames", ())
        if "library" in fixtures or any(hasattr(module, name) for name in STARTERS):
            item.add_marker("process")
    first = {item.path for item in items if any(map(item.get_closest_marker, ("slow", "store", "browser")))}
    items.sort(key=lambda item: item.path not in first)
    # What a hostile document says is said a hundred thousand times.
    for item in items:
        if "hostile" in item.name:
            item.add_marker("slow")


EMBED = OnnxEmbedder.embed
# These are about embedding itself, and when it is done.
EMBEDDING = ("models/embedding", "ingest")

# These are about the workers that files are read in. All others read in their own process: a worker takes longer to start
# than their files to read.
IN_WORKERS = (
    *("server/api/test_indexing.py", "server/test_indexing.py"),
    *("ingest/distributed", "ingest/test_concurrency.py", "ingest/test_embedding_order.py"),
    *("ingest/test_interruption.py", "ingest/test_limits.py", "ingest/test_scans.py"),
)


@pytest.fixture(scope="session", autouse=True)
def _read_here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Read files in this process, and where workers do it, in one; embed in one thread, and each text once in all.

    Tests run beside each other already.
    """
    from tests.ingest.fakes import InlineSandbox
    from tests.vectors import embed_once

    folder = tmp_path_factory.getbasetemp()
    run = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("loccit.ingest.pipeline._available_cores", lambda: 1)
        patch.setattr("loccit.models.embedding.onnx.available_cores", lambda: 1)
        patch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)
        patch.setattr(OnnxEmbedder, "embed", embed_once(EMBED, run / "vectors.sqlite3"))
        yield


@pytest.fixture(scope="module", autouse=True)
def _for_real(request: pytest.FixtureRequest) -> Iterator[None]:
    """Read files in workers, and embed, where a test is about how that is done, not about what comes of it."""
    with pytest.MonkeyPatch.context() as patch:
        if _is_in(request.path, EMBEDDING):
            patch.setattr(OnnxEmbedder, "embed", EMBED)
        if _is_in(request.path, IN_WORKERS):
            from loccit.workers.sandbox import Sandbox

            patch.setattr("loccit.ingest.pipeline.Sandbox", Sandbox)
        yield
