"""What is published: the source distribution, the wheel that is built from it, and what one can do with it alone."""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from loccit.version import __version__

ROOT = Path(__file__).parents[1]
SOURCE = "https://github.com/loccit/loccit"

pytestmark = [pytest.mark.slow, pytest.mark.process]


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command that must succeed, and return what it prints."""
    # Neither our sources on the path nor settings of whoever runs the tests.
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LOCCIT_"))}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=plain, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both distributions; the wheel is made of the unpacked source distribution, as an installer would make it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    return dist / f"loccit-{__version__}-py3-none-any.whl"


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that holds the wheel and borrows what it depends on from this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    run(
        *(
            sys.executable,
            "-m",
            "pip",
            "--python",
            folder,
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ),
        *("--no-deps", "--no-index", wheel),
        cwd=folder,
    )
    (packages,) = folder.glob("lib/python*/site-packages")
    # Paths in such a file come after the environment's own packages, and no editable install of ours is followed there.
    (packages / "borrowed.pth").write_text("\n".join(site.getsitepackages()), encoding="utf-8")
    return folder / "bin"


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    sources = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "loccit").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "loccit/py.typed" in sources
    info = f"loccit-{__version__}.dist-info"
    assert {name for name in held if not name.startswith(info)} == sources
    assert {f"{info}/licenses/LICENSE", f"{info}/licenses/NOTICE", f"{info}/entry_points.txt"} <= held


def test_the_description_can_be_read_without_the_repository(dist: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        described = archive.read(f"loccit-{__version__}.dist-info/METADATA").decode()
    with tarfile.open(dist / f"loccit-{__version__}.tar.gz") as archive:
        information = archive.extractfile(f"loccit-{__version__}/PKG-INFO")
        assert information and information.read().decode() == described
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = {
        text: re.findall(r"(!?)\[(?:[^\]]|!\[.*?\)\])*\]\(([^)]+)\)", text) for text in (readme, described)
    }
    assert len(targets[described]) == len(targets[readme]) > 30
    for (picture, ours), (_, shown) in zip(targets[readme], targets[described], strict=True):
        if ours.startswith("https://"):
            assert shown == ours
            continue
        site = "https://raw.githubusercontent.com/loccit/loccit" if picture else f"{SOURCE}/blob"
        path = f"README.md{ours}" if ours.startswith("#") else ours
        assert shown == f"{site}/v{__version__}/{path}"
        assert (ROOT / path.partition("#")[0]).exists()
    assert not re.search(r"<(img|a|source)\b", described)


@pytest.mark.parametrize(
    "workflow", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.name
)
def test_what_a_workflow_uses_is_pinned(workflow: Path) -> None:
    used = re.findall(r"^\s*-?\s*uses: (.*)$", workflow.read_text(encoding="utf-8"), re.MULTILINE)
    assert used
    for action in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_the_source_distribution_can_be_tested(dist: Path) -> None:
    with tarfile.open(dist / f"loccit-{__version__}.tar.gz") as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "Makefile", "README.md", "LICENSE", "tests/conftest.py"} <= held
    assert {"examples/harbour-safety-act.md", "src/loccit/py.typed"} <= held
    assert not [name for name in held if re.search(r"(^|/)(\.venv|\.git|\.loccit|__pycache__)/", name)]


def test_the_versions_agree(environment: Path, tmp_path: Path) -> None:
    assert __version__ in run(environment / "loccit", "--version", cwd=tmp_path)
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    from_metadata = "from importlib.metadata import version; print(version('loccit'))"
    assert run(environment / "python", "-c", from_metadata, cwd=tmp_path).strip() == __version__


def test_the_installed_package_indexes_and_searches(environment: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "harbour-safety-act.md", tmp_path)
    where = run(environment / "python", "-c", "import loccit; print(loccit.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(environment.parent)
    run(environment / "loccit", "index", ".", cwd=tmp_path)
    found = run(environment / "loccit", "search", "when must an accident be reported", cwd=tmp_path)
    assert "harbour-safety-act.md" in found
