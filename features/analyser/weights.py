"""Tensors on disk: safetensors, matrices as int8 (or coarser) with one scale a row, everything else as float16; float32 in older files.

The rounding happens once, when a model is exported; every later training step and every user sees the same rounded
numbers. Computation is always in floating point.

A checkpoint of Stanza is kept in such a file, too: its tensors, and everything else as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from rome.exceptions import ModelMissingError

SCALE = ".scale"
MODEL = "model."
"""Before the names of a checkpoint's tensors; the others of its file hold bytes."""

CLIPPED = (0.9, 0.8, 0.7, 0.6, 0.5)
"""Shares of a row's largest number that are tried as the largest one kept."""


def quantise(matrix: torch.Tensor, bits: int | torch.Tensor = 8) -> tuple[torch.Tensor, torch.Tensor]:
    """Round an (n, d) float matrix to int8 with one float32 scale a row: matrix ~ values * scale[:, None].

    Parameters
    ----------
    bits
        Of all rows, or (n,) of each. With fewer than eight only so many different values are used, which archives store in that much less
        space; the row's largest numbers are then cut where that lowers its squared error.
    """
    bits = torch.as_tensor(bits).expand(len(matrix))
    top = (2.0 ** (bits - 1) - 1)[:, None]
    largest = matrix.abs().amax(dim=1, keepdim=True).clamp_min(1e-12)
    values, scale = torch.round(matrix / (largest / top)), largest / top
    error = ((values * scale - matrix) ** 2).sum(dim=1, keepdim=True)
    for share in CLIPPED:
        tried = largest * share / top
        cut = torch.maximum(torch.minimum(torch.round(matrix / tried), top), -top)
        found = ((cut * tried - matrix) ** 2).sum(dim=1, keepdim=True)
        better = (found < error) & (bits < 8)[:, None]
        values, scale, error = (torch.where(better, a, b) for a, b in ((cut, values), (tried, scale), (found, error)))
    return values.to(torch.int8), scale[:, 0].float()


def save_weights(
    path: Path,
    tensors: dict[str, torch.Tensor],
    metadata: Mapping[str, object],
    *,
    round_matrices: bool = True,
    bits: Mapping[str, int | torch.Tensor] = MappingProxyType({}),
) -> None:
    """Write tensors and a JSON description to a safetensors file; 2-D tensors become int8 and others float16 when round_matrices, else all float32.

    Parameters
    ----------
    bits
        See `quantise`, by the name of a tensor; 8 for those not named.
    """
    out: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        if round_matrices and tensor.ndim == 2 and tensor.shape[0] > 1:
            out[name], scale = quantise(tensor.detach().float(), bits.get(name, 8))
            out[name + SCALE] = scale.half()
        else:
            out[name] = tensor.detach().to(torch.float16 if round_matrices else torch.float32).contiguous()
    _save(path, out, metadata)


def _save(path: Path, tensors: dict[str, torch.Tensor], description: Mapping[str, object]) -> None:
    save_file(tensors, str(path), metadata={"description": json.dumps(description)})
    Path(path).chmod(0o644)  # safetensors writes 0600, which would travel into the wheel


def load_weights(path: Path, wanted: Sequence[str] = ("",)) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Read what `save_weights` wrote: float32 tensors by name, and the JSON description.

    Raises ModelMissingError when the file is absent or damaged.

    Parameters
    ----------
    wanted
        The beginnings of the names of those tensors that are read.
    """
    with _opened(path, wanted) as (raw, description):
        names = [name for name in raw if not name.endswith(SCALE)]
        return {name: _as_floats(raw.pop(name), raw.get(name + SCALE)) for name in names}, description  # never all twice


@contextmanager
def _opened(path: Path, wanted: Sequence[str] = ("",)) -> Iterator[tuple[dict[str, torch.Tensor], dict[str, Any]]]:
    """Yield the tensors of a file as they are and its description, and report an error in their use as damage."""
    if not Path(path).is_file():
        raise ModelMissingError(f"the weights file {path} is missing: reinstall rome-metric, or train it with `rome train`")
    try:
        with safe_open(str(path), framework="pt") as file:
            raw = {name: file.get_tensor(name) for name in file.keys() if name.startswith(tuple(wanted))}
            description = json.loads((file.metadata() or {}).get("description", "{}"))
        yield raw, description
    except (SafetensorError, ValueError, RecursionError, RuntimeError, IndexError) as error:
        raise ModelMissingError(
            f"the weights file {path} is damaged ({error}): reinstall rome-metric, or train it again"
        ) from error


def _as_floats(raw: torch.Tensor, scale: torch.Tensor | None) -> torch.Tensor:
    """Return a tensor in float32, its rows multiplied by their scales where it has any."""
    floats = raw.float()
    return floats if scale is None else floats.mul_(scale[:, None])  # in place: nobody else holds them


def save_checkpoint(path: Path, checkpoint: Mapping[str, Any]) -> None:
    """Write the dictionary that a model of Stanza's saves: the tensors of its ``model`` and its bytes as tensors, the rest as JSON.

    Raises ValueError for what JSON does not give back as it is.
    """
    packed = {name: value for name, value in checkpoint.items() if isinstance(value, bytes)}
    plain = {name: value for name, value in checkpoint.items() if name != "model" and name not in packed}
    if json.loads(json.dumps(plain)) != plain:
        raise ValueError(f"{path} cannot hold this checkpoint: it has other values than texts, numbers, lists and dictionaries")
    tensors = {f"{MODEL}{name}": tensor.contiguous() for name, tensor in checkpoint["model"].items()}
    tensors |= {name: torch.frombuffer(bytearray(value), dtype=torch.uint8) for name, value in packed.items()}
    _save(path, tensors, plain)


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read what save_checkpoint wrote. Raises what `load_weights` does."""
    with _opened(path) as (raw, plain):
        model = {name: raw.pop(name) for name in list(raw) if name.startswith(MODEL)}
        packed = {name: bytes(tensor.numpy()) for name, tensor in raw.items()}
        return {**plain, **packed, "model": {name.removeprefix(MODEL): tensor for name, tensor in model.items()}}
