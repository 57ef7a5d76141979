"""``${NAME}`` in values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.agent import load_agent
from loccit.agent.yaml_source import VariableError, expand

from .conftest import Check, Write


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("${HOST}", "db"),
        ("http://${HOST}:${PORT:-80}/", "http://db:80/"),
        ("${HOST:-other}", "db"),
        ("${EMPTY:-other}", "other"),
        ("${EMPTY}", ""),
        ("${GONE:-}", ""),
        ("${GONE:-a:-b c}", "a:-b c"),
        ("$${HOST}", "${HOST}"),
        ("$HOST costs $5", "$HOST costs $5"),
        ("{HOST}", "{HOST}"),
    ],
)
def test_variables_are_replaced(text: str, result: str) -> None:
    assert expand(text, {"HOST": "db", "EMPTY": ""}) == result


@pytest.mark.parametrize("text", ["${}", "${1A}", "${A B}", "${A", "${A:?no}", "${A-b}", "${${A}}"])
def test_what_is_no_reference_is_refused(text: str) -> None:
    with pytest.raises(VariableError, match="written"):
        expand(text, {"A": "x"})


@given(st.text(alphabet="ab$c"), st.text())
def test_texts_without_references_stay_and_values_are_not_expanded_again(text: str, value: str) -> None:
    assert expand(text, {}) == text
    assert expand("${A}", {"A": value}) == value
    assert expand(text.replace("$", "") + "${A}", {"A": "${B}"}) == text.replace("$", "") + "${B}"


def test_an_unset_variable_is_named_with_its_line(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    checked = check(
        """\
        model:
          provider: anthropic
          name: claude
          # ${NOT_EVEN_THIS} is a comment
          api_key: ${NO_SUCH_KEY}
        """
    )
    (fault,) = checked.faults
    assert str(fault) == (
        "agent.yaml:5: model.api_key: the environment variable NO_SUCH_KEY is not set: set it, or give a default as in "
        "${NO_SUCH_KEY:-default}"
    )


def test_variables_stand_for_numbers_switches_and_parts_of_paths(write: Write) -> None:
    path = write(
        """\
        tools:
          - name: statutes
            description: '${WHAT}'
            source: ${ROOT}/act.md
            top_k: ${K}
            semantic_weight: ${WEIGHT:-0.5}
            defer_loading: ${LATER}
            search_mode: ${MODE:-keyword}
            filters:
              tags: ["${TAG}", b]
        """
    )
    given = {"WHAT": "5", "ROOT": "docs", "K": "7", "LATER": "false", "TAG": "a"}
    tool = load_agent(path, variables=given).document_tool()
    assert (tool.description, tool.top_k, tool.semantic_weight) == ("5", 7, 0.5)
    assert (tool.defer_loading, tool.search_mode.value) == (False, "keyword")
    assert tool.filters == {"tags": ["a", "b"]}
    tool.check_source()


def test_a_key_of_digits_stays_text(write: Write) -> None:
    path = write("model: {provider: openai, name: x, api_key: '${KEY}'}")
    model = load_agent(path, variables={"KEY": "0123456"}).model
    assert model is not None
    assert model.key == "0123456"
    none = load_agent(path, variables={"KEY": ""}).model
    assert none is not None
    assert none.key is None
