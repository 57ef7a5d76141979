"""Discover: which files a list of folders, globs and files stands for, and what was skipped.

Code written by people is included, but not what tools generate: installed packages, build output, minified and
generated files. Settings and style sheets are skipped like JSON and YAML, since they are not documents either.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import re
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import NamedTuple, TypeAlias

from pathspec import GitIgnoreSpec

from loccit.grammar.text.code_languages import MAX_SOURCE_BYTES, language_of_file
from loccit.read.sniff import MANUAL_EXTENSIONS

# Patterns with the folder they are relative to, outermost first.
Rules: TypeAlias = "list[tuple[Path, GitIgnoreSpec]]"
IGNORE_FILES = (".gitignore", ".loccitignore")


class FoundFile(NamedTuple):
    """A file to be indexed, with its state when it was found."""

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
    missing: list[str] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    # Numbers of files skipped in folders, by extension.
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def places(self) -> list[str]:
        """The files and folders that contain everything it covers."""
        return [*self.folders, *self.singles, *(str(_base(Path(pattern))) for pattern in self.patterns)]

    def covers(self, path: str) -> bool:
        """Whether a file would have been found if it still existed."""
        if any(is_at_or_below(path, unreadable) for unreadable, _ in self.unreadable):
            # A folder that cannot be read now says nothing about its contents.
            return False
        return (
            path in self.singles
            or any(is_at_or_below(path, folder) for folder in self.folders)
            or any(_matches(Path(path).parts, Path(pattern).parts) for pattern in self.patterns)
        )


def absolute(path: str | Path) -> str:
    """Return a path as the index stores it; symbolic links are not resolved."""
    return os.path.abspath(os.path.expanduser(str(path)))


def is_at_or_below(path: str, folder: str) -> bool:
    """Whether a path is a folder or anywhere in it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def discover(paths: Sequence[str | Path], extensions: frozenset[str], skip: Path) -> Discovery:
    """Find the files below ``paths``: those with one of the extensions, and source code.

    Hidden and ignored files are left out, and so are ``skip``, the index, and code that tools generate. Symbolic links
    are not followed: targets inside the folder are found anyway, and those outside were not asked for. A file or folder
    that is named explicitly is always included.
    """
    discovery = Discovery()
    found: dict[str, FoundFile] = {}
    for given in paths:
        path = Path(absolute(given))
        if not _is_text(str(path)):
            discovery.unreadable.append(_unspeakable(str(path)))
            continue
        for file in _files(path, extensions, str(skip.absolute()), discovery):
            found.setdefault(file.path, file)
    discovery.files = list(found.values())
    discovery.unreadable = list(dict(discovery.unreadable).items())
    return discovery


def remembered(roots: Iterable[str]) -> Discovery:
    """Return what the paths of earlier runs stand for, without looking for files."""
    discovery = Discovery()
    for root in roots:
        _classify(Path(root), discovery)
    return discovery


def _classify(path: Path, discovery: Discovery) -> None:
    if path.is_dir():
        discovery.folders.append(str(path))
        return
    # A pattern too: it may once have been the name of a file, brackets and all.
    discovery.singles.add(str(path))
    if path.exists():
        return
    (discovery.patterns if glob.has_magic(str(path)) else discovery.missing).append(str(path))


def _files(path: Path, extensions: frozenset[str], skip: str, discovery: Discovery) -> Iterator[FoundFile]:
    _classify(path, discovery)
    if str(path) in discovery.folders:
        return _walk(path, extensions, skip, discovery)
    if str(path) in discovery.patterns:
        return _glob(path, extensions, skip, discovery)
    return _named(path, discovery)


def _named(path: Path, discovery: Discovery) -> Iterator[FoundFile]:
    """A file that is named explicitly, symbolic link or not."""
    file = str(path)
    try:
        state = path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        discovery.unreadable.append((file, error.strerror or str(error)))
        return
    if stat.S_ISREG(state.st_mode):
        yield FoundFile(file, state.st_size, state.st_mtime_ns)
    else:
        discovery.unreadable.append((file, "is not a file"))


# -- names -----------------------------------------------------------------------------------------------------


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unspeakable(path: str) -> tuple[str, str]:
    """Linux allows any bytes in a name. Such a file could be neither recorded nor cited."""
    return os.fsencode(path).decode("utf-8", "backslashreplace"), "its name is not valid UTF-8; rename it"


# -- patterns --------------------------------------------------------------------------------------------------


def _base(pattern: Path) -> Path:
    """The last literal folder of a pattern."""
    fixed = next(number for number, part in enumerate(pattern.parts) if glob.has_magic(part))
    return Path(*pattern.parts[:fixed])


