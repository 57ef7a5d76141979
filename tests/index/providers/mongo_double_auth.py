"""The server's side of SCRAM-SHA-256 (RFC 7677) as MongoDB speaks it: a wrong password is really refused."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
from typing import Any

from bson.binary import Binary
from tests.index.providers.mongo_double_table import RefusalError

_ROUNDS = 4096


class ScramServer:
    """Knows users by salted keys."""

    def __init__(self, users: dict[str, str]) -> None:
        self._keys: dict[str, tuple[bytes, bytes, bytes]] = {}
        for user, password in users.items():
            salt = os.urandom(16)
            salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ROUNDS)
            stored = hashlib.sha256(_mac(salted, b"Client Key")).digest()
            self._keys[user] = salt, stored, _mac(salted, b"Server Key")

    def start(self, login: dict[str, Any], command: dict[str, Any]) -> dict[str, Any]:
        """Answer the first message with a salt and a nonce."""
        login.clear()
        if command.get("mechanism") != "SCRAM-SHA-256":
            raise RefusalError(334, "MechanismUnavailable", "Unsupported authentication mechanism")
        bare = bytes(command["payload"]).partition(b",,")[2]
        named, nonce = (part[2:] for part in bare.split(b",")[:2])
        user = named.decode().replace("=2C", ",").replace("=3D", "=")
        if user not in self._keys:
            raise _refused()
        both = nonce + base64.b64encode(os.urandom(18))
        salt = base64.b64encode(self._keys[user][0])
        first = b"r=" + both + b",s=" + salt + b",i=%d" % _ROUNDS
        login.update(user=user, nonce=both, text=bare + b"," + first)
        return {"conversationId": 1, "done": False, "payload": Binary(first)}

    def go_on(self, login: dict[str, Any], command: dict[str, Any]) -> dict[str, Any]:
        """Check the proof that the client knows the password."""
        final = bytes(command["payload"])
        without, _, proof = final.rpartition(b",p=")
        if "user" not in login or without != b"c=biws,r=" + login["nonce"]:
            raise _refused()
        _, stored, server = self._keys[login["user"]]
        text = login["text"] + b"," + without
        signature = hmac.new(stored, text, "sha256").digest()
        key = bytes(a ^ b for a, b in zip(base64.b64decode(proof), signature, strict=True))
        if not hmac.compare_digest(hashlib.sha256(key).digest(), stored):
            login.clear()
            raise _refused()
        login["done"] = True
        sure = base64.b64encode(hmac.new(server, text, "sha256").digest())
        return {"conversationId": 1, "done": True, "payload": Binary(b"v=" + sure)}


def _mac(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, "sha256").digest()


def _refused() -> RefusalError:
    return RefusalError(18, "AuthenticationFailed", "Authentication failed.")
