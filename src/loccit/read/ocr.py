"""Tesseract: finds the program, says what is missing, and runs it on page images.

The program is run as a process, one for each page, on one core, which can be killed if it takes too long. It returns
words with their boxes as hOCR. Nothing here knows where the image came from.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from loccit.errors import ConversionError
from loccit.workers.sandbox_worker import ask_for_time

Picture = NDArray[np.uint8]
"""Rows of grey pixels, 0 is black."""

# Per page: processor time where the system can limit it, and wall-clock time on a busy machine.
_PAGE_CPU_SECONDS = 120
PAGE_SECONDS = 300.0
_ASK_SECONDS = 30.0
# Time for what follows a page: rendering another, or assembling the text.
_AFTER_SECONDS = 120.0
# Where the Windows installer puts the program without adding it to PATH.
_WINDOWS = (r"C:\Program Files\Tesseract-OCR\tesseract.exe",)
# Common language codes that Tesseract has under another name.
_CODES = dict(
    pair.split(":")
    for pair in (
        "ar:ara cs:ces da:dan de:deu el:ell en:eng es:spa fi:fin fr:fra hu:hun it:ita ja:jpn ko:kor nl:nld no:nor "
        "pl:pol pt:por ro:ron ru:rus sv:swe tr:tur uk:ukr zh:chi_sim"
    ).split()
)
_FEW_LETTERS = 2
_STEEPEST = 0.3
_BOX = re.compile(r"bbox (-?\d+) (-?\d+) (-?\d+) (-?\d+)")
_BASELINE = re.compile(r"baseline (-?[\d.]+) (-?[\d.]+)")
_ANGLE = re.compile(r"textangle (?!0\b)\d")
_SURE = re.compile(r"x_wconf (\d+)")
_TURN = re.compile(r"^Rotate: (\d+)", re.M)
_TURN_SURE = re.compile(r"^Orientation confidence: ([\d.]+)", re.M)


@dataclass(frozen=True, slots=True)
class Ocr:
    """Whether and how page images are read. ``processes`` is how many pages are read at once."""

    mode: str = "auto"
    languages: str = "eng"
    max_pages: int = 1000
    processes: int = 1

    @property
    def codes(self) -> tuple[str, ...]:
        """The languages under Tesseract's own names."""
        return tuple(_CODES.get(code, code) for code in split_languages(self.languages))


class OcrWord(NamedTuple):
    """A word and its box, in pixels from the top left corner; ``sure`` is the confidence from 0 to 100."""

    text: str
    x0: int
    y0: int
    x1: int
    y1: int
    sure: int


class OcrLine(NamedTuple):
    """Words on one baseline, which passes through ``base`` at the left edge of the first word.

    ``level`` is false for a vertical line: only its words are known.
    """

    words: list[OcrWord]
    base: float
    slope: float
    level: bool = True


def split_languages(languages: str) -> list[str]:
    """Return the languages of ``eng,deu`` or, as Tesseract writes it, ``eng+deu``."""
    return [part for part in re.split(r"[\s,+]+", languages) if part]


def find_program() -> str | None:
    """Return the path of Tesseract."""
    found = shutil.which("tesseract")
    if found is None and sys.platform == "win32":
        found = next((path for path in _WINDOWS if Path(path).is_file()), None)
    return found


