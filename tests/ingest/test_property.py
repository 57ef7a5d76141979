"""Whatever happened to a folder, its index is the one that a fresh run would make."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.ingest.fakes import WordEmbedder, holdings

from loccit import Library

WORDS = ("zebra", "camel", "llama", "otter")
NAMES = ("a.md", "b.txt", "sub/c.md", "sub/a.md")
TEXTS = [
    "",
    *(
        f"# {word.title()}\n\nThe {word} eats.\n\n## Section 1. {word}\n\nMore of the {word}.\n"
        for word in WORDS
    ),
    "The zebra and the camel, without any heading.\n",
]
name, text = st.sampled_from(NAMES), st.sampled_from(TEXTS)
step = st.one_of(
    st.tuples(st.just("write"), name, text),
    st.tuples(st.just("delete"), name, st.just("")),
    st.tuples(st.just("rename"), name, name),
    st.tuples(st.just("index"), st.just(""), st.just("")),
    st.tuples(st.just("index text only"), st.just(""), st.just("")),
)


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(step, max_size=14))
# Two files with one text: which of them is shown must not depend on which came first.
@example(steps=[("write", "sub/a.md", TEXTS[1]), ("index", "", ""), ("write", "a.md", TEXTS[1])])
def test_any_history_ends_in_the_index_of_the_final_state(
    steps: list[tuple[str, str, str]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        (docs / "sub").mkdir(parents=True)
        embedder = WordEmbedder()
        with Library(Path(folder) / "index", embedder=embedder) as library:
            for action, one, other in steps:
                path = docs / one
                if action == "write":
                    path.write_text(other, encoding="utf-8")
                elif action == "delete":
                    path.unlink(missing_ok=True)
                elif action == "rename" and path.is_file():
                    path.replace(docs / other)
                elif action.startswith("index"):
                    library.index(docs, embed=action == "index")
            library.index(docs)
            kept = holdings(library, WORDS)
            assert library.doctor(repair=False).healthy
            failed = library.status().failures
        with Library(Path(folder) / "fresh", embedder=WordEmbedder()) as library:
            library.index(docs)
            assert kept == holdings(library, WORDS)
            assert failed == library.status().failures
