"""The flow of a document: what its pages hold, in reading order."""

from __future__ import annotations

from typing import TypeAlias

from .page import Heading, Line
from .tables import Table

Item: TypeAlias = Line | Table
Flow: TypeAlias = list[Line | Table | Heading]
