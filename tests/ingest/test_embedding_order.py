"""Vectors come in an order that makes a new library searchable by meaning soon, and repeated text is embedded once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ingest.fakes import WordEmbedder

from loccit import Library
from loccit.index.folder.record import PendingPassage
from loccit.ingest.contextualize import passage_text
from loccit.ingest.repeats import Repeats
from loccit.model import Progress
from loccit.models.embedding import Embedder, load_embedder
from loccit.models.embedding.folder import LocalModel

TABLE = " ".join(f"option{number} sets the limit of requests in queue {number}." for number in range(60))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def reference(kind: str) -> str:
    """Return a generated page: an opening of its own, then what all of them say."""
    return f"# {kind}\n\nHow {kind.lower()} objects are listed.\n\n{TABLE}\n"


class SharingEmbedder(WordEmbedder, LocalModel):
    """A model on this machine, of which it is known how far a vector follows the context."""

    name = "words"
    context_share = 0.2


@pytest.fixture
def words() -> WordEmbedder:
    return SharingEmbedder()


@pytest.fixture
def library(tmp_path: Path, quick: None, words: WordEmbedder) -> Iterator[Library]:
    with Library(tmp_path / "index", embedder=words) as opened:
        yield opened


def test_text_that_is_repeated_is_embedded_once(library: Library, docs: Path) -> None:
    kinds = ("Anchor", "Buoy", "Crane", "Dock")
    for kind in kinds:
        write(docs / f"{kind}.md", reference(kind))
    report = library.index(docs)
    assert isinstance(library.embedder, WordEmbedder)
    status = library.status()
    assert status.pending_passages == 0 and report.embedded == status.passages
    # Each has its beginning; the windows after it, as far as they are the same, were embedded for one of them.
    assert (
        sum(text.startswith(kinds) and "objects are listed" in text for text in library.embedder.texts) == 4
    )
    assert len(library.embedder.texts) < status.passages
    assert sum("queue 59." in text for text in library.embedder.texts) == 1
    assert library.doctor().healthy
    for kind in kinds:
        best = library.search(f"{kind} how {kind} objects are listed", mode="semantic", top_k=1).results[0]
        assert Path(best.source_path).name == f"{kind}.md"


def test_short_text_is_never_taken_from_elsewhere(library: Library, docs: Path) -> None:
    for kind in ("Anchor", "Buoy"):
        write(docs / f"{kind}.md", f"# {kind}\n\n## Use\n\nSee above.\n\n## Care\n\nSee above.\n")
    library.index(docs)
    assert isinstance(library.embedder, WordEmbedder)
    assert len(library.embedder.texts) == library.status().passages


def test_a_model_of_which_nothing_is_known_embeds_every_text(tmp_path: Path, docs: Path, quick: None) -> None:
    write(docs / "Anchor.md", reference("Anchor"))
    write(docs / "Buoy.md", reference("Buoy"))
    plain = WordEmbedder()
    with Library(tmp_path / "other", embedder=plain) as library:
        library.index(docs)
        assert len(plain.texts) == library.status().passages


def test_moved_vectors_lie_near_those_of_the_bundled_model() -> None:
    """The share in model.json is what it was measured to be: contexts matter, and are put back by it."""
    bundled: Embedder = load_embedder()
    pages = ("Anchor\nOperations > list", "Buoy\nOperations > watch list")
    pending = [
        PendingPassage(number, bytes([number]), context, TABLE[:600], 600)
        for number, context in enumerate(pages)
    ]
    moved = Repeats(bundled, lambda hashes: {}).embed(pending, lambda vectors, count: vectors)
    true = bundled.embed([passage_text(passage.context, passage.text) for passage in pending])
    assert float(moved[1] @ true[1]) > 0.95 > float(true[0] @ true[1])


def test_short_documents_come_first(library: Library, docs: Path) -> None:
    write(docs / "a.md", "# Long\n\n" + "".join(f"## Part {n}\n\nText of part {n}.\n\n" for n in range(20)))
    write(docs / "b.md", "# Short\n\nA note.\n")
    library.index(docs)
    assert isinstance(library.embedder, WordEmbedder)
    order = ["Short" in text for text in library.embedder.texts]
    assert order.index(True) < order.index(False)


class StopError(Exception):
    """Ends a run."""


@pytest.mark.slow
def test_what_was_read_is_found_by_how_it_begins_before_the_rest_is_read(
    library: Library, docs: Path, words: WordEmbedder
) -> None:
    write(
        docs / "a.md", "# Tides\n\nHigh water is at noon.\n\n## Currents\n\nThe stream turns an hour later.\n"
    )
    write(docs / "b.md", "# Berths\n\nVessels moor at the quay.\n")
    write(docs / "c.md", "# Fees\n\nFees are due.\n")
    found: list[str] = []

    def watch(step: Progress) -> None:
        if step.stage == "read" and step.done == 1:
            time.sleep(2.2)  # longer than what was read waits for the indexes
        if step.stage == "read" and step.done == 2:
            with Library(library.path, embedder=words) as other:
                found.extend(r.source_path for r in other.search("high water noon", mode="semantic").results)
            raise StopError

    with pytest.raises(StopError):
        library.index(docs, workers=1, progress=watch)
    assert [Path(path).name for path in found] == ["a.md"]
    # Killed here, the library is sound, says what is missing, and the next run adds it.
    with Library(library.path, embedder=words) as again:
        assert again.doctor().healthy
        assert again.status().pending_passages > 0
        again.index(docs)
        assert again.status().pending_passages == 0
        assert again.doctor(repair=False).healthy
        best = again.search("stream turns hour later", mode="semantic", top_k=1).results[0]
        assert "stream turns" in best.content
