"""JSON, JSON Lines, YAML and XML as readable, searchable text; spreadsheets as one Markdown table per sheet."""

from __future__ import annotations

import csv
import datetime
import importlib
import io
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from loccit.errors import ConversionError, MissingExtraError
from loccit.model.document import Converted
from loccit.read.text import read_text
from loccit.read.written import markdown_table, trim
from loccit.read.zips import open_zip

_MAX_DEPTH = 60
_MAX_LINES = 500_000
_TITLES = ("title", "name", "heading", "id")


def convert_json(path: Path) -> Converted:
    """JSON as an indented outline of its keys and values."""
    decoded = read_text(path)
    try:
        value = json.loads(decoded.text)
    except (ValueError, RecursionError) as error:
        raise ConversionError(f"is not valid JSON: {error}") from error
    return _converted(_outline(value, 0), decoded.warnings)


def convert_jsonl(path: Path) -> Converted:
    """JSON Lines: one section per record, with its title or number as heading."""
    decoded = read_text(path)
    lines: list[str] = []
    bad = 0
    for number, line in enumerate(decoded.text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            bad += 1
            continue
        title = (
            next((record[key] for key in _TITLES if record.get(key)), "") if isinstance(record, dict) else ""
        )
        lines += ["", f"## {' '.join(str(title).split()) or f'Record {number}'}", "", *_outline(record, 0)]
        if len(lines) > _MAX_LINES:
            break
    if bad and not lines:
        raise ConversionError("is not valid JSON Lines")
    warnings = (
        (*decoded.warnings, f"{bad} lines are not valid JSON and were left out") if bad else decoded.warnings
    )
    return _converted(iter(lines), warnings)


def convert_yaml(path: Path) -> Converted:
    """YAML is readable as it is; only check that it is text."""
    decoded = read_text(path)
    return Converted(decoded.text, markdown=False, warnings=decoded.warnings)


def convert_xml(path: Path) -> Converted:
    """XML: the text of its elements, one paragraph each, with the element names of short values."""
    from loccit.read.zips import parse_xml

    root = parse_xml(path.read_bytes(), "it")
    lines: list[str] = []
    stack = [root]
    while stack and len(lines) < _MAX_LINES:
        element = stack.pop()
        if not isinstance(element.tag, str):
            continue
        name = element.tag.rpartition("}")[2]
        mixed = len(element) and any((child.tail or "").strip() for child in element)
        if mixed or not len(element):
            if text := " ".join("".join(element.itertext()).split()):
                lines += [f"{name}: {text}" if len(text) < 80 and not mixed else text, ""]
            continue
        if text := " ".join((element.text or "").split()):
            lines += [text, ""]
        stack.extend(reversed(element))
    return Converted("\n".join(lines), markdown=False)


def _converted(lines: Iterator[str], warnings: tuple[str, ...]) -> Converted:
    kept: list[str] = []
    for line in lines:
        if len(kept) >= _MAX_LINES:
            warnings = (*warnings, f"the file was cut after {_MAX_LINES:,} values")
            break
        kept.append(line)
    return Converted("\n".join(kept).strip("\n") + "\n" if kept else "", warnings=warnings)


def _outline(value: Any, depth: int) -> Iterator[str]:
    """``- key: value`` lines, nested values indented below their key."""
    if depth > _MAX_DEPTH:
        raise ConversionError("nests its values too deeply to be read")
    indent = "  " * depth
    if isinstance(value, dict):
        pairs: Iterator[tuple[str, Any]] = ((f"{key}:", item) for key, item in value.items())
    elif isinstance(value, list):
        pairs = (("", item) for item in value)
    else:
        yield f"{indent}{_scalar(value)}"
        return
    for label, item in pairs:
        if isinstance(item, (dict, list)) and item:
            if isinstance(item, list) and all(not isinstance(part, (dict, list)) for part in item):
                yield f"{indent}- {label} {', '.join(map(_scalar, item))}".replace("-  ", "- ")
                continue
            yield f"{indent}- {label or '·'}"
            yield from _outline(item, depth + 1)
        else:
            yield f"{indent}- {label} {_scalar(item)}".replace("-  ", "- ").rstrip()


def _scalar(value: Any) -> str:
    if value is None or value == [] or value == {}:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(str(value).split())


# -- spreadsheets -----------------------------------------------------------------------------------------------


MAX_CELLS = 500_000
MAX_ROWS = 50_000
MAX_COLUMNS = 1000
# A header is looked for in the first rows: tables often have titles and notes above them.
_PREAMBLE_ROWS = 10


def convert_xlsx(path: Path) -> Converted:
    """Excel workbooks: the last calculated values, without hidden sheets."""
    import openpyxl

    with open_zip(path):
        # Only checks the sizes: openpyxl opens the file itself.
        pass
    workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        sheets = []
        for sheet in workbook.worksheets:
            if sheet.sheet_state != "visible":
                continue
            # The size that a sheet declares is often wrong and would cost a million empty rows.
            sheet.reset_dimensions()
            sheets.append((sheet.title, sheet.iter_rows(values_only=True, max_col=MAX_COLUMNS)))
        text, warnings = _render(sheets)
        properties = workbook.properties
        metadata = {
            key: str(value)
            for key, value in {
                "title": properties.title,
                "author": properties.creator if properties.creator != "openpyxl" else None,
                "description": properties.description,
                "keywords": properties.keywords,
            }.items()
            if value
        }
    finally:
        workbook.close()
    return Converted(text, metadata=metadata, warnings=warnings)


def convert_xls(path: Path) -> Converted:
    """Excel 97 to 2003 workbooks."""
    try:
        xlrd: Any = importlib.import_module("xlrd")
    except ImportError as error:
        raise MissingExtraError("Reading old Excel files (.xls)", "xls") from error
    try:
        book = xlrd.open_workbook(str(path), on_demand=True)
    except xlrd.XLRDError as error:
        if "encrypted" in str(error).lower():
            raise ConversionError("is password protected; save a copy without a password") from error
        raise

    def value(cell: Any) -> Any:
        if cell.ctype == xlrd.XL_CELL_DATE:
            return xlrd.xldate_as_datetime(cell.value, book.datemode)
        if cell.ctype == xlrd.XL_CELL_BOOLEAN:
            return bool(cell.value)
        return None if cell.ctype == xlrd.XL_CELL_ERROR else cell.value

    names = [
        name for number, name in enumerate(book.sheet_names()) if book.sheet_by_index(number).visibility == 0
    ]
    sheets = [(name, (map(value, row) for row in book.sheet_by_name(name).get_rows())) for name in names]
    text, warnings = _render(sheets)
    return Converted(text, warnings=warnings)


def convert_csv(path: Path) -> Converted:
    """Values separated by commas, semicolons, tabs or pipes, as one table."""
    decoded = read_text(path)
    sample = decoded.text[:65536]
    dialect: type[csv.Dialect] = csv.excel_tab if path.suffix.lower() in (".tsv", ".tab") else csv.excel
    if dialect is csv.excel:
        try:
            dialect = csv.Sniffer().sniff(sample, delimiters=",;\t|")
        except csv.Error:
            # No obvious delimiter: one column, or something that the default dialect reads well enough.
            pass
        else:
            # Detected from a sample, these are wrong more often than right.
            dialect.doublequote, dialect.skipinitialspace = True, False
    previous = csv.field_size_limit(1 << 24)
    try:
        table, warnings = _table(
            csv.reader(io.StringIO(decoded.text, newline=""), dialect), "the file", MAX_CELLS
        )
    except csv.Error as error:
        raise ConversionError(f"is not a readable CSV file: {error}") from error
    finally:
        csv.field_size_limit(previous)
    return Converted(markdown_table(table), warnings=(*decoded.warnings, *warnings))


def _render(sheets: Iterable[tuple[str, Iterable[Iterable[Any]]]]) -> tuple[str, tuple[str, ...]]:
    parts: list[str] = []
    warnings: list[str] = []
    room = MAX_CELLS
    for name, rows in sheets:
        if room <= 0:
            warnings.append(f"sheet “{name}” was left out: the workbook is too large")
            continue
        table, cut = _table(rows, f"sheet “{name}”", room)
        room -= sum(map(len, table))
        warnings += cut
        if not table:
            continue
        lead, table = _split_preamble(table)
        parts.append(f"## {' '.join(name.split())}\n")
        parts += [" ".join(cell.strip() for cell in row if cell.strip()) + "\n" for row in lead]
        if table:
            parts.append(markdown_table(table))
    return "\n".join(parts), tuple(warnings)


def _table(rows: Iterable[Iterable[Any]], what: str, room: int) -> tuple[list[list[str]], list[str]]:
    """Cells as trimmed text, and a warning if the limit was reached."""
    kept: list[list[str]] = []
    source = iter(rows)
    cells = 0
    for row in islice(source, 2_000_000):
        values = [_value(value) for value in islice(row, MAX_COLUMNS)]
        while values and not values[-1].strip():
            values.pop()
        if not values:
            continue
        if len(kept) >= MAX_ROWS or cells + len(values) > room:
            return trim(kept), [f"{what} was cut after {len(kept):,} rows"]
        cells += len(values)
        kept.append(values)
    return trim(kept), []


def _split_preamble(table: list[list[str]]) -> tuple[list[list[str]], list[list[str]]]:
    """Rows of a single cell above a table of several columns are its title, not its header."""
    if len(table) < 2 or len(table[0]) < 2:
        return [], table
    for number, row in enumerate(table[:_PREAMBLE_ROWS]):
        if sum(bool(cell.strip()) for cell in row) > 1:
            return table[:number], trim(table[number:])
    return [], table


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
    if isinstance(value, datetime.datetime):
        return (
            value.strftime("%Y-%m-%d")
            if value.time() == datetime.time()
            else value.strftime("%Y-%m-%d %H:%M")
        )
    return str(value)
