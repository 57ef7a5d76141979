"""A BERT encoder in torch, for training: read from weights under BERT's names, and written back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from scripts import build_model
from torch import nn
from torch.nn import functional

HIDDEN, HEADS = build_model.HIDDEN, build_model.HEADS
PARTS = {
    "project": "attention.output.dense",
    "norm": "attention.output.LayerNorm",
    "expand": "intermediate.dense",
    "contract": "output.dense",
    "output_norm": "output.LayerNorm",
}


class EncoderLayer(nn.Module):  # type: ignore[misc]
    """One transformer layer, as in BERT."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.qkv, self.project = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.expand, self.contract = nn.Linear(HIDDEN, units), nn.Linear(units, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, eps=build_model.EPSILON)
        self.output_norm = nn.LayerNorm(HIDDEN, eps=build_model.EPSILON)

    def forward(self, x: Any, mask: Any) -> Any:
        texts, length, _ = x.shape
        query, key, value = self.qkv(x).view(texts, length, 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)
        context = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = self.norm(x + self.project(context.transpose(1, 2).reshape(texts, length, HIDDEN)))
        return self.output_norm(x + self.contract(functional.gelu(self.expand(x))))


class Encoder(nn.Module):  # type: ignore[misc]
    """Word and position embeddings, layers, mean or first token, unit length."""

    def __init__(self, words: int, positions: int, layers: int, units: int, *, first_token: bool) -> None:
        super().__init__()
        self.first_token = first_token
        self.words, self.positions = nn.Embedding(words, HIDDEN), nn.Embedding(positions, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, eps=build_model.EPSILON)
        self.layers = nn.ModuleList(EncoderLayer(units) for _ in range(layers))

    @classmethod
    def of(cls, weights: Mapping[str, Any], *, first_token: bool) -> Encoder:
        """Return the encoder with these weights."""
        layers = list(build_model.layers(weights))
        words, positions = weights["embeddings.word_embeddings.weight"], build_model.positions(weights)
        encoder = cls(
            len(words), len(positions), len(layers), layers[0].expand.shape[1], first_token=first_token
        )
        state = {
            "words.weight": words,
            "positions.weight": positions,
            "norm.weight": weights["embeddings.LayerNorm.weight"],
            "norm.bias": weights["embeddings.LayerNorm.bias"],
        }
        for index, layer in enumerate(layers):
            state[f"layers.{index}.qkv.weight"] = layer.qkv.T
            state[f"layers.{index}.qkv.bias"] = layer.qkv_bias
            for part, name in PARTS.items():
                for kind in ("weight", "bias"):
                    state[f"layers.{index}.{part}.{kind}"] = weights[f"encoder.layer.{index}.{name}.{kind}"]
        encoder.load_state_dict({name: torch.tensor(np.array(value)) for name, value in state.items()})
        return encoder

    def forward(self, ids: Any, padding: int) -> Any:
        mask = ids != padding
        x = self.norm(self.words(ids) + self.positions.weight[: ids.shape[1]])
        for layer in self.layers:
            x = layer(x, mask[:, None, None, :])
        pooled = x[:, 0] if self.first_token else (x * mask[..., None]).sum(1)
        return functional.normalize(pooled.float(), dim=-1)


def named_weights(encoder: Encoder) -> Mapping[str, Any]:
    """Return the weights under BERT's names."""
    state = {name: value.detach().cpu().numpy() for name, value in encoder.state_dict().items()}
    weights = {
        "embeddings.word_embeddings.weight": state["words.weight"],
        "embeddings.position_embeddings.weight": state["positions.weight"],
        "embeddings.token_type_embeddings.weight": np.zeros((2, HIDDEN), np.float32),
        "embeddings.LayerNorm.weight": state["norm.weight"],
        "embeddings.LayerNorm.bias": state["norm.bias"],
    }
    for index in range(len(encoder.layers)):
        layer, prefix = f"layers.{index}.", f"encoder.layer.{index}."
        for kind in ("weight", "bias"):
            parts = np.split(state[f"{layer}qkv.{kind}"], 3)
            for name, part in zip(("query", "key", "value"), parts, strict=True):
                weights[f"{prefix}attention.self.{name}.{kind}"] = part
            for own, name in PARTS.items():
                weights[f"{prefix}{name}.{kind}"] = state[f"{layer}{own}.{kind}"]
    return weights
