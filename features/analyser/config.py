"""Choice of the models that analyse texts: those of a model set, the paper's, or any mix of local folders and hub names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from rome.exceptions import InputError

EMBEDDED = "embedded"
"""Says of one model that it is the model set's own."""
SETS = ("base", "small")
"""The model sets that the package carries."""
DEFAULT_SET = "base"
SHARED = ("tokenizer", "mwt", "lemmatizer", "idf")
"""Parts that do not depend on a set's trunk: a set without its own uses those of `base`."""
BATCH_SIZE = 768
"""Word pieces, or words, that pass through layers at once; few, so that batches have little padding and stay in the processor's cache."""


def set_folder(models: str | os.PathLike[str] = DEFAULT_SET) -> Path:
    """Return the folder of a model set: one that the package carries, by its name, or any other path as it is."""
    if models in SETS:
        return Path(str(files("rome.data"))) / "models" / str(models)
    return Path(models)


def part_folder(folder: Path, part: str) -> Path:
    """Return the folder of a part of a set: its own, or that of `base` for a shared part that it lacks."""
    own = Path(folder) / part
    return own if part not in SHARED or own.is_dir() else set_folder("base") / part


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def most_threads(threads: int | None) -> int | None:
    """Return a number of threads, at most one per processor; None stays None."""
    return None if threads is None else min(threads, processors())


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The origin of each model: ``embedded`` (the set's own), a local folder, or (encoder, acceptability) a model's name on a hub.

    Attributes
    ----------
    encoder
        Gives the word vectors; embedded, or any encoder that transformers' AutoModel loads.
    layer
        Which of its hidden states (0 = embeddings, -1 = last); the set's own encoder gives the states that the set was made for.
    parser
        ``embedded``, or a folder that holds Stanza's own English package (its ``dir``).
    acceptability
        Embedded, or a sequence classifier that AutoModelForSequenceClassification loads, fine-tuned on CoLA.
    acceptable_label
        Index of its class "acceptable" (CoLA: 1).
    download
        Whether names may be fetched from a hub; nothing is ever downloaded unless this is True.
    set
        The model set, ``base``, ``small`` or the folder of another (see ModelSet): trunk, heads, word weights and net.
    """

    encoder: str = EMBEDDED
    layer: int = -1
    parser: str = EMBEDDED
    acceptability: str = EMBEDDED
    acceptable_label: int = 1
    download: bool = False
    set: str = DEFAULT_SET

    @classmethod
    def paper(cls, parser: str | None = None, *, download: bool = False) -> ModelConfig:
        """Return the models of the RoMe paper (§4.2): ALBERT-large vectors, Stanza's English package, a BERT classifier for CoLA.

        Parameters
        ----------
        parser
            Stanza's resource folder; ``~/stanza_resources`` by default.
        """
        folder = parser or str(Path.home() / "stanza_resources")
        return cls("albert-large-v2", -1, folder, "textattack/bert-base-uncased-CoLA", 1, download)

    @classmethod
    def of(cls, models: str | os.PathLike[str] | ModelConfig) -> ModelConfig:
        """Read the argument ``models`` of RoMe: the name of a set, ``"paper"``, the folder of a set, or a ModelConfig.

        A word without a separator is a folder only where there is one of that name. Raises InputError for any other word.
        """
        if isinstance(models, ModelConfig):
            return models
        if models == "paper":
            return cls.paper()
        if isinstance(models, str) and models in SETS:
            return cls(set=models)
        if isinstance(models, os.PathLike) or (isinstance(models, str) and (os.path.dirname(models) or os.path.isdir(models))):
            return cls(set=os.path.abspath(models))
        names = ", ".join((*SETS, "paper"))
        raise InputError(f"the models {models!r} are unknown: give {names}, or the folder of a model set")

    @property
    def folder(self) -> Path:
        """Return the folder of the model set."""
        return set_folder(self.set)

    @property
    def foreign(self) -> tuple[str, ...]:
        """Return the models that are not the set's own: ``encoder``, ``parser``, ``acceptability``."""
        return tuple(name for name in ("encoder", "parser", "acceptability") if getattr(self, name) != EMBEDDED)
