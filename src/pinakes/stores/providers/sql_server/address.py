"""Where a SQL Server is: an address as a URL or as name=value pairs, made into what Microsoft's driver takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from pinakes.errors import UsageError
from pinakes.loopback import is_loopback

DEFAULT_PORT = 1433
EXAMPLE = "Server=db.example,1433;Database=library;User Id=ann;Password=…;Encrypt=yes"
URL_EXAMPLE = "mssql://ann:…@db.example:1433/library"
# What the driver calls its settings, and what they are called in the connection strings of .NET, ODBC and JDBC.
_NAMES = {
    "Server": "server, data source, address, addr, network address",
    "Database": "database, initial catalog",
    "UID": "user id, uid, user, username",
    "PWD": "password, pwd",
    "Encrypt": "encrypt",
    "TrustServerCertificate": "trustservercertificate, trust server certificate",
    "HostnameInCertificate": "hostnameincertificate, host name in certificate",
    "ServerCertificate": "servercertificate, server certificate",
    "Authentication": "authentication",
    "Trusted_Connection": "trusted_connection, integrated security",
    "MultiSubnetFailover": "multisubnetfailover, multi subnet failover",
    "ApplicationIntent": "applicationintent, application intent",
    # Ours to decide, or without a meaning here.
    "": "driver, connection timeout, connect timeout, command timeout, persist security info, pooling, app, "
    "application name, multipleactiveresultsets, mars_connection, connection lifetime, packet size",
}
_KNOWN = {name.strip(): ours for ours, names in _NAMES.items() for name in names.split(",")}
_NO = ("no", "false", "optional", "0")
_YES = ("yes", "true", "mandatory", "strict", "sspi", "1")


@dataclass(frozen=True)
class Address:
    """A server, and the driver's own connection string, which is secret."""

    host: str
    port: int | None
    connection_string: str = field(repr=False)


def read_address(text: str, password: str, *, provider: str, tls: bool) -> Address:
    """Understand a connection string; one that cannot work is refused with what a good one looks like."""
    if not text.strip():
        raise _wrong(provider, "is missing")
    found = _from_url(text, provider) if "://" in text else _from_pairs(text, provider)
    server = found.get("Server", "")
    if not server:
        raise _wrong(provider, "names no server")
    if not found.get("Database"):
        raise _wrong(provider, "names no database")
    found.setdefault("PWD", password)
    entra = bool(found.get("Authentication")) or found.get("Trusted_Connection", "no").lower() in _YES
    if not entra and not (found.get("UID") and found.get("PWD")):
        raise _wrong(provider, "has no user and password (the password may also be given as api_key)")
    host, port = _host_and_port(server, provider)
    wanted = found.get("Encrypt", "yes").lower()
    if wanted not in (*_NO, *_YES):
        raise _wrong(provider, "has an Encrypt that is neither yes, strict nor no")
    if tls and wanted in _NO and not _is_here(host):
        raise UsageError(
            f"The database provider {provider} would send its password to {host} in the clear. Take Encrypt=no out of "
            "connection_string, or set the option tls to false as well if that is what you want."
        )
    found["Encrypt"] = "no" if not tls or wanted in _NO else "strict" if wanted == "strict" else "yes"
    pairs = (f"{name}={_quoted(value)}" for name, value in found.items() if value)
    return Address(host, port, ";".join(pairs) + ";")


def _is_here(host: str) -> bool:
    """Whether a host is this machine, also as SQL Server writes it."""
    return host.lower() in (".", "(local)") or is_loopback(host.strip("[]") if ":" in host else host.lower())


def _wrong(provider: str, what: str) -> UsageError:
    return UsageError(
        f"The connection_string of the database provider {provider} {what}. "
        f"It looks like {EXAMPLE} or like {URL_EXAMPLE}."
    )


def _from_url(text: str, provider: str) -> dict[str, str]:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _wrong(provider, "is no address") from None
    if parts.scheme not in ("mssql", "sqlserver", "mssql+pyodbc", "mssql+mssqlpython"):
        raise _wrong(provider, "begins with an unknown name before ://")
    found = {"Server": f"{parts.hostname},{port}" if port else parts.hostname or ""}
    found["Database"] = unquote(parts.path.lstrip("/"))
    if parts.username:
        found["UID"] = unquote(parts.username)
    if parts.password:
        found["PWD"] = unquote(parts.password)
    for name, value in parse_qsl(parts.query):
        found[_known(name, provider)] = value
    found.pop("", None)
    return found


def _from_pairs(text: str, provider: str) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        if text[at] in "; \t\n":
            at += 1
            continue
        equals = text.find("=", at)
        if equals < 0:
            raise _wrong(provider, "is not made of name=value pairs with ; between them")
        name = _known(text[at:equals], provider)
        value, at = _value(text, equals + 1, provider)
        if name:
            found[name] = value
    return found


def _value(text: str, at: int, provider: str) -> tuple[str, int]:
    """Read a value up to its semicolon; one in braces or quotes may hold any, with the closing sign doubled."""
    while at < len(text) and text[at] == " ":
        at += 1
    closing = {"{": "}", '"': '"', "'": "'"}.get(text[at : at + 1])
    if closing is None:
        end = text.find(";", at)
        end = len(text) if end < 0 else end
        return text[at:end].strip(), end + 1
    value, at = "", at + 1
    while True:
        end = text.find(closing, at)
        if end < 0:
            raise _wrong(
                provider, f"has a value that begins with a quotation sign and never ends with {closing}"
            )
        value += text[at:end]
        if text[end + 1 : end + 2] != closing:
            return value, end + 1
        value, at = value + closing, end + 2


def _known(name: str, provider: str) -> str:
    plain = name.strip().lower()
    if plain not in _KNOWN:
        raise _wrong(provider, f"has a part named {name.strip()[:40]!r}, which is not known")
    return _KNOWN[plain]


def _host_and_port(server: str, provider: str) -> tuple[str, int | None]:
    """Split host,port or host:port; a named instance has no port that could be known here."""
    plain = server.removeprefix("tcp:")
    if "\\" in plain:
        return plain.partition("\\")[0], None
    host, comma, port = plain.partition(",")
    if not comma:
        return host, DEFAULT_PORT
    if not port.strip().isdigit() or not 0 < int(port) < 65536:
        raise _wrong(provider, "has a port that is no number")
    return host.strip(), int(port)


def _quoted(value: str) -> str:
    return "{" + value.replace("}", "}}") + "}"
