"""The vector matrix and its coarse copy: whatever happened to them, a search answers as if it compared every row."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from loccit.errors import DamagedIndexError
from loccit.index.folder import coarse, nearest, vectors
from loccit.index.folder.coarse import Coarse
from loccit.index.folder.vectors import VectorIndex
from loccit.index.port.matching import Nearest
from loccit.models.embedding.protocol import Vectors

DIMENSION = 24
MODEL = "test"
# A document: its id, the chunk of each passage, and their vectors.
Entry = tuple[int, list[int], Vectors]


@pytest.fixture(autouse=True)
def _coarse_from_the_first_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "COARSE_ROWS", 1)


def unit_vectors(seed: int, count: int) -> Vectors:
    drawn = np.random.default_rng(seed).standard_normal((count, DIMENSION), dtype=np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def entry(document: int, chunks: int = 20, *, seed: int | None = None) -> Entry:
    """A document whose chunks have one to three passages."""
    owners = [document * 1000 + chunk for chunk in range(chunks) for _ in range(1 + (document + chunk) % 3)]
    return document, owners, unit_vectors(document if seed is None else seed, len(owners))


def compared_one_by_one(
    entries: list[Entry], query: Vectors, limit: int, documents: set[int] | None = None
) -> dict[int, float]:
    best: dict[int, float] = {}
    for document, chunks, matrix in entries:
        if documents is None or document in documents:
            for chunk, row in zip(chunks, matrix, strict=True):
                best[chunk] = max(best.get(chunk, -2.0), float(np.dot(row.astype(float), query)))
    ranked = sorted(best.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return dict(ranked)


def check(found: Nearest, expected: dict[int, float]) -> None:
    assert found.chunks.tolist() == list(expected)
    np.testing.assert_allclose(found.scores, list(expected.values()), atol=1e-5)


def opened(folder: Path) -> VectorIndex:
    return VectorIndex(folder, MODEL, DIMENSION)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """Whether each search could make use of the coarse copy."""
    used: list[bool] = []
    look = Coarse.look

    def recorded(
        self: Coarse, query: Vectors, rows: NDArray[np.intp] | None = None
    ) -> tuple[Vectors, float] | None:
        seen = look(self, query, rows)
        used.append(seen is not None)
        return seen

    monkeypatch.setattr(Coarse, "look", recorded)
    yield used


def test_the_best_chunks_are_those_of_comparing_every_row(tmp_path: Path, looks: list[bool]) -> None:
    entries = [entry(document, 60) for document in range(40)]
    index = opened(tmp_path)
    index.apply([], entries, 1)
    for seed in range(20):
        query = unit_vectors(1000 + seed, 1)[0]
        found = index.search(query, 15)
        check(found, compared_one_by_one(entries, query, 15))
        everything = compared_one_by_one(entries, query, 10**6)
        assert found.floor == pytest.approx(min(everything.values()), abs=1e-6)
        check(index.search(query, 15, {3, 5, 8}), compared_one_by_one(entries, query, 15, {3, 5, 8}))
    assert looks and all(looks)


def test_far_down_the_cosines_are_those_of_the_copy(tmp_path: Path, looks: list[bool]) -> None:
    entries = [entry(document, 60) for document in range(60)]
    index = opened(tmp_path)
    index.apply([], entries, 1)
    for seed in range(20):
        query = unit_vectors(2000 + seed, 1)[0]
        found, everything = index.search(query, 700), compared_one_by_one(entries, query, 10**6)
        expected = dict(list(everything.items())[:700])
        assert len(found.chunks) == 700 and (np.diff(found.scores) <= 0).all()
        assert found.chunks[:200].tolist() == list(expected)[:200]
        np.testing.assert_allclose(found.scores[:200], list(expected.values())[:200], atol=1e-5)
        own = [everything[chunk] for chunk in found.chunks.tolist()]
        np.testing.assert_allclose(found.scores, own, atol=0.02)
        assert not np.allclose(found.scores, own, atol=1e-6)
        assert len(expected.keys() & set(found.chunks.tolist())) >= 690
        assert found.floor == pytest.approx(min(everything.values()), abs=1e-6)
    assert looks and all(looks)


def test_most_rows_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = opened(tmp_path)
    index.apply([], [entry(document, 60) for document in range(40)], 1)
    compared: list[int] = []
    products = nearest._products

    def counted(rows: Vectors, query: Vectors) -> Vectors:
        compared.append(len(rows))
        return products(rows, query)

    monkeypatch.setattr(nearest, "_products", counted)
    index.search(unit_vectors(7, 1)[0], 10)
    assert compared and sum(compared) < len(index.snapshot.rows) / 8


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[list[int], list[int]]]:
    """Runs that each take some documents out and some in."""
    documents = st.lists(st.integers(1, 8), unique=True, max_size=4)
    return draw(st.lists(st.tuples(documents, documents), min_size=1, max_size=5))


@settings(max_examples=60, deadline=None)
@given(
    histories(),
    st.integers(1, 30),
    st.none() | st.sets(st.integers(0, 9)),
    st.sampled_from([0, 2_000]),
    st.booleans(),
)
def test_any_history_ends_in_the_same_answers(
    tmp_path_factory: pytest.TempPathFactory,
    history: list[tuple[list[int], list[int]]],
    limit: int,
    documents: set[int] | None,
    min_dead: int,
    reopen: bool,
) -> None:
    folder = tmp_path_factory.mktemp("history")
    index = opened(folder)
    living: dict[int, Entry] = {}
    with pytest.MonkeyPatch.context() as patch:
        # 0: dead rows are removed as soon as there are any number of them.
        patch.setattr(vectors, "_MIN_DEAD", min_dead)
        for generation, (removed, added) in enumerate(history, 1):
            for document in removed:
                living.pop(document, None)
            entries = [entry(document, 7, seed=generation * 100 + document) for document in added]
            living.update((document, (document, chunks, rows)) for document, chunks, rows in entries)
            index.apply(removed, entries, generation)
            if reopen:
                index = opened(folder)
    query = unit_vectors(limit, 1)[0]
    found = index.search(query, limit, documents)
    everything = compared_one_by_one(list(living.values()), query, 10**6, documents)
    check(found, dict(list(everything.items())[:limit]))
    assert found.floor == pytest.approx(min(everything.values(), default=0.0), abs=1e-6)
    assert index.verify() == ""
    assert index.snapshot.coarse is not None or not len(index.snapshot.rows)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(st.floats(-1e3, 1e3, width=32), min_size=5, max_size=5), min_size=1, max_size=12),
    st.lists(st.floats(-1e3, 1e3, width=32), min_size=5, max_size=5),
)
def test_no_product_is_further_off_than_it_says(rows: list[list[float]], asked: list[float]) -> None:
    matrix, query = np.array(rows, np.float32), np.array(asked, np.float32)
    copy = Coarse.of(matrix)
    seen = copy.look(query)
    if seen is None:
        assert float(np.abs(query).max()) / 127 == pytest.approx(0, abs=1e-38)
        return
    products, margin = seen
    exact = matrix.astype(float) @ query.astype(float)
    # Beyond unit vectors, float32 itself loses more than the margin allows for.
    rounding = 1e-5 * (1 + np.linalg.norm(matrix, axis=1) * np.linalg.norm(query))
    assert (np.abs(products - exact) <= margin + rounding).all()


def test_equal_scores_come_in_the_order_of_chunks(tmp_path: Path) -> None:
    same = np.repeat(unit_vectors(1, 1), 30, axis=0)
    index = opened(tmp_path)
    index.apply([], [(2, list(range(130, 160)), same), (1, list(range(100, 130)), same)], 1)
    assert index.search(same[0], 5).chunks.tolist() == [100, 101, 102, 103, 104]


def test_a_row_that_is_no_number_is_not_found(tmp_path: Path) -> None:
    document, chunks, rows = entry(1)
    rows[5:9] = np.nan
    index = opened(tmp_path)
    index.apply([], [(document, chunks, rows)], 1)
    gone = set(chunks[5:9]) - set(chunks[:5]) - set(chunks[9:])
    assert gone
    for limit in (3, 100):
        found = index.search(unit_vectors(3, 1)[0], limit)
        assert not gone & set(found.chunks.tolist())
        assert np.isfinite(found.scores).all() and np.isfinite(found.floor)
    assert index.verify() == ""


def test_rows_that_are_no_numbers_do_not_stand_before_others(tmp_path: Path) -> None:
    strays = np.linspace(0, 0.9, 2000, dtype=np.float32)[:, None] * unit_vectors(2, 2000)
    rows, chunks = unit_vectors(1, 1) + strays, list(range(2000))
    # Everything lies on the other side, so that nothing at all would be the better match.
    query = -unit_vectors(1, 1)[0]
    expected = compared_one_by_one([(1, chunks, rows)], query, 5)
    assert max(expected.values()) < -0.1
    lost = [chunk for chunk in range(0, 2000, 200) if chunk not in expected]
    rows[lost] = np.nan
    assert len(lost) > 5
    index = opened(tmp_path)
    index.apply([], [(1, chunks, rows)], 1)
    check(index.search(query, 5), expected)


def test_a_query_of_zeros_finds_what_it_would_without_the_copy(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.apply([], [entry(1)], 1)
    found = index.search(np.zeros(DIMENSION, np.float32), 3)
    assert found.chunks.tolist() == [1000, 1001, 1002] and not found.scores.any()


def test_without_the_package_every_row_is_compared(
    tmp_path: Path, looks: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [entry(document) for document in range(5)]
    index = opened(tmp_path)
    index.apply([], entries, 1)
    monkeypatch.setitem(sys.modules, "simsimd", None)
    query = unit_vectors(9, 1)[0]
    check(index.search(query, 10), compared_one_by_one(entries, query, 10))
    assert looks == [False]


def test_a_small_matrix_has_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, chunks, _ = entry(1)
    monkeypatch.setattr(vectors, "COARSE_ROWS", len(chunks) + 1)
    index = opened(tmp_path)
    index.apply([], [entry(1)], 1)
    assert index.snapshot.coarse is None
    index.apply([], [entry(2)], 2)
    assert index.snapshot.coarse is not None and index.verify() == ""
    index.apply([1, 2], [entry(3)], 3)
    with monkeypatch.context() as patch:
        patch.setattr(vectors, "_MIN_DEAD", 0)
        index.apply([], [], 4)
    assert index.snapshot.coarse is None
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [
        ".chunks",
        ".documents",
        ".f32",
        ".json",
        ".rows",
    ]


def test_an_index_from_before_there_was_a_copy_gets_one_with_the_next_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(vectors, "COARSE_ROWS", 10**9)
        opened(tmp_path).apply([], [entry(1)], 1)
    query = unit_vectors(4, 1)[0]
    index = opened(tmp_path)
    assert index.snapshot.coarse is None
    check(index.search(query, 5), compared_one_by_one([entry(1)], query, 5))
    index.apply([], [entry(2)], 2)
    assert index.snapshot.coarse is not None
    check(index.search(query, 5), compared_one_by_one([entry(1), entry(2)], query, 5))


def test_what_an_interrupted_run_left_behind_is_overwritten(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.apply([], [entry(1)], 1)
    for path in [*tmp_path.glob("*.f32"), *tmp_path.glob("*.rows"), *tmp_path.glob("*.i8")]:
        with path.open("ab") as stream:
            stream.write(b"\x7f" * 1000)
    index = opened(tmp_path)
    index.apply([], [entry(2)], 2)
    query = unit_vectors(5, 1)[0]
    check(index.search(query, 5), compared_one_by_one([entry(1), entry(2)], query, 5))
    assert index.verify() == ""
    sizes = {path.suffix: path.stat().st_size for path in tmp_path.glob("matrix-*")}
    rows = len(index.snapshot.rows)
    expected = {".f32": rows * DIMENSION * 4, ".i8": rows * DIMENSION, ".scale": rows * 4, ".rows": rows * 32}
    assert {suffix: size for suffix, size in sizes.items() if suffix in expected} == expected


def test_a_run_that_dies_before_the_manifest_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = opened(tmp_path)
    index.apply([], [entry(1)], 1)

    def die(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(vectors, "write_json", die)
        index.apply([1], [entry(2), entry(3)], 2)
    index = opened(tmp_path)
    query = unit_vectors(6, 1)[0]
    check(index.search(query, 5), compared_one_by_one([entry(1)], query, 5))
    # The next run does the same again, and what came meanwhile: document 3 is not there any more.
    index.apply([1, 3], [entry(2), entry(4)], 3)
    check(index.search(query, 5), compared_one_by_one([entry(2), entry(4)], query, 5))
    check(index.search(query, 5, {1, 3, 4}), compared_one_by_one([entry(4)], query, 5))
    index.apply([2], [entry(4, seed=77)], 4)
    check(index.search(query, 5), compared_one_by_one([entry(4, seed=77)], query, 5))
    assert index.verify() == ""


def test_a_reader_keeps_what_it_has_while_a_writer_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_MIN_DEAD", 0)
    writer = opened(tmp_path)
    writer.apply([], [entry(document) for document in range(4)], 1)
    reader = opened(tmp_path)
    query = unit_vectors(8, 1)[0]
    before = compared_one_by_one([entry(document) for document in range(4)], query, 5)
    writer.apply([0, 1, 2], [entry(9)], 2)
    check(reader.search(query, 5), before)
    reader.reload()
    check(reader.search(query, 5), compared_one_by_one([entry(3), entry(9)], query, 5))


@pytest.mark.parametrize("pattern", ["*.i8", "*.scale"])
@pytest.mark.parametrize("how", ["lost", "cut"])
def test_a_copy_that_cannot_be_read_is_damage(tmp_path: Path, pattern: str, how: str) -> None:
    opened(tmp_path).apply([], [entry(1)], 1)
    (path,) = tmp_path.glob(pattern)
    if how == "lost":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(DamagedIndexError):
        opened(tmp_path)


def test_a_manifest_that_says_nonsense_about_the_copy_is_damage(tmp_path: Path) -> None:
    opened(tmp_path).apply([], [entry(1)], 1)
    manifest = tmp_path / "manifest.json"
    for nonsense in ({"longest": 1}, [1], "yes", {"longest": "x", "error": 1}):
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "coarse": nonsense}))
        with pytest.raises(DamagedIndexError):
            opened(tmp_path)


@pytest.mark.parametrize("pattern", ["*.i8", "*.scale"])
def test_changed_bytes_are_noticed_by_verifying(tmp_path: Path, pattern: str) -> None:
    opened(tmp_path).apply([], [entry(1)], 1)
    assert opened(tmp_path).verify() == ""
    (path,) = tmp_path.glob(pattern)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x55
    path.write_bytes(data)
    assert "was changed by something else" in opened(tmp_path).verify()


def test_a_copy_is_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coarse, "_BLOCK", 7)
    index = opened(tmp_path)
    index.apply([], [entry(1), entry(2)], 1)
    index.apply([], [entry(3)], 2)
    copy = index.snapshot.coarse
    assert copy is not None
    whole = Coarse.of(np.asarray(index.snapshot.matrix))
    np.testing.assert_array_equal(copy.rows, whole.rows)
    np.testing.assert_array_equal(copy.scales, whole.scales)
    assert copy.facts() == pytest.approx(whole.facts())


def test_a_change_leaves_what_was_written_alone(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.apply([], [entry(document) for document in range(5)], 1)
    files = {path.name: path.stat().st_ino for path in tmp_path.iterdir() if path.suffix != ".json"}
    before = {
        name: (tmp_path / name).read_bytes() for name in files if name.endswith((".f32", ".i8", ".scale"))
    }
    index.apply([2], [entry(6)], 2)
    assert {path.name: path.stat().st_ino for path in tmp_path.iterdir() if path.suffix != ".json"} == files
    assert all((tmp_path / name).read_bytes().startswith(content) for name, content in before.items())


def test_the_vectors_of_some_chunks_are_those_of_their_passages(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.apply([], [entry(1), entry(2), entry(3)], 1)
    index.apply([2], [entry(3, seed=50)], 2)
    _, chunks, rows = entry(3, seed=50)
    found = index.passages(np.array([3004, 2001, 1003, 3004, -1, 10**9, 3005]))
    assert found.chunks.tolist() == [1003, 3004, 3005]
    wanted = [at for at, chunk in enumerate(chunks) if chunk in (3004, 3005)]
    np.testing.assert_array_equal(found.vectors[found.counts[0] :], rows[wanted])
    assert found.counts.tolist() == [entry(1)[1].count(1003), chunks.count(3004), chunks.count(3005)]


# -- signs -----------------------------------------------------------------------------------------------------


def test_signs_choose_the_rows_that_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "SIGNS_ROWS", 1)
    monkeypatch.setattr(nearest, "_NEAR_LEAST", 600)
    monkeypatch.setattr(nearest, "_FAR", 100)
    entries = [entry(document, 60) for document in range(40)]
    index = opened(tmp_path)
    index.apply([], entries[:30], 1)
    index.apply([3], entries[30:], 2)
    living = [one for one in entries if one[0] != 3]
    assert index.snapshot.signs is not None and index.verify() == ""
    right = 0
    for seed in range(20):
        query = unit_vectors(1000 + seed, 1)[0]
        expected = compared_one_by_one(living, query, 10)
        found = index.search(query, 10)
        assert len(found.chunks) == 10 and not any(3000 <= chunk < 4000 for chunk in found.chunks)
        right += len(set(found.chunks.tolist()) & set(expected))
        # What is found has its true cosine, and what lies furthest says how low these go.
        everything = compared_one_by_one(living, query, 10**6)
        np.testing.assert_allclose(
            found.scores, [everything[chunk] for chunk in found.chunks.tolist()], atol=1e-5
        )
        assert min(everything.values()) <= found.floor + 1e-6 <= min(everything.values()) + 0.2
        # With few documents allowed nothing is left to signs.
        check(index.search(query, 15, {3, 5, 8}), compared_one_by_one(living, query, 15, {5, 8}))
    assert right >= 160, "24 signs tell less than 384, and most is found all the same"


def test_changed_signs_are_noticed_by_verifying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "SIGNS_ROWS", 1)
    opened(tmp_path).apply([], [entry(1)], 1)
    (path,) = tmp_path.glob("*.signs")
    data = bytearray(path.read_bytes())
    data[-5] ^= 0x55
    path.write_bytes(data)
    assert "was changed by something else" in opened(tmp_path).verify()
    path.write_bytes(data[:50])
    with pytest.raises(DamagedIndexError):
        opened(tmp_path)
