"""Perturb texts with TextAttack in a process of its own: run as a script, this module is that process.

TextAttack overwrites HF_HOME and XDG_CACHE_HOME, downloads at import and needs an older transformers, so it never runs inside the
library. The process reads a JSON request per line from standard input and writes a JSON answer per line to standard output:
first {"version": ..., "operations": [...]}, then {"text": ...} or {"error": ...} per request.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
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
CHARACTER_OPERATIONS = (
    "neighbouring_character_swap", "character_deletion", "character_insertion", "character_substitution", "qwerty"
)  # fmt: skip
MINIMUM_COSINE = 0.5
"""TextFooler's threshold between a word and its replacement."""
SAME_TEXT_COSINE = 0.80
"""Below this the attack counts as won and stops."""


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
        Interpreter that has textattack and rome; by default ROME_TEXTATTACK_PYTHON, else this one.
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
                [python, "-m", "rome.train.common.textattack", self._folder.name],
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
                f"TextAttack is not installed ({last}): pip install 'rome-metric[train]' 'flair>=0.15' 'transformers<5'"
            )
        raise RomeError(f"the TextAttack process ended early ({last}): run `python -m {__name__} FOLDER` to see why")


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


# The process


def main(folder: Path) -> None:
    """Answer requests until standard input ends."""
    out, sys.stdout = sys.stdout, sys.stderr  # what TextAttack prints must not mix with the answers
    import textattack  # noqa: F401  (fails early, with its own message, when it is absent or cannot start offline)

    operations = Operations(_embedding(folder))
    print(json.dumps({"version": version("textattack"), "operations": operations.names}), file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(operations, Request(**json.loads(line)))), file=out, flush=True)


def _answer(operations: Operations, request: Request) -> dict[str, str]:
    """Run one request; an exception of TextAttack on an odd text becomes an answer, so that no text ends the run."""
    try:
        return {"text": operations.perturb(request)}
    except (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _embedding(folder: Path) -> Any:
    """Return TextAttack's WordEmbedding of the vocabulary in the folder."""
    from textattack.shared import WordEmbedding

    words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
    index = {word: number for number, word in enumerate(words)}
    vectors, neighbours = np.load(folder / "vectors.npy"), np.load(folder / "neighbours.npy")
    return WordEmbedding(vectors, index, dict(enumerate(words)), nn_matrix=neighbours)


class Operations:
    """The available operations.

    Parameters
    ----------
    embedding
        TextAttack's.
    """

    def __init__(self, embedding: Any) -> None:
        from textattack import transformations as t
        from textattack.constraints.pre_transformation import RepeatModification, StopwordModification

        self.embedding = embedding
        self._transformations: dict[str, Any] = {
            "word_deletion": t.WordDeletion(),
            "inner_swap": t.WordInnerSwapRandom(),
            "neighbouring_character_swap": t.WordSwapNeighboringCharacterSwap(),
            "character_deletion": t.WordSwapRandomCharacterDeletion(),
            "character_insertion": t.WordSwapRandomCharacterInsertion(),
            "character_substitution": t.WordSwapRandomCharacterSubstitution(),
            "qwerty": t.WordSwapQWERTY(),
            "change_number": t.WordSwapChangeNumber(),
            "contract": t.WordSwapContract(),
            "extend": t.WordSwapExtend(),
            "embedding": t.WordSwapEmbedding(max_candidates=10, embedding=embedding),
        }
        once = RepeatModification()
        self._careful = [once, StopwordModification(stopwords=STOPWORDS)]
        self._constraints = {**dict.fromkeys((*CHARACTER_OPERATIONS, "embedding"), self._careful), "change_number": [once]}
        self.names = (*self._transformations, "textfooler")

    def perturb(self, request: Request) -> str:
        """Return the text after about ``edits`` changed words; the same seed gives the same text."""
        text, operation, edits = request.text, request.operation, request.edits
        _set_seed(f"{request.seed}|{operation}|{edits}|{text}")
        if operation == "textfooler":
            return self._attack(text, edits)
        from textattack.augmentation import Augmenter

        share = min((edits + 0.01) / max(len(_words(text)), 1), 1.0)
        augmenter = Augmenter(self._transformations[operation], self._constraints.get(operation, []), pct_words_to_swap=share)
        return str(augmenter.augment(text)[0])

    def _attack(self, text: str, edits: int) -> str:
        """Run TextFooler's search (importance ranking, embedding swaps) against a similarity to the original text."""
        import textattack
        from textattack.constraints.overlap import MaxWordsPerturbed
        from textattack.constraints.semantics import WordEmbeddingDistance
        from textattack.goal_functions import UntargetedClassification
        from textattack.search_methods import GreedyWordSwapWIR
        from textattack.shared import AttackedText

        constraints = [
            *self._careful,
            WordEmbeddingDistance(embedding=self.embedding, min_cos_sim=MINIMUM_COSINE, include_unknown_words=False),
            MaxWordsPerturbed(max_num_words=edits),
        ]
        goal = UntargetedClassification(_victim(text, self._mean_vector), use_cache=False)
        swap = textattack.transformations.WordSwapEmbedding(max_candidates=20, embedding=self.embedding)
        attack = textattack.Attack(goal, constraints, swap, GreedyWordSwapWIR(wir_method="delete"))
        return str(attack.attack(AttackedText(text), 1).perturbed_result.attacked_text.printable_text())

    def _mean_vector(self, text: str) -> Any:
        known = [self.embedding[word.lower()] for word in _words(text)]
        rows = [row for row in known if row is not None]
        mean = np.mean(rows, axis=0) if rows else np.zeros_like(self.embedding[0])
        return mean / (np.linalg.norm(mean) or 1.0)


def _victim(original: str, embed: Callable[[str], Any]) -> Any:
    """Return a TextAttack model with two classes, changed and same, by the cosine of mean word vectors to the original text."""
    from textattack.models.wrappers import ModelWrapper

    anchor = embed(original)

    class Similarity(ModelWrapper):
        model = None

        def __call__(self, text_input_list: list[str], **_: Any) -> Any:
            cosines = np.array([float(anchor @ embed(text)) for text in text_input_list])
            same = 1.0 / (1.0 + np.exp(-20.0 * (cosines - SAME_TEXT_COSINE)))
            return np.stack([1.0 - same, same], axis=1)

    return Similarity()


def _words(text: str) -> list[str]:
    from textattack.shared.utils import words_from_text

    return list(words_from_text(text))


def _set_seed(key: str) -> None:
    """Seed both sources of chance of TextAttack from a text."""
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "little")
    random.seed(number)
    np.random.seed(number)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
