"""Where the store for SQL Server is tried: the double, with a certificate of its own."""

from __future__ import annotations

import datetime
import sys
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.index.providers.sql_server_double import DATABASE, PASSWORD, USER, SqlServerDouble
from tests.index.providers.sql_server_double_engine import SqlEngine

from loccit.index.settings import DatabaseSettings
from loccit.index.store import Store
from loccit.testing.places import Place


def quoted(password: str) -> str:
    return "{" + password.replace("}", "}}") + "}"


class SqlServerPlace(Place):
    """The double, with a certificate of its own: connections are encrypted, as they are by default."""

    def __init__(self, certificate: Path) -> None:
        if sys.platform == "linux" and not find_library("ltdl"):
            pytest.skip("Microsoft's driver needs a library of the system: apt-get install libltdl7")
        self.engine = SqlEngine()
        self.double = SqlServerDouble(self.engine, certificate)
        self.double.start()

    def address(self, password: str = PASSWORD, rest: str = "TrustServerCertificate=yes") -> str:
        server = f"Server=127.0.0.1,{self.double.port};Database={DATABASE}"
        return f"{server};User Id={USER};Password={quoted(password)};{rest}"

    def settings(self, collection: str = "laws", **changes: Any) -> DatabaseSettings:
        given = {"connection_string": self.address(), "native": "keyword", "timeout": 5.0, **changes}
        return DatabaseSettings(provider="sql-server", collection=collection, **given)

    def wrong(self) -> DatabaseSettings:
        return self.settings(connection_string=self.address("hunter2"))

    def stop(self) -> None:
        self.double.stop()

    def start(self) -> None:
        self.double.start()

    def settle(self, store: Store) -> None:
        self.engine.populate()


def make_certificate(path: Path) -> Path:
    """Make a certificate that signs itself, with its key."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "double")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path
