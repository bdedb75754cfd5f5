"""Models of other people: word vectors and acceptability from any checkpoint that transformers loads, local or from a hub."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rome.exceptions import ModelMissingError

from .config import set_folder
from .encoder import load_encoder, parts_of
from .pieces import Encoded, batches_of, encode, merge_windows, padded

BATCH_PIECES = 2048


def pretrained(kind: Any, name: str | Path, *, download: bool = False, **options: Any) -> Any:
    """Load a local folder or a hub's name with one of transformers' Auto classes; from local files unless download.

    Code of the checkpoint is never run.
    """
    return kind.from_pretrained(name, local_files_only=not download, trust_remote_code=False, **options)


def first_line(error: BaseException) -> str:
    """Return the message of an error in one line."""
    return (str(error).strip().splitlines() or ["no message"])[0].rstrip(".")


class _Checkpoint:
    """A model of one of transformers' classes with its fast tokenizer, from local files unless download, and how many positions fit it.

    ModelMissingError names the command that gets it. The library is loaded here, because the embedded models do without it.
    """

    def __init__(self, kind: str, name: str, download: bool, device: str = "cpu") -> None:
        import transformers

        try:
            self.tokenizer = pretrained(transformers.AutoTokenizer, name, download=download, use_fast=True)
            model = pretrained(getattr(transformers, kind), name, download=download)
        except (OSError, ValueError) as error:
            if Path(name).is_dir():
                raise ModelMissingError(
                    f"the model {name} cannot be loaded ({first_line(error)}): give the folder of a whole checkpoint that "
                    "needs no code of its own"
                ) from error
            raise ModelMissingError(
                f"the model {name} is not on this machine: run `hf download {name}`, or give the folder of a copy"
            ) from error
        self.model, self.device = model.eval().requires_grad_(False).to(device), device
        fitting = getattr(model.config, "max_position_embeddings", 512)
        self.window = int(min(self.tokenizer.model_max_length, fitting, 10**6))

    def encode(self, sentences: Sequence[str]) -> list[Encoded]:
        """Return the sentences as rows of pieces."""
        return encode(self.tokenizer, sentences, self.window)

    def batches(self, sentences: Sequence[Encoded], **options: Any) -> Iterator[tuple[list[int], Any]]:
        """Yield the numbers of some rows of similar length and the model's output for them, for the rows of all sentences."""
        rows = [torch.tensor(row) for sentence in sentences for row in sentence.rows]
        for batch in batches_of([len(row) for row in rows], BATCH_PIECES):
            fill = self.tokenizer.pad_token_id or 0
            ids, mask = padded([rows[n] for n in batch], fill)
            yield batch, self.model(input_ids=ids.to(self.device), attention_mask=mask.long().to(self.device), **options)


class TransformerEncoder(_Checkpoint):
    """Piece states of one hidden layer of an encoder.

    Parameters
    ----------
    name
        A local folder or a hub name.
    layer
        Index into the hidden states, 0 = embeddings, -1 = last.
    """

    def __init__(self, name: str, layer: int = -1, *, download: bool = False, device: str = "cpu") -> None:
        super().__init__("AutoModel", name, download, device)
        self.layer = layer

    @torch.no_grad()
    def states(self, sentences: Sequence[Encoded]) -> list[NDArray[np.float32]]:
        """Return for each sentence (n, d) states of its pieces, windows merged."""
        found: dict[int, NDArray[np.float32]] = {}
        for batch, out in self.batches(sentences, output_hidden_states=True):
            found |= zip(batch, out.hidden_states[self.layer].float().cpu().numpy(), strict=True)
        rows = (found[n] for n in range(len(found)))
        return [merge_windows(sentence, [next(rows) for _ in sentence.rows]) for sentence in sentences]


class Classifier(_Checkpoint):
    """The probability that a sentence is acceptable, from a sequence classifier fine-tuned on CoLA (RoMe §3.3)."""

    def __init__(self, name: str, acceptable_label: int = 1, *, download: bool = False, device: str = "cpu") -> None:
        super().__init__("AutoModelForSequenceClassification", name, download, device)
        self.label = acceptable_label

    @torch.no_grad()
    def probabilities(self, sentences: Sequence[str]) -> list[float]:
        """Return one probability in [0, 1] per sentence; for one longer than the window, the geometric mean over its windows."""
        encoded = self.encode(sentences)
        counts = [len(sentence.rows) for sentence in encoded]
        logs = np.zeros(sum(counts))
        for batch, out in self.batches(encoded):
            logs[batch] = torch.log_softmax(out.logits.float(), dim=-1)[:, self.label].cpu().numpy()
        return [float(np.exp(part.mean())) for part in np.split(logs, np.cumsum(counts)[:-1])] if counts else []


class PieceStates:
    """States of one hidden layer of an encoder, special tokens left out, windows over long texts merged.

    Raises ModelMissingError when the encoder is not on this machine.

    Parameters
    ----------
    encoder
        "" for the embedded one, else a local folder or hub name.
    layer
        Index into the hidden states; -1 is the last, and the embedded encoder's are counted from 1.
    """

    def __init__(self, encoder: str = "", layer: int = -1) -> None:
        self.layer = layer
        self.encoder = TransformerEncoder(encoder, layer) if encoder else load_encoder(set_folder("small") / "encoder")

    def of(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return for each text (pieces, d) float32; (0, d) or (0, 0) for a text without pieces."""
        if isinstance(self.encoder, TransformerEncoder):
            return self.encoder.states(self.encoder.encode(texts))
        return [states.merged(self.layer) for part in parts_of(texts) for states in self.encoder.read(part)]
