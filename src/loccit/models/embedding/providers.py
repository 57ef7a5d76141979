"""Where onnxruntime can run a graph on this machine: on an installed accelerator, or the processor."""

from __future__ import annotations

import os
from pathlib import Path

from loccit.models.embedding.protocol import Embedder

PROCESSOR = "CPUExecutionProvider"
# Fastest first. TensorRT is left out: it compiles for minutes for each new text length.
ACCELERATORS = (
    "CUDAExecutionProvider",
    "ROCMExecutionProvider",
    "DmlExecutionProvider",
    "CoreMLExecutionProvider",
    "OpenVINOExecutionProvider",
)
# Graphs with these operators were quantised for processors; elsewhere data would be copied back and forth.
_PROCESSOR_ONLY = (b"DynamicQuantizeLinear", b"DynamicQuantizeMatMul", b"MatMulInteger", b"QAttention")


def providers_for(graph: Path) -> list[str]:
    """Return where to run a graph, by preference; the processor is always last.

    ``LOCCIT_ONNX_PROVIDER`` selects one if it is installed, such as ``cpu`` or ``openvino``.
    """
    import onnxruntime

    installed = [name for name in ACCELERATORS if name in onnxruntime.get_available_providers()]
    if asked := os.environ.get("LOCCIT_ONNX_PROVIDER", "").strip().lower():
        installed = [name for name in installed if name.lower().removesuffix("executionprovider") == asked]
    elif installed and _is_quantised(graph):
        installed = []
    return [*installed[:1], PROCESSOR]


def _is_quantised(graph: Path) -> bool:
    try:
        content = graph.read_bytes()
    except OSError:  # said when it is loaded
        return False
    return any(operator in content for operator in _PROCESSOR_ONLY)


def describe_embedder(embedder: Embedder) -> str:
    """Say where a model runs, and what else is installed."""
    import onnxruntime

    # Services and models of other packages do not report it.
    used = getattr(embedder, "provider", "")
    if not used:
        return embedder.name
    others = [name for name in ACCELERATORS if name in onnxruntime.get_available_providers() and name != used]
    where = "the CPU" if used == PROCESSOR else used.removesuffix("ExecutionProvider")
    more = ", ".join(name.removesuffix("ExecutionProvider") for name in others)
    return f"{embedder.name} runs on {where}" + (f"; also installed: {more}" if more else "")
