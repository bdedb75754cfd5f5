"""Perturb texts with TextAttack: prepare a folder, start the worker process, send requests, collect answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rome.exceptions import InputError, ModelMissingError, RomeError

PYTHON_VARIABLE = "ROME_TEXTATTACK_PYTHON"
NEIGHBOURS = 24
# Our own list: what a careful perturbation leaves alone. TextAttack would download NLTK's.
STOPWORDS = (
    "a about after again all also am an and any are as at be because been before being but by can could did do does down "
    "for from had has have he her here him his how i if in into is it its just me more most my no nor not of off on once "
    "only or other our out over own same she should so some such than that the their them then there these they this "
    "those through to too under until up very was we were what when where which while who whom why will with would you your"
).split()


@dataclass(frozen=True, slots=True)
class Request:
    """One perturbation: about ``edits`` words of ``text`` changed by ``operation`` (one of ``operations``)."""

    id: str
    text: str
    operation: str
    edits: int
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Whole words: n names, vectors (n, d) float32, nearest neighbours (n, k) int64, the word itself first."""

    words: tuple[str, ...]
    vectors: NDArray[np.float32]
    neighbours: NDArray[np.int64]


def trunk_vocabulary(limit: int = 12_000) -> Vocabulary:
    """Static vectors of the encoder's first ``limit`` whole words (see static_vectors) and their neighbours.

    Raises ModelMissingError when the embedded encoder is not installed.
    """
    from rome.features.analyser.encoder import static_vectors

    words, vectors = static_vectors(limit)
    return Vocabulary(words, vectors, nearest(vectors, NEIGHBOURS))


def nearest(vectors: NDArray[np.floating], count: int, block: int = 512) -> NDArray[np.int64]:
    """Rows of the ``count`` nearest unit vectors by cosine for every row, itself first: (n, min(count, n)) int64."""
    count = min(count, len(vectors))
    found = np.empty((len(vectors), count), dtype=np.int64)
    for start in range(0, len(vectors), block):
        cosines = vectors[start : start + block] @ vectors.T
        cosines[np.arange(len(cosines)), np.arange(start, start + len(cosines))] = 2.0
        top = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
        order = np.argsort(-np.take_along_axis(cosines, top, axis=1), axis=1, kind="stable")
        found[start : start + block] = np.take_along_axis(top, order, axis=1)
    return found


class Perturber:
    """A running TextAttack process; a context manager.

    Raises ModelMissingError, with the install command, when TextAttack cannot be loaded; InputError when python cannot be started.

    Parameters
    ----------
    python
        The interpreter that has textattack; by default ROME_TEXTATTACK_PYTHON, else this one.
    vocabulary
        Vectors for embedding swaps and the TextFooler-like attack; None leaves them out.
    """

    def __init__(self, vocabulary: Vocabulary | None = None, python: str | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="rome-textattack-")
        prepare_folder(Path(self._folder.name), vocabulary)
        python = python or os.environ.get(PYTHON_VARIABLE) or sys.executable
        python = os.path.abspath(python) if os.sep in python else python  # the process starts in another folder
        self._errors = (Path(self._folder.name) / "stderr.txt").open("w+", encoding="utf-8")
        try:
            self._process = subprocess.Popen(
                [python, "-m", "rome.train.common.textattack_worker", self._folder.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=worker_environment(Path(self._folder.name)),
                encoding="utf-8",
                cwd=self._folder.name,
            )
        except OSError as error:
            self._errors.close()
            self._folder.cleanup()
            raise InputError(f"{python} cannot be started ({error.strerror}): name a Python that has TextAttack") from error
        hello = self._read()
        self.version: str = hello["version"]
        self.operations: tuple[str, ...] = tuple(hello["operations"])

    def run(self, requests: Iterable[Request]) -> Iterator[tuple[Request, str]]:
        """Yield each request with its perturbed text, in order; requests that TextAttack failed at are left out.

        Raises InputError for an operation that is not in ``operations``.
        """
        for request in requests:
            if request.operation not in self.operations:
                raise InputError(
                    f"TextAttack operation {request.operation} is not available here: choose from {', '.join(self.operations)}"
                )
            _pipe(self._process.stdin).write(json.dumps(asdict(request)) + "\n")
            _pipe(self._process.stdin).flush()
            reply = self._read()
            if "error" not in reply:
                yield request, str(reply["text"])

    def close(self) -> None:
        """End the process and remove its folder."""
        _pipe(self._process.stdin).close()
        self._process.wait()
        _pipe(self._process.stdout).close()
        self._errors.close()
        self._folder.cleanup()

    def __enter__(self) -> Perturber:
        """The running perturber itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close it."""
        self.close()

    def _read(self) -> dict[str, Any]:
        line = _pipe(self._process.stdout).readline()
        if line:
            reply: dict[str, Any] = json.loads(line)
            return reply
        self._errors.seek(0)
        last = (self._errors.read().strip().splitlines() or ["no message"])[-1]
        self.close()
        if "ModuleNotFoundError" in last:
            raise ModelMissingError(
                f"TextAttack is not installed ({last}): pip install 'rome-metric[train]' 'flair>=0.15' 'transformers<5'"
            )
        raise RomeError(
            f"the TextAttack process ended early ({last}): run `python -m rome.train.common.textattack_worker` by hand to see why"
        )


def _pipe(stream: IO[str] | None) -> IO[str]:
    if stream is None:
        raise RomeError("the TextAttack process has no pipe: start it through Perturber")
    return stream


def prepare_folder(folder: Path, vocabulary: Vocabulary | None) -> None:
    """Write what lets TextAttack start without a network: stopwords, the file that says it was set up, the vectors."""
    (folder / "nltk" / "corpora" / "stopwords").mkdir(parents=True)
    (folder / "nltk" / "corpora" / "stopwords" / "english").write_text("\n".join(STOPWORDS) + "\n", encoding="utf-8")
    (folder / "cache").mkdir()
    (folder / "cache" / "post_install_check_3").write_text("", encoding="utf-8")
    if vocabulary is not None:
        np.save(folder / "vectors.npy", vocabulary.vectors, allow_pickle=False)
        np.save(folder / "neighbours.npy", vocabulary.neighbours, allow_pickle=False)
        (folder / "words.json").write_text(json.dumps(vocabulary.words), encoding="utf-8")


def worker_environment(folder: Path) -> dict[str, str]:
    """The worker's environment: offline, its own caches, and a fixed hash seed so that the same seed gives the same text."""
    mine = {
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
    return {**os.environ, **mine}
