"""Services to talk to, and no key in the environment."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.models.llm.services import ChatHandler, MessagesHandler, Service, running

VARIABLES = (
    "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_PROFILE OPENAI_API_KEY OPENAI_BASE_URL "
    "OPENAI_ADMIN_KEY OPENAI_ORG_ID OPENAI_API_VERSION AZURE_OPENAI_API_KEY AZURE_OPENAI_AD_TOKEN AZURE_OPENAI_ENDPOINT "
    "OLLAMA_HOST LOCCIT_LLM_PRICES"
).split()


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path_factory.mktemp("no-profiles")))


@pytest.fixture
def messages() -> Iterator[Service]:
    pytest.importorskip("anthropic")
    with running(MessagesHandler) as service:
        yield service


@pytest.fixture
def chat() -> Iterator[Service]:
    pytest.importorskip("openai")
    with running(ChatHandler) as service:
        yield service
