"""How code is cut into terms, and what in a question is taken for code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.grammar.text.code_languages import code_language, is_code_language, language_of_file
from loccit.grammar.text.code_terms import code_terms, code_tokens, query_code


@pytest.mark.parametrize(
    ("code", "terms"),
    [
        ("getUserById", ["getuserbyid", "get", "user", "by", "id"]),
        ("parse_json_data", ["parse_json_data", "parse", "json", "data"]),
        ("HTTPResponse", ["httpresponse", "http", "response"]),
        ("std::vector", ["std", "::", "vector"]),
        ("C++", ["c++"]),
        ("myVar123", ["myvar123", "my", "var", "123"]),
        ("C# and F#", ["c#", "and", "f#"]),
        ("__init__", ["__init__", "init"]),
        ("userIDs", ["userids", "user", "ids"]),
        ("getHTTP2Server()", ["gethttp2server", "get", "http", "2", "server"]),
        ("MAX_SIZE", ["max_size", "max", "size"]),
        ("os.path.join", ["os", "path", "join"]),
        ("p->next != null", ["p", "->", "next", "!=", "null"]),
        ("i++", ["i", "++"]),
        ("a-1", ["a", "1"]),
        ("0xFF", ["0xff"]),
        ("run --dry-run", ["run", "--dry-run", "dry", "run"]),
        ("font-size", ["font-size", "font", "size"]),
        ("Größe_max", ["grosse_max", "grosse", "max"]),
        ("running the tests", ["running", "the", "tests"]),  # neither stemmed nor dropped
        ("_ ; {}", []),
    ],
)
def test_code_is_cut_as_programmers_read_it(code: str, terms: list[str]) -> None:
    assert code_terms(code) == terms


@given(st.text(max_size=60))
def test_any_text_gives_terms_that_find_themselves(text: str) -> None:
    for token in code_tokens(text):
        assert token.text
        assert all(token.parts) or not token.parts
        again = code_terms(token.text)
        assert not again or again[0] == token.text or not token.text.isascii()


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("How do I call getAuthToken?", ["getauthtoken"]),
        ("What does `run_target` do with the `state`?", ["run_target", "state"]),
        ("use of std::vector in C++", ["std", "::", "vector", "c++"]),
        ("when is open() slow?", ["open"]),
        ("what is os.path.join for", ["os", "path", "join"]),
        ("kubectl with --dry-run", ["--dry-run"]),
        ("what does => mean", ["=>"]),
        ("compute a sha256 of it", ["sha256"]),
        ("raise HTTPError in _private", ["httperror", "_private"]),
    ],
)
def test_names_of_code_are_seen_in_a_question(question: str, names: list[str]) -> None:
    assert [name.text for name in query_code(question).names] == names


@pytest.mark.parametrize(
    "question",
    [
        "How do I call a friend?",
        "The data controller (see Art. 5) shall notify",
        "Article 6(1)(f), e.g. the U.S. and example.com",
        "well-known things -- and more... really??",
        "vitamin B12 and COVID-19 in 2024",
        "52.249-12 Termination",
        "",
    ],
)
def test_a_question_in_plain_words_names_no_code(question: str) -> None:
    asked = query_code(question)
    assert not asked.names
    assert not asked.words


def test_the_other_words_of_a_question_about_code_are_kept_without_function_words() -> None:
    assert query_code("How do I refresh the getAuthToken result?").words == ("refresh", "result")


def test_languages_have_one_name_each() -> None:
    assert [code_language(name) for name in ("py", "Python3", "{.python .numberLines}", "c++", "yml")] == [
        "python",
        "python",
        "python",
        "cpp",
        "yaml",
    ]
    assert code_language("rust,ignore") == "rust"
    assert code_language("language-js") == "javascript"
    assert code_language("brainfuck") == "brainfuck"
    assert code_language("text") == code_language("") == ""
    assert is_code_language("golang")
    assert not is_code_language("german")


def test_files_tell_their_language() -> None:
    assert language_of_file("/src/app/main.RS") == "rust"
    assert language_of_file("Dockerfile") == "dockerfile"
    assert language_of_file("page.html") == language_of_file("notes.md") == language_of_file("README") == ""
