from __future__ import annotations

import json
from pathlib import Path

import pytest

from loccit.errors import LoccitError
from loccit.models.llm.prices import Price, price_of


def test_every_kind_of_token_has_its_price() -> None:
    price = Price(input=1.0, output=5.0, cached=0.1, written=1.25)
    assert price.cost(1_000_000, 0) == pytest.approx(1.0)
    assert price.cost(1_000_000, 100_000, 800_000, 100_000) == pytest.approx(0.1 + 0.08 + 0.125 + 0.5)


def test_what_has_no_price_of_its_own_costs_as_input() -> None:
    assert Price(2.0, 4.0).cost(1_000_000, 0, 500_000, 500_000) == pytest.approx(2.0)


def test_long_prompts_cost_more() -> None:
    price = Price(1.0, 1.0, long=100, times=5)
    assert price.cost(100, 0) * 5 * 2 == pytest.approx(price.cost(200, 0))


def test_a_dated_name_has_the_price_of_the_model() -> None:
    assert price_of("anthropic:claude-haiku-4-5-20251001") == price_of("anthropic:claude-haiku-4-5")
    assert price_of("openai:gpt-5-mini-2025-08-07") == price_of("openai:gpt-5-mini")
    assert price_of("ollama:qwen3") is None


def test_the_table_can_be_overridden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "prices.json"
    own.write_text(json.dumps({"ollama:qwen3": {"input": 0, "output": 0}}), encoding="utf-8")
    monkeypatch.setenv("LOCCIT_LLM_PRICES", str(own))
    assert price_of("ollama:qwen3") == Price(0, 0)
    assert price_of("openai:gpt-5-mini") is not None


@pytest.mark.parametrize("text", ["nonsense", "[]", '{"m": 3}', '{"m": {"colour": 3}}'])
def test_a_wrong_table_is_named(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "prices.json"
    own.write_text(text, encoding="utf-8")
    monkeypatch.setenv("LOCCIT_LLM_PRICES", str(own))
    with pytest.raises(LoccitError, match=r"prices\.json"):
        price_of("m")
