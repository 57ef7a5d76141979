from __future__ import annotations

import pytest
from tests.models.llm.services import KEY, RefusedError, Service

from loccit.models.llm import Completion, ModelError, Prompt, PromptError, load_model
from loccit.models.llm.openai import AzureModel, OllamaModel, OpenAIModel
from loccit.models.llm.service import THINKING_ROOM, RetryPolicy

PROMPT = Prompt("Be brief.", "A long document.", "Where does this stand?", max_tokens=50)
QUICK = RetryPolicy(retries=2, first_wait=0.001)


def official(service: Service, name: str = "gpt-test", key: str = KEY) -> OpenAIModel:
    """A model that takes the service for OpenAI's own."""
    return OpenAIModel(name, f"{service.address}/v1", key, official=True, retry_policy=QUICK, timeout=1.0)


def compatible(service: Service) -> OpenAIModel:
    return OpenAIModel("local", f"{service.address}/v1", KEY, retry_policy=QUICK, timeout=1.0)


def test_the_shared_part_ends_with_a_cache_breakpoint(chat: Service) -> None:
    gpt = official(chat)
    first, second = gpt.complete(PROMPT), gpt.complete(PROMPT)
    prefix, rest = chat.count(PROMPT.system, PROMPT.shared), chat.count(PROMPT.text)
    out = chat.count("It stands in the annual report.")
    assert first == Completion("It stands in the annual report.", prefix + rest, out, 0, prefix)
    assert second == Completion("It stands in the annual report.", prefix + rest, out, prefix, 0)
    sent, again = chat.requests
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {
                    "type": "text",
                    "text": "A long document.",
                    "prompt_cache_breakpoint": {"mode": "explicit"},
                },
                {"type": "text", "text": "Where does this stand?"},
            ],
        },
    ]
    assert sent["prompt_cache_options"] == {"mode": "explicit"}
    assert sent["prompt_cache_key"] == again["prompt_cache_key"]
    assert sent["max_completion_tokens"] == 50
    assert (sent["temperature"], sent["reasoning_effort"]) == (0.0, "none")


def test_what_a_model_refuses_is_not_sent_again(chat: Service) -> None:
    # As a GPT-5 would: no temperature, some thinking, a cache that looks after itself.
    chat.refused = {
        "temperature": ...,
        "reasoning_effort": "none",
        "prompt_cache_options": ...,
    }
    gpt = official(chat)
    assert gpt.complete(PROMPT).text
    refused = len(chat.requests) - 1
    sent = chat.requests[-1]
    assert refused == 3
    assert "temperature" not in sent
    assert "prompt_cache_key" not in sent
    assert sent["messages"][-1]["content"] == "A long document.\n\nWhere does this stand?"
    assert sent["reasoning_effort"] == "minimal"
    assert sent["max_completion_tokens"] == 50 + THINKING_ROOM
    gpt.complete(PROMPT)
    assert len(chat.requests) == refused + 2


def test_a_model_that_knows_no_effort_gets_no_room_to_think(chat: Service) -> None:
    chat.faults = [RefusedError(400, "Unrecognized request argument supplied: reasoning_effort")]
    official(chat).complete(PROMPT)
    assert "reasoning_effort" not in chat.requests[-1]
    assert chat.requests[-1]["max_completion_tokens"] == 50


def test_other_servers_get_plain_text_and_the_old_name_of_the_limit(chat: Service) -> None:
    assert compatible(chat).complete(PROMPT).text
    sent = chat.requests[0]
    assert sent["messages"][-1]["content"] == "A long document.\n\nWhere does this stand?"
    assert sent["max_tokens"] == 50
    assert "prompt_cache_key" not in sent


def test_a_gateway_to_a_newer_model(chat: Service) -> None:
    chat.refused = {"max_tokens": ...}
    assert compatible(chat).complete(PROMPT).text
    assert chat.requests[-1]["max_completion_tokens"] == 50


def test_thoughts_are_not_part_of_the_answer(chat: Service) -> None:
    chat.answer = lambda shared, text: "<think>\nHmm, a report.\n</think>\n\nIn the report."
    assert compatible(chat).complete(PROMPT).text == "In the report."
    chat.answer = lambda shared, text: "<think>\nHmm, a report, and the tokens are used"
    with pytest.raises(PromptError, match="gave no text"):
        compatible(chat).complete(PROMPT)


def test_an_empty_answer(chat: Service) -> None:
    chat.answer = lambda shared, text: ""
    with pytest.raises(PromptError, match=r"gave no text \(length\)"):
        official(chat).complete(PROMPT)


def test_a_passing_failure_is_tried_again(chat: Service) -> None:
    chat.faults = [RefusedError(429, "busy", headers={"Retry-After": "0"}), RefusedError(502, "bad gateway")]
    assert official(chat).complete(PROMPT).text
    assert len(chat.requests) == 3


def test_a_quota_that_is_used_up_does_not_pass(chat: Service) -> None:
    chat.always = RefusedError(429, "You exceeded your current quota", code="insufficient_quota")
    with pytest.raises(ModelError, match="wants to be paid first") as caught:
        official(chat).complete(PROMPT)
    assert caught.value.lasting
    assert len(chat.requests) == 1


def test_a_wrong_key(chat: Service) -> None:
    with pytest.raises(ModelError, match=r"refused the API key. Check OPENAI_API_KEY") as caught:
        official(chat, key="sk-wrong-key-99").complete(PROMPT)
    assert caught.value.lasting
    assert "sk-wrong-key-99" not in str(caught.value)


def test_an_unknown_model(chat: Service) -> None:
    with pytest.raises(ModelError, match="has no model 'absent'"):
        official(chat, "absent").complete(PROMPT)


@pytest.mark.parametrize("fault", ["nonsense", "wrong shape", "broken"])
def test_nonsense(chat: Service, fault: str) -> None:
    chat.always = fault
    with pytest.raises(ModelError, match="unreadable answer"):
        official(chat).complete(PROMPT)


def test_the_environment_names_address_and_key(chat: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(ModelError, match="refused the API key"):
        load_model("openai:m", base_url=f"{chat.address}/v1").complete(PROMPT)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{chat.address}/v1")
    assert load_model("openai:m").complete(PROMPT).text
    assert "max_tokens" in chat.requests[-1]


def test_without_a_key_the_variable_is_named() -> None:
    pytest.importorskip("openai")
    with pytest.raises(ModelError, match="set OPENAI_API_KEY"):
        load_model("openai:gpt-test").complete(PROMPT)
    with pytest.raises(ModelError, match="set AZURE_OPENAI_API_KEY"):
        load_model("azure:deployment").complete(PROMPT)


def test_azure(chat: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    deployment = AzureModel("mine", chat.address, KEY, retry_policy=QUICK)
    assert deployment.complete(PROMPT).text
    assert deployment.name == "azure:mine"
    assert chat.requests[0]["path"].startswith("/openai/deployments/mine/chat/completions?api-version=")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", chat.address)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    assert load_model("azure:mine").complete(PROMPT).text


def test_ollama(chat: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.models.llm.services.KEY", "none")
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{chat.server_port}")
    local = load_model("ollama:qwen3:4b")
    assert local.complete(PROMPT).text
    assert local.name == "ollama:qwen3:4b"
    assert chat.requests[0]["model"] == "qwen3:4b"


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("", "http://localhost:11434/v1"),
        ("0.0.0.0", "http://localhost:11434/v1"),
        ("box:8080", "http://box:8080/v1"),
        ("https://box/", "https://box/v1"),
    ],
)
def test_where_ollama_is(host: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert OllamaModel("m").base_url == address
