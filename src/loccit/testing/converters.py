"""What every converter must do the same, whatever format it reads."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import pytest

from loccit.model.document import Converted

Converter = Callable[[Path], Converted]


class ConverterConformance:
    """Subclass this, and give it the fixtures ``converter``, the function, and ``sample``, a file of its format."""

    # What the sample says, and its headings as Markdown (`## Scope`), both in their order.
    words: ClassVar[tuple[str, ...]] = ()
    headings: ClassVar[tuple[str, ...]] = ()

    @pytest.fixture
    def copy(self, sample: Path, tmp_path: Path) -> Path:
        """The sample in a folder where nothing else is, under a name that is harder than most."""
        folder = tmp_path / "conformance"
        folder.mkdir()
        return Path(shutil.copy(sample, folder / f"straße № 1 (copy){sample.suffix}"))

    def test_the_text_is_there_in_its_order(self, converter: Converter, sample: Path) -> None:
        text = converter(sample).text
        assert text.strip()
        at = 0
        for word in self.words:
            at = text.find(word, at)
            assert at >= 0, f"{word!r} is not in the text, or not where it belongs:\n{text[:2000]}"

    def test_headings_are_markdown(self, converter: Converter, sample: Path) -> None:
        converted = converter(sample)
        assert converted.markdown or not self.headings
        lines = iter(converted.text.split("\n"))
        for heading in self.headings:
            assert any(line.rstrip() == heading for line in lines), f"{heading!r} is missing or out of order"

    def test_lines_end_in_one_way(self, converter: Converter, sample: Path) -> None:
        assert "\r" not in converter(sample).text

    def test_pages_and_lines_lie_in_the_text(self, converter: Converter, sample: Path) -> None:
        converted = converter(sample)
        pages = [page.offset for page in converted.pages]
        lines = [line.offset for line in converted.line_starts]
        for positions in (pages, lines):
            assert all(0 <= at <= len(converted.text) for at in positions)
        assert all(before <= after for before, after in pairwise(pages))
        assert all(before < after for before, after in pairwise(lines))

    def test_metadata_are_json_values(self, converter: Converter, sample: Path) -> None:
        metadata = converter(sample).metadata
        assert json.loads(json.dumps(metadata)) == metadata

    def test_twice_is_the_same(self, converter: Converter, sample: Path) -> None:
        assert converter(sample) == converter(sample)

    def test_the_name_of_the_file_does_not_matter(
        self, converter: Converter, sample: Path, copy: Path
    ) -> None:
        assert converter(copy).text == converter(sample).text

    def test_the_file_and_its_folder_are_left_alone(self, converter: Converter, copy: Path) -> None:
        before = (copy.read_bytes(), copy.stat().st_mtime_ns)
        converter(copy)
        assert (copy.read_bytes(), copy.stat().st_mtime_ns) == before
        assert list(copy.parent.iterdir()) == [copy]

    def test_a_missing_file_is_an_error(self, converter: Converter, copy: Path) -> None:
        copy.unlink()
        with pytest.raises(Exception):  # noqa: B017 - whatever is raised becomes a reason to show
            converter(copy)

    @pytest.mark.parametrize("damage", ["empty", "half", "zeros", "noise"])
    def test_a_damaged_file_is_read_or_refused(self, converter: Converter, copy: Path, damage: str) -> None:
        """Any exception is a refusal; the process goes on."""
        data = copy.read_bytes()
        half = len(data) // 2
        copy.write_bytes(
            {
                "empty": b"",
                "half": data[:half],
                "zeros": data[:half] + bytes(min(64, len(data) - half)) + data[half + 64 :],
                "noise": bytes((at * 151 + at // 7) % 256 for at in range(4096)),
            }[damage]
        )
        try:
            converted = converter(copy)
        except Exception:
            return
        assert isinstance(converted, Converted)
