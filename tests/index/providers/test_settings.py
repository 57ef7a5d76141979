"""What cannot be meant is refused before anything is sent, by every provider alike, and no secret is repeated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loccit.errors import UsageError
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings

ADDRESS = {
    "azure-ai-search": "https://laws.search.windows.net",
    "azure-cosmos-nosql": "AccountEndpoint=https://ann.documents.azure.com:443/;AccountKey=aHVudGVyMg==;",
    "azure-cosmos-mongo": "mongodb://ann@localhost",
    "chromadb": "https://chroma.example",
    "faiss": "./faiss",
    "milvus": "https://db.example",
    "mongodb": "mongodb://ann@localhost",
    "opensearch": "https://h.example",
    "pinecone": "",
    "postgres": "postgresql://ann@localhost/laws",
    "qdrant": "https://db.example",
    "sql-server": "Server=db.example;Database=library;User Id=ann;Password=hunter2",
    "weaviate": "https://db.example",
}
"""One of each that can be meant."""

_COSMOS = "AccountEndpoint=https://ann.documents.azure.com:443/;"
_SQL = "Server=db.example;Database=library;User Id=ann"
BAD_ADDRESSES = {
    "azure-ai-search": {
        **dict.fromkeys(
            ("", "laws.search.windows.net", "https://x.example/?key=hunter2"), "connection_string"
        ),
        "https://laws.search.windows.net": "api_key",
    },
    "azure-cosmos-nosql": {
        "": "is missing",
        "AccountKey=aHVudGVyMg==;": "no AccountEndpoint",
        "AccountEndpoint=ann.documents.azure.com;AccountKey=aHVudGVyMg==;": "no AccountEndpoint",
        _COSMOS: "no AccountKey",
        f"{_COSMOS}aHVudGVyMg": "name=value",
        f"{_COSMOS}AccountKey=hunter2!;": "invalid AccountKey",
        "AccountEndpoint=http://ann.documents.azure.com/;AccountKey=aHVudGVyMg==;": "unencrypted",
    },
    "chromadb": {
        **dict.fromkeys(("", "localhost:8000"), "such as https://chroma.example:8000, or a folder"),
        **dict.fromkeys(("ftp://chroma.example", "http://"), "does not start with http:// or https://"),
        "http://chroma.example:port": "is not an address",
        **dict.fromkeys(
            ("https://ann:hunter2@chroma.example", "https://chroma.example/?token=hunter2"),
            "belongs in api_key",
        ),
        "TAKEN": "must be a folder",
    },
    "faiss": {
        **dict.fromkeys(("", "http://localhost:8000"), "needs connection_string to be a folder"),
        "TAKEN": "is a file",
    },
    "milvus": {
        **dict.fromkeys(
            ("", "  ", "localhost:19530", "./milvus", "tcp://db.example:19530"), "http://localhost:19530"
        ),
        **dict.fromkeys(
            ("http://", "https://db.example:port", "https://root:hunter2@db.example"),
            "http://localhost:19530",
        ),
        "TAKEN.db": "versions before 3",
    },
    "opensearch": dict.fromkeys(
        ("", "localhost:9200", "ftp://x.example", "https://", "http://[::1", "http://h:port"),
        "connection_string.*https://",
    ),
    "pinecone": dict.fromkeys(
        ("api.pinecone.io", "ftp://x.example", "https://", "http://h:port", "https://a:b@c.io"),
        r"connection_string.*https://api\.pinecone\.io",
    ),
    "postgres": dict.fromkeys(
        ("", "  ", "db.example.org", "mysql://ann:hunter2@db/laws", "host=db nonsense=hunter2", "hunter2"),
        "connection_string.*postgresql://user",
    ),
    "qdrant": {
        **dict.fromkeys(
            ("", "  ", "localhost:6333", "ftp://db.example:6333", "http://"), "http://localhost:6333"
        ),
        **dict.fromkeys(
            (
                "https://db.example:port",
                "https://ann:hunter2@db.example",
                "https://db.example?api-key=hunter2",
            ),
            "http://localhost:6333",
        ),
        "TAKEN": "names a file",
    },
    "sql-server": {
        "": "is missing",
        "Database=library;User Id=ann;Password=hunter2": "names no server",
        "Server=db.example;User Id=ann;Password=hunter2": "names no database",
        _SQL: "no user and password",
        "Server=db.example;Database=library;hunter2": "name=value",
        "Server=db.example;Database=library;Passwort=hunter2": "Passwort",
        "Server=db.example,x;Database=library;User Id=ann;Password=hunter2": "port",
        f"{_SQL};Password={{hunter2": "never ends",
        f"{_SQL};Password=hunter2;Encrypt=maybe": "Encrypt",
        "postgresql://ann:hunter2@db.example/library": "unknown name",
        "mssql://ann:hunter2@db.example:port/library": "not an address",
    },
    "weaviate": {
        **dict.fromkeys(("", "localhost:8080", "http://[oops"), "connection_string"),
        "https://ann:hunter2@db.example:8080": "api_key",
        "https://db.example/v1?key=hunter2": "connection_string",
        "http://localhost:50051": "grpc_port",
    },
}


@pytest.mark.parametrize(
    ("provider", "address", "said"),
    [(provider, address, said) for provider, bad in BAD_ADDRESSES.items() for address, said in bad.items()],
)
def test_a_bad_connection_string_is_refused(provider: str, address: str, said: str, tmp_path: Path) -> None:
    if address.startswith("TAKEN"):
        (tmp_path / address).write_text("")
        address = str(tmp_path / address)
    key = "hunter2" if provider == "pinecone" else ""
    with pytest.raises(UsageError, match=said) as refused:
        load_store(DatabaseSettings(provider, address, api_key=key))
    assert provider in str(refused.value)
    assert "hunter2" not in str(refused.value) and "aHVudGVyMg" not in str(refused.value)


@pytest.mark.parametrize(
    ("provider", "host"),
    [
        ("azure-ai-search", "laws.search.windows.net"),
        ("chromadb", "chroma.example"),
        ("milvus", "db.example:19530"),
        ("opensearch", "search.example.com"),
        ("opensearch", "ann:hunter2@search.example.com:9200"),
        ("pinecone", "pinecone.example.com"),
        ("qdrant", "db.example:6333"),
        ("weaviate", "db.example:8080"),
    ],
)
def test_a_secret_is_not_sent_in_the_open(provider: str, host: str) -> None:
    key = "" if "@" in host else "hunter2"
    with pytest.raises(UsageError, match="unencrypted") as refused:
        load_store(DatabaseSettings(provider, f"http://{host}", api_key=key))
    assert "hunter2" not in str(refused.value)
    good: list[tuple[str, str, dict[str, Any]]] = [
        (f"https://{host}", key, {}),
        (f"http://{host}", key, {"tls": False}),
        *((f"http://{here}:6333", key, {}) for here in ("127.0.0.1", "[::1]", "localhost")),
    ]
    if provider not in ("pinecone", "azure-ai-search") and key:
        good.append((f"http://{host}", "", {}))
    for address, secret, options in good:
        load_store(DatabaseSettings(provider, address, api_key=secret, options=options)).close()


BAD_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "azure-ai-search": [{"exact_below": "x"}],
    "azure-cosmos-nosql": [
        *({"vector_index": "hnsw"}, {"search_list_multiplier": 101}, {"throughput": 400}),
        *({"parallel": 0}, {"database": "a/b"}, {"exact": "yes"}),
    ],
    "azure-cosmos-mongo": [{"index": "flat"}, {"breadth": 5000}, {"m": "many"}],
    "chromadb": [
        *({"token_header": "Cookie"}, {"ca_file": "/no/such/file.pem"}, {"ef_search": 0}),
        *({"max_neighbors": "many"}, {"tenant": 1}),
    ],
    "faiss": [{"exact_below": value} for value in (0, -1, "many", True)],
    "milvus": [{"index": "ivf"}, {"ef": 0}, {"m": "many"}, {"consistency": "strong"}],
    "mongodb": [
        *({"quantization": "half"}, {"candidates": 0}, {"exact_below": "all"}),
        {"server_selection_timeout": 0.0},
    ],
    "opensearch": [
        *({"flavor": "solr"}, {"engine": "nmslib2"}, {"m": "many"}, {"exact_below": True}, {"verify": "no"}),
    ],
    "pinecone": [{"parallel": 0}, {"parallel": "many"}, {"cloud": 1}],
    "postgres": [
        *({"ef_search": 0}, {"ef_search": 1001}, {"m": 1}, {"ef_construction": 100, "m": 64}),
        *({"build_memory": "lots"}, {"connections": 0}),
    ],
    "qdrant": [{"hnsw_ef": 0}, {"exact_below": -1}, {"rrf_k": 0}, {"shards": "two"}, {"on_disk": 1}],
    "weaviate": [{"grpc_port": 0}, {"grpc_port": "x"}],
}


@pytest.mark.parametrize(
    ("provider", "options"), [(provider, bad) for provider, several in BAD_OPTIONS.items() for bad in several]
)
def test_a_bad_option_is_said(provider: str, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(options))):
        load_store(DatabaseSettings(provider, ADDRESS[provider], api_key="key", options=options))


@pytest.mark.parametrize("key", ["", "has space", "new\nline", "schlüssel"])
def test_a_missing_or_broken_key_is_said(key: str) -> None:
    with pytest.raises(UsageError, match=r"pinecone.*api_key") as refused:
        load_store(DatabaseSettings("pinecone", api_key=key))
    assert not key or key not in str(refused.value)
