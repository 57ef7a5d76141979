"""How large a base install is, with everything it depends on.

    python -m benchmarks.install_size

Installs Loccit without extras into a fresh virtual environment, and counts what that added.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import save

ROOT = Path(__file__).parent.parent


def megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        venv = Path(scratch) / "venv"
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        packages = next(venv.glob("lib/python*/site-packages"))
        before = megabytes(packages)
        install = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", str(ROOT)]
        subprocess.run(install, check=True, capture_output=True)
        total = megabytes(packages) - before
        sizes = {path.name: megabytes(path) for path in packages.iterdir() if path.is_dir()}
        figures = {
            "total_mb": total,
            "largest": dict(sorted(sizes.items(), key=lambda item: -item[1])[:12]),
        }
    print(f"base install {total:.0f} MB")
    for name, size in figures["largest"].items():  # type: ignore[attr-defined]
        print(f"  {name:28} {size:6.1f} MB")
    save("install_size", figures)


if __name__ == "__main__":
    main()
