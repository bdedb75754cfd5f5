"""Perturb texts with TextAttack in a process of its own, `textattack_process.py`.

TextAttack overwrites HF_HOME and XDG_CACHE_HOME, downloads at import and needs an older transformers, so it never runs inside the
library, and its interpreter needs neither rome nor its models.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.exceptions import InputError, ModelMissingError, RomeError

PYTHON_VARIABLE = "ROME_TEXTATTACK_PYTHON"
NEIGHBOURS = 24
STOPWORDS = (
    "a about after again all also am an and any are as at be because been before being but by can could did do does down "
    "for from had has have he her here him his how i if in into is it its just me more most my no nor not of off on once "
    "only or other our out over own same she should so some such than that the their them then there these they this "
    "those through to too under until up very was we were what when where which while who whom why will with would you your"
).split()
"""Our own list of words that a careful perturbation leaves alone; TextAttack would download NLTK's."""
_CHARACTER = ("character_deletion", "character_insertion", "character_substitution")
CHARACTER_OPERATIONS = ("neighbouring_character_swap", *_CHARACTER, "qwerty")
PROCESS = Path(__file__).with_name("textattack_process.py")


@dataclass(frozen=True, slots=True)
class Request:
    """One perturbation: about ``edits`` words of ``text`` changed by ``operation``."""

    text: str
    operation: str
    edits: int
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Whole words: n names, unit vectors (n, d) float32, nearest neighbours (n, k) int64, the word itself first."""

    words: tuple[str, ...]
    vectors: NDArray[np.float32]
    neighbours: NDArray[np.int64]


def trunk_vocabulary(limit: int = 12_000) -> Vocabulary:
    """Return the static vectors of the first ``limit`` whole words of the embedded encoder, and their neighbours."""
    from rome.features.analyser.encoder import static_vectors

    words, vectors = static_vectors(limit)
    return Vocabulary(words, vectors, nearest(vectors, NEIGHBOURS))


def nearest(vectors: NDArray[np.floating], count: int, block: int = 512) -> NDArray[np.int64]:
    """Return for each unit vector the rows of the ``count`` nearest ones by cosine, itself first: (n, min(count, n)) int64."""
    blocks = (vectors[start : start + block] @ vectors.T for start in range(0, len(vectors), block))
    return np.concatenate([np.argsort(-cosines, axis=1, kind="stable")[:, :count] for cosines in blocks])


class Perturber:
    """A running TextAttack process; close it at the end.

    Parameters
    ----------
    python
        Interpreter that has textattack; by default ROME_TEXTATTACK_PYTHON, else this one.
    vocabulary
        Vectors for embedding swaps and the TextFooler-like attack.

    Raises
    ------
    InputError
        If python cannot be started.
    ModelMissingError
        If TextAttack is not installed.
    """

    def __init__(self, vocabulary: Vocabulary, python: str | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="rome-textattack-")
        folder = Path(self._folder.name)
        prepare_folder(folder, vocabulary)
        python = python or os.environ.get(PYTHON_VARIABLE) or sys.executable
        python = os.path.abspath(python) if os.sep in python else python  # the process starts in another folder
        self._errors = (folder / "stderr.txt").open("w+", encoding="utf-8")
        try:
            self._process = subprocess.Popen(
                [python, "-c", PROCESS.read_text(encoding="utf-8"), self._folder.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**os.environ, **_environment(folder)},
                encoding="utf-8",
                cwd=folder,
            )
        except OSError as error:
            self._errors.close()
            self._folder.cleanup()
            raise InputError(f"{python} cannot be started ({error.strerror}): name a Python that has TextAttack") from error
        hello = self._read()
        self.version: str = hello["version"]
        self.operations: tuple[str, ...] = tuple(hello["operations"])

    def run(self, request: Request) -> str | None:
        """Return the perturbed text, or None if TextAttack failed."""
        if self._process.stdin is not None:
            self._process.stdin.write(json.dumps(asdict(request)) + "\n")
            self._process.stdin.flush()
        text: str | None = self._read().get("text")
        return text

    def close(self) -> None:
        """End the process and remove its folder."""
        self._process.communicate()
        self._errors.close()
        self._folder.cleanup()

    def _read(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if line:
            reply: dict[str, Any] = json.loads(line)
            return reply
        self._errors.seek(0)
        last = (self._errors.read().strip().splitlines() or ["no message"])[-1]
        self.close()
        if "ModuleNotFoundError" in last:
            raise ModelMissingError(
                f"TextAttack is not installed ({last}): pip install textattack 'flair>=0.15' 'transformers<5' into an environment of its "
                "own, and name its interpreter"
            )
        raise RomeError(f"the TextAttack process ended early ({last}): check that its Python can import textattack")


def prepare_folder(folder: Path, vocabulary: Vocabulary) -> None:
    """Write what TextAttack needs to start without a network: stopwords, the mark of a finished set-up, the vectors."""
    for name, text in {
        "nltk/corpora/stopwords/english": "\n".join(STOPWORDS) + "\n",
        "cache/post_install_check_3": "",
    }.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text, encoding="utf-8")
    np.save(folder / "vectors.npy", vocabulary.vectors, allow_pickle=False)
    np.save(folder / "neighbours.npy", vocabulary.neighbours, allow_pickle=False)
    (folder / "words.json").write_text(json.dumps(vocabulary.words), encoding="utf-8")


def _environment(folder: Path) -> dict[str, str]:
    """Return settings of the process: offline, caches of its own, and a fixed hash seed, so that the same seed gives the same text."""
    return {
        "NLTK_DATA": str(folder / "nltk"),
        "TA_CACHE_DIR": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "STANZA_RESOURCES_DIR": str(folder / "stanza"),
        "PYTHONHASHSEED": "0",
        "PYTHONIOENCODING": "utf-8",
        "CUDA_VISIBLE_DEVICES": "",
        "TOKENIZERS_PARALLELISM": "false",
    }
