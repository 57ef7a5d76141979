"""A double of a guarded Milvus server on loopback, around the vendor's own Milvus Lite.

What a call does is done by Milvus Lite, over the vendor's gRPC protocol. What is ours is what Lite leaves out and a
server has: the check of the token, in the words of a server of version 2.3; the largest message; the largest number of
results; the longest texts. It has no users with fewer rights than all, no shards, and no lag between a write and a read.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
from milvus_lite.adapter.grpc.servicer import MilvusServicer
from milvus_lite.db import MilvusLite
from pymilvus.grpc_gen import common_pb2, milvus_pb2, milvus_pb2_grpc

MAX_MESSAGE = 64 * 1024 * 1024
MAX_RESULTS = 16_384
MAX_TEXT = 65_535


class MilvusDouble:
    """Listens on a free port; keeps its data and its port when stopped and started again."""

    def __init__(self, folder: Path, token: str) -> None:
        self._folder = folder
        self._token = token
        self.port = 0
        # How many of the next calls fail as those to a server do that is overloaded.
        self.busy = 0
        self._server: Any = None
        self._engine: Any = None
        self.start()

    @property
    def url(self) -> str:
        """The address for connection_string."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen, on the same port as before."""
        if self._server is None:
            self._engine = MilvusLite(str(self._folder))
            self._server = grpc.server(
                futures.ThreadPoolExecutor(max_workers=8),
                interceptors=[_Guard(self._token)],
                options=[("grpc.max_receive_message_length", MAX_MESSAGE), ("grpc.so_reuseport", 0)],
            )
            milvus_pb2_grpc.add_MilvusServiceServicer_to_server(_Servicer(self, self._engine), self._server)
            self.port = self._server.add_insecure_port(f"127.0.0.1:{self.port}")
            self._server.start()

    def stop(self) -> None:
        """Break connections and refuse new ones."""
        if self._server is not None:
            self._server.stop(grace=None).wait()
            self._engine.close()
            self._server = None


class _Guard(grpc.ServerInterceptor):  # type: ignore[misc]
    def __init__(self, token: str) -> None:
        self._wanted = base64.b64encode(token.encode()).decode()

        def refuse(request: Any, context: Any) -> None:
            context.abort(
                grpc.StatusCode.UNAUTHENTICATED,
                "auth check failure, please check username and password are correct",
            )

        self._refuse = grpc.unary_unary_rpc_method_handler(refuse)

    def intercept_service(self, following: Callable[[Any], Any], details: Any) -> Any:
        given = dict(details.invocation_metadata).get("authorization", "")
        return following(details) if given == self._wanted else self._refuse


class _Servicer(MilvusServicer):  # type: ignore[misc]
    """Milvus Lite with the limits of a server."""

    def __init__(self, owner: MilvusDouble, engine: Any) -> None:
        super().__init__(engine)
        self._owner = owner
        self._turn = threading.RLock()

    def Search(self, request: Any, context: Any) -> Any:  # noqa: N802
        if self._owner.busy:
            self._owner.busy -= 1
            return milvus_pb2.SearchResults(status=_status(2, "service unavailable: node offline"))
        wanted = {pair.key: pair.value for pair in request.search_params}
        if int(wanted.get("topk") or wanted.get("limit") or 0) > MAX_RESULTS:
            reason = f"topk [{wanted.get('topk')}] is invalid, it should be in range [1, {MAX_RESULTS}]"
            return milvus_pb2.SearchResults(status=_status(65535, reason))
        return super().Search(request, context)

    def CreateCollection(self, request: Any, context: Any) -> Any:  # noqa: N802
        # Milvus Lite trusts that there is one writer; a server sees to it.
        with self._turn:
            return super().CreateCollection(request, context)

    def CreateIndex(self, request: Any, context: Any) -> Any:  # noqa: N802
        with self._turn:
            return super().CreateIndex(request, context)

    def LoadCollection(self, request: Any, context: Any) -> Any:  # noqa: N802
        with self._turn:
            return super().LoadCollection(request, context)

    def Upsert(self, request: Any, context: Any) -> Any:  # noqa: N802
        for field in request.fields_data:
            texts = field.scalars.string_data.data
            if any(len(text.encode()) > MAX_TEXT for text in texts):
                reason = f"the length of field {field.field_name} exceeds max length {MAX_TEXT}"
                return milvus_pb2.MutationResult(status=_status(1100, reason))
        with self._turn:
            return super().Upsert(request, context)


def _status(code: int, reason: str) -> Any:
    return common_pb2.Status(code=code, error_code=common_pb2.UnexpectedError, reason=reason)
