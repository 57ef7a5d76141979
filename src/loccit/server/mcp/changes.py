"""Tells clients that the library has changed, whether by this server or another process.

Clients with a session are notified on their connection about what they listed or subscribed to; clients of the 2026
protocol listen to a stream that they asked for. Others are not notified.
"""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
)

from loccit.errors import LoccitError, UsageError
from loccit.server.mcp.resources import list_state, read_resource

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext
    from mcp.server.session import ServerSession

    from loccit.server.services import LibraryRegistry

_LOOK_SECONDS = 1.0
# Some clients never say when they leave, so only the most recent are remembered.
_MOST_CLIENTS = 256
_MOST_WATCHED = 1000


@dataclass(slots=True)
class _Client:
    session: ServerSession
    watched: set[str] = field(default_factory=set)


class Changes:
    """Tracks what clients know about the resources of a server."""

    def __init__(self, registry: LibraryRegistry) -> None:
        self._registry = registry
        self._bus = InMemorySubscriptionBus()
        self._handler = ListenHandler(self._bus)
        self._clients: OrderedDict[int, _Client] = OrderedDict()
        self._listening: Counter[str] = Counter()
        self._streams = 0
        self._generations: tuple[int | None, ...] | None = None
        self._list = ""
        self._texts: dict[str, str] = {}
        """A digest of each watched resource as it was last read."""

    # -- what clients ask for ----------------------------------------------------------------------------------

    async def saw_list(self, session: ServerSession) -> None:
        """Remember a client that received the list of resources."""
        self._client(session)
        await self._begin()

    async def subscribe(
        self, context: ServerRequestContext[Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Watch a resource for a client."""
        uri = str(params.uri)
        await self._watch([uri])
        self._client(context.session).watched.add(uri)
        return types.EmptyResult()

    async def unsubscribe(
        self, context: ServerRequestContext[Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Stop watching a resource for a client."""
        self._client(context.session).watched.discard(str(params.uri))
        self._forget()
        return types.EmptyResult()

    async def listen(
        self, context: ServerRequestContext[Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve one stream of changes."""
        # The list of tools and that of prompts stay the same, and the client is told that they are not announced.
        lists = {"tools_list_changed": None, "prompts_list_changed": None}
        params = params.model_copy(update={"notifications": params.notifications.model_copy(update=lists)})
        uris = [str(uri) for uri in params.notifications.resource_subscriptions or ()]
        await self._watch(uris)
        self._listening.update(uris)
        self._streams += 1
        try:
            return await self._handler(context, params)
        finally:
            self._streams -= 1
            self._listening.subtract(uris)
            self._forget()

    def _client(self, session: ServerSession) -> _Client:
        # A session object is created for each request; what the client said when it connected stays the same.
        key = id(session.client_params)
        client = self._clients.setdefault(key, _Client(session))
        self._clients.move_to_end(key)
        while len(self._clients) > _MOST_CLIENTS:
            self._clients.popitem(last=False)
        return client

    async def _begin(self) -> None:
        if self._generations is None:
            self._generations, self._list = await anyio.to_thread.run_sync(self._state)

    async def _watch(self, uris: list[str]) -> None:
        """Record the current content of resources; an unknown one is refused with suggestions."""
        new = [uri for uri in dict.fromkeys(uris) if uri not in self._texts]
        if len(self._texts) + len(new) > _MOST_WATCHED:
            raise UsageError(f"At most {_MOST_WATCHED:,} resources can be watched at once.")
        await self._begin()
        for uri in new:
            self._texts[uri] = await anyio.to_thread.run_sync(partial(self._digest, uri))

    def _forget(self) -> None:
        watched = {uri for client in self._clients.values() for uri in client.watched} | set(+self._listening)
        self._texts = {uri: digest for uri, digest in self._texts.items() if uri in watched}

    # -- what has changed --------------------------------------------------------------------------------------

    @asynccontextmanager
    async def lifespan(self, _: Server[Any]) -> AsyncIterator[object]:
        """Look for changes as long as a server runs."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._run)
            yield None
            group.cancel_scope.cancel()

    async def _run(self) -> None:
        while True:
            await anyio.sleep(_LOOK_SECONDS)
            if self._clients or self._streams:
                await self._look()

    async def _look(self) -> None:
        generations, listed = await anyio.to_thread.run_sync(partial(self._state, self._generations))
        if generations == self._generations:
            return
        self._generations = generations
        if listed != self._list:
            self._list = listed
            await self._bus.publish(ResourcesListChanged())
            for client in list(self._clients.values()):
                await client.session.send_resource_list_changed()
        for uri, before in list(self._texts.items()):
            now = await anyio.to_thread.run_sync(partial(self._digest, uri, ""))
            if now != before:
                self._texts[uri] = now
                await self._bus.publish(ResourceUpdated(uri=uri))
                for client in list(self._clients.values()):
                    if uri in client.watched:
                        await client.session.send_resource_updated(uri)

    def _state(self, known: tuple[int | None, ...] | None = None) -> tuple[tuple[int | None, ...], str]:
        """Return each library's generation, and a digest of the list of documents if any is new."""
        generations = tuple(service.generation for service in self._registry.services.values())
        return generations, self._list if generations == known else list_state(self._registry)

    def _digest(self, uri: str, missing: str | None = None) -> str:
        """Return a digest of a resource; for one that is gone ``missing``, if given, or else the error."""
        try:
            text = "\0".join(
                item.text
                for item in read_resource(self._registry, uri).contents
                if isinstance(item, types.TextResourceContents)
            )
        except LoccitError:
            if missing is None:
                raise
            return missing
        return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()
