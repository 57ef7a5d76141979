"""Nothing changes at the boundary unless somebody meant it to: ``make snapshots`` writes what is meant."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import ENVIRONMENT
from tests.snapshots import taking

from loccit import Library

KEPT = Path(__file__).parent / "kept"
WRITE = bool(os.environ.get("LOCCIT_WRITE_SNAPSHOTS"))
MOST_SHOWN = 8
# Noon of 15 January 2025, the same day in nearly all of the world.
MODIFIED = 1736942400


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples and the corpus, with an index of both."""
    folder = tmp_path_factory.mktemp("snapshots")
    for source in taking.SOURCES:
        shutil.copytree(taking.REPOSITORY / source, folder, dirs_exist_ok=True)
    (folder / "letter.txt").write_text(taking.LETTER, encoding="utf-8")
    for path in filter(Path.is_file, folder.rglob("*")):
        os.utime(path, (MODIFIED, MODIFIED))
    with Library(folder / ".loccit") as library:
        assert not library.index([folder]).failed
    return folder


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("LOCCIT_TOKEN", *ENVIRONMENT):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(folder)
    return folder


def kept(name: str, text: str) -> str:
    """Return what is kept under a name, which is this text where snapshots are taken."""
    if WRITE:
        (KEPT / name).write_text(text, encoding="utf-8")
    return (KEPT / name).read_text(encoding="utf-8")


def same(name: str, text: str) -> None:
    """Compare a text with the one that is kept, or keep it."""
    assert text == kept(name, text)


def same_rows(name: str, found: Iterable[tuple[str, list[str]]]) -> None:
    """Compare answers row by row with their digests, and show those that are others."""
    text, rows = taking.digested(found)
    before = dict(line.split("\t") for line in kept(name, text).splitlines())
    told = [*_differences(before, rows)]
    assert not told, "\n".join([f"{len(told)} answers are others (meant? make snapshots)", *told[:20]])
    assert list(before) == list(rows)


def _differences(answered: dict[str, str], rows: dict[str, list[str]]) -> Iterator[str]:
    for name in answered.keys() | rows.keys():
        before = answered.get(name, "").split()
        now = {taking.digest(row): row for row in rows.get(name, [])}
        if before == [taking.digest(row) for row in rows.get(name, [])]:
            continue
        new = [row for digest, row in now.items() if digest not in before]
        gone = sum(digest not in now for digest in before)
        shown = "".join(f"\n  + {row[:500]}" for row in new[:MOST_SHOWN])
        yield f"{name}: {gone} gone, {len(new)} new{'' if new or gone else ', in another order'}{shown}"


def test_reading_makes_the_same_of_every_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(taking.REPOSITORY)
    same_rows("reading.txt", taking.reading())


def test_commands_answer_the_same(here: Path) -> None:
    same_rows("answers.txt", taking.answers(here))


def test_commands_show_people_the_same(here: Path) -> None:
    same("shown.txt", taking.shown())


def test_tools_are_described_and_answer_the_same(here: Path) -> None:
    schemas, answers = taking.tools(here)
    same("tools.json", schemas)
    same("tool_answers.txt", answers)


def test_the_http_api_is_described_the_same(here: Path) -> None:
    same("openapi.json", taking.description(here))


def test_commands_explain_themselves_the_same() -> None:
    same("help.txt", taking.help_texts())
