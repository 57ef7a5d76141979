"""Models by name: what is fetched from a hub, and what happens when that fails. The hub is a server in this process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import write_documents
from tests.forked import loccit, run_forked
from tests.models.embedding.tiny import Hub, encoder, serving, static

NAME = "maker/tiny-model"


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serving(Hub({NAME: encoder(), "maker/wide-model": encoder(6), "maker/table": static()})) as served:
        yield served


class Place:
    """A folder with documents, and a Hugging Face cache of its own."""

    def __init__(self, folder: Path, hub: Hub) -> None:
        self.folder, self.hub = folder, hub
        write_documents(folder / "docs")

    def run(self, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
        known = {
            "HF_ENDPOINT": self.hub.address,
            "HF_HOME": str(self.folder / "cache"),
            "HF_HUB_OFFLINE": "0",
        }
        # In a process of its own: the hub's package reads the environment once.
        return run_forked(loccit, *args, folder=self.folder, env={**os.environ, **known, **environment})

    def refused(self, *args: str, **environment: str) -> str:
        done = self.run("index", "docs", *args, **environment)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr


@pytest.fixture
def place(tmp_path: Path, hub: Hub) -> Place:
    return Place(tmp_path, hub)


@pytest.mark.parametrize(
    ("name", "dimension", "wanted"), [(NAME, 4, "onnx/model.onnx"), ("maker/table", 3, "model.safetensors")]
)
def test_a_model_is_fetched_once_after_saying_how_large_it_is(
    place: Place, hub: Hub, name: str, dimension: int, wanted: str
) -> None:
    done = place.run("index", "docs", "--model", name)
    assert done.returncode == 0, done.stderr
    assert f"Downloading {name}: " in done.stderr and " B, from http://127.0.0.1:" in done.stderr
    fetched = [path.rpartition("/resolve/")[2].partition("/")[2] for path in hub.asked if "/resolve/" in path]
    assert wanted in fetched
    assert not {"pytorch_model.bin", "README.md"} & set(fetched)
    assert f"{name}, {dimension} dimensions" in place.run("status").stdout
    hub.asked.clear()
    assert place.run("search", "the harbour master", "--mode", "semantic").returncode == 0
    assert place.run("index", "docs", "--model", name, "--offline").returncode == 0
    assert f"{name} runs on the CPU" in place.run("doctor").stdout
    assert hub.asked == []


def test_offline_fetches_nothing_and_says_what_to_do(place: Place, hub: Hub) -> None:
    assert "--model FOLDER" in place.refused("--model", NAME, "--offline")
    assert "HF_HUB_OFFLINE is set" in place.refused("--model", NAME, HF_HUB_OFFLINE="1")
    assert hub.asked == []
    assert not (place.folder / ".loccit").exists()


def test_a_download_that_breaks_off_goes_on_with_the_next_run(place: Place, hub: Hub) -> None:
    hub.cut["onnx/model.onnx"] = 100
    said = place.refused("--model", NAME)
    assert "broke off" in said and "run the command again to resume" in said
    hub.cut.clear()
    hub.asked.clear()
    assert place.run("index", "docs", "--model", NAME).returncode == 0
    assert f"/{NAME}/resolve/main/tokenizer.json" in hub.asked


def test_a_wrong_checksum_is_refused_and_the_file_is_fetched_anew(place: Place, hub: Hub) -> None:
    for file in ("config.json", "onnx/model.onnx"):
        hub.altered = {file}
        said = place.refused("--model", NAME)
        assert f"{file} of the model {NAME} is damaged" in said
    hub.altered.clear()
    assert place.run("index", "docs", "--model", NAME).returncode == 0


def test_no_space_is_said_before_anything_is_fetched(place: Place, hub: Hub) -> None:
    hub.claimed["onnx/model.onnx"] = 10**18
    said = place.refused("--model", NAME)
    assert "not enough space" in said and "HF_HOME" in said
    assert not [path for path in hub.asked if "/resolve/" in path]


def test_a_disk_that_fills_up_while_fetching(place: Place, hub: Hub) -> None:
    hub.models[NAME]["onnx/model.onnx"] += b"\0" * (1 << 20)
    script = (
        "import resource, runpy, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19)); "
        "sys.argv = ['loccit', 'index', 'docs', '--model', sys.argv[1]]; runpy.run_module('loccit', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, NAME],
        cwd=place.folder,
        env={**os.environ, "HF_ENDPOINT": hub.address, "HF_HOME": str(place.folder / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1, done.stderr
    assert "not enough space" in done.stderr and "HF_HOME" in done.stderr


def test_no_network(place: Place) -> None:
    said = place.refused("--model", NAME, HF_ENDPOINT="http://127.0.0.1:9")
    assert "Cannot reach http://127.0.0.1:9" in said and "--model FOLDER" in said


def test_a_name_that_the_hub_does_not_know(place: Place) -> None:
    assert "There is no model maker/nothing" in place.refused("--model", "maker/nothing")


def test_a_model_without_anything_to_run(place: Place, hub: Hub) -> None:
    del hub.models[NAME]["onnx/model.onnx"]
    assert "optimum-cli export onnx" in place.refused("--model", NAME)


def test_another_model_is_not_fetched_for_an_index_that_has_one(place: Place, hub: Hub) -> None:
    assert place.run("index", "docs", "--model", NAME).returncode == 0
    hub.asked.clear()
    said = place.refused("--model", "maker/wide-model")
    assert (
        f"was made with the embedding model {NAME}" in said and "--rebuild --model maker/wide-model" in said
    )
    assert hub.asked == []
    assert place.run("search", "harbour", "--mode", "semantic").returncode == 0
    assert place.run("index", "docs", "--model", "maker/wide-model", "--rebuild").returncode == 0
    assert "maker/wide-model, 6 dimensions" in place.run("status").stdout


def test_a_rebuild_with_a_model_that_does_not_come_leaves_the_index(place: Place, hub: Hub) -> None:
    assert place.run("index", "docs", "--model", NAME).returncode == 0
    hub.cut["onnx/model.onnx"] = 100
    assert "broke off" in place.refused("--model", "maker/wide-model", "--rebuild")
    assert f"{NAME}, 4 dimensions" in place.run("status").stdout
    assert place.run("search", "harbour", "--mode", "semantic").returncode == 0
    assert place.run("doctor", "--check").returncode == 0


def test_files_that_do_not_match_are_found_before_anything_is_read(place: Place, hub: Hub) -> None:
    hub.models[NAME]["config.json"] = hub.models["maker/wide-model"]["config.json"]
    assert "gives vectors of 4 dimensions, but the settings beside it say 6" in place.refused("--model", NAME)
    assert not (place.folder / ".loccit").exists()
