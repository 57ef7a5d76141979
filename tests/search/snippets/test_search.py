"""What a search shows of long sections, in a real library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.search.asking import ask, ids, write
from typer.testing import CliRunner

from loccit import Library
from loccit.cli.app import app
from loccit.model import Pages, SearchResult

ANSWER = (
    "A vessel that carries live cattle waits at the outer buoy until the veterinary officer has come on board and "
    "has signed the certificate that section 3 asks for."
)
AROUND = [
    f"Order {number} of this list deals with {topic} and names the person who keeps the list, the "
    f"place where it hangs and the day on which it is read out; see section {section} for the form of it."
    for number, (topic, section) in enumerate(
        (topic, 1 + at % 2)
        for at, topic in enumerate(
            "brooms|buckets|ladders|ropes|paint|oil|gloves|boots|flags|bells|whistles|chalk|clocks|keys|locks".split(
                "|"
            )
        )
    )
]
ORDERS = "\n\n".join([*AROUND[:9], ANSWER, *AROUND[9:]])
SECTIONS = (
    "# Standing orders\n\n## Section 1 Lists\n\nEvery list is written in ink.\n\n"
    f"## Section 2 Daily work\n\n{ORDERS}\n\n"
    "## Section 3 Certificates\n\nCertificates are signed in blue ink, dated and kept for ten years.\n"
)
TABLE = (
    "# Tariff\n\nWhat is paid for cargo:\n\n| Cargo | Fee |\n|---|---|\n"
    + "".join(
        f"| cargo of kind {number} | {number} crowns for each ton, paid on arrival |\n"
        for number in range(30)
    )
    + "| ostrich feathers | 900 crowns for each ton, paid before unloading |\n"
)
JAPANESE = "# 港則\n\n" + "".join(
    f"第{number}条の規定により、港長は第{number}号の台帳を作成し、事務所に備え置かなければならない。"
    for number in range(40)
).replace("第27号の台帳", "危険物を積んだ船舶の停泊場所")
CODE = "def tariff(cargo):\n    '''Return the fee. Ostrich feathers cost more.'''\n" + "".join(
    f"    if cargo == 'kind {number}':\n        return {number}  # Crowns. Paid on arrival.\n"
    for number in range(40)
)
QUESTION = "where does a ship with cattle wait for the veterinary officer"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = write(
        tmp_path_factory.mktemp("focus") / "docs",
        {"orders.md": SECTIONS, "tariff.md": TABLE, "kosoku.md": JAPANESE, "tariff.py": CODE},
    )
    with Library(folder.parent / ".loccit") as library:
        assert not library.index([folder]).failed
        yield library


def first(library: Library, query: str, **settings: object) -> SearchResult:
    return ask(library, query, **settings).results[0]


def real_lines(result: SearchResult) -> str:
    """What stands in the lines of the file that a result names."""
    assert result.lines
    lines = Path(result.source_path).read_text(encoding="utf-8").splitlines()
    return "\n".join(lines[result.lines.first - 1 : result.lines.last])


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_the_answer_is_shown_and_not_the_whole_chunk(library: Library, mode: str) -> None:
    found = first(library, QUESTION, search_mode=mode)
    whole = first(library, QUESTION, search_mode=mode, disabled=("focus",))
    assert ANSWER in found.content and ANSWER in whole.content
    assert len(found.content) < len(whole.content) / 2
    assert found.content in whole.content
    # It is still the same chunk of the same section.
    assert found.chunk_id == whole.chunk_id and found.chunk_ids == whole.chunk_ids
    assert found.section_label == whole.section_label == "Section 2"
    assert found.fused_score == whole.fused_score


def test_lines_are_those_of_what_is_shown(library: Library) -> None:
    found = first(library, QUESTION)
    assert real_lines(found) == found.content
    assert found.lines and found.lines.last - found.lines.first < 12


def test_references_are_those_of_what_is_shown(library: Library) -> None:
    found = first(library, QUESTION)
    whole = first(library, QUESTION, disabled=("focus",))
    assert {reference.text for reference in found.cross_references} >= {"section 3"}
    assert 0 < len(found.cross_references) < len(whole.cross_references)
    assert found.content.count("section ") == len(found.cross_references)


def test_a_phrase_among_other_words_is_found_inside(library: Library) -> None:
    found = first(library, 'cattle "veterinary officer" certificate')
    assert found.matches and found.exact_match
    for match in found.matches:
        assert found.content[match.start : match.end] == "veterinary officer"
        line = Path(found.source_path).read_text(encoding="utf-8").splitlines()[match.line - 1]
        assert "veterinary officer" in line


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("Section 2", {}),
        ('"veterinary officer"', {}),
        ("veterinary officer", {"search_mode": "exact"}),
        (QUESTION, {"parent_retrieval_enabled": True}),
        (QUESTION, {"disabled": ("focus",)}),
        (QUESTION, {"focus_threshold": 0.0}),
    ],
)
def test_what_is_left_whole(library: Library, query: str, options: dict[str, object]) -> None:
    response = ask(library, query, **options)
    assert AROUND[0] in response.results[0].content and AROUND[-1] in response.results[0].content


def test_a_threshold_of_1_shows_the_best_sentences_alone(library: Library) -> None:
    best = first(library, QUESTION, focus_threshold=1.0).content
    usual = first(library, QUESTION).content
    assert ANSWER in best and best in usual and len(best) < len(usual)


def test_the_order_of_what_was_found_is_not_changed(library: Library) -> None:
    for query in (QUESTION, "certificates in blue ink", "fee for feathers", "list of brooms"):
        order = ids(ask(library, query, disabled=("focus",), top_k=50))
        kept = ids(ask(library, query, top_k=50))
        assert kept == [one for one in order if one in set(kept)] and kept[0] == order[0]


def test_tables_and_source_code_are_not_cut(library: Library) -> None:
    results = ask(library, "fee for ostrich feathers", top_k=20).results
    table = next(result for result in results if result.source_path.endswith("tariff.md"))
    assert table.content.count("\n| ") == 32 and "| ostrich feathers |" in table.content
    code = next(result for result in results if result.source_path.endswith("tariff.py"))
    assert code.content == CODE.strip()


def test_scripts_without_spaces_are_focused_too(library: Library) -> None:
    found = first(library, "危険物を積んだ船舶の停泊場所", search_mode="keyword")
    assert "危険物を積んだ船舶の停泊場所" in found.content
    assert len(found.content) < len(JAPANESE) / 2 and found.content.endswith("。")


def test_the_command_shows_all_again_without_the_stage(library: Library) -> None:
    index = Path(first(library, QUESTION).source_path).parents[1] / ".loccit"

    def content(*options: str) -> str:
        done = CliRunner().invoke(
            app, ["search", QUESTION, "--json", "-k", "1", "--index", str(index), *options]
        )
        assert done.exit_code == 0, done.output
        return str(json.loads(done.stdout)["results"][0]["content"])

    assert content("--set", "disabled=focus").endswith(AROUND[-1])
    assert not content().endswith(AROUND[-1])


def test_pages_of_a_pdf_are_those_of_what_is_shown(tmp_path: Path) -> None:
    canvas_module = pytest.importorskip("reportlab.pdfgen.canvas")
    sheet = canvas_module.Canvas(str(tmp_path / "orders.pdf"), pagesize=(595, 842))
    paragraphs = [ANSWER if number == 21 else AROUND[number % 15] for number in range(24)]
    lines = [("Helvetica-Bold", 16, "Daily work")]
    for paragraph in paragraphs:
        words = paragraph.split()
        while words:
            lines.append(("Helvetica", 11, " ".join(words[:12])))
            words = words[12:]
    height = 780
    for font, size, text in lines:
        if height < 60:
            sheet.showPage()
            height = 780
        sheet.setFont(font, size)
        sheet.drawString(60, height, text)
        height -= 26 if size > 11 else 13
    sheet.save()
    with Library(tmp_path / ".loccit") as library:
        assert not library.index([tmp_path / "orders.pdf"]).failed
        whole = first(library, QUESTION, disabled=("focus",))
        found = first(library, QUESTION)
    assert whole.pages == Pages(1, 2) and found.pages == Pages(2, 2)
    assert "veterinary officer" in found.content and len(found.content) < len(whole.content) / 2


def test_explain_says_how_much_is_shown(library: Library) -> None:
    def shown(**settings: object) -> object:
        response = ask(library, QUESTION, **settings)
        assert response.explanation
        return response.explanation["shown"]

    assert shown() == "sentences"
    assert shown(disabled=("focus",)) == "chunks"
    assert shown(parent_retrieval_enabled=True) == "parents"
