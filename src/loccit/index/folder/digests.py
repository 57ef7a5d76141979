"""Digests: checksums by which what was stored is told from what a faulty disk or another program made of it.

A checksum is a CRC-32: the fastest that Python has, and certain to notice any damage within four bytes. Rows of the
record have one each or one per document (``seals``), files that only grow have one per block in their manifest, and
records that are rewritten in place carry their own, so that a reader needs no manifest to judge them.
"""

from __future__ import annotations

import json
import marshal
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loccit.errors import DamagedIndexError

BLOCK = 1 << 17
"""The size of the blocks of a file that are checked on their own: what a search first reads of it costs this much."""

CHECK = ("check", "<u8")
"""The last field of records that are rewritten in place; all others together take a multiple of eight bytes."""


def checksum(data: bytes | NDArray[np.uint8]) -> int:
    """Return the checksum of some bytes."""
    return zlib.crc32(data)  # type: ignore[arg-type]  # arrays are buffers before Python 3.12, too


def row_checksum(values: Iterable[Any]) -> int:
    """Return the checksum of some values as SQLite stores them; ``1``, ``1.0`` and ``"1"`` differ."""
    # This version of the format depends on nothing but the values.
    return zlib.crc32(marshal.dumps(tuple(values), 2))


# -- manifests -------------------------------------------------------------------------------------------------


def sealed_json(data: dict[str, Any]) -> str:
    """Return an object as JSON with the checksum of its values."""
    return json.dumps({**data, "checksum": _json_checksum(data)})


def unsealed_json(text: str, name: str) -> dict[str, Any]:
    """Return the object that ``sealed_json`` wrote, or that was written by hand without a checksum."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedIndexError(f"{name} is unreadable: {error}") from error
    if not isinstance(data, dict):
        raise DamagedIndexError(f"{name} does not hold what it should")
    if data.pop("checksum", None) not in (None, _json_checksum(data)):
        raise DamagedIndexError(f"{name} was changed by something else")
    return data


def _json_checksum(data: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(data, sort_keys=True).encode())


# -- records in files ------------------------------------------------------------------------------------------

# One odd factor per eight bytes: whatever changes in one of them changes the sum.
_FACTORS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F]
    + [0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3, 0x1D8E4E27C47D124F],
    np.uint64,
)
# Zeros are not what was written, but what a file has where nothing was.
_SALT = np.uint64(0x2545F4914F6CDD1D)


def seal(records: NDArray[Any]) -> NDArray[Any]:
    """Write the checksum of each record into it, and return them."""
    records["check"] = _sums(records)
    return records


def sound(records: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which records are as they were sealed; those that were never written are not."""
    return np.asarray(records["check"] == _sums(records))


def _sums(records: NDArray[Any]) -> NDArray[np.uint64]:
    words = np.ascontiguousarray(records).view(np.uint64).reshape(-1, records.itemsize // 8)[:, :-1]
    sums = np.full(len(records), _SALT)
    for factor, column in zip(_FACTORS, words.T, strict=False):
        sums += factor * column
    return sums


# -- blocks of files that only grow ------------------------------------------------------------------------------


class Blocks:
    """A file that only grows, with the checksums of its blocks; each is compared when it is first read."""

    def __init__(self, name: str, data: NDArray[Any], sums: Sequence[int]) -> None:
        self.sums: list[int] = list(map(int, sums))
        self._name = name
        self._data = data.reshape(-1).view(np.uint8) if data.size else np.zeros(0, np.uint8)
        self._unread = np.ones(-(-len(self._data) // BLOCK), bool)
        if len(self.sums) != len(self._unread):
            raise DamagedIndexError(f"{name} does not have as many blocks as it should")

    def check(self, first: int = 0, last: int | None = None) -> None:
        """Check the bytes from one position to another, or to the end."""
        end = len(self._data) if last is None else last
        self._check(np.flatnonzero(self._unread[first // BLOCK : -(-end // BLOCK)]) + first // BLOCK)

    def check_rows(self, rows: NDArray[np.intp], size: int) -> None:
        """Check the rows of this size at some positions; rows are at most as large as a block."""
        if not self._unread.any():
            return
        touched = np.zeros(len(self._unread), bool)
        touched[rows * size // BLOCK] = True
        touched[(rows * size + size - 1) // BLOCK] = True
        self._check(np.flatnonzero(touched & self._unread))

    def _check(self, blocks: NDArray[np.intp]) -> None:
        for block in blocks.tolist():
            if checksum(self._data[block * BLOCK : (block + 1) * BLOCK]) != self.sums[block]:
                raise DamagedIndexError(f"a block of {self._name} was changed by something else")
            self._unread[block] = False


def extended(path: Path, size: int, old: Blocks | None) -> list[int]:
    """Return the checksums of the first ``size`` bytes of a file of which ``old`` was the beginning."""
    known = len(old._data) if old else 0
    sums, place = [], known // BLOCK * BLOCK
    if old:
        # What it ended with is added to: it must be right until there.
        old.check(place)
        sums = old.sums[: place // BLOCK]
    with path.open("rb") as stream:
        stream.seek(place)
        while place < size:
            data = stream.read(min(BLOCK, size - place))
            if not data:
                raise DamagedIndexError(f"{path.name} is too short")
            sums.append(checksum(data))
            place += len(data)
    return sums
