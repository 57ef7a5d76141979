from __future__ import annotations

from importlib import metadata
from typing import Any

import pytest

from loccit.errors import LoccitError, UsageError
from loccit.models.llm import Completion, Prompt, load_model


class Parrot:
    """A model from another package."""

    def __init__(self, model: str, **options: Any) -> None:
        self.name = f"parrot:{model}"

    def complete(self, prompt: Prompt) -> Completion:
        return Completion(prompt.text)


class Mute:
    def __init__(self, model: str) -> None:
        pass


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        metadata.EntryPoint("parrot", f"{__name__}:Parrot", "loccit.llms"),
        metadata.EntryPoint("mute", f"{__name__}:Mute", "loccit.llms"),
    ]

    def entry_points(**wanted: str) -> list[metadata.EntryPoint]:
        return [p for p in points if p.group == wanted["group"] and p.name == wanted.get("name", p.name)]

    monkeypatch.setattr("loccit.models.llm.metadata.entry_points", entry_points)
    monkeypatch.setattr(metadata.EntryPoint, "load", lambda self: {"Parrot": Parrot, "Mute": Mute}[self.attr])


def test_a_model_of_another_package(registered: None) -> None:
    model = load_model("parrot:grey")
    assert model.name == "parrot:grey"
    assert model.complete(Prompt("", "", "hello", 5)).text == "hello"


def test_a_model_that_lacks_something(registered: None) -> None:
    with pytest.raises(LoccitError, match="lacks members that Loccit needs"):
        load_model("mute:x")


@pytest.mark.parametrize("spec", ["claude", "", "anthropic:", "mystery:model"])
def test_an_unknown_name_lists_the_known_ones(registered: None, spec: str) -> None:
    with pytest.raises(UsageError, match=r"anthropic:MODEL.*Registered here: mute, parrot"):
        load_model(spec)
