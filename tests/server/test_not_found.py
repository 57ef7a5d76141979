"""What a model is told when it names something that is not there: what is near, and which tool helps."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.server.conftest import call, text_of

_NO_DOCUMENT = (r"Did you mean: manual\.md", "list_documents lists the documents.")
_NO_PLACE = "list_outline shows the headings of a document. find_all finds words in the text."


@pytest.mark.parametrize(
    ("tool", "given", "near", "advice"),
    [
        ("search_documents", {"query": "pump", "document": "manuel.md"}, *_NO_DOCUMENT),
        ("read_section", {"reference": "1", "document": "manuel.md"}, *_NO_DOCUMENT),
        ("follow_references", {"reference": "1", "document": "manuel.md"}, *_NO_DOCUMENT),
        ("define_term", {"term": "vessel", "document": "manuel.md"}, *_NO_DOCUMENT),
        ("list_outline", {"document": "manuel.md"}, *_NO_DOCUMENT),
        ("find_all", {"pattern": "pump", "document": "manuel.md"}, *_NO_DOCUMENT),
        ("verify_quotes", {"quotations": ["the pump"], "document": "manuel.md"}, *_NO_DOCUMENT),
        ("compare", {"old": "manuel.md", "new": "act.md"}, *_NO_DOCUMENT),
        ("list_obligations", {"document": "manuel.md"}, *_NO_DOCUMENT),
        (
            "read_section",
            {"reference": "Section 23", "document": "act.md"},
            r"Did you mean: Section 22\. Closure \[\w{8}\]; Section 21\.",
            _NO_PLACE,
        ),
        ("read_section", {"reference": "Section 23"}, r"Section 22\. Closure \[\w{8}\]", _NO_PLACE),
        ("read_section", {"reference": ["Section 23"]}, r"Section 22\. Closure \[\w{8}\]", _NO_PLACE),
        (
            "read_section",
            {"reference": "Duty to raport occurences"},
            r"Section 21\. Duty to report",
            _NO_PLACE,
        ),
        (
            "follow_references",
            {"reference": "Closhure", "document": "act.md"},
            r"Section 22\. Closure \[\w{8}\]",
            _NO_PLACE,
        ),
        ("read_section", {"reference": "Quagga"}, "No section is called 'Quagga'.<", _NO_PLACE),
        (
            "define_term",
            {"term": "quagga"},
            "defines 'quagga'",
            "find_all finds every place that uses a word",
        ),
    ],
)
def test_a_miss_says_what_is_near_and_where_to_look(
    url: str, tool: str, given: dict[str, Any], near: str, advice: str
) -> None:
    refused = call(url, tool, given)
    assert refused.is_error
    quoted, _, outside = text_of(refused).rpartition("\n")
    assert re.search(near, quoted)
    assert outside.startswith(advice)


def test_what_is_near_can_be_read(url: str) -> None:
    near = re.search(
        r"Section 22\. Closure (\[\w{8}\])", text_of(call(url, "read_section", {"reference": "Section 23"}))
    )
    assert near and "gale warning" in text_of(call(url, "read_section", {"reference": near[1]}))
