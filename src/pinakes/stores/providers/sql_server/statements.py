"""The statements of the store, for the two tables of a collection.

Names are quoted, values are parameters. Many rows travel as one JSON text, which OPENJSON makes a table of. Keys have
a binary collation: the server's default takes a and A for the same. What comes out of OPENJSON has the database's
collation and must be told to compare like the column.
"""

from __future__ import annotations

# Also the order in which points travel.
PAYLOAD = ("source_path", "heading", "language", "file_type", "text", "terms")
CATALOG = "pinakes"
_EXACT = "COLLATE Latin1_General_100_BIN2"
_KEY = f"varchar(64) {_EXACT}"
_GROUP = f"nvarchar(200) {_EXACT}"
_TEXT = "nvarchar(max)"
# A parameter is wide text; compared with a narrow column as it is, it would keep the index from being used.
_ONE = "CAST(? AS varchar(64))"


class Statements:
    """What to say to the server about the tables of one collection."""

    def __init__(self, schema: str, collection: str) -> None:
        self.schema = schema
        self.points = f"[{schema}].[{collection}_points]"
        self.entries = f"[{schema}].[{collection}_entries]"
        self.primary = f"[pk_{collection}_points]"
        self._entry_primary = f"[pk_{collection}_entries]"

    # -- tables ----------------------------------------------------------------------------------------------

    @property
    def columns(self) -> str:
        """Name the columns of a table, their types, and how long a vector is."""
        return (
            "SELECT c.name AS name, t.name AS type, COALESCE(c.vector_dimensions, 0) AS dimensions "
            "FROM sys.columns AS c JOIN sys.types AS t ON t.user_type_id = c.user_type_id "
            "WHERE c.object_id = OBJECT_ID(?)"
        )

    @property
    def make_schema(self) -> str:
        """Make the schema where it is missing."""
        return f"IF SCHEMA_ID(N'{self.schema}') IS NULL EXEC(N'CREATE SCHEMA [{self.schema}]')"

    def make_points(self, dimension: int) -> str:
        """Make the table of points."""
        payload = ", ".join(f"[{name}] {_TEXT} NOT NULL" for name in PAYLOAD)
        return (
            f"CREATE TABLE {self.points} (id char(36) {_EXACT} NOT NULL CONSTRAINT {self.primary} PRIMARY KEY, "
            f"document {_KEY} NOT NULL, vector vector({dimension}) NULL, {payload}, words {_TEXT} NULL, "
            "INDEX by_document (document))"
        )

    @property
    def texts_apart(self) -> str:
        """Keep long texts out of the rows, so that comparing all vectors does not read them."""
        return f"EXEC sp_tableoption N'{self.points}', 'large value types out of row', 1"

    @property
    def make_entries(self) -> str:
        """Make the table of entries."""
        return (
            f"CREATE TABLE {self.entries} ([key] {_KEY} NOT NULL CONSTRAINT {self._entry_primary} PRIMARY KEY, "
            f"kind {_KEY} NOT NULL, [group] {_GROUP} NOT NULL, [value] {_TEXT} {_EXACT} NOT NULL, "
            "INDEX by_kind (kind, [group]))"
        )

    @property
    def has_full_text(self) -> str:
        """Ask whether the server can search text at all."""
        return "SELECT CAST(SERVERPROPERTY('IsFullTextInstalled') AS int) AS installed"

    @property
    def make_catalog(self) -> str:
        """Make the catalog that full text indexes live in."""
        return (
            f"IF NOT EXISTS (SELECT 1 FROM sys.fulltext_catalogs WHERE name = N'{CATALOG}') "
            f"CREATE FULLTEXT CATALOG [{CATALOG}]"
        )

    @property
    def make_full_text(self) -> str:
        """Index the words, in no language and without stop words."""
        return (
            f"IF NOT EXISTS (SELECT 1 FROM sys.fulltext_indexes WHERE object_id = OBJECT_ID(N'{self.points}')) "
            f"CREATE FULLTEXT INDEX ON {self.points} (words LANGUAGE 0) KEY INDEX {self.primary} ON [{CATALOG}] "
            "WITH (CHANGE_TRACKING = AUTO, STOPLIST = OFF)"
        )

    @property
    def drop_points(self) -> str:
        """Delete the table of points, with its indexes."""
        return f"DROP TABLE IF EXISTS {self.points}"

    @property
    def drop_entries(self) -> str:
        """Delete the table of entries."""
        return f"DROP TABLE IF EXISTS {self.entries}"

    # -- points ----------------------------------------------------------------------------------------------

    def put_points(self, dimension: int) -> str:
        """Store rows of points in place of those with the same ids."""
        names = ["document", "vector", *PAYLOAD, "words"]
        read = ", ".join(f"[{name}] {_TEXT}" for name in (*PAYLOAD, "words"))
        return (
            f"MERGE {self.points} WITH (HOLDLOCK) AS target USING (SELECT j.id {_EXACT} AS id, "
            f"j.document {_EXACT} AS document, CAST(j.vector AS vector({dimension})) AS vector, "
            f"{', '.join(f'j.[{name}]' for name in (*PAYLOAD, 'words'))} FROM OPENJSON(?) WITH (id char(36), "
            f"document varchar(64), vector {_TEXT} AS JSON, {read}) AS j) AS source ON target.id = source.id "
            f"WHEN MATCHED THEN UPDATE SET {', '.join(f'[{name}] = source.[{name}]' for name in names)} "
            f"WHEN NOT MATCHED THEN INSERT (id, {', '.join(f'[{name}]' for name in names)}) "
            f"VALUES (source.id, {', '.join(f'source.[{name}]' for name in names)});"
        )

    @property
    def delete_points(self) -> str:
        """Delete points by id."""
        return f"DELETE FROM {self.points} WHERE id IN ({_listed('char(36)')})"

    @property
    def fetch_points(self) -> str:
        """Return whole points by id."""
        return f"SELECT {_WHOLE} FROM {self.points} WHERE id IN ({_listed('char(36)')})"

    def scan_points(self, *, document: bool, whole: bool) -> str:
        """Return the points after an id, in the order of ids."""
        some = f"document = {_ONE} AND " if document else ""
        return (
            f"SELECT TOP (?) {_WHOLE if whole else 'id, document'} FROM {self.points} "
            f"WHERE {some}id > {_ONE} ORDER BY id"
        )

    @property
    def count_points(self) -> str:
        """Count the points."""
        return f"SELECT COUNT_BIG(*) AS number FROM {self.points}"

    def search(self, dimension: int, *, documents: bool) -> str:
        """Compare a vector with those of all points, or of those of some documents."""
        some = f" AND document IN ({_listed('varchar(64)')})" if documents else ""
        return (
            f"SELECT TOP (?) id, VECTOR_DISTANCE('cosine', vector, CAST(? AS vector({dimension}))) AS distance "
            f"FROM {self.points} WHERE vector IS NOT NULL{some} ORDER BY distance, id"
        )

    def keyword(self, *, documents: bool) -> str:
        """Find points by words, ranked by BM25, which is what FREETEXTTABLE does and CONTAINSTABLE does not."""
        some = (
            f" JOIN {self.points} AS p ON p.id = k.[KEY] {_EXACT} WHERE p.document IN ({_listed('varchar(64)')})"
            if documents
            else ""
        )
        return (
            f"SELECT TOP (?) k.[KEY] AS id, k.[RANK] AS score FROM FREETEXTTABLE({self.points}, words, ?, LANGUAGE 0) "
            f"AS k{some} ORDER BY k.[RANK] DESC, k.[KEY]"
        )

    # -- entries ---------------------------------------------------------------------------------------------

    @property
    def put_entries(self) -> str:
        """Store rows of entries in place of those with the same keys."""
        return (
            f"MERGE {self.entries} WITH (HOLDLOCK) AS target USING (SELECT j.[key] {_EXACT} AS [key], "
            f"j.kind {_EXACT} AS kind, j.[group] {_EXACT} AS [group], j.[value] {_EXACT} AS [value] "
            f"FROM OPENJSON(?) WITH ([key] varchar(64), kind varchar(64), [group] nvarchar(200), [value] {_TEXT}) "
            "AS j) AS source ON target.[key] = source.[key] WHEN MATCHED THEN UPDATE SET kind = source.kind, "
            "[group] = source.[group], [value] = source.[value] WHEN NOT MATCHED THEN "
            "INSERT ([key], kind, [group], [value]) VALUES (source.[key], source.kind, source.[group], source.[value]);"
        )

    @property
    def get_entries(self) -> str:
        """Return values by key."""
        return f"SELECT [key], [value] FROM {self.entries} WHERE [key] IN ({_listed('varchar(64)')})"

    def scan_entries(self, *, group: bool) -> str:
        """Return the entries of a kind after a key, in the order of keys."""
        some = "[group] = ? AND " if group else ""
        return (
            f"SELECT TOP (?) [key], kind, [group], [value] FROM {self.entries} "
            f"WHERE kind = {_ONE} AND {some}[key] > {_ONE} ORDER BY [key]"
        )

    @property
    def remove_entries(self) -> str:
        """Delete entries by key."""
        return f"DELETE FROM {self.entries} WHERE [key] IN ({_listed('varchar(64)')})"

    @property
    def claim(self) -> str:
        """Store an entry that must not be there; returns its key where that was so."""
        return (
            f"INSERT INTO {self.entries} ([key], kind, [group], [value]) OUTPUT inserted.[key] "
            f"SELECT ?, ?, ?, ? WHERE NOT EXISTS "
            f"(SELECT 1 FROM {self.entries} WITH (UPDLOCK, HOLDLOCK) WHERE [key] = {_ONE})"
        )

    @property
    def exchange(self) -> str:
        """Change an entry that must have a value; texts that differ in spaces at the end are the same to =."""
        return (
            f"UPDATE {self.entries} SET kind = ?, [group] = ?, [value] = ? OUTPUT inserted.[key] "
            f"WHERE [key] = {_ONE} AND [value] = CAST(? AS {_TEXT}) "
            f"AND DATALENGTH([value]) = DATALENGTH(CAST(? AS {_TEXT}))"
        )


_WHOLE = f"id, document, CAST(vector AS {_TEXT}) AS vector, {', '.join(f'[{name}]' for name in PAYLOAD)}"


def _listed(kind: str) -> str:
    return f"SELECT j.item {_EXACT} FROM OPENJSON(?) WITH (item {kind} '$') AS j"
