from __future__ import annotations

import socket
import sys

import pytest
from tests.models.llm.services import KEY, RefusedError, Service

from loccit.errors import LoccitError, MissingExtraError
from loccit.models.llm import Completion, LanguageModel, ModelError, Prompt, PromptError, load_model
from loccit.models.llm.anthropic import AnthropicModel
from loccit.models.llm.service import THINKING_ROOM, RetryPolicy

PROMPT = Prompt("Be brief.", "A long document.", "Where does this stand?", max_tokens=50)
QUICK = RetryPolicy(retries=2, first_wait=0.001)


def model(service: Service, name: str = "claude-test", key: str = KEY) -> AnthropicModel:
    return AnthropicModel(name, service.address, key, retry_policy=QUICK, timeout=1.0)


def test_the_shared_part_stands_first_and_is_cached(messages: Service) -> None:
    claude = model(messages)
    first, second = claude.complete(PROMPT), claude.complete(PROMPT)
    assert isinstance(claude, LanguageModel)
    assert claude.name == "anthropic:claude-test"
    prefix, rest = messages.count(PROMPT.system, PROMPT.shared), messages.count(PROMPT.text)
    out = messages.count("It stands in the annual report.")
    assert first == Completion("It stands in the annual report.", prefix + rest, out, 0, prefix)
    assert second == Completion("It stands in the annual report.", prefix + rest, out, prefix, 0)
    sent = messages.requests[0]
    assert sent["system"] == "Be brief."
    assert sent["max_tokens"] == 50
    assert sent["messages"][0]["content"] == [
        {"type": "text", "text": "A long document.", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "Where does this stand?"},
    ]
    assert "temperature" not in sent


def test_without_a_shared_part_nothing_is_cached(messages: Service) -> None:
    answer = model(messages).complete(Prompt("", "", "Hello?", 20))
    assert (answer.cached_tokens, answer.cache_write_tokens) == (0, 0)
    assert "system" not in messages.requests[0]
    assert messages.requests[0]["messages"][0]["content"] == [{"type": "text", "text": "Hello?"}]


def test_a_model_that_can_is_asked_not_to_think(messages: Service) -> None:
    model(messages).complete(PROMPT)
    assert [request["thinking"] for request in messages.requests] == [{"type": "disabled"}]


def test_a_model_that_knows_another_way_not_to_think(messages: Service) -> None:
    messages.refused["thinking types"] = ("adaptive", "between_tools")
    claude = model(messages)
    claude.complete(PROMPT)
    claude.complete(PROMPT)
    kinds = [request["thinking"]["type"] for request in messages.requests]
    assert kinds == ["disabled", "between_tools", "between_tools"]


def test_a_model_that_always_thinks_gets_room_for_it(messages: Service) -> None:
    messages.refused["thinking types"] = ("adaptive",)
    claude = model(messages)
    assert claude.complete(PROMPT).text == "It stands in the annual report."
    assert "thinking" not in messages.requests[-1]
    assert messages.requests[-1]["max_tokens"] == 50 + THINKING_ROOM
    assert messages.requests[-1]["output_config"] == {"effort": "low"}
    claude.complete(PROMPT)
    assert len(messages.requests) == 4


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
def test_a_passing_failure_is_tried_again(messages: Service, status: int) -> None:
    messages.faults = [RefusedError(status, "busy"), "dropped"]
    assert model(messages).complete(PROMPT).text
    assert len(messages.requests) == 3


