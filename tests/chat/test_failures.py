"""What goes wrong is said in words that help, with an exit code, and the conversation goes on where it can."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.chat.conftest import TOOL
from tests.chat.servers import Call, Cut, Drop, Fail, Refuse, Say, Server, Wait

Run = Callable[..., Any]
WriteAgent = Callable[..., Path]
HELLO = ("-m", "Hello?")
SEARCH = Call("search_harbour", {"query": "collision"})


# -- before the first request ----------------------------------------------------------------------------------


def test_without_a_model_it_says_what_to_set(write_agent: WriteAgent, run: Run) -> None:
    done = run(write_agent(), *HELLO)
    assert done.exit_code == 2
    for word in ("No model is configured", "provider: anthropic", "ANTHROPIC_API_KEY", "Ollama", ".yaml"):
        assert word in done.stderr


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("openai", "OPENAI_API_KEY"),
        ("azure_openai", "AZURE_OPENAI_API_KEY"),
    ],
)
def test_without_a_key_it_names_the_variable(
    write_agent: WriteAgent, run: Run, provider: str, variable: str
) -> None:
    endpoint = ", endpoint: 'https://ours.openai.azure.com'" if provider == "azure_openai" else ""
    done = run(write_agent(model=f"model: {{provider: {provider}, name: some-model{endpoint}}}\n"), *HELLO)
    assert done.exit_code == 2
    assert f"set {variable}" in done.stderr


def test_azure_wants_an_endpoint(write_agent: WriteAgent, run: Run) -> None:
    done = run(write_agent(model="model: {provider: azure_openai, name: m, api_key: k}\n"), *HELLO)
    assert done.exit_code == 2
    assert "AZURE_OPENAI_ENDPOINT" in done.stderr


def test_two_tools_must_not_share_a_function(openai: Server, write_agent: WriteAgent, run: Run) -> None:
    other = TOOL.replace("search_harbour", "search_harbour_section")
    done = run(write_agent(openai, tools=TOOL + other), *HELLO)
    assert done.exit_code == 2
    assert "Two tools have a function search_harbour_section" in done.stderr


@pytest.mark.parametrize("missing", ["pydantic_ai", "pydantic_ai.models.openai"])
def test_a_missing_package_is_named_by_its_extra(
    openai: Server, write_agent: WriteAgent, run: Run, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    done = run(write_agent(openai), *HELLO)
    assert done.exit_code == 1
    assert "pip install 'loccit[chat]'" in done.stderr


def test_an_agent_without_documents_has_nothing_to_look_up(
    openai: Server, write_agent: WriteAgent, run: Run
) -> None:
    done = run(write_agent(openai, tools="  - {name: other, type: mcp}\n"), *HELLO)
    assert done.exit_code == 2
    assert "hierarchical_document" in done.stderr


def test_a_missing_source_is_said_before_anything_is_asked(
    openai: Server, write_agent: WriteAgent, run: Run
) -> None:
    done = run(write_agent(openai, tools=TOOL.replace("source: docs", "source: nowhere")), *HELLO)
    assert done.exit_code == 2
    assert "nowhere" in done.stderr
    assert openai.requests == []


def test_a_missing_agent_file(run: Run) -> None:
    done = run("absent.yaml", *HELLO)
    assert done.exit_code == 2
    assert "absent.yaml" in done.stderr


@pytest.mark.parametrize("arguments", [("-m", "  "), ("--json", "-m", "")])
def test_an_empty_question(
    openai: Server, write_agent: WriteAgent, run: Run, arguments: tuple[str, ...]
) -> None:
    done = run(write_agent(openai), *arguments)
    assert done.exit_code == 2
    assert "question is empty" in done.stderr


# -- from the service ------------------------------------------------------------------------------------------


def test_a_wrong_key_is_not_printed(service: Server, write_agent: WriteAgent, run: Run) -> None:
    done = run(write_agent(service, api_key="sk-wrong-but-secret"), *HELLO)
    assert done.exit_code == 1
    assert "refused the API key" in done.stderr
    assert "sk-wrong-but-secret" not in done.output


def test_a_password_in_the_address_is_not_printed(openai: Server, write_agent: WriteAgent, run: Run) -> None:
    openai.script = [[Fail(418, "Who told you pass-phrase?")]]
    with_password = openai.address.replace("://", "://me:pass-phrase@")
    for address in (f"{with_password}/v1", "http://me:pass-phrase@127.0.0.1:9/v1?query-secret"):
        done = run(write_agent(openai, endpoint=address), *HELLO)
        assert done.exit_code == 1
        assert "http://127.0.0.1:" in done.stderr
        assert "pass-phrase" not in done.output and "query-secret" not in done.output


def test_errors_are_json_where_json_was_asked_for(service: Server, write_agent: WriteAgent, run: Run) -> None:
    done = run(write_agent(service, api_key="sk-wrong-but-secret"), "--json", *HELLO)
    assert done.exit_code == 1
    assert "refused the API key" in json.loads(done.stdout)["error"]["message"]


def test_an_unknown_model(service: Server, write_agent: WriteAgent, run: Run) -> None:
    done = run(write_agent(service, name="absent"), *HELLO)
    assert done.exit_code == 1
    assert "has no model 'absent'" in done.stderr


def test_an_endpoint_that_is_down(write_agent: WriteAgent, run: Run) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    done = run(
        write_agent(model=f"model: {{provider: openai_compatible, name: m, endpoint: '{address}'}}\n"), *HELLO
    )
    assert done.exit_code == 1
    assert f"Cannot reach {address}" in done.stderr


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (429, "rate_limit_error", "refuses more requests for now"),
        (402, "billing_error", "wants to be paid first"),
        (500, "api_error", "is in trouble"),
        (503, "overloaded_error", "is in trouble"),
        (400, "invalid_request_error", "refused the request: no good"),
        (418, "teapot", "no good"),
    ],
)
def test_refusals_of_the_service(
    service: Server, write_agent: WriteAgent, run: Run, status: int, kind: str, words: str
) -> None:
    service.script = [[Fail(status, "no good", kind)]]
    done = run(write_agent(service), *HELLO)
    assert done.exit_code == 1
    assert words in done.stderr


def test_a_conversation_that_is_too_long(openai: Server, write_agent: WriteAgent, run: Run) -> None:
    openai.script = [[Fail(400, "maximum context length is 8192 tokens", "context_length_exceeded")]]
    done = run(write_agent(openai), *HELLO)
    assert "/new" in done.stderr


def test_a_refusal_in_the_middle_of_an_answer(service: Server, write_agent: WriteAgent, run: Run) -> None:
    service.script = [[Say("The pilot "), Refuse()], [Say("Gladly.")]]
    done = run(write_agent(service), input="First?\nSecond?\n")
    assert "The pilot" in done.stdout
    assert "declined" in done.stderr
    assert "Gladly." in done.stdout


def test_a_refusal_instead_of_an_answer(service: Server, write_agent: WriteAgent, run: Run) -> None:
    service.script = [[Refuse("")]]
    done = run(write_agent(service), *HELLO)
    assert done.exit_code == 1
    assert "declined to answer" in done.stderr


def test_an_error_inside_the_stream(service: Server, write_agent: WriteAgent, run: Run) -> None:
    service.script = [[Say("The pilot "), Fail(529, "Overloaded", "overloaded_error")]]
    done = run(write_agent(service), *HELLO)
    assert done.exit_code == 1
    assert "The pilot" in done.stdout
    assert "is in trouble" in done.stderr


def test_a_stream_that_breaks_off(service: Server, write_agent: WriteAgent, run: Run) -> None:
    service.script = [[Say("The pilot "), Drop()], [Say("Here I am.")]]
    done = run(write_agent(service), input="First?\nSecond?\n")
    assert "Here I am." in done.stdout


def test_an_answer_that_is_cut(service: Server, write_agent: WriteAgent, run: Run) -> None:
    service.script = [[Say("The pilot must"), Cut()]]
    done = run(write_agent(service), *HELLO)
    assert done.exit_code == 0
    assert "max_tokens" in done.stderr


def test_the_conversation_goes_on_after_an_error(service: Server, write_agent: WriteAgent, run: Run) -> None:
    service.script = [
        [Say("One.")],
        [Fail(400, "no good", "invalid_request_error")],
        [SEARCH],
        [Say("Three [1].")],
    ]
    done = run(write_agent(service), input="First?\nSecond?\nThird?\n")
    assert done.exit_code == 1
    assert "error:" in done.stderr
    assert "Three [1]." in done.stdout
    asked = [text for role, text in service.requests[-1].messages if role == "user" and text]
    assert asked == ["First?", "Third?"]
    assert service.refusals == []


# -- from the tools --------------------------------------------------------------------------------------------


def test_a_call_that_fails_is_told_to_the_model_and_shown(
    service: Server, write_agent: WriteAgent, run: Run
) -> None:
    service.script = [
        [
            Call("search_harbour_section", {"reference": "Section 99"}),
            Call("search_harbour", {"colour": "red"}),
        ],
        [Say("I could not find it.")],
    ]
    done = run(write_agent(service), *HELLO)
    assert done.exit_code == 4
    assert "✗ search_harbour_section:" in done.stderr
    missing, wrong = service.requests[1].results
    assert "Not found" in missing
    assert "query is missing" in wrong
    assert "I could not find it." in done.stdout


def test_a_tool_that_breaks_down_does_not_end_the_conversation(
    service: Server, write_agent: WriteAgent, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from loccit.library import Library

    def broken(self: Library, *args: Any, **options: Any) -> Any:
        raise RuntimeError("disk on fire at /secret/path")

    monkeypatch.setattr(Library, "search", broken)
    service.script = [[SEARCH], [Say("My tool is broken.")]]
    done = run(write_agent(service), *HELLO)
    assert done.exit_code == 0
    assert "✗ search_harbour: The tool failed: RuntimeError: disk on fire" in done.stderr
    assert "/secret/path" not in service.requests[1].results[0]
    assert "My tool is broken." in done.stdout


@pytest.mark.parametrize(
    "call",
    [
        Call("search_harbor", {"query": "x"}),
        Call("search_harbour", '{"query": '),
        Call("search_harbour", "[]"),
    ],
)
def test_calls_that_cannot_be_read_are_sent_back(
    openai: Server, write_agent: WriteAgent, run: Run, call: Call
) -> None:
    openai.script = [[call], [SEARCH], [Say("Found [1].")]]
    done = run(write_agent(openai), *HELLO)
    assert done.exit_code == 0, done.stderr
    assert "Found [1]." in done.stdout


def test_arguments_under_names_that_models_invent(service: Server, write_agent: WriteAgent, run: Run) -> None:
    service.script = [[Call("search_harbour", {"q": "collision", "limit": "2"})], [Say("Found [1].")]]
    done = run(write_agent(service), *HELLO)
    assert "✓ search_harbour: 2 results" in done.stderr


def test_too_many_calls_end_with_an_answer_from_what_was_found(
    service: Server, write_agent: WriteAgent, run: Run
) -> None:
    service.script = [[SEARCH], [SEARCH, SEARCH], [Say("That is what I found [1].")]]
    done = run(write_agent(service), "--max-tool-calls", "2", *HELLO)
    assert done.exit_code == 0, done.stderr
    assert "No more than 2 tool calls" in service.requests[2].results[-1]
    assert "That is what I found [1]." in done.stdout


def test_a_model_that_never_answers_is_stopped(service: Server, write_agent: WriteAgent, run: Run) -> None:
    service.script = [[SEARCH]] * 20
    done = run(write_agent(service), "--max-tool-calls", "2", *HELLO)
    assert done.exit_code == 1
    assert "kept calling tools" in done.stderr
    assert len(service.requests) == 5


def test_the_time_limit_stops_an_answer_and_keeps_what_was_said(
    service: Server, write_agent: WriteAgent, run: Run
) -> None:
    wait = Wait()
    service.script = [[Say("The pilot "), wait], [Say("Here I am.")]]
    # Long enough for the second answer on a busy machine.
    done = run(write_agent(service), "--timeout", "3", input="First?\nSecond?\n")
    wait.go_on.set()
    assert "time limit reached" in done.stderr
    assert "Here I am." in done.stdout
    assert service.refusals == []


def test_the_time_limit_is_an_error_for_one_question(
    openai: Server, write_agent: WriteAgent, run: Run
) -> None:
    wait = Wait()
    openai.script = [[Say("The pilot "), wait]]
    done = run(write_agent(openai), "--timeout", "0.6", "--json", *HELLO)
    wait.go_on.set()
    assert done.exit_code == 1
    said = json.loads(done.stdout)
    assert said["stopped"] == "time limit"
    assert said["answer"] == "The pilot "
