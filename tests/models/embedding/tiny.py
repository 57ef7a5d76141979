"""Models of a few numbers, and a hub on this machine that has them: a real server that speaks the hub's protocol."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers

COMMIT = "0123456789abcdef0123456789abcdef01234567"
WORDS = ("[UNK]", "the", "harbour", "master", "query:", "passage:", "vessel", "law")


def tokenizer_json(words: Sequence[str] = WORDS) -> bytes:
    """Return a tokenizer that knows some words."""
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return str(tokenizer.to_str()).encode()


def table_of(rows: int, dimension: int) -> NDArray[np.float32]:
    return np.random.default_rng(7).normal(size=(rows, dimension)).astype(np.float32)


def onnx_graph(
    table: NDArray[np.float32], *, output: str = "last_hidden_state", inputs: Sequence[str] = ()
) -> bytes:
    """Return a graph that looks up each token's vector; a ``task_id`` among the inputs is added to all numbers."""
    helper, integer, real = onnx.helper, onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["found"])]
    if "task_id" in inputs:
        nodes.append(helper.make_node("Cast", ["task_id"], ["task"], to=real))
        nodes.append(helper.make_node("Add", ["found", "task"], [output]))
    else:
        nodes.append(helper.make_node("Identity", ["found"], [output]))
    shapes: dict[str, list[str]] = {"task_id": []}
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info(name, integer, shapes.get(name, ["batch", "sequence"]))
            for name in ("input_ids", "attention_mask", *inputs)
        ],
        [helper.make_tensor_value_info(output, real, ["batch", "sequence", "width"])],
        [onnx.numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return bytes(model.SerializeToString())


def safetensors(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """Return a file of tensors."""
    kinds = {"float32": "F32", "float16": "F16", "int8": "I8", "int64": "I64"}
    header, data = {}, b""
    for name, values in tensors.items():
        content = values.tobytes()
        span = [len(data), len(data) + len(content)]
        header[name] = {"dtype": kinds[str(values.dtype)], "shape": list(values.shape), "data_offsets": span}
        data += content
    written = json.dumps(header).encode()
    return len(written).to_bytes(8, "little") + written + data


def encoder(dimension: int = 4, **settings: Any) -> dict[str, bytes]:
    """Return the files of an ONNX model as it is published."""
    return {
        "config.json": json.dumps(
            {"hidden_size": dimension, "max_position_embeddings": 64, **settings}
        ).encode(),
        "1_Pooling/config.json": b'{"pooling_mode_mean_tokens": true}',
        "onnx/model.onnx": onnx_graph(table_of(len(WORDS), dimension)),
        "tokenizer.json": tokenizer_json(),
        "pytorch_model.bin": b"not wanted",
        "README.md": b"# A model",
    }


def static(dimension: int = 3) -> dict[str, bytes]:
    """Return the files of a static model as model2vec writes them."""
    return {
        "config.json": json.dumps({"model_type": "model2vec", "hidden_dim": dimension}).encode(),
        "model.safetensors": safetensors({"embeddings": table_of(len(WORDS), dimension)}),
        "onnx/model.onnx": b"for other programs",
        "tokenizer.json": tokenizer_json(),
    }


def write_folder(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@dataclass
class Hub:
    """A hub with some models. ``cut`` breaks a file off after so many bytes, ``altered`` sends others of its length,
    and ``claimed`` states another size."""

    models: dict[str, dict[str, bytes]]
    address: str = ""
    cut: dict[str, int] = field(default_factory=dict)
    altered: set[str] = field(default_factory=set)
    claimed: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """Serve the models on this machine."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self._file(body=False)

        def do_GET(self) -> None:
            hub.asked.append(self.path)
            if not self.path.startswith("/api/models/"):
                self._file(body=True)
                return
            name = self.path.removeprefix("/api/models/").partition("?")[0]
            if name not in hub.models:
                self._answer(404, b'{"error": "Repository not found"}', {"X-Error-Code": "RepoNotFound"})
                return
            files = hub.models[name]
            config = json.loads(files["config.json"])
            listed = [_entry(hub, file, content) for file, content in files.items()]
            answer = {"id": name, "sha": COMMIT, "siblings": listed, "config": config, "tags": []}
            self._answer(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})

        def _file(self, *, body: bool) -> None:
            name, _, rest = self.path.removeprefix("/").partition("/resolve/")
            file = rest.partition("/")[2]
            content = hub.models.get(name, {}).get(file)
            if content is None:
                self._answer(404, b"", {"X-Error-Code": "EntryNotFound"}, body=body)
                return
            headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha256(content).hexdigest()}"'}
            start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")[0])
            sent = bytes(byte ^ 1 for byte in content) if file in hub.altered else content
            if start:
                headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
            end = hub.cut.get(file, len(sent)) if body else len(sent)
            self.send_response(206 if start else 200)
            for key, value in {**headers, "Content-Length": str(len(sent) - start)}.items():
                self.send_header(key, value)
            self.end_headers()
            if body:
                self.wfile.write(sent[start:end])
                self.close_connection = True

        def _answer(self, status: int, content: bytes, headers: dict[str, str], *, body: bool = True) -> None:
            self.send_response(status)
            for key, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(key, value)
            self.end_headers()
            if body:
                self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _entry(hub: Hub, file: str, content: bytes) -> dict[str, Any]:
    """Describe a file as the hub does: large ones by SHA-256, others by git's hash."""
    size = hub.claimed.get(file, len(content))
    blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
    entry: dict[str, Any] = {"rfilename": file, "size": size, "blobId": blob}
    if file.endswith((".onnx", ".safetensors", ".bin")):
        entry["lfs"] = {"size": size, "sha256": hashlib.sha256(content).hexdigest(), "pointerSize": 134}
    return entry
