"""The worker pool against code that hangs, eats memory, crashes and prints."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loccit.errors import ConversionError, LoccitError
from loccit.workers.sandbox import Limits, Outcome, Sandbox

HERE = Path(__file__).parent
LIMITS = Limits(seconds=30, memory_mb=512, result_mb=8)


def act(payload: dict[str, Any], setup: dict[str, Any]) -> dict[str, Any]:
    """What the workers run in these tests."""
    match payload["do"]:
        case "echo":
            name = os.fsencode(payload.get("name", "")).hex()
            return {"echo": payload.get("text"), "name": name, "setup": setup, "pid": os.getpid()}
        case "sleep":
            time.sleep(payload["seconds"])
            return {"slept": True}
        case "spin":
            while True:
                pass
        case "memory":
            return {"length": len(bytearray(4 << 30))}
        case "exit":
            os._exit(7)
        case "segfault":
            ctypes.string_at(0)
        case "refuse":
            raise ConversionError("the file is empty")
        case "fail":
            raise KeyError("missing\nkey")
        case "recurse":
            return act(payload, setup)
        case "print":
            print("garbage " * 10_000)
            os.write(1, b"\x00\x00\x00\x00\x00\x00\x00\x05hello")
            print("noise " * 10_000, file=sys.stderr)
            subprocess.run(["echo", "child garbage"], check=True)
            sys.stdin.read()
            return {"printed": True}
        case "big":
            return {"text": "x" * payload["size"]}
        case "unserialisable":
            return {"value": object()}
        case "child":
            child = subprocess.Popen(["sleep", "600"])
            Path(payload["file"]).write_text(f"{os.getpid()} {child.pid}")
            time.sleep(600)
    return {}


@pytest.fixture(scope="module", autouse=True)
def _importable() -> Iterator[None]:
    sys.path.insert(0, str(HERE))
    yield
    sys.path.remove(str(HERE))


def sandbox(workers: int = 1, limits: Limits = LIMITS, **options: Any) -> Sandbox:
    return Sandbox("test_sandbox:act", workers=workers, limits=limits, **options)


def outcomes(payloads: list[dict[str, Any]], workers: int = 1, limits: Limits = LIMITS) -> list[Outcome]:
    """Outcomes in the order of the payloads."""
    found = {}
    with sandbox(workers, limits) as pool:
        for payload, outcome in pool.run(payloads):
            found[id(payload)] = outcome
    return [found[id(payload)] for payload in payloads]


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z"
    except FileNotFoundError:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)
            return not Path("/proc").exists()
    return False


def gone(pid: int) -> bool:
    for _ in range(400):
        if not alive(pid):
            return True
        time.sleep(0.025)
    return False


def wait_for(file: Path) -> list[int]:
    for _ in range(800):
        if file.exists() and (text := file.read_text()):
            return [int(pid) for pid in text.split()]
        time.sleep(0.025)
    raise AssertionError(f"{file} was not written")


def test_values_and_setup_arrive_unchanged() -> None:
    text = "Ünïcode 漢字 🙂 \x00 end"
    with sandbox(initializer_payload={"a": [1]}) as pool:
        ((payload, outcome),) = pool.run([{"do": "echo", "text": text, "name": "\udcff"}])
    assert outcome.kind == "ok" and outcome.error is None and outcome.value is not None
    assert outcome.value["echo"] == text == payload["text"]
    assert outcome.value["name"] == "ff"
    assert outcome.value["setup"] == {"a": [1]}


def test_each_failure_is_told_apart_and_the_pool_goes_on() -> None:
    ok, empty, broken, exited, fell, deep, strange, again = outcomes(
        [
            {"do": "echo"},
            {"do": "refuse"},
            {"do": "fail"},
            {"do": "exit"},
            {"do": "segfault"},
            {"do": "recurse"},
            {"do": "unserialisable"},
            {"do": "echo"},
        ]
    )
    assert ok.kind == again.kind == "ok"
    assert (empty.kind, empty.error) == ("failed", "the file is empty")
    assert (broken.kind, broken.error) == ("failed", "KeyError: 'missing\\nkey'")
    assert exited.kind == "crashed" and "7" in str(exited.error)
    assert fell.kind == "crashed" and "SIGSEGV" in str(fell.error)
    assert deep.kind == "failed" and "RecursionError" in str(deep.error)
    assert strange.kind == "failed" and "TypeError" in str(strange.error)
    assert all("Traceback" not in str(outcome.error) for outcome in (broken, deep, strange))


def test_overdue_workers_are_killed() -> None:
    slow, spinning, after = outcomes(
        [{"do": "sleep", "seconds": 600}, {"do": "spin"}, {"do": "echo"}], limits=Limits(seconds=1)
    )
    assert slow.kind == spinning.kind == "timeout"
    assert slow.error == "took longer than 1 seconds to read"
    assert after.kind == "ok"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS")
def test_memory_limit() -> None:
    hungry, after = outcomes([{"do": "memory"}, {"do": "echo"}])
    assert (hungry.kind, hungry.error) == ("memory", "needs more than 512 MB to read")
    assert after.kind == "ok"


def test_what_is_printed_does_not_disturb(capfd: pytest.CaptureFixture[str]) -> None:
    printed, after = outcomes([{"do": "print"}, {"do": "echo"}])
    assert printed.value == {"printed": True}
    assert after.kind == "ok"
    assert capfd.readouterr() == ("", "")


def test_result_size() -> None:
    fits, too_big, after = outcomes(
        [{"do": "big", "size": 7 << 20}, {"do": "big", "size": 9 << 20}, {"do": "echo"}]
    )
    assert fits.value is not None and len(fits.value["text"]) == 7 << 20
    assert (too_big.kind, too_big.error) == ("failed", "converts to more than 8 MB")
    assert after.kind == "ok"


def test_big_payload() -> None:
    (outcome,) = outcomes([{"do": "echo", "text": "y" * (4 << 20)}])
    assert outcome.value is not None and len(outcome.value["echo"]) == 4 << 20


def test_many_payloads_over_few_workers() -> None:
    pulled = 0

    def payloads() -> Iterator[dict[str, Any]]:
        nonlocal pulled
        for number in range(500):
            pulled += 1
            yield {"do": "echo", "text": number}

    seen, pids = [], set()
    with sandbox(workers=2) as pool:
        for count, (payload, outcome) in enumerate(pool.run(payloads())):
            assert outcome.value is not None
            assert pulled - count <= 4, "pulled too far ahead"
            seen.append(payload["text"])
            pids.add(outcome.value["pid"])
    assert sorted(seen) == list(range(500))
    assert len(pids) <= 2


def test_workers_start_as_needed_and_are_kept() -> None:
    with sandbox(workers=8) as pool:
        assert pool._keepers == []
        assert list(pool.run([])) == []
        ((_, first),) = pool.run([{"do": "echo"}])
        ((_, second),) = pool.run([{"do": "echo"}])
        assert len(pool._keepers) == 1
    assert first.value is not None and second.value is not None
    assert first.value["pid"] == second.value["pid"]
    assert gone(first.value["pid"])


def test_break_midway_kills_what_runs(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    with sandbox(workers=2) as pool:
        run = pool.run([{"do": "echo"}, {"do": "child", "file": str(file)}, {"do": "echo"}])
        for _, outcome in run:
            assert outcome.kind == "ok"
            break
        worker, child = wait_for(file)
        run.close()  # type: ignore[attr-defined]
        assert gone(worker) and gone(child)
        ((_, after),) = pool.run([{"do": "echo"}])
        assert after.kind == "ok"


def test_given_up_when_the_answer_is_there_already(caplog: pytest.LogCaptureFixture) -> None:
    """A worker that is killed just after its answer arrived is replaced before the next call."""
    arrived, go_on = threading.Event(), threading.Event()

    class Held(logging.Handler):
        """Holds up the pool where it notes an answer, before it counts as given."""

        def emit(self, record: logging.LogRecord) -> None:
            arrived.set()
            go_on.wait(30)

    logger, held = logging.getLogger("loccit.workers.sandbox"), Held()
    logger.addHandler(held)
    try:
        with caplog.at_level(logging.DEBUG, logger.name), sandbox() as pool:
            run = pool.run([{"do": "echo"}, {"do": "refuse"}])
            assert next(iter(run))[1].kind == "ok"
            assert arrived.wait(30)
            run.close()  # type: ignore[attr-defined]
            go_on.set()
            ((_, after),) = pool.run([{"do": "echo"}])
    finally:
        logger.removeHandler(held)
    assert after.kind == "ok"


def test_results_read_by_several_threads_at_once() -> None:
    # In a new process, because only the first decoder of a type is made from scratch.
    program = """
        import sys, threading
        from contextlib import suppress
        from msgspec import ValidationError
        from loccit.workers.sandbox import decoder_of
        from loccit.model import ParsedDocument

        sys.setswitchinterval(1e-6)
        together = threading.Barrier(8)

        def read():
            together.wait()
            with suppress(ValidationError):
                decoder_of(ParsedDocument).decode(b'{"document": {"source_path": "a"}}')

        threads = [threading.Thread(target=read) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    """
    for _ in range(6):
        assert subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False).returncode == 0


def test_a_failing_source_of_payloads() -> None:
    def payloads() -> Iterator[dict[str, Any]]:
        yield {"do": "echo"}
        raise OSError("disk on fire")

    with sandbox() as pool, pytest.raises(OSError, match="disk on fire"):
        list(pool.run(payloads()))


def test_a_function_that_cannot_be_loaded_is_an_error_of_the_pool() -> None:
    with (
        Sandbox("no_such_module:run", workers=1, limits=LIMITS) as pool,
        pytest.raises(LoccitError, match="no_such_module"),
    ):
        list(pool.run([{"do": "echo"}]))


def test_closed_pool() -> None:
    pool = sandbox()
    pool.close()
    pool.close()
    with pytest.raises(LoccitError, match="closed"):
        list(pool.run([{"do": "echo"}]))


def test_modules_in_the_current_folder_are_not_picked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('wrong module')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    assert [outcome.kind for outcome in outcomes([{"do": "echo"}])] == ["ok"]


# A test run in the background may have inherited a deaf ear for Ctrl-C: the script listens again.
PARENT = """
    import signal
    import sys
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from loccit.workers.sandbox import Limits, Sandbox
    with Sandbox("test_sandbox:act", workers=1, limits=Limits()) as pool:
        for _ in pool.run([{"do": %r, "file": sys.argv[1]}]):
            pass
"""


def start_parent(tmp_path: Path) -> tuple[subprocess.Popen[bytes], int, int]:
    # No `if __name__ == "__main__"` in the script, on purpose.
    script = tmp_path / "parent.py"
    script.write_text(textwrap.dedent(PARENT % "child"))
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    file = tmp_path / "pids"
    parent = subprocess.Popen(
        [sys.executable, str(script), str(file)], env=env, stderr=subprocess.PIPE, start_new_session=True
    )
    worker, child = wait_for(file)
    return parent, worker, child


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_workers_go_when_the_parent_is_killed(tmp_path: Path) -> None:
    parent, worker, child = start_parent(tmp_path)
    try:
        parent.kill()
        parent.wait()
        assert gone(worker)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        if parent.stderr:
            parent.stderr.close()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_control_c_leaves_nothing_behind(tmp_path: Path) -> None:
    parent, worker, child = start_parent(tmp_path)
    os.killpg(parent.pid, signal.SIGINT)
    _, errors = parent.communicate(timeout=30)
    assert gone(worker) and gone(child)
    assert errors.strip().endswith(b"KeyboardInterrupt")
    assert errors.count(b"Traceback") == 1
