"""The statements that the double of SQL Server knows, written out independently of the store that sends them.

In the templates, «table» is the quoted name of a table, «length» a number, «name» a name, @P any parameter, and what
stands between «some» and «» may be left out.
"""

from __future__ import annotations

import re

PAYLOAD = ("source_path", "heading", "language", "file_type", "text", "terms")
_EXACT = "COLLATE Latin1_General_100_BIN2"
_ALL = (*PAYLOAD, "words")
_NAMES = ("document", "vector", *_ALL)
_WHOLE = f"id, document, CAST(vector AS nvarchar(max)) AS vector, {', '.join(f'[{n}]' for n in PAYLOAD)}"
_KEYS = f"SELECT j.item {_EXACT} FROM OPENJSON(@P) WITH (item varchar(64) '$') AS j"
_IDS = _KEYS.replace("varchar(64)", "char(36)")
_ONE = "CAST(@P AS varchar(64))"

_TEMPLATES = {
    "language": "SET LANGUAGE us_english",
    "columns": (
        "SELECT c.name AS name, t.name AS type, COALESCE(c.vector_dimensions, 0) AS dimensions FROM sys.columns AS c "
        "JOIN sys.types AS t ON t.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID(@P)"
    ),
    "make_schema": "IF SCHEMA_ID(N'«name»') IS NULL EXEC(N'CREATE SCHEMA [«name»]')",
    "make_points": (
        f"CREATE TABLE «table» (id char(36) {_EXACT} NOT NULL CONSTRAINT [«key»] PRIMARY KEY, document varchar(64) "
        f"{_EXACT} NOT NULL, vector vector(«length») NULL, {', '.join(f'[{n}] nvarchar(max) NOT NULL' for n in PAYLOAD)}, "
        "words nvarchar(max) NULL, INDEX by_document (document))"
    ),
    "make_entries": (
        f"CREATE TABLE «table» ([key] varchar(64) {_EXACT} NOT NULL CONSTRAINT [«key»] PRIMARY KEY, kind varchar(64) "
        f"{_EXACT} NOT NULL, [group] nvarchar(200) {_EXACT} NOT NULL, [value] nvarchar(max) {_EXACT} NOT NULL, "
        "INDEX by_kind (kind, [group]))"
    ),
    "option": "EXEC sp_tableoption N'«table»', 'large value types out of row', 1",
    "has_full_text": "SELECT CAST(SERVERPROPERTY('IsFullTextInstalled') AS int) AS installed",
    "make_catalog": (
        "IF NOT EXISTS (SELECT 1 FROM sys.fulltext_catalogs WHERE name = N'«name»') CREATE FULLTEXT CATALOG [«name»]"
    ),
    "make_full_text": (
        "IF NOT EXISTS (SELECT 1 FROM sys.fulltext_indexes WHERE object_id = OBJECT_ID(N'«table»')) "
        "CREATE FULLTEXT INDEX ON «table» (words LANGUAGE 0) KEY INDEX [«key»] ON [«name»] "
        "WITH (CHANGE_TRACKING = AUTO, STOPLIST = OFF)"
    ),
    "drop": "DROP TABLE IF EXISTS «table»",
    "put_points": (
        f"MERGE «table» WITH (HOLDLOCK) AS target USING (SELECT j.id {_EXACT} AS id, j.document {_EXACT} AS document, "
        f"CAST(j.vector AS vector(«length»)) AS vector, {', '.join(f'j.[{n}]' for n in _ALL)} FROM OPENJSON(@P) "
        "WITH (id char(36), document varchar(64), vector nvarchar(max) AS JSON, "
        f"{', '.join(f'[{n}] nvarchar(max)' for n in _ALL)}) AS j) AS source ON target.id = source.id "
        f"WHEN MATCHED THEN UPDATE SET {', '.join(f'[{n}] = source.[{n}]' for n in _NAMES)} "
        f"WHEN NOT MATCHED THEN INSERT (id, {', '.join(f'[{n}]' for n in _NAMES)}) "
        f"VALUES (source.id, {', '.join(f'source.[{n}]' for n in _NAMES)});"
    ),
    "delete_points": f"DELETE FROM «table» WHERE id IN ({_IDS})",
    "fetch": f"SELECT {_WHOLE} FROM «table» WHERE id IN ({_IDS})",
    "scan_ids": (
        f"SELECT TOP (@P) id, document FROM «table» WHERE «some»document = {_ONE} AND «»id > {_ONE} ORDER BY id"
    ),
    "scan_points": (
        f"SELECT TOP (@P) {_WHOLE} FROM «table» WHERE «some»document = {_ONE} AND «»id > {_ONE} ORDER BY id"
    ),
    "count": "SELECT COUNT_BIG(*) AS number FROM «table»",
    "search": (
        "SELECT TOP (@P) id, VECTOR_DISTANCE('cosine', vector, CAST(@P AS vector(«length»))) AS distance FROM «table» "
        f"WHERE vector IS NOT NULL«some» AND document IN ({_KEYS})«» ORDER BY distance, id"
    ),
    "keyword": (
        "SELECT TOP (@P) k.[KEY] AS id, k.[RANK] AS score FROM FREETEXTTABLE(«table», words, @P, LANGUAGE 0) AS k"
        f"«some» JOIN «table» AS p ON p.id = k.[KEY] {_EXACT} WHERE p.document IN ({_KEYS})«» "
        "ORDER BY k.[RANK] DESC, k.[KEY]"
    ),
    "put_entries": (
        f"MERGE «table» WITH (HOLDLOCK) AS target USING (SELECT j.[key] {_EXACT} AS [key], j.kind {_EXACT} AS kind, "
        f"j.[group] {_EXACT} AS [group], j.[value] {_EXACT} AS [value] FROM OPENJSON(@P) WITH ([key] varchar(64), "
        "kind varchar(64), [group] nvarchar(200), [value] nvarchar(max)) AS j) AS source ON target.[key] = source.[key] "
        "WHEN MATCHED THEN UPDATE SET kind = source.kind, [group] = source.[group], [value] = source.[value] "
        "WHEN NOT MATCHED THEN INSERT ([key], kind, [group], [value]) "
        "VALUES (source.[key], source.kind, source.[group], source.[value]);"
    ),
    "get": f"SELECT [key], kind, [group], [value] FROM «table» WHERE [key] IN ({_KEYS})",
    "scan_entries": (
        f"SELECT TOP (@P) [key], kind, [group], [value] FROM «table» WHERE kind = {_ONE} AND "
        f"«some»[group] = @P AND «»[key] > {_ONE} ORDER BY [key]"
    ),
    "delete_entries": f"DELETE FROM «table» WHERE [key] IN ({_KEYS})",
    "claim": (
        "INSERT INTO «table» ([key], kind, [group], [value]) OUTPUT inserted.[key] SELECT @P, @P, @P, @P "
        f"WHERE NOT EXISTS (SELECT 1 FROM «table» WITH (UPDLOCK, HOLDLOCK) WHERE [key] = {_ONE})"
    ),
    "exchange": (
        "UPDATE «table» SET kind = @P, [group] = @P, [value] = @P OUTPUT inserted.[key] "
        f"WHERE [key] = {_ONE} AND [value] = CAST(@P AS nvarchar(max)) "
        "AND DATALENGTH([value]) = DATALENGTH(CAST(@P AS nvarchar(max)))"
    ),
}
_MARKS = {
    "«table»": r"(?P<table>\[\w+\]\.\[[\w-]+\])",
    "«name»": r"(?P<name>\w+)",
    "«length»": r"(?P<length>\d+)",
    "«key»": r"[\w-]+",
}


def _pattern(template: str) -> re.Pattern[str]:
    text = re.escape(template).replace("@P", r"@P\d+").replace("«some»", "(?P<some>").replace("«»", ")?")
    for mark, pattern in _MARKS.items():
        # The first time it is read, after that it must be the same.
        text = text.replace(mark, pattern, 1)
        text = text.replace(mark, f"(?P={mark[1:-1]})")
    return re.compile(text)


STATEMENTS = {name: _pattern(template) for name, template in _TEMPLATES.items()}
