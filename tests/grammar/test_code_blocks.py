"""Where a document shows code, and which chunk holds which part of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loccit.grammar.text.code_blocks import chunk_code, code_blocks, document_code, looks_like_code

DOCUMENT = """# Tokens

Call `getAuthToken()` first — é.

```python title="x"
def getAuthToken():
    return cache.get("token")
```

- in a list:

  ```js
  const token = getAuthToken();

  send(token);
  ```

> ~~~
> quoted = 1
> ~~~

    indented_code()

Done.
"""

RUST = """use std::collections::HashMap;

pub struct Cache<K, V> {
    entries: HashMap<K, V>,
}

impl<K, V> Cache<K, V> {
    pub fn new() -> Self {
        Self { entries: HashMap::new() }
    }
}
"""


def test_fenced_indented_and_inline_code_is_found_with_its_language() -> None:
    found = [(block.language, block.text, block.inline) for block in code_blocks(DOCUMENT)]
    assert found == [
        ("", "getAuthToken()", True),
        ("python", 'def getAuthToken():\n    return cache.get("token")\n', False),
        ("javascript", "const token = getAuthToken();\n\nsend(token);\n", False),
        ("", "quoted = 1\n", False),
        ("", "indented_code()\n", False),
    ]


def test_blocks_say_where_they_stand() -> None:
    block = code_blocks(DOCUMENT)[1]
    assert DOCUMENT[block.start : block.end] == block.text


def test_a_chunk_that_begins_inside_a_fence_knows_its_language() -> None:
    listing = "".join(f"step_{number}()\n" for number in range(50))
    text = f"Intro.\n\n```rb\n{listing}```\n\nAfter `x`."
    blocks = document_code(text, "guide.md")
    cut = text.index("step_25")
    first = chunk_code(blocks, text[:cut], 0, 0)
    second = chunk_code(blocks, text[cut:], 0, cut)
    assert [block.language for block in first] == ["ruby"]
    assert first[0].text == listing[: listing.index("step_25")]
    assert [(block.language, block.inline) for block in second] == [("ruby", False), ("", True)]
    assert second[0].text == listing[listing.index("step_25") :]
    # Text that is repeated in front of a chunk moves nothing.
    assert chunk_code(blocks, "Intro.\n" + text[cut:], len("Intro.\n"), cut) == second


def test_a_fence_that_is_never_closed_reaches_to_the_end() -> None:
    assert [(b.language, b.text) for b in code_blocks("```go\nfunc main() {\n")] == [
        ("go", "func main() {\n")
    ]


def test_source_files_are_code_by_name_or_by_look() -> None:
    assert [b.language for b in document_code(RUST, "cache.rs")] == ["rust"]
    assert [(b.language, b.text) for b in document_code(RUST, "doc_1")] == [("", RUST)]
    assert document_code("Plain words, nothing else.\n", "a.txt") == []


def test_a_part_of_a_document_that_looks_like_code_is_code() -> None:
    text = "Some words.\n\n" + RUST
    held = chunk_code(document_code(text, "notes.txt"), RUST, 0, len("Some words.\n\n"))
    assert [block.text for block in held] == [RUST]


def test_prose_lists_and_statutes_do_not_look_like_code() -> None:
    assert looks_like_code(RUST)
    assert not looks_like_code(DOCUMENT.replace("`", ""))
    assert not looks_like_code(
        "(a) the name;\n(b) the address; and\n(c) the date (see Article 5);\n(d) more;\n"
    )
    assert not looks_like_code("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n")
    assert not looks_like_code("- [one](http://a.b/c?d=e&f=g)\n- [two](http://a.b/h_i(j))\n- [three](x.md)\n")
    assert not looks_like_code("one = 1\n")


@given(st.text(alphabet="ab`~é漢 \n\t>-(){};=", max_size=120), st.integers(0, 120))
def test_any_text_can_be_cut_anywhere(text: str, cut: int) -> None:
    blocks = document_code(text, "x.md")
    for block in blocks:
        assert 0 <= block.start < block.end <= len(text)
    for content, start in ((text[:cut], 0), (text[cut:], min(cut, len(text)))):
        for block in chunk_code(blocks, content, 0, start):
            assert start <= block.start <= block.end <= start + len(content)