def _glob(pattern: Path, extensions: frozenset[str], skip: str, discovery: Discovery) -> Iterator[FoundFile]:
    """Walk from the last literal folder of the pattern, with the same rules as for any folder."""
    parts, base = pattern.parts, _base(pattern)
    depth = None if "**" in parts else len(parts) - len(base.parts)
    # `*.json` asks for JSON, `*` for documents.
    if not glob.has_magic(pattern.suffix):
        extensions |= {pattern.suffix.lower()}
    if not base.is_dir():
        return
    for file in _walk(base, extensions, skip, discovery, depth):
        if _matches(Path(file.path).parts, parts):
            yield file


def _matches(path: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_matches(path[skipped:], pattern[1:]) for skipped in range(len(path) + 1))
    return bool(path) and fnmatch.fnmatch(path[0], pattern[0]) and _matches(path[1:], pattern[1:])


# -- folders ---------------------------------------------------------------------------------------------------


def _walk(
    root: Path, extensions: frozenset[str], skip: str, discovery: Discovery, depth: int | None = None
) -> Iterator[FoundFile]:
    rules = _outer_rules(root)
    if _ignored(root, True, rules):
        # It was named explicitly, so rules that would hide it do not apply.
        rules = []
    stack = [(root, rules, 1, True)]
    while stack:
        folder, rules, level, own = stack.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            discovery.unreadable.append((str(folder), error.strerror or str(error)))
            continue
        rules = [*rules, *_rules_of(folder)]
        # A folder that is named explicitly is always included.
        own = own and (level == 1 or not is_filled_by_tools(folder.name, {entry.name for entry in entries}))
        below: list[tuple[Path, Rules, int, bool]] = []
        for entry in entries:
            # Folders have thousands of files: creating a path object for each would take longer than all the
            # rest.
            name = entry.name
            extension = extension_of(name)
            if name.startswith(".") or entry.is_symlink():
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            wanted = (
                is_folder
                or (extension in extensions and (extension not in _NUMBERS or is_manual(entry.path)))
                or is_document_by_name(name)
                or (own and _is_own_source(entry))
            )
            if (is_folder and entry.path == skip) or (rules and _ignored(Path(entry.path), is_folder, rules)):
                continue
            if not wanted:
                discovery.skipped[extension] += own
            elif not (name.isascii() or _is_text(name)):
                discovery.unreadable.append(_unspeakable(entry.path))
            elif is_folder:
                below.append((Path(entry.path), rules, level + 1, own))
            elif entry.is_file(follow_symlinks=False):
                try:
                    state = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # deleted a moment ago
                except OSError as error:
                    discovery.unreadable.append((entry.path, error.strerror or str(error)))
                    continue
                yield FoundFile(entry.path, state.st_size, state.st_mtime_ns)
        if depth is None or level < depth:
            stack.extend(reversed(below))


def _is_own_source(entry: os.DirEntry[str]) -> bool:
    try:
        if not is_source(entry.name) or not entry.is_file(follow_symlinks=False):
            return False
        return is_worth_reading(Path(entry.path), entry.stat(follow_symlinks=False).st_size)
    except OSError:
        return False  # deleted a moment ago


# -- ignore rules ----------------------------------------------------------------------------------------------


def _rules_of(folder: Path) -> Rules:
    rules = []
    for name in IGNORE_FILES:
        try:
            lines = (folder / name).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        rules.append((folder, GitIgnoreSpec.from_lines(filter(_is_rule, lines))))
    return rules


def _is_rule(line: str) -> bool:
    """Whether a line is a valid rule; git skips invalid ones too."""
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _outer_rules(root: Path) -> Rules:
    """Rules of the parent folders, up to the root of the repository that ``root`` is in."""
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
            # The rule nearest to the file takes precedence, as in git.
            ignored = verdict
    return ignored


# -- kinds of files ---------------------------------------------------------------------------------------------


_KINDS = {
    "images; name the files, or use --ocr force, to read them": "png jpg jpeg tif tiff",
    "images": "gif webp svg ico icns bmp heic avif psd ai eps xcf",
    "data; name the files to index them": "json jsonl ndjson yaml yml xml log toml ini cfg conf env lock plist",
    "archives": "zip gz tgz bz2 xz 7z rar tar zst jar whl deb rpm iso dmg",
    "programs": "exe dll so dylib o a lib obj class pyc pyo pyd wasm bin apk msi",
    "sound and video": "mp3 wav ogg flac m4a mp4 mov avi mkv webm",
    "fonts": "ttf otf woff woff2 eot",
    "databases": "db sqlite sqlite3 mdb parquet arrow feather pkl npy npz h5 pt onnx safetensors",
    "style sheets": "css scss sass less",
    "old Office formats": "doc ppt xlsb odp ods",
}
_REASONS = {f".{name}": kind for kind, names in _KINDS.items() for name in names.split()}
_NUMBERS = frozenset(MANUAL_EXTENSIONS)
_SHOWN = 4
_SAMPLE = 8192
_MANUAL = re.compile(rb"^[.'](?:TH|Dd|Dt|Sh|SH)[ \t]", re.M)
# README, LICENSE-MIT, COPYING: text by convention. BUILD and the like are settings of tools.
_NAMED = re.compile(r"[A-Z]{3,}(?:[-_][A-Za-z0-9-]+)*|ChangeLog")
_NOT_DOCUMENTS = frozenset(
    "BUILD WORKSPACE OWNERS CODEOWNERS MANIFEST VERSION HEAD PKG-INFO RECORD WHEEL METADATA".split()
)


