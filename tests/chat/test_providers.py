"""Each provider of the agent file is asked at its own address, in its own way, with its own key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.chat.servers import KEY, Say, Server

from loccit.agent import ModelConfig, ModelProvider
from loccit.chat.models import build_model

Run = Callable[..., Any]
WriteAgent = Callable[..., Path]
HELLO = ("-m", "Hello?")


def test_openai_with_the_key_of_the_environment(
    openai: Server, write_agent: WriteAgent, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{openai.address}/v1")
    done = run(write_agent(model="model: {provider: openai, name: gpt-test}\n"), *HELLO)
    assert done.exit_code == 0, done.stderr
    assert openai.requests[0].path == "/v1/chat/completions"
    assert openai.requests[0].body["model"] == "gpt-test"


def test_anthropic_with_the_key_of_the_environment(
    anthropic: Server, write_agent: WriteAgent, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", anthropic.address)
    done = run(write_agent(model="model: {provider: anthropic, name: claude-test}\n"), *HELLO)
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("provider", ["openai", "openai_compatible"])
def test_a_key_for_openai_goes_to_no_other_address(
    openai: Server, write_agent: WriteAgent, run: Run, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    openai.key = None
    done = run(write_agent(openai, provider=provider, api_key=None), *HELLO)
    assert done.exit_code == 0, done.stderr
    assert KEY not in str(openai.requests[0].headers)


def test_a_key_for_anthropic_goes_to_no_other_address(
    anthropic: Server, write_agent: WriteAgent, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    done = run(write_agent(anthropic, api_key=None), *HELLO)
    assert done.exit_code == 1
    assert "refused the API key" in done.stderr


@pytest.mark.parametrize("address", ["openai.com.evil.example", "evil.example/.openai.com", "127.0.0.1:9"])
def test_an_address_is_not_openai_because_it_says_so(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    config = ModelConfig(provider=ModelProvider.OPENAI, name="m", endpoint=f"https://{address}/v1")
    built = build_model(config)
    assert KEY not in built.secrets
    assert (
        KEY
        in build_model(
            ModelConfig(provider=ModelProvider.OPENAI, name="m", endpoint="https://eu.api.openai.com/v1")
        ).secrets
    )


def test_azure_is_asked_for_a_deployment(openai: Server, write_agent: WriteAgent, run: Run) -> None:
    agent = write_agent(
        openai, provider="azure_openai", name="our-gpt", endpoint=openai.address, api_version="'2024-06-01'"
    )
    done = run(agent, *HELLO)
    assert done.exit_code == 0, done.stderr
    (request,) = openai.requests
    assert request.path == "/openai/deployments/our-gpt/chat/completions?api-version=2024-06-01"
    assert request.headers["api-key"] == KEY


@pytest.mark.parametrize("end", ["", "/", "/v1"])
def test_ollama_needs_no_key_and_its_address_no_version(
    openai: Server, write_agent: WriteAgent, run: Run, end: str
) -> None:
    openai.key = None
    agent = write_agent(
        openai, provider="ollama", name="qwen3", endpoint=f"{openai.address}{end}", api_key=None
    )
    done = run(agent, *HELLO)
    assert done.exit_code == 0, done.stderr
    assert openai.requests[0].path == "/v1/chat/completions"


def test_ollama_is_found_where_the_environment_says(
    openai: Server, write_agent: WriteAgent, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    openai.key = None
    monkeypatch.setenv("OLLAMA_HOST", openai.address)
    done = run(write_agent(model="model: {provider: ollama, name: qwen3}\n"), *HELLO)
    assert done.exit_code == 0, done.stderr


def test_settings_of_the_model_are_sent(service: Server, write_agent: WriteAgent, run: Run) -> None:
    service.script = [[Say("Hello.")]]
    done = run(write_agent(service, temperature=0.25, max_tokens=321), *HELLO)
    assert done.exit_code == 0, done.stderr
    body = service.requests[0].body
    assert body["temperature"] == 0.25
    assert body.get("max_tokens", body.get("max_completion_tokens")) == 321


def test_instructions_may_stand_in_a_file(
    openai: Server, write_agent: WriteAgent, run: Run, library_folder: Path
) -> None:
    (library_folder / "told.txt").write_text("Speak like a pilot.", encoding="utf-8")
    done = run(write_agent(openai, instructions="{file: told.txt}"), *HELLO)
    assert done.exit_code == 0, done.stderr
    assert "Speak like a pilot." in openai.requests[0].system
