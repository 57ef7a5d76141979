"""The built-in converters do what every converter does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

import pytest

from loccit.model import Converted
from loccit.read import convert
from loccit.testing import ConverterConformance
from loccit.testing.converters import Converter

EXAMPLES = Path(__file__).parents[2] / "examples"


def _converted(path: Path) -> Converted:
    return convert(path)[1]


class _BuiltIn(ConverterConformance):
    @pytest.fixture
    def converter(self) -> Converter:
        return _converted


class TestMarkdown(_BuiltIn):
    headings: ClassVar = ("# Harbour Safety Act 2021", "## TITLE I — General Provisions")
    words: ClassVar = ("Definitions", "vessel", "Harbour Master")

    @pytest.fixture
    def sample(self) -> Path:
        return EXAMPLES / "harbour-safety-act.md"


class TestWord(_BuiltIn):
    words: ClassVar = ("Service Agreement", "Quillmark Systems Limited", "Sennick Ferries")

    @pytest.fixture
    def sample(self) -> Path:
        return EXAMPLES / "service-agreement.docx"


class TestPdf(_BuiltIn):
    words: ClassVar = ("Fjordline Energy Cooperative", "Letter from the chair", "Hydropower")

    @pytest.fixture
    def sample(self) -> Path:
        return EXAMPLES / "annual-report.pdf"


class TestHtml(_BuiltIn):
    headings: ClassVar = ("# Tides", "## Spring tides")
    words: ClassVar = ("twice a day", "new moon")

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        path = tmp_path / "tides.html"
        path.write_text(
            "<html><head><title>Tides</title></head><body><h1>Tides</h1>\r\n<p>High water comes twice a day.</p>"
            "<h2>Spring tides</h2><p>They follow the new moon.</p></body></html>",
            encoding="utf-8",
        )
        return path


class TestReStructuredText(_BuiltIn):
    headings: ClassVar = ("# Tides", "## Spring tides")
    words: ClassVar = ("twice a day", "new moon")

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        path = tmp_path / "tides.rst"
        path.write_bytes(
            b"Tides\r\n=====\r\n\r\nHigh water comes twice a day.\r\n\r\n"
            b"Spring tides\r\n------------\r\n\r\nThey follow the new moon.\r\n"
        )
        return path


class TestNotebook(_BuiltIn):
    headings: ClassVar = ("# Tides",)
    words: ClassVar = ("twice a day", "height = 3")

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        cells = [
            {
                "cell_type": "markdown",
                "metadata": {},
                "source": ["# Tides\n", "\n", "High water twice a day.\n"],
            },
            {"cell_type": "code", "metadata": {}, "outputs": [], "source": "height = 3"},
        ]
        path = tmp_path / "tides.ipynb"
        path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        return path
