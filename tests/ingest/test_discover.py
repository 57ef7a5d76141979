"""Which files an index takes in."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loccit import Library
from loccit.errors import UsageError
from loccit.ingest.discover import discover

Names = Callable[..., list[str]]


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or f"# {path.stem}\n\nSome words about {path.stem}.\n", encoding="utf-8")
    return path


@pytest.fixture
def names(library: Library, docs: Path) -> Names:
    """Index some paths (by default the folder); the names of all documents then, relative to the folder."""

    def run(*paths: Path | str) -> list[str]:
        report = library.index(list(paths) or [docs])
        assert not report.failed
        return sorted(
            Path(os.path.relpath(info.source_path, docs)).as_posix() for info in library.documents()
        )

    return run


def test_a_folder_stands_for_the_documents_in_it(docs: Path, names: Names) -> None:
    for name in ("b.md", "a.txt", "sub/deep/c.html", "UPPER.MD"):
        write(docs / name)
    for name in ("picture.png", "program.exe", "none", "settings.json", "run.log", ".hidden.md", ".git/x.md"):
        write(docs / name)
    assert names() == ["UPPER.MD", "a.txt", "b.md", "sub/deep/c.html"]


@pytest.mark.parametrize(
    ("rules", "kept"),
    [
        ({"": "*.txt\n"}, ["a.md", "sub/b.md"]),
        ({"": "*.txt\n!keep.txt\n"}, ["a.md", "sub/b.md", "sub/keep.txt"]),
        ({"": "*.txt\n", "sub": "!keep.txt\n"}, ["a.md", "sub/b.md", "sub/keep.txt"]),
        ({"": "!*.txt\n", "sub": "*.txt"}, ["a.md", "sub/b.md"]),
        ({"": "sub/\n!sub/b.md\n"}, ["a.md"]),
        ({"": "/*\n!/sub\n"}, ["sub/b.md", "sub/keep.txt"]),
        ({"": "*.md\n!sub/\n"}, ["sub/keep.txt"]),
        ({"": "/a.md\n"}, ["sub/b.md", "sub/keep.txt"]),
        ({"sub": "/a.md\n"}, ["a.md", "sub/b.md", "sub/keep.txt"]),
        ({"": "a.m? \n# b.md\n\\#c\n"}, ["sub/b.md", "sub/keep.txt"]),
        ({"": "!\n\\\n[z-a]\n***\x00\n*.txt"}, ["a.md", "sub/b.md"]),
    ],
)
def test_gitignore_is_respected(docs: Path, names: Names, rules: dict[str, str], kept: list[str]) -> None:
    for name in ("a.md", "sub/b.md", "sub/keep.txt"):
        write(docs / name)
    for folder, text in rules.items():
        write(docs / folder / ".gitignore", text)
    assert names() == kept


def test_rules_of_a_repository_hold_below_its_top(docs: Path, names: Names) -> None:
    (docs / ".git").mkdir()
    write(docs / ".gitignore", "draft*.md\n")
    write(docs / "sub/.gitignore", "!draft2.md\n")
    for name in ("sub/in/draft1.md", "sub/in/draft2.md", "sub/in/final.md"):
        write(docs / name)
    assert names(docs / "sub" / "in") == ["sub/in/draft2.md", "sub/in/final.md"]


def test_rules_above_the_folder_do_not_count_without_a_repository(docs: Path, names: Names) -> None:
    write(docs / ".gitignore", "*.md\n")
    write(docs / "sub/a.md")
    assert names(docs / "sub") == ["sub/a.md"]


def test_what_is_named_is_taken(docs: Path, names: Names) -> None:
    (docs / ".git").mkdir()
    write(docs / ".gitignore", "build/\nsecret.md\n")
    for name in ("build/a.md", "secret.md", ".hidden.md", ".notes/n.md", "settings.json"):
        write(docs / name, "{}" if name.endswith("json") else "")
    write(docs / "settings.json", '{"colour": "green"}')
    write(docs / "README", "Plain words without any extension at all.\n")
    named = [
        docs / name for name in ("build", "secret.md", ".hidden.md", ".notes", "settings.json", "README")
    ]
    everything = [".hidden.md", ".notes/n.md", "README", "build/a.md", "secret.md", "settings.json"]
    assert names(*named) == everything
    # Nor does a run over the folder around them take them away again.
    assert names(docs) == everything
    (docs / "secret.md").unlink()
    assert names(docs) == [name for name in everything if name != "secret.md"]


def test_source_code_among_documents_is_taken(docs: Path, names: Names, library: Library) -> None:
    code = {
        "pump.py": 'class Pump:\n    def start_slowly(self):\n        """Start."""\n',
        "src/pump.rs": "pub fn start_pump(speed: u8) -> u8 {\n    speed\n}\n",
        "src/pump.c": "int pump_start(int speed)\n{\n    return speed;\n}\n",
        "src/pump.h": "int pump_start(int speed);\n",
        "web/App.TSX": "export const App = () => <p>pump</p>;\n",
        "bin/backup.sh": "backup() {\n  tar cf pump.tar .\n}\n",
    }
    for name, text in {"manual.md": "", **code}.items():
        write(docs / name, text)
    assert names() == sorted(["manual.md", *code])
    first = library.search("pump_start").results[0]
    assert Path(first.source_path).name in ("pump.c", "pump.h")
    assert Path(library.search("start_slowly").results[0].source_path).name == "pump.py"


def test_code_that_nobody_wrote_is_left_out(docs: Path, names: Names) -> None:
    for folder in ("node_modules/left-pad", "build", "Dist/x", "target", "vendor/x", "lib/site-packages/x"):
        write(docs / folder / "tool.js", "export const tool = 1;\n")
    write(docs / "my-python/pyvenv.cfg", "home = /usr\n")
    write(docs / "my-python/lib/module.py", "x = 1\n")
    for name in (
        "a.min.js",
        "a.bundle.js",
        "a_pb2.py",
        "a.pb.go",
        "theme.css",
        "setup.cfg",
        "a.toml",
        "x.patch",
    ):
        write(docs / name, "some = 1\n")
    write(docs / "large.sql", "insert into t values (1);\n" * 50_000)
    write(docs / ".git/hook.py", "x = 1\n")
    write(docs / "own.js", "export const own = 1;\n")
    # Documents are taken there as everywhere.
    write(docs / "build/notes.md")
    assert names() == ["build/notes.md", "own.js"]
    assert names(docs / "build", docs / "my-python", docs / "a.min.js") == [
        *["a.min.js", "build/notes.md", "build/tool.js", "my-python/lib/module.py", "own.js"],
    ]


def test_code_without_anything_in_it_is_no_failure(docs: Path, names: Names) -> None:
    (docs / "empty").mkdir()
    for number, text in enumerate(("", "\n", " \r\n\n")):
        (docs / "empty" / f"blank{number}.py").write_bytes(text.encode())
    write(docs / "short.py", "x\n")
    assert names() == ["short.py"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_that_is_called_like_code_is_not_read(docs: Path, names: Names) -> None:
    write(docs / "a.md")
    os.mkfifo(docs / "pipe.py")
    assert names() == ["a.md"]


def test_patterns_for_code(docs: Path, names: Names) -> None:
    for name in ("a.py", "sub/b.py", "sub/c.rs", "node_modules/d.py"):
        write(docs / name, "x = 1\n")
    assert names(f"{docs}/*") == ["a.py"]
    assert names(f"{docs}/**/*.rs") == ["a.py", "sub/c.rs"]
    # What a pattern asks for is asked for, wherever it lies.
    assert names(f"{docs}/**/*.py") == ["a.py", "node_modules/d.py", "sub/b.py", "sub/c.rs"]


def test_ignored_code_stays_out(docs: Path, names: Names) -> None:
    write(docs / ".loccitignore", "*.py\n")
    write(docs / "a.py", "x = 1\n")
    write(docs / "b.js", "x = 1\n")
    assert names() == ["b.js"]


def test_patterns(docs: Path, names: Names) -> None:
    for name in ("a.md", "sub/b.md", "sub/deep/c.md", "sub/x.txt", "sub/.hidden.md", "skipped/s.md"):
        write(docs / name)
    write(docs / "data.json", '{"colour": "green"}')
    write(docs / ".gitignore", "skipped/\n")
    assert names(f"{docs}/*.md") == ["a.md"]
    assert names(f"{docs}/*.json") == ["a.md", "data.json"]
    assert names(f"{docs}/*/?.md") == ["a.md", "data.json", "sub/b.md"]
    assert names(f"{docs}/**/c.*") == ["a.md", "data.json", "sub/b.md", "sub/deep/c.md"]
    assert names(f"{docs}/s*/**") == ["a.md", "data.json", "sub/b.md", "sub/deep/c.md", "sub/x.txt"]
    (docs / "sub/b.md").unlink()
    (docs / "a.md").unlink()
    # A pattern speaks of what it matches, and of nothing else.
    assert names(f"{docs}/sub/*") == ["a.md", "data.json", "sub/deep/c.md", "sub/x.txt"]
    assert names(docs) == ["data.json", "sub/deep/c.md", "sub/x.txt"]


def test_a_pattern_over_a_folder_leaves_what_lies_deeper(docs: Path, names: Names) -> None:
    write(docs / "a.md")
    write(docs / "sub/b.md")
    assert names() == ["a.md", "sub/b.md"]
    assert names(f"{docs}/*") == ["a.md", "sub/b.md"]


def test_a_pattern_that_matches_nothing(docs: Path, names: Names) -> None:
    assert names(f"{docs}/*.md", f"{docs}/nowhere/*.md") == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
def test_symbolic_links_are_not_followed(docs: Path, tmp_path: Path, names: Names) -> None:
    outside = write(tmp_path / "outside/secret.md")
    write(docs / "a.md")
    write(docs / "sub/b.md")
    (docs / "file-out.md").symlink_to(outside)
    (docs / "folder-out").symlink_to(outside.parent)
    (docs / "file-in.md").symlink_to(docs / "a.md")
    (docs / "folder-in").symlink_to(docs / "sub")
    (docs / "sub/loop").symlink_to(docs)
    (docs / "broken.md").symlink_to(docs / "nowhere.md")
    assert names() == ["a.md", "sub/b.md"]
    assert names(f"{docs}/**/*.md") == ["a.md", "sub/b.md"]
    # Named, they are what they lead to.
    assert names(docs / "file-out.md") == ["a.md", "file-out.md", "sub/b.md"]
    assert names(docs / "folder-out") == ["a.md", "file-out.md", "folder-out/secret.md", "sub/b.md"]


def test_the_index_is_not_indexed(docs: Path, quick: None) -> None:
    write(docs / "a.md")
    with Library(docs / "index") as library:
        library.index(docs)
        write(docs / "index" / "note.md")
        (docs / "index" / ".gitignore").unlink()
        library.index(docs)
        assert [info.source_path for info in library.documents()] == [str(docs / "a.md")]


def test_a_folder_of_documents_is_not_taken_for_an_index(docs: Path) -> None:
    (docs / "a.md").write_text("text")
    with pytest.raises(UsageError, match="its own folder"):
        Library(docs)
    assert [path.name for path in docs.iterdir()] == ["a.md"]


def test_overlapping_paths_are_one(docs: Path, names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    write(docs / "sub/a.md")
    monkeypatch.chdir(docs)
    paths = [docs, docs / "sub", "sub/../sub", "sub/a.md", f"{docs}/**/*.md", "."]
    assert names(*paths) == ["sub/a.md"]


@pytest.mark.parametrize(
    "name",
    ["a b.md", "ünïcödé 文書.md", "line\nbreak.md", "quote'\".md", "[1].md", "%41?.md", "-x.md", "😀.md"],
)
@pytest.mark.skipif(sys.platform == "win32", reason="names that Windows does not allow")
def test_odd_names(docs: Path, names: Names, library: Library, name: str) -> None:
    write(docs / name, "# Odd\n\nA walrus.\n")
    assert names() == [name]
    assert names(docs / name) == [name]
    assert library.search("walrus").results[0].source_path == str(docs / name)
    (docs / name).unlink()
    assert names() == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep names in Unicode")
def test_a_name_that_is_not_text_is_reported(docs: Path, library: Library) -> None:
    write(docs / "good.md")
    bad = Path(os.fsdecode(os.fsencode(docs) + b"/b\xffd"))
    write(bad / "x.md")
    write(Path(f"{bad}.md"), "# Bad\n\nSome words.\n")
    for _ in range(2):
        report = library.index([docs, bad, Path(f"{bad}.md")])
        reported = {failure.path: failure.reason for failure in report.failed}
        assert reported.keys() == {f"{docs}/b\\xffd", f"{docs}/b\\xffd.md"}
        assert len(report.failed) == 2
        assert all("UTF-8" in reason for reason in reported.values())
        assert len(library.documents()) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_what_is_not_a_file_is_reported(docs: Path, library: Library) -> None:
    write(docs / "good.md")
    os.mkfifo(docs / "pipe.md")
    report = library.index([docs, docs / "pipe.md"])
    assert [(failure.path, failure.reason) for failure in report.failed] == [
        (str(docs / "pipe.md"), "is not a file")
    ]
    assert report.added == [str(docs / "good.md")]


def test_a_folder_that_cannot_be_read_is_reported_and_keeps_its_documents(
    docs: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(docs / "a.md")
    write(docs / "locked/b.md")
    library.index(docs)
    scandir = os.scandir

    def refuse(folder: Any) -> Any:
        if Path(folder).name == "locked":
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(folder)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refuse)
        report = library.index(docs)
    assert [(failure.path, failure.reason) for failure in report.failed] == [
        (str(docs / "locked"), "Permission denied")
    ]
    assert report.removed == [] and len(library.documents()) == 2


def test_a_path_that_does_not_exist_changes_nothing(docs: Path, library: Library) -> None:
    write(docs / "a.md")
    library.index(docs)
    with pytest.raises(UsageError, match=r"nowhere does not exist"):
        library.index([docs, docs / "nowhere"])
    (docs / "broken.md").symlink_to(docs / "nowhere.md")
    with pytest.raises(UsageError, match="does not exist"):
        library.index(docs / "broken.md")
    assert library.status().roots == [str(docs)]
    with Library(docs.parent / "empty") as empty, pytest.raises(UsageError, match="Nothing to index"):
        empty.index()


def test_what_a_folder_skips_is_counted(tmp_path: Path) -> None:
    for name in ("a.md", "b.png", "c.png", "d.json", "README", "BUILD", "e.min.js", ".hidden.png"):
        (tmp_path / name).write_text("text")
    (tmp_path / "pump.1").write_text(".TH PUMP 1\n.SH NAME\npump\n")
    (tmp_path / "log.1").write_text("a line\n")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "x.png").write_text("text")
    found = discover([tmp_path], frozenset((".md", ".1")), tmp_path / "index")
    assert {Path(file.path).name for file in found.files} == {"a.md", "README", "pump.1"}
    assert {name: count for name, count in found.skipped.items() if count} == {
        ".png": 2,
        ".json": 1,
        "": 1,
        ".js": 1,
        ".1": 1,
    }