def test_the_time_a_service_names_is_waited(messages: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("loccit.models.llm.service.time.sleep", waits.append)
    messages.faults = [RefusedError(429, "busy", headers={"Retry-After": "7"})]
    model(messages).complete(PROMPT)
    assert waits == [7.0]


def test_a_service_that_wants_an_hour_is_not_waited_for(messages: Service) -> None:
    messages.always = RefusedError(429, "busy", headers={"Retry-After": "3600"})
    with pytest.raises(ModelError, match="refuses more requests for now"):
        model(messages).complete(PROMPT)
    assert len(messages.requests) == 1


def test_a_lasting_failure_is_reported(messages: Service) -> None:
    messages.always = RefusedError(500, "the disk is on fire")
    with pytest.raises(ModelError, match=r"answered 500: .*the disk is on fire") as caught:
        model(messages).complete(PROMPT)
    assert not caught.value.lasting
    assert len(messages.requests) == 3


def test_a_wrong_key_is_refused_once_and_never_shown(messages: Service) -> None:
    claude = model(messages, key="sk-wrong-key-99")
    with pytest.raises(ModelError, match=r"refused the API key. Check ANTHROPIC_API_KEY") as caught:
        claude.complete(PROMPT)
    assert caught.value.lasting
    assert "sk-wrong-key-99" not in str(caught.value) + repr(claude)
    assert len(messages.requests) == 1


def test_a_key_in_a_message_is_hidden(messages: Service) -> None:
    messages.always = RefusedError(400, f"bad header {KEY}")
    with pytest.raises(PromptError, match=r"bad header \*\*\*"):
        model(messages).complete(PROMPT)


def test_the_key_of_the_environment_stays_with_anthropic(
    messages: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with pytest.raises(ModelError, match="refused the API key"):
        AnthropicModel("m", messages.address).complete(PROMPT)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages.address)
    assert load_model("anthropic:m").complete(PROMPT).text


def test_without_a_key_the_variable_is_named() -> None:
    pytest.importorskip("anthropic")
    with pytest.raises(ModelError, match="set ANTHROPIC_API_KEY") as caught:
        AnthropicModel("claude-test").complete(PROMPT)
    assert caught.value.lasting


def test_an_unknown_model(messages: Service) -> None:
    with pytest.raises(ModelError, match="has no model 'absent'") as caught:
        model(messages, "absent").complete(PROMPT)
    assert caught.value.lasting


def test_an_account_without_money(messages: Service) -> None:
    messages.always = RefusedError(400, "Your credit balance is too low to access the API")
    with pytest.raises(ModelError, match="wants to be paid first") as caught:
        model(messages).complete(PROMPT)
    assert caught.value.lasting


def test_a_prompt_that_is_refused(messages: Service) -> None:
    messages.always = RefusedError(400, "prompt is too long: 250000 tokens > 200000 maximum")
    with pytest.raises(PromptError, match="prompt is too long") as caught:
        model(messages).complete(PROMPT)
    assert not caught.value.lasting
    assert len(messages.requests) == 1


def test_a_model_that_declines(messages: Service) -> None:
    messages.answer = lambda shared, text: ""
    with pytest.raises(PromptError, match="declined to answer"):
        model(messages).complete(PROMPT)


def test_a_service_that_hangs(messages: Service) -> None:
    messages.always = "hang"
    claude = AnthropicModel("m", messages.address, KEY, timeout=0.2, retry_policy=RetryPolicy(retries=0))
    with pytest.raises(ModelError, match=r"did not answer within 0.2 s"):
        claude.complete(PROMPT)


@pytest.mark.parametrize("fault", ["nonsense", "wrong shape", "broken"])
def test_nonsense(messages: Service, fault: str) -> None:
    messages.always = fault
    with pytest.raises(ModelError, match="unreadable answer"):
        model(messages).complete(PROMPT)


def test_nobody_there() -> None:
    pytest.importorskip("anthropic")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    with pytest.raises(ModelError, match="Cannot reach"):
        AnthropicModel("m", address, KEY, retry_policy=QUICK).complete(PROMPT)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(MissingExtraError, match=r"loccit\[anthropic\]"):
        load_model("anthropic:claude-test")


def test_a_model_needs_a_name() -> None:
    with pytest.raises(LoccitError, match="Name the language model"):
        AnthropicModel("")
