"""What PostgreSQL and its client report, in our errors and words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from pinakes.errors import StoreAccessError, StoreError, StoreSchemaError, StoreUnavailableError

PROVIDER = "postgres"
# Classes of SQLSTATE: a connection, a rollback that a repetition mends, resources, an operator's intervention.
_PASSING = ("08", "40", "53", "57", "55P03")
_ACCESS = ("28", "42501", "25006")
_SCHEMA = ("42703", "42704", "42804", "42809", "42846", "42883", "42P07", "42P10", "3F")
# The server's words where it refuses a connection; the client has no SQLSTATE for these.
_REFUSALS = {
    "password authentication failed": "the user or the password is wrong",
    "authentication failed": "the server does not accept this user's way of signing in",
    "no password supplied": "it wants a password, and there is none",
    "no pg_hba.conf entry": "it does not let this user in from here (pg_hba.conf)",
    "role ": "there is no such user, or they may not sign in",
    "permission denied": "this user may not use the database",
}
_PASSING_REFUSALS = (
    "too many clients",
    "remaining connection slots",
    "starting up",
    "shutting down",
    "recovery",
)


class GaveUpError(psycopg.OperationalError):
    """The server did not answer within the time limit."""


@contextmanager
def in_our_words(where: str) -> Iterator[None]:
    """Turn errors of the client into ours; ``where`` names the store."""
    try:
        yield
    except psycopg.Error as error:
        raise translate(error, where) from None


def translate(error: psycopg.Error, where: str) -> StoreError:
    """Return our error for one of a statement."""
    code = error.sqlstate or ""
    said = (error.diag.message_primary or "").strip() or type(error).__name__
    if isinstance(error, GaveUpError) or code == "57014":
        return StoreUnavailableError(
            f"{where}: the server did not answer in time. Raise timeout, or see what keeps the server busy."
        )
    if code == "25006":
        return StoreAccessError(
            f"{where}: the server takes no writes ({said}). Name the primary in connection_string."
        )
    if code.startswith(_ACCESS):
        return StoreAccessError(
            f"{where}: {said}. Grant the user of connection_string the rights it lacks, or name another user."
        )
    if code.startswith(_PASSING) or (not code and isinstance(error, psycopg.OperationalError)):
        detail = said if code else "the connection broke"
        return StoreUnavailableError(
            f"{where}: {detail}. See whether the server of connection_string is well."
        )
    if code == "42P01":
        return StoreSchemaError(
            f"{where}: the collection is not there, or not in the schema of the option schema."
        )
    if code.startswith(_SCHEMA) or "dimensions" in said:
        return StoreSchemaError(
            f"{where}: what is there is of another shape ({said}). Choose another collection, or drop this one."
        )
    if code == "22P05":
        return StoreError(f"{where}: the database cannot hold all characters. Make one with ENCODING 'UTF8'.")
    return StoreError(f"{where}: {said}. If it comes back, look at connection_string and the server's log.")


def translate_connecting(error: psycopg.Error, where: str) -> StoreError:
    """Return our error where no connection could be made.

    The client's words are not repeated: they quote the connection string, and a password that was not escaped in it
    looks like the name of a host.
    """
    said = str(error)
    if any(words in said for words in _PASSING_REFUSALS):
        return StoreUnavailableError(f"{where}: the server takes no more connections at present.")
    if "does not exist" in said and "database " in said:
        return StoreError(f"{where}: the server has no such database. Make it, or correct connection_string.")
    for words, meaning in _REFUSALS.items():
        if words in said:
            return StoreAccessError(f"{where}: the server refuses: {meaning}. Correct connection_string.")
    if "SSL" in said or "certificate" in said:
        return StoreAccessError(
            f"{where}: no encrypted connection could be made. Set up TLS on the server, or say in connection_string "
            "what is wanted (sslmode=disable where the network is trusted)."
        )
    # In another language than English, a server that got as far as the password is one that refuses it.
    if error.pgconn is not None and error.pgconn.used_password:
        return StoreAccessError(
            f"{where}: the server refuses. Correct user, password and database in connection_string."
        )
    return StoreUnavailableError(
        f"{where}: the server cannot be reached. See whether it runs, and whether host and port in connection_string "
        "are right."
    )
