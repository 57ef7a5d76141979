"""Draw the pictures of the documentation: run real commands on the examples and save what they print as SVG."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from loccit.cli import output
from loccit.cli.app import app

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
WIDTH = 100
PICTURES = {
    "index": ["loccit index examples", "loccit status"],
    "search": ["loccit search when may a detained vessel leave -k 2"],
    "search-reference": ["loccit search 'Section 306(b)' -k 2 --explain"],
    "outline": ["loccit outline harbour-safety-act.md --depth 2"],
    "section": ["loccit section 'Section 403(b)(2)'"],
    "define": ["loccit define vessel", "loccit define Business Days"],
    "refs": ["loccit refs Section 403", "loccit refs Going back"],
}
# Pictures must not fetch anything, so the font is whatever monospace the reader has.
FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


def draw(name: str, commands: list[str]) -> None:
    console = Console(
        record=True, width=WIDTH, force_terminal=True, color_system="truecolor", file=io.StringIO(),
        markup=False, emoji=False, highlight=False,
    )  # fmt: skip
    output.recorder = console
    for position, command in enumerate(commands):
        console.print(Text.assemble("\n" if position else "", ("$ ", "bold green"), (command, "bold")))
        try:
            app(shlex.split(command)[1:], prog_name="loccit")
        except SystemExit as ended:
            if ended.code:
                raise
    svg = console.export_svg(title="loccit", unique_id=name)
    (IMAGES / f"{name}.svg").write_text(FONT_FACE.sub("", svg), encoding="utf-8")
    print(f"docs/images/{name}.svg")


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        os.chdir(folder)
        for name, commands in PICTURES.items():
            draw(name, commands)
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
