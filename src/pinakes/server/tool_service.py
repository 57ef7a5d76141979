"""A service for a tool of an agent file: its own settings, and only the documents it may show."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pinakes.server.services import NotReadyError

if TYPE_CHECKING:
    from pinakes.library import Library
    from pinakes.model import IndexReport, Progress, SearchResponse
    from pinakes.tools.document_tool import HierarchicalDocumentTool

# How long a call waits for documents that are being read; clients give up on one after a minute.
WAIT_SECONDS = 25.0
_BETWEEN_STEPS = 0.2

T = TypeVar("T")


class ToolService:
    """A document tool, loaded when it is first used, or at once when its configuration says so."""

    def __init__(self, tool: HierarchicalDocumentTool, wait_seconds: float = WAIT_SECONDS) -> None:
        self._tool = tool
        self._wait_seconds = wait_seconds
        self._step: Progress | None = None

    @property
    def name(self) -> str:
        """Name of the tool."""
        return self._tool.name

    @property
    def description(self) -> str:
        """What the tool is for."""
        return self._tool.description

    @property
    def token_budget(self) -> int | None:
        """The budget of the configuration."""
        return self._tool.config.token_budget

    # -- loading ---------------------------------------------------------------------------------------------

    def _load(self) -> Future[IndexReport]:
        """Start to read the documents, or join in; what failed before is tried again."""
        return self._tool.start(self._hear)

    def _hear(self, step: Progress) -> None:
        self._step = step

    @property
    def ready(self) -> bool:
        """Whether the documents are read, or are not to be read before somebody asks."""
        return self._tool.loaded or self._tool.config.defer_loading

    def _wait(self, seconds: float | None = None) -> None:
        """Wait for the documents; when they take long to read, say so instead of keeping the caller waiting."""
        if self._tool.loaded:
            return
        loading = self._load()
        wait([loading], self._wait_seconds if seconds is None else seconds)
        if loading.done():
            loading.result()
            return
        step = self._step
        so_far = f" ({step.stage} {step.done} of {step.total})" if step else ""
        raise NotReadyError(f"The documents of {self.name} are being read{so_far}. Ask again in a minute.")

    def warm(self) -> None:
        """Load the tool, unless it is to be loaded when it is first used."""
        if not self._tool.config.defer_loading:
            self._load().result()
            self.search("a", top_k=1)

    def close(self) -> None:
        """Let go of files and connections."""
        self._tool.close()

    # -- asking ----------------------------------------------------------------------------------------------

    def ask(self, question: Callable[[Library], T], wait_seconds: float | None = None) -> T:
        """Put a question to the documents that the tool may show."""
        self._wait(wait_seconds)
        return self._tool.ask(question)

    def search(self, query: str, **options: Any) -> SearchResponse:
        """Search as the configuration says."""
        self._wait()
        return self._tool.search_sync(query, **options)

    def roots(self) -> list[Path]:
        """Return the source, which is all that the tool reads."""
        return [self._tool.config.source_path()]

    def index(self, paths: list[str] | None, progress: Callable[[Progress], None]) -> IndexReport:
        """Bring the index up to date with the source."""
        if self._tool.loaded:
            return self._tool.update_sync(progress)
        # What is loaded now is up to date; that goes on even when this call is given up.
        loading = self._load()
        while wait([loading], _BETWEEN_STEPS).not_done:
            if self._step is not None:
                progress(self._step)
        return loading.result()


def tool_services(path: Path) -> list[ToolService]:
    """Return a service for each document tool of an agent file."""
    from pinakes.config.agent import load_agent
    from pinakes.tools.opening import open_tools

    return [ToolService(tool) for tool in open_tools(load_agent(path))]
