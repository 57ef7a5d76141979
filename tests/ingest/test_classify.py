from __future__ import annotations

import pytest

from loccit.ingest.extract import classify, states_duty
from loccit.model import ChunkType


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
def test_a_duty_is_recognised(language: str, sentence: str) -> None:
    assert states_duty(sentence, language)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "The requirements of the standard are listed below."),
        ("en", "No license is required."),
        ("en", "It must have been the wind."),
        ("en", "In this Act “vessel” shall mean a ship."),
        ("en", "Must I report every accident?"),
        ("en", 'The sign said "you must not enter".'),
        ("en", "This is a must-see."),
        ("de", "Das Muster liegt bei."),
        ("xx", "The master shall give notice."),
    ],
)
def test_words_alone_are_no_duty(language: str, sentence: str) -> None:
    assert not states_duty(sentence, language)


def test_what_a_chunk_mostly_is() -> None:
    def kind(text: str, **facts: object) -> ChunkType:
        known: dict[str, object] = {
            "only_heading": False,
            "defines": False,
            "reference_characters": 0,
            **facts,
        }
        return classify(text, "en", **known)  # type: ignore[arg-type]

    assert kind("## Duties", only_heading=True) is ChunkType.HEADER
    assert kind("The keeper shall light the lamp.", defines=True) is ChunkType.DEFINITION
    assert kind("The keeper shall light the lamp.") is ChunkType.REQUIREMENT
    assert kind("# You shall pass\n\nThe lamp burns.") is ChunkType.CONTENT
    assert kind("The lamp burns.\n\n```\nyou must not read code\n```") is ChunkType.CONTENT
    assert kind("See Section 4 and Section 5.", reference_characters=20) is ChunkType.REFERENCE


@pytest.mark.parametrize(
    "sentence", ["Shall we?", "; shall follow", "(must) go", "pump: must", "—shall run", ""]
)
def test_a_verb_without_a_word_before_it_is_no_duty(sentence: str) -> None:
    assert not states_duty(sentence, "en")


def test_a_sentence_without_end_is_looked_through() -> None:
    assert not states_duty("pump hums " * 20_000, "en")
    assert states_duty("pump hums " * 100 + "and shall stop", "en")
