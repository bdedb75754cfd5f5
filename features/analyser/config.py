"""Which models analyse the texts: the embedded ones, the paper's, or any mix of local folders and hub names."""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path

from rome.exceptions import InputError

__all__ = ["EMBEDDED", "ModelConfig", "embedded_folder"]

EMBEDDED = "embedded"


def embedded_folder() -> Path:
    """The folder of the models that the package carries."""
    return Path(str(files("rome.data"))) / "models" / "en"


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Where each model comes from: ``embedded``, a local folder, or (encoder, acceptability) the name of a model on a hub.

    encoder : gives the word vectors; embedded, or any encoder that transformers' AutoModel loads. layer : which of its hidden states
        (0 = embeddings, -1 = last); the embedded encoder always gives its layer 4.
    parser : ``embedded``, or a folder that holds Stanza's own English package (its ``dir``).
    acceptability : embedded, or a sequence classifier that AutoModelForSequenceClassification loads, fine-tuned on CoLA.
    acceptable_label : index of its class "acceptable" (CoLA: 1).
    download : whether names may be fetched from a hub; nothing is ever downloaded unless this is True.
    """

    encoder: str = EMBEDDED
    layer: int = -1
    parser: str = EMBEDDED
    acceptability: str = EMBEDDED
    acceptable_label: int = 1
    download: bool = False

    @classmethod
    def paper(cls, parser: str | None = None, *, download: bool = False) -> ModelConfig:
        """The models of the RoMe paper (§4.2): ALBERT-large vectors, Stanza's English package, a BERT classifier for CoLA.

        parser : Stanza's resource folder; ``~/stanza_resources`` by default.
        """
        folder = parser or str(Path.home() / "stanza_resources")
        return cls("albert-large-v2", -1, folder, "textattack/bert-base-uncased-CoLA", 1, download)

    @classmethod
    def of(cls, models: str | ModelConfig) -> ModelConfig:
        """Read the argument ``models`` of RoMe: ``"embedded"``, ``"paper"`` or a ModelConfig. Raises InputError otherwise."""
        if isinstance(models, ModelConfig):
            return models
        if models == EMBEDDED:
            return cls()
        if models == "paper":
            return cls.paper()
        raise InputError(f'models={models!r} is unknown: give "embedded", "paper" or a ModelConfig')

    @property
    def is_embedded(self) -> bool:
        """Whether every model is the package's own."""
        return all(getattr(self, f.name) == EMBEDDED for f in fields(self) if f.name in ("encoder", "parser", "acceptability"))
