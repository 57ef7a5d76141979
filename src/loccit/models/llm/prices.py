"""Prices: what tokens cost, roughly, in dollars a million.

The table is data and grows old. ``LOCCIT_LLM_PRICES`` names a file of the same form whose entries come first. A
model that is in neither has no price, and only tokens are shown.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loccit.errors import LoccitError

VARIABLE = "LOCCIT_LLM_PRICES"
_TABLE = Path(__file__).with_name("prices.json")
_DATE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens.

    ``cached`` is the price of what a service has in its cache, ``written`` of what it puts there (the same as
    ``input`` when it is left out). Prefixes shorter than ``cacheable`` tokens are not cached. A prompt of more than
    ``long`` tokens costs ``times`` as much. ``counting`` is how many of the model's tokens one of ours makes, for
    estimates.
    """

    input: float
    output: float
    cached: float = -1.0
    written: float = -1.0
    cacheable: int = 1024
    long: int = 0
    times: float = 1.0
    counting: float = 1.0

    def cost(
        self, input_tokens: int, output_tokens: int, cached_tokens: int = 0, cache_write_tokens: int = 0
    ) -> float:
        """Return the dollars for one prompt and its answer; ``input_tokens`` counts all that was read."""
        plain = input_tokens - cached_tokens - cache_write_tokens
        cached = self.input if self.cached < 0 else self.cached
        written = self.input if self.written < 0 else self.written
        total = plain * self.input + cached_tokens * cached + cache_write_tokens * written
        times = self.times if 0 < self.long < input_tokens else 1.0
        return (total + output_tokens * self.output) * times / 1e6


def price_of(model: str) -> Price | None:
    """Return what a model costs, or None when that is not known; a date at the end of its name is left aside."""
    table = {**_read(_TABLE), **(_read(Path(own)) if (own := os.environ.get(VARIABLE)) else {})}
    entry = table.get(model) or table.get(_DATE.sub("", model))
    try:
        return Price(**entry) if entry else None
    except TypeError as error:
        raise LoccitError(f"The price of {model} in {os.environ.get(VARIABLE)} is wrong: {error}.") from error


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        table = json.loads(path.expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LoccitError(f"The prices in {path} (see {VARIABLE}) cannot be read: {error}") from error
    if not isinstance(table, dict) or not all(isinstance(entry, dict) for entry in table.values()):
        raise LoccitError(f"The prices in {path} (see {VARIABLE}) must be an object of objects, by model.")
    return table
