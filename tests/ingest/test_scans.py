"""Scans in a library: what is missing is tried again, limits hold, no program is left behind."""

from __future__ import annotations

import os
import stat
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tests.ingest.fakes import WordEmbedder
from tests.read.scans import CHARTER, PROSE, append, needs_tesseract, pictures, scan, typeset

from loccit import IndexSettings, Library, Settings
from loccit.read import ocr
from loccit.workers.sandbox import Limits, Sandbox
from loccit.workers.sandbox_worker import ask_for_time


def program(folder: Path, body: str) -> None:
    """Put a program called tesseract into a folder."""
    if sys.platform == "win32":
        pytest.skip("the program is a shell script")
    folder.mkdir(exist_ok=True)
    path = folder / "tesseract"
    path.write_text(f'#!/bin/sh\nif [ "$1" = --list-langs ]; then echo eng; exit; fi\n{body}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


HOCR = """<html><body><span class='ocr_line' title='bbox 10 10 400 40; baseline 0 -5'>
<span class='ocrx_word' title='bbox 10 10 200 40; x_wconf 95'>Zebra</span>
<span class='ocrx_word' title='bbox 210 10 400 40; x_wconf 95'>crossing</span></span></body></html>"""


def library(folder: Path, **settings: Any) -> Library:
    return Library(folder, embedder=WordEmbedder(), settings=Settings(index=IndexSettings(**settings)))


def test_a_scan_is_read_once_tesseract_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    scan(docs / "scan.pdf", CHARTER, dpi=50)
    folder = tmp_path / "bin"
    monkeypatch.setenv("PATH", str(folder))
    with library(tmp_path / "index") as opened:
        (failure,) = opened.index([docs]).failed
        assert "apt-get install tesseract-ocr" in failure.reason
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/bin{os.pathsep}/usr/bin")
        program(folder, f"cat <<'END'\n{HOCR}\nEND")
        report = opened.index([docs])
        assert not report.failed and len(report.added) == 1
        assert report.warnings == [f"{docs / 'scan.pdf'}: the page was read from an image"]
        assert opened.index([docs]).unchanged == 1


def test_images_in_folders_are_read_when_that_is_forced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin", f"cat <<'END'\n{HOCR}\nEND")
    monkeypatch.setenv("PATH", str(tmp_path / "bin") + os.pathsep + os.environ["PATH"])
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "note.md").write_text("# Note\n\nA zebra.\n")
    pictures(CHARTER, dpi=50)[0].save(docs / "page.png")
    with library(tmp_path / "index") as opened:
        assert opened.index([docs]).added == [str(docs / "note.md")]
        assert opened.index([docs / "page.png"]).added == [str(docs / "page.png")]
    with library(tmp_path / "forced", ocr="force") as opened:
        assert len(opened.index([docs]).added) == 2
    with library(tmp_path / "off", ocr="off") as opened:
        (failure,) = opened.index([docs / "page.png"]).failed
        assert "switched off" in failure.reason


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs groups of processes")
@pytest.mark.parametrize("end", ["close", "limit"])
def test_no_program_is_left_when_a_worker_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    started = tmp_path / "pid"
    program(tmp_path / "bin", f"echo $$ > {started}.part; mv {started}.part {started}; exec sleep 1000")
    monkeypatch.setenv("PATH", str(tmp_path / "bin") + os.pathsep + os.environ["PATH"])
    path = scan(tmp_path / "scan.pdf", CHARTER, dpi=50)
    setup = {"settings": asdict(IndexSettings()), "model_tokens": 256, "processes": 2}
    limits = Limits(seconds=20, most_seconds=20) if end == "limit" else Limits()
    with Sandbox(
        "loccit.ingest.prepare:prepare", workers=1, limits=limits, initializer_payload=setup
    ) as sandbox:
        outcomes = sandbox.run([{"path": str(path)}])
        if end == "limit":
            ((_, outcome),) = outcomes
            assert (outcome.kind, outcome.error) == ("timeout", "took longer than 20 seconds to read")
        else:
            import threading

            thread = threading.Thread(target=list, args=(outcomes,), daemon=True)
            thread.start()
            while not started.exists():
                time.sleep(0.02)
            sandbox.close()
            thread.join()
    _await_end(int(started.read_text()))