def is_document_by_name(name: str) -> bool:
    """Whether a file without an extension is a text that people write.

    >>> [is_document_by_name(name) for name in ("README", "LICENSE-MIT", "Makefile", "BUILD", "README.png")]
    [True, True, False, False, False]
    """
    return bool(_NAMED.fullmatch(name)) and name not in _NOT_DOCUMENTS


def is_manual(path: str) -> bool:
    """Whether a file named like a manual page (``ls.1``) is one."""
    try:
        with Path(path).open("rb") as file:
            return bool(_MANUAL.search(file.read(_SAMPLE)))
    except OSError:
        return True  # reading it will say why it cannot be read


def extension_of(name: str) -> str:
    """Return the extension that files of this name are counted under, or "".

    >>> [extension_of(name) for name in ("Notes.MD", "README", "ends.", ".hidden")]
    ['.md', '', '', '']
    """
    dot = name.rfind(".")
    return name[dot:].lower() if 0 < dot < len(name) - 1 else ""


def skipped_line(skipped: Mapping[str, int]) -> str:
    """Say how many files were skipped, by extension, and why; "" if none.

    >>> skipped_line({".gif": 7, ".json": 3, "": 1})
    'skipped 11 files: 7 .gif (images), 3 .json (data; name the files to index them), 1 without an extension'
    """
    total = sum(skipped.values())
    if not total:
        return ""
    most = sorted(skipped.items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{count:,} {_described(extension)}" for extension, count in most[:_SHOWN]]
    if rest := sum(count for _, count in most[_SHOWN:]):
        parts.append(f"{rest:,} other{'s' if rest > 1 else ''}")
    return f"skipped {total:,} file{'s' if total > 1 else ''}: {', '.join(parts)}"


def _described(extension: str) -> str:
    if not extension:
        return "without an extension"
    reason = _REASONS.get(extension)
    if reason is None and language_of_file(f"a{extension}"):
        reason = "code that is generated, empty or too large"
    if reason is None:
        reason = "not pages of the manual" if extension in MANUAL_EXTENSIONS else "of unknown type"
    return f"{extension} ({reason})"


# -- source code ------------------------------------------------------------------------------------------------

_NOT_SOURCE = frozenset(("css", "ini", "toml", "diff"))
# Names of folders that tools fill.
_TOOL_FOLDERS = frozenset(
    "node_modules bower_components jspm_packages site-packages dist-packages __pycache__ __pypackages__ venv "
    "virtualenv vendor third_party thirdparty build dist out target obj deriveddata pods coverage htmlcov".split()
)
# Every Python virtual environment has this file, whatever its own name is.
_ENVIRONMENT = "pyvenv.cfg"
_GENERATED = (".min.", ".bundle.", ".pb.", ".generated.", ".g.", "_pb2.", "_pb2_grpc.")
_BLANK_BYTES = 64  # a file this small may have nothing but line ends in it, as many an __init__.py has


def is_source(path: str) -> bool:
    """Whether a file is source code by its name.

    >>> [is_source(name) for name in ("pump.py", "lib/pump.H", "pump.min.js", "style.css", "pump.md")]
    [True, True, False, False, False]
    """
    name = PurePath(path).name.lower()
    language = language_of_file(name) if PurePath(name).suffix else ""
    return bool(language) and language not in _NOT_SOURCE and not any(mark in name for mark in _GENERATED)


def is_filled_by_tools(folder: str, names: Collection[str]) -> bool:
    """Whether the code in a folder was put there by tools, judging by the folder's name or the ``names`` in it."""
    return folder.lower() in _TOOL_FOLDERS or _ENVIRONMENT in names


def is_worth_reading(path: Path, size: int) -> bool:
    """Whether a source file is not empty, and not too large to have been written by hand."""
    if size > _BLANK_BYTES:
        return size <= MAX_SOURCE_BYTES
    try:
        return bool(path.read_bytes().strip())
    except OSError:
        return True  # reading it will say why it cannot be read
