"""What a chunk mostly is."""

from __future__ import annotations

import pytest

from loccit.config import IndexSettings
from loccit.ingest.prepare import prepare_text
from loccit.model import ChunkType, Converted


def kind(text: str, language: str = "en") -> ChunkType:
    converted = Converted(text, metadata={"language": language})
    return prepare_text("a.md", ".md", converted, IndexSettings(), 256).chunks[-1].chunk_type


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "The master shall give notice of arrival."),
        ("en", "Each vessel must carry a light."),
        ("en", "The operator is required to keep a log."),
        ("en", "A person may not cast off another vessel."),
        ("en", "Records shall not be destroyed."),
        ("en", "First some background. The Contractor shall\nsubmit the report."),
        ("de", "Der Schiffsführer muss das Einlaufen anmelden."),
        ("de", "Abfälle sind in die Behälter zu bringen."),
        ("fr", "Le responsable doit tenir un registre."),
        ("es", "El operador deberá conservar los registros."),
        ("nl", "De schipper moet zich melden."),
    ],
)
def test_a_text_that_states_a_duty_is_a_requirement(language: str, sentence: str) -> None:
    assert kind(sentence, language) is ChunkType.REQUIREMENT


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "The requirements of the standard are listed below."),
        ("en", "No license is required."),
        ("en", "It must have been the wind."),
        ("en", "Must I report every accident?"),
        ("en", 'The sign said "you must not enter".'),
        ("en", "This is a must-see."),
        ("en", "# You shall pass\n\nThe lamp burns."),
        ("en", "The lamp burns.\n\n```\nyou must not read code\n```"),
        ("de", "Das Muster liegt bei."),
        ("xx", "The master shall give notice."),
    ],
)
def test_words_alone_are_no_duty(language: str, sentence: str) -> None:
    assert kind(sentence, language) is ChunkType.CONTENT


def test_headings_definitions_and_pointers() -> None:
    assert kind("# Light\n\n## Duties") is ChunkType.HEADER
    assert kind("“Keeper” means who shall light the lamp.") is ChunkType.DEFINITION
    assert (
        kind("# A\n\n## Section 4 B\n\nC.\n\n## Section 5 More of this\n\nSee Section 4.")
        is ChunkType.REFERENCE
    )