@lru_cache(maxsize=4)
def installed_languages(program: str) -> tuple[str, ...]:
    """Return the languages that Tesseract has data for."""
    try:
        done = subprocess.run(
            [program, "--list-langs"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return tuple(sorted(line.strip() for line in lines if re.fullmatch(r"\s*[\w/-]+\s*", line)))


def missing(ocr: Ocr) -> str:
    """Say what to install before images can be read; "" if nothing is missing."""
    program = find_program()
    if program is None:
        return (
            "Tesseract is not installed: apt-get install tesseract-ocr (Debian, Ubuntu), brew install tesseract "
            "(macOS), or on Windows the installer from https://github.com/UB-Mannheim/tesseract/wiki"
        )
    known = installed_languages(program)
    absent = [code for code in ocr.codes if code not in known]
    if absent:
        packages = " ".join(f"tesseract-ocr-{code.replace('_', '-').lower()}" for code in absent)
        return (
            f"Tesseract has no data for {', '.join(absent)}: apt-get install {packages} (Debian, Ubuntu), brew "
            "install tesseract-lang (macOS), or choose it in the Windows installer"
        )
    return ""


def describe_program() -> str:
    """Say whether Tesseract is installed, and for which languages."""
    program = find_program()
    if program is None:
        return missing(Ocr())
    known = [code for code in installed_languages(program) if code != "osd"]
    return f"Tesseract with {', '.join(known)}" if known else "Tesseract without data for any language"


class Reading:
    """One run of Tesseract on an image, started on creation."""

    def __init__(self, picture: Picture, dpi: int, ocr: Ocr) -> None:
        self._job = _Job(picture, ["--dpi", str(dpi), "-l", "+".join(ocr.codes), "--psm", "3", "hocr"])

    def lines(self) -> list[OcrLine]:
        """Wait for the words; raises ``ConversionError`` if there are none."""
        return read_hocr(self._job.output(PAGE_SECONDS))

    def close(self) -> None:
        """Stop it."""
        self._job.close()


def find_turn(picture: Picture, dpi: int) -> int | None:
    """Return by how many degrees, clockwise, an image must be rotated to be upright; None if unknown."""
    program = find_program()
    if program is None or "osd" not in installed_languages(program):
        return None
    job = _Job(picture, ["--dpi", str(dpi), "-l", "osd", "--psm", "0"])
    try:
        said = job.output(PAGE_SECONDS).decode("utf-8", "replace")
    except ConversionError:
        # Too few letters to tell.
        return 0
    finally:
        job.close()
    turn, sure = _TURN.search(said), _TURN_SURE.search(said)
    if turn is None or sure is None or float(sure[1]) < 1.0:
        return 0
    return int(turn[1]) % 360


class _Job:
    """A Tesseract process. Its input and output are unnamed files: nothing is left if it is killed."""

    def __init__(self, picture: Picture, arguments: list[str]) -> None:
        program = find_program()
        if program is None:
            raise ConversionError("Tesseract is no longer installed")
        height, width = picture.shape
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115
        with tempfile.TemporaryFile() as given:
            given.write(b"P5 %d %d 255\n" % (width, height))
            given.write(np.ascontiguousarray(picture).data)
            given.seek(0)
            self._process = subprocess.Popen(
                [program, "stdin", "stdout", *arguments],
                stdin=given,
                stdout=self._output,
                stderr=self._noise,
                # Its own threads make it slower if several pages are read at once.
                env=os.environ | {"OMP_THREAD_LIMIT": "1"},
            )
        with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
            import resource

            limit = (_PAGE_CPU_SECONDS, _PAGE_CPU_SECONDS)
            resource.prlimit(self._process.pid, resource.RLIMIT_CPU, limit)

    def output(self, seconds: float) -> bytes:
        ask_for_time(seconds + _AFTER_SECONDS)
        try:
            status = self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.close()
            raise ConversionError(f"Tesseract took longer than {seconds:g} seconds") from None
        if status != 0:
            self._noise.seek(0)
            said = " ".join(self._noise.read(4000).decode("utf-8", "replace").split())[-200:]
            raise ConversionError(f"Tesseract failed: {said or f'exit status {status}'}")
        self._output.seek(0)
        return self._output.read()

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._output.close()
        self._noise.close()


def read_hocr(data: bytes) -> list[OcrLine]:
    """Return the lines in hOCR output, in order."""
    from lxml import etree

    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True, huge_tree=True)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return []
    lines = []
    for element in root.iter() if root is not None else ():
        kind = element.get("class") or ""
        # Headers, captions and floats are lines too, with classes of their own.
        if kind in ("ocr_line", "ocr_header", "ocr_caption", "ocr_textfloat") and (line := _line(element)):
            lines.append(line)
    return lines


def _line(element: Any) -> OcrLine | None:
    title = element.get("title") or ""
    box, baseline = _BOX.search(title), _BASELINE.search(title)
    words = [word for child in element.iter() if (word := _word(child)) is not None]
    if box is None or not words:
        return None
    slope, drop = (float(baseline[1]), float(baseline[2])) if baseline else (0.0, 0.0)
    left, top, right, bottom = (int(number) for number in box.groups())
    # Tesseract does not always say so of lines that it reads sideways.
    tall = bottom - top > right - left and sum(len(word.text) for word in words) > _FEW_LETTERS
    if tall or abs(slope) > _STEEPEST or _ANGLE.search(title):
        return OcrLine(words, bottom, 0.0, level=False)
    return OcrLine(words, bottom + drop + slope * (words[0].x0 - left), slope)


def _word(element: Any) -> OcrWord | None:
    if element.get("class") != "ocrx_word":
        return None
    title = element.get("title") or ""
    box, sure = _BOX.search(title), _SURE.search(title)
    text = "".join("".join(element.itertext()).split())
    if box is None or not text:
        return None
    x0, y0, x1, y1 = (int(number) for number in box.groups())
    return OcrWord(text, x0, y0, x1, y1, int(sure[1]) if sure else 0)
