"""Discover: which files a list of folders, globs and files stands for."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from pathspec import PathSpec

from pinakes.errors import UsageError

# Patterns with the folder they count from, outermost first.
Rules: TypeAlias = "list[tuple[Path, PathSpec[Any]]]"
IGNORE_FILES = (".gitignore", ".pinakesignore")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to be indexed, and its state when it was seen."""

    path: str
    size: int
    mtime_ns: int


@dataclass(slots=True)
class Discovery:
    """The files that were found; ``covers`` tells which indexed files should have been among them."""

    files: list[FoundFile] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    singles: set[str] = field(default_factory=set)
    patterns: list[str] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)

    def covers(self, path: str) -> bool:
        """Whether a file would have been found if it still existed."""
        if path in self.singles or any(_matches(path, pattern) for pattern in self.patterns):
            return True
        if any(path.startswith(folder.rstrip(os.sep) + os.sep) for folder, _ in self.unreadable):
            # A folder that cannot be listed now says nothing about what is in it.
            return False
        return any(path.startswith(folder.rstrip(os.sep) + os.sep) for folder in self.folders)


def _matches(path: str, pattern: str) -> bool:
    return PathSpec.from_lines("gitignore", [pattern.lstrip("/")]).match_file(path.lstrip("/"))


def discover(paths: Sequence[str | Path], extensions: frozenset[str], skip: Path) -> Discovery:
    """Find the files below ``paths``. Hidden and ignored files are left out, and so is ``skip``, the index.

    Symbolic links are not followed: what they lead to inside the folder is found anyway, and what lies outside
    was not asked for. A file that is named itself is always taken.
    """
    discovery = Discovery()
    seen: set[str] = set()
    for given in paths:
        text = os.path.expanduser(str(given))
        path = Path(os.path.abspath(text))
        if path.is_dir():
            discovery.folders.append(str(path))
            found: Iterator[Path] = _walk(path, extensions, skip.absolute(), discovery)
        elif path.exists():
            discovery.singles.add(str(path))
            found = iter([path])
        elif glob.has_magic(text):
            discovery.patterns.append(str(path))
            matches = (Path(os.path.abspath(match)) for match in sorted(glob.glob(text, recursive=True)))
            found = (match for match in matches if match.is_file() and not match.is_symlink())
        else:
            raise UsageError(
                f"{given} does not exist. Give a folder, a file or a pattern such as 'docs/**/*.md'."
            )
        for file in found:
            if str(file) in seen:
                continue
            seen.add(str(file))
            try:
                state = file.stat()
            except OSError as error:
                discovery.unreadable.append((str(file), error.strerror or str(error)))
                continue
            discovery.files.append(FoundFile(str(file), state.st_size, state.st_mtime_ns))
    return discovery


def _walk(root: Path, extensions: frozenset[str], skip: Path, discovery: Discovery) -> Iterator[Path]:
    stack: list[tuple[Path, Rules]] = [(root, _outer_rules(root))]
    while stack:
        folder, rules = stack.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            discovery.unreadable.append((str(folder), error.strerror or str(error)))
            continue
        rules = [*rules, *_rules_of(folder)]
        below: list[tuple[Path, Rules]] = []
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            path = Path(entry.path)
            is_folder = entry.is_dir(follow_symlinks=False)
            if path == skip or _ignored(path, is_folder, rules):
                continue
            if is_folder:
                below.append((path, rules))
            elif entry.is_file(follow_symlinks=False) and path.suffix.lower() in extensions:
                yield path
        stack.extend(reversed(below))


def _rules_of(folder: Path) -> Rules:
    rules = []
    for name in IGNORE_FILES:
        try:
            lines = (folder / name).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        rules.append((folder, PathSpec.from_lines("gitignore", lines)))
    return rules


def _outer_rules(root: Path) -> Rules:
    """Rules of the folders above, up to the top of the repository that ``root`` lies in."""
    parents = list(root.parents)
    top = next((index for index, parent in enumerate([root, *parents]) if (parent / ".git").exists()), None)
    if top is None or top == 0:
        return []
    return [rule for parent in reversed(parents[:top]) for rule in _rules_of(parent)]


def _ignored(path: Path, is_folder: bool, rules: Rules) -> bool:
    ignored = False
    for base, spec in rules:
        relative = path.relative_to(base).as_posix() + ("/" if is_folder else "")
        verdict = spec.check_file(relative).include
        if verdict is not None:
            # The rule nearest to the file has the last word, as in git.
            ignored = verdict
    return ignored
