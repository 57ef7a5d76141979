"""Frontmatter: metadata at the top, and what only looks like it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.structure.frontmatter import MAX_CHARACTERS, split_frontmatter


def test_yaml_values_become_json() -> None:
    text = (
        "---\ntitle: A note\ndate: 2021-05-01\nat: 2021-05-01 10:30:00\ntags: [a, b]\n"
        "nested:\n  deep: {x: 1, y: true}\nempty:\nratio: .nan\n---\nBody"
    )
    data, body, warning = split_frontmatter(text)
    assert data == {
        "title": "A note",
        "date": "2021-05-01",
        "at": "2021-05-01T10:30:00",
        "tags": ["a", "b"],
        "nested": {"deep": {"x": 1, "y": True}},
        "empty": None,
        "ratio": "nan",
    }
    assert (text[body:], warning) == ("Body", "")


def test_toml_values_become_json() -> None:
    data, body, warning = split_frontmatter('+++\ntitle = "T"\nd = 1979-05-27\na = [1, {b = 2}]\n+++\nBody')
    assert data == {"title": "T", "d": "1979-05-27", "a": [1, {"b": 2}]}
    assert (body, warning) == (52, "")


@pytest.mark.parametrize(
    ("written", "value"),
    [("no", "no"), ("On", "On"), ("12:30", "12:30"), ("0123", "0123"), ("1_000", "1_000"), ("0x1f", "0x1f")]
    + [("true", True), ("-3", -3), ("1.5", 1.5), ("2021-13-45", "2021-13-45"), ("'007'", "007")],
)
def test_values_mean_what_their_authors_meant(written: str, value: object) -> None:
    assert split_frontmatter(f"---\nkey: {written}\n---\n")[0] == {"key": value}


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff---\ntitle: x\n---\nBody",
        "---\r\ntitle: x\r\n---\r\nBody",
        "--- \ntitle: x\n---\t\nBody",
        "---\ntitle: x\n...\nBody",
    ],
)
def test_ways_to_write_the_fences(text: str) -> None:
    data, body, warning = split_frontmatter(text)
    assert (data, text[body:], warning) == ({"title": "x"}, "Body", "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "---\n",
        "Body\n---\na: b\n---\n",
        "---\na: b\nno end",
        "---\n\nA rule, then prose.\n\n---\nBody",
        "---\nJust prose\n---\nBody",
        "---\n# A heading\n\n---\nBody",
        "---\n- a\n- list\n---\n",
        "---\n* broken *and: no data\n---\n",
        "----\na: b\n----\n",
    ],
)
def test_what_is_no_frontmatter_stays_text(text: str) -> None:
    assert split_frontmatter(text) == ({}, 0, "")


def test_mark_of_the_encoding_is_never_part_of_the_body() -> None:
    assert split_frontmatter("\ufeff# Title") == ({}, 1, "")


@pytest.mark.parametrize("text", ["---\n---\nBody", "---\n\n\n---\nBody", "+++\n+++\nBody"])
def test_empty_frontmatter(text: str) -> None:
    data, body, warning = split_frontmatter(text)
    assert (data, text[body:], warning) == ({}, "Body", "")


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("title: [unclosed", "flow sequence"),
        ("a: &x [1]\nb: &y [*x, *x]\nc: [*y, *y]", "aliases"),
        ("a: " + "[" * 30_000, "nested too deeply"),
        ("a:\n" + "- " * 5_000, "nested too deeply"),
        ("a: !!python/object/apply:os.getcwd []", "constructor"),
        ("a: b: c", "mapping values"),
    ],
)
def test_unreadable_yaml_is_left_out_with_a_warning(block: str, reason: str) -> None:
    text = f"---\n{block}\n---\nBody"
    data, body, warning = split_frontmatter(text)
    assert (data, text[body:]) == ({}, "Body")
    assert warning.startswith("the frontmatter could not be read: ")
    assert reason in warning


def test_unreadable_toml_is_left_out_with_a_warning() -> None:
    for block in ("a = ", "a = " + "[" * 5_000, "a = " + "9" * 5_000):
        text = f"+++\n{block}\n+++\nBody"
        data, body, warning = split_frontmatter(text)
        assert (data, text[body:]) == ({}, "Body")
        assert warning


def test_a_block_too_long_for_frontmatter_is_text() -> None:
    assert split_frontmatter("---\na: b\n" + "# filler\n" * MAX_CHARACTERS + "---\n") == ({}, 0, "")


@settings(deadline=None)
@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%@,? \n0.", max_size=80), st.sampled_from(["---", "+++"]))
def test_any_block_gives_json_or_a_reason(block: str, fence: str) -> None:
    text = f"{fence}\n{block}\n{fence}\nBody"
    data, body, warning = split_frontmatter(text)
    assert json.loads(json.dumps(data)) == data
    assert body == 0 or text[body - 1] == "\n"
    assert not (data and warning)
