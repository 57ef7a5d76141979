"""Classes of queries: a word, a place, or an answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.errors import UsageError
from loccit.search.query.query_intent import MULTIPLIERS, classify
from loccit.search.query.understand import understand


@pytest.mark.parametrize(
    "text",
    [
        "getUserById",
        "how does getUserById work",
        "HttpClient timeout",
        "max_pressure_kpa",
        "ERR_CONNECTION_REFUSED",
        "what does `kubectl drain` do?",
        "std::vector",
        "os.path.join",
        "main() of the tool",
        "git commit --amend",
        "agent.yaml",
        "changes in v1.28",
        "kubernetes 1.28.3",
        '"best efforts"',
        'where is "best efforts" defined?',
        "E1001",
        "E17",
        "what does E17 on the display mean",
        "fault F4",
        "alarm code 7",
        "ORA-00942",
        "error 404",
        "0x80070005",
        "30 days notice",
        "memory limit 5 GB",
        "Frist 30 Tage",
        "10 %",
    ],
)
def test_a_query_for_a_word_is_factual(text: str) -> None:
    assert classify(understand(text)).kind == "factual"


@pytest.mark.parametrize(
    "text",
    [
        "in the auth section",
        "config guide",
        "user manual",
        "section on data breaches",
        "the chapter about liability",
        "what is in the installation chapter",
        "table of contents of the handbook",
        "[[Payment Terms]]",
        "Article 6(1)(f)",
        "what does Section 4.2 say",
        "32.706-2",
        "Kapitel über Datenschutz",
        "im Abschnitt Haftung des Handbuchs",
        "chapitre sur la protection des données",
        "capítulo sobre responsabilidad",
        "capitolo sulla sicurezza della guida di installazione",
        "hoofdstuk over beveiliging",
    ],
)
def test_a_query_for_a_place_is_navigational(text: str) -> None:
    assert classify(understand(text)).kind == "navigational"


@pytest.mark.parametrize(
    "text",
    [
        "what is a processor",
        "how does caching work",
        "why are records kept",
        "tell me how to renew it",
        "does the controller have to notify anybody?",
        "how many days are there in 30 months",
        "boundary layer",
        "GDPR",
        "cross section of the wing",
        "McDonald v. Smith",
        "PhD thesis in a GmbH",
        "COVID-19 vaccines",
        "windows 95",
        "at fault in 2 of them",
        "the G7 summit",
        "section",
        "Wie funktioniert das",
        "Warum ist der Himmel blau",
        "qu'est-ce que le RGPD",
        "comment fonctionne le cache",
        "¿Qué es un responsable?",
        "che cosa è un titolare",
        "wat is een verwerker",
        "o que é um controlador",
    ],
)
def test_everything_else_is_exploratory(text: str) -> None:
    assert classify(understand(text)).kind == "exploratory"


def test_a_class_says_why() -> None:
    assert classify(understand("how does `getUserById` work")).reasons == (
        "code in backticks",
        "a name in camel case",
    )
    assert classify(understand("how does it work")).reasons == ("it begins with “how”",)
    assert classify(understand("Section 4 of [[Terms]]")).reasons == ("a reference", "a wikilink")


def test_classes_shift_weights() -> None:
    assert MULTIPLIERS == {
        "factual": {"keyword": 1.5, "document": 3.0},
        "navigational": {"graph": 1.5},
        "exploratory": {},
    }
    assert classify(understand("getUserById")).multipliers == MULTIPLIERS["factual"]


@given(st.text(max_size=200))
def test_every_query_has_a_class_and_a_reason(text: str) -> None:
    try:
        query = understand(text)
    except UsageError:
        return
    found = classify(query)
    assert found.kind in MULTIPLIERS
    assert all(found.reasons)
    assert found.reasons
    assert classify(query) == found


@pytest.mark.parametrize(
    "unit", ["a_", "aB", "a-", "a.", "a::", "A.b.", "1.", "in the ", "section ", "`", "v1."]
)
def test_hostile_queries_are_classified(unit: str) -> None:
    query = understand(f"x {unit * (9_900 // len(unit))}")
    assert classify(query).reasons
