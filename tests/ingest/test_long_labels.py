"""Labels without end, in every text format: the document is read, and its sections have ids of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from loccit import Library

_LENGTH = 60_000
_LABELS = {
    "dotted": "1." * (_LENGTH // 2),
    "digits": "Section " + "9" * _LENGTH,
    "letters": "1" + "(a)" * 9_000,
}
_FORMATS = {
    "md": "# {0}\n\nA pump.\n\n{0} hums\n",
    "txt": "{0}\n\nA pump.\n\n{0} hums\n",
    "rst": "{0}\n====\n\nA pump.\n",
    "adoc": "== {0}\n\nA pump.\n",
    "org": "* {0}\n\nA pump.\n",
    "tex": "\\section{{{0}}}\nA pump.\n",
    "html": "<h1>{0}</h1><p>A pump.</p>",
    "ipynb": '{{"cells": [{{"cell_type": "markdown", "source": ["# {0}\\n", "A pump."]}}]}}',
}


@pytest.mark.parametrize("label", _LABELS)
def test_a_label_without_end_is_read(tmp_path: Path, label: str) -> None:
    for ending, template in _FORMATS.items():
        (tmp_path / f"a.{ending}").write_text(template.format(_LABELS[label]))
    with Library(tmp_path / "index") as library:
        report = library.index([tmp_path], embed=False)
        assert not report.failed, report.failed
        for outline in library.outline():
            ids = [node.section_id for node in outline.nodes]
            assert len(set(ids)) == len(ids)
            assert all(len(name) < 1_000 for name in ids)