def _await_end(pid: int) -> None:
    """Wait until a process is gone: whoever adopts it may take a moment to bury it."""
    for _ in range(1000):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text() if sys.platform == "linux" else ""
        except (ProcessLookupError, FileNotFoundError):
            return
        if ") Z " in state:
            return
        time.sleep(0.01)
    raise AssertionError("the program is still running")


def dawdle(payload: dict[str, Any], setup: dict[str, Any]) -> dict[str, Any]:
    """Ask for time, and take more than was allowed before."""
    ask_for_time(payload["asked"])
    time.sleep(payload["taken"])
    return {}


def test_a_call_may_ask_for_time_up_to_a_limit() -> None:
    with Sandbox(
        "tests.ingest.test_scans:dawdle", workers=1, limits=Limits(seconds=5, most_seconds=30)
    ) as sandbox:
        ((_, outcome),) = sandbox.run([{"asked": 30, "taken": 7}])
        assert outcome.kind == "ok", outcome.error
    with Sandbox(
        "tests.ingest.test_scans:dawdle", workers=1, limits=Limits(seconds=5, most_seconds=6)
    ) as sandbox:
        ((_, outcome),) = sandbox.run([{"asked": 1000, "taken": 1000}])
        assert (outcome.kind, outcome.error) == ("timeout", "took longer than 6 seconds to read")


def test_what_is_on_a_scanned_page_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin", f"cat <<'END'\n{HOCR}\nEND")
    monkeypatch.setenv("PATH", str(tmp_path / "bin") + os.pathsep + os.environ["PATH"])
    docs = tmp_path / "docs"
    docs.mkdir()
    append(docs / "mixed.pdf", typeset(CHARTER), scan(tmp_path / "scan.pdf", CHARTER, dpi=50).read_bytes())
    (docs / "note.md").write_text("---\npages_from_images: 1-9\n---\n# Note\n\nA pilot and a zebra.\n")
    with library(tmp_path / "index", max_chunk_tokens=100) as opened:
        opened.index([docs])
        results = [*opened.search("zebra crossing").results, *opened.search("pilot").results]
        marked = {(Path(result.source_path).name, "Zebra" in result.content): result for result in results}
        assert {name: result.from_image for name, result in marked.items()} == {
            ("mixed.pdf", True): True,
            ("mixed.pdf", False): False,
            ("note.md", False): False,
        }
        found = marked["mixed.pdf", True]
        assert found.to_dict()["from_image"] is True
        assert "Read from an image" in found.format()
        whole = opened.document(str(docs / "mixed.pdf"))
        assert whole.from_image
        assert not opened.section("sec_1", document="mixed.pdf").from_image
        entry = next(entry for entry in opened.documents() if entry.pages)
        assert (entry.metadata["pages_from_images"], entry.warnings) == (
            "2",
            ["1 of 2 pages were read from images"],
        )
        assert opened.status().scanned_documents == 1
        (check,) = [check for check in opened.doctor().checks if check.name == "scanned pages"]
        assert check.ok and check.detail == "Tesseract with eng"


def test_the_doctor_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with library(tmp_path / "index") as opened:
        (check,) = [check for check in opened.doctor().checks if check.name == "scanned pages"]
    assert check.ok and "apt-get install tesseract-ocr" in check.detail


@needs_tesseract
def test_a_scan_is_found_by_its_words_and_sections(tmp_path: Path) -> None:
    ocr.installed_languages.cache_clear()
    docs = tmp_path / "docs"
    docs.mkdir()
    scan(docs / "charter.pdf", CHARTER)
    with library(tmp_path / "index", ocr_max_pages=1) as opened:
        assert not opened.index([docs]).failed
        (result, *_) = opened.search("signed by the pilot").results
        assert result.parent_chain[-1] in ("1. Register", "2. Pilotage")
        assert PROSE[1] in result.content.replace("\n", " ")
