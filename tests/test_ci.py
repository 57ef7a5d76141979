"""What continuous integration does where Chromium is missing: it installs it if it may, and goes on in any case."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "run"
OS_RELEASE = Path("/etc/os-release")

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        not OS_RELEASE.exists() or "\nID=debian\n" not in OS_RELEASE.read_text(encoding="utf-8"),
        reason="the script installs packages on Debian alone",
    ),
]


class Machine:
    """A PATH with the programs that the script needs, and stand-ins that note how they were called."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.log = folder / "log"
        for name in ("bash", "dirname", "grep", "timeout", "env", "sleep"):
            (self.bin / name).symlink_to(str(shutil.which(name)))
        self.add("make", "")

    def add(self, name: str, script: str) -> None:
        path = self.bin / name
        path.write_text(f'#!/bin/bash\necho "{name} $*" >> {self.log}\n{script}\n', encoding="utf-8")
        path.chmod(0o755)

    def run(self, **variables: str) -> tuple[list[str], str]:
        """Run the script; return what was called, and what it said."""
        done = subprocess.run(
            [str(self.bin / "bash"), str(SCRIPT)],
            env={"PATH": str(self.bin), **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        called = [line for line in self.log.read_text(encoding="utf-8").splitlines() if line[:3] != "id "]
        assert called.pop() == "make --keep-going check test test-conformance"
        return called, done.stderr


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.add("id", "echo 0")
    return machine


def test_chromium_is_installed_where_it_is_missing(machine: Machine) -> None:
    machine.add("apt-get", "")
    update, install = machine.run()[0]
    assert update.startswith("apt-get -qq") and update.endswith(" update")
    assert install.endswith(" install -y --no-install-recommends chromium")


def test_it_is_left_alone_where_it_is_there_or_named(machine: Machine) -> None:
    machine.add("apt-get", "")
    assert machine.run(CHROMIUM="/opt/chromium") == ([], "")
    machine.add("google-chrome", "")
    assert machine.run() == (["make --keep-going check test test-conformance"], "")


@pytest.mark.parametrize("broken", ["exit 100", "cat; exit 1"])
def test_a_failure_to_install_does_not_end_the_run(machine: Machine, broken: str) -> None:
    machine.add("apt-get", broken)
    called, said = machine.run()
    assert len(called) == 2 and "could not be installed: going on without" in said


def test_it_needs_root_or_sudo_that_asks_nothing(machine: Machine) -> None:
    machine.add("id", "echo 1000")
    machine.add("apt-get", "")
    machine.add("sudo", "exit 1")
    called, said = machine.run()
    assert called == ["sudo -n true"] and "takes root or sudo without a password" in said
    machine.log.unlink()
    machine.add("sudo", 'shift; exec "$@"')
    machine.add("true", "")
    called, _ = machine.run()
    assert [line.split()[0] for line in called] == ["sudo", "true", "sudo", "apt-get", "sudo", "apt-get"]


def test_without_debians_packages_it_goes_on(machine: Machine) -> None:
    called, said = machine.run()
    assert called == [] and "only Debian has it as a package: going on without" in said
