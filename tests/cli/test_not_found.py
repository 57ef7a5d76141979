"""What a command says of a name that is not there: what is near, and which command helps."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_NO_DOCUMENT = (r"Did you mean: act\.md", "loccit documents lists the documents.")
_NO_PLACE = (r"Did you mean: Section 22\. Closure \[\w{8}\]", "loccit outline shows the headings")


@pytest.mark.parametrize(
    ("given", "near", "advice"),
    [
        (("section", "21", "--document", "acts.md"), *_NO_DOCUMENT),
        (("refs", "21", "--document", "acts.md"), *_NO_DOCUMENT),
        (("define", "vessel", "--document", "acts.md"), *_NO_DOCUMENT),
        (("outline", "acts.md"), *_NO_DOCUMENT),
        (("grep", "master", "--document", "acts.md"), *_NO_DOCUMENT),
        (("obligations", "acts.md"), *_NO_DOCUMENT),
        (("diff", "acts.md", "act.md"), *_NO_DOCUMENT),
        (("verify", "docs/note.md", "--document", "acts.md"), *_NO_DOCUMENT),
        (("section", "Section 23"), *_NO_PLACE),
        (("section", "Closhure", "--document", "act.md"), *_NO_PLACE),
        (("refs", "Section 23", "--document", "act.md"), *_NO_PLACE),
        (("define", "quagga"), "No document defines 'quagga'", "loccit grep finds every place"),
    ],
)
def test_a_miss_says_what_is_near_and_where_to_look(
    here: Path, run: Callable[..., Any], given: tuple[str, ...], near: str, advice: str
) -> None:
    result = run(*given)
    assert result.exit_code == 4
    assert re.search(near, result.stderr) and advice in result.stderr
