"""Reading zip-based formats safely."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loccit.errors import ConversionError

MAX_ENTRIES = 20_000
MAX_TOTAL = 1 << 30
MAX_PART = 256 << 20
# Text compresses 10 to 30 times, sheets of numbers up to about 100; small parts are exempt.
MAX_RATIO = 200
RATIO_FROM = 16 << 20


def check_sizes(archive: zipfile.ZipFile) -> None:
    """Refuse an archive that declares an implausible unpacked size."""
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise ConversionError(f"holds {len(entries):,} parts, more than a document can sensibly have")
    total = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries) or 1
    if total > MAX_TOTAL or (total > RATIO_FROM and total / packed > MAX_RATIO):
        raise ConversionError(
            f"unpacks to {total >> 20:,} MB from {packed / 2**20:.1f} MB: looks like a zip bomb"
        )


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip file whose declared sizes are reasonable."""
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise ConversionError("the file is damaged or was not copied completely") from error
    with archive:
        check_sizes(archive)
        yield archive


def read_part(archive: zipfile.ZipFile, name: str) -> bytes:
    """One part, unpacked; ``KeyError`` if there is none of that name."""
    entry = archive.getinfo(name)
    if entry.flag_bits & 1:
        raise ConversionError("is password protected; save a copy without a password")
    if entry.file_size > MAX_PART:
        raise ConversionError(f"a part of it unpacks to {entry.file_size >> 20:,} MB, which is too much")
    try:
        # `read` stops at the declared size, so a false size cannot exceed the check above.
        return archive.read(entry)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, ValueError) as error:
        raise ConversionError(f"the file is damaged: {name} cannot be unpacked") from error
    except Exception as error:  # zlib.error and the like have no common base
        raise ConversionError(f"the file is damaged: {name} cannot be unpacked") from error


def parse_xml(data: bytes, what: str) -> Any:
    """Parse XML of unknown origin: no entities, no network, no unbounded trees."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, recover=True)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise ConversionError(f"the file is damaged: {what} is not valid XML") from error
    if root is None:
        raise ConversionError(f"the file is damaged: {what} is not valid XML")
    return root
