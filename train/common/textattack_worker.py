"""A process of its own that runs TextAttack: a JSON request a line on standard input, a JSON answer a line on standard output.

TextAttack overwrites HF_HOME and XDG_CACHE_HOME for its process, wants to download at import and takes seconds to load, so
it never runs inside the library. `train/common/textattack.py` starts this module with a prepared folder; the first line that it
writes says what is available: {"ready": true, "version": ..., "operations": [...]}.

Request: {"id": any, "text": str, "operation": str, "edits": int, "seed": int}. Answer: {"id", "text", "edits"}: the perturbed
text and how many words were asked to change; or {"id", "error"}.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np


def load_embedding(folder: Path) -> Any:
    """TextAttack's in-memory WordEmbedding from vectors.npy, neighbours.npy and words.json in the folder; None without them."""
    if not (folder / "vectors.npy").is_file():
        return None
    from textattack.shared import WordEmbedding

    words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
    index = {word: number for number, word in enumerate(words)}
    vectors, neighbours = np.load(folder / "vectors.npy"), np.load(folder / "neighbours.npy")
    return WordEmbedding(vectors, index, dict(enumerate(words)), nn_matrix=neighbours)


def answer(operations: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Run one request; what TextAttack raises on odd text becomes an "error" answer, so no text ends the run."""
    try:
        text = operations.perturb(request["text"], request["operation"], int(request["edits"]), int(request["seed"]))
    except (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        return {"id": request.get("id"), "error": f"{type(error).__name__}: {error}"}
    return {"id": request["id"], "text": text, "edits": request["edits"]}


def main(arguments: list[str]) -> int:
    """Serve requests until standard input ends. arguments: the prepared folder."""
    out, sys.stdout = sys.stdout, sys.stderr  # whatever TextAttack prints must not mix with the answers
    folder = Path(arguments[0])
    import textattack  # noqa: F401  (fails early, with its own message, when it is absent or cannot start offline)

    stopwords = (folder / "nltk" / "corpora" / "stopwords" / "english").read_text(encoding="utf-8").split()
    operations = Operations(stopwords, load_embedding(folder))
    hello = {"ready": True, "version": version("textattack"), "operations": operations.names()}
    out.write(json.dumps(hello) + "\n")
    out.flush()
    for line in sys.stdin:
        if line.strip():
            out.write(json.dumps(answer(operations, json.loads(line)), ensure_ascii=False) + "\n")
            out.flush()
    return 0


CHARACTER_OPERATIONS = (
    "neighbouring_character_swap", "character_deletion", "character_insertion", "character_substitution", "qwerty"
)  # fmt: skip
MINIMUM_COSINE = 0.5  # TextFooler's threshold between a word and its replacement
SAME_TEXT_COSINE = 0.80  # below this the attack counts as won and stops


class Operations:
    """The available operations; ``perturb(text, operation, edits, seed)`` runs one.

    Parameters
    ----------
    embedding
        TextAttack's; without it the operations ``embedding`` and ``textfooler`` are absent.
    """

    def __init__(self, stopwords: list[str], embedding: Any = None) -> None:
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
        }
        if embedding is not None:
            self._transformations["embedding"] = t.WordSwapEmbedding(max_candidates=10, embedding=embedding)
        once = RepeatModification()
        self._careful = [once, StopwordModification(stopwords=stopwords)]
        self._constraints = {**dict.fromkeys((*CHARACTER_OPERATIONS, "embedding"), self._careful), "change_number": [once]}

    def names(self) -> tuple[str, ...]:
        """Names of the operations that can run here."""
        return tuple(self._transformations) + (("textfooler",) if self.embedding is not None else ())

    def perturb(self, text: str, operation: str, edits: int, seed: int) -> str:
        """The text after about ``edits`` changed words, fewer when it finds fewer; same seed, same text."""
        _seed(f"{seed}|{operation}|{edits}|{text}")
        if operation == "textfooler":
            return self._attack(text, edits)
        from textattack.augmentation import Augmenter

        words = max(len(_words(text)), 1)
        share = min((edits + 0.01) / words, 1.0)
        augmenter = Augmenter(self._transformations[operation], self._constraints.get(operation, []), pct_words_to_swap=share)
        return str(augmenter.augment(text)[0])

    def _attack(self, text: str, edits: int) -> str:
        """TextFooler's search (importance ranking, embedding swaps) against an in-memory similarity to the original text."""
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
        mean = np.mean(rows, axis=0) if rows else np.ones(1)
        return mean / (np.linalg.norm(mean) or 1.0)


def _victim(original: str, embed: Callable[[str], Any]) -> Any:
    """A TextAttack model with two classes, changed and same, by the cosine of mean word vectors to the original text."""
    from textattack.models.wrappers import ModelWrapper

    anchor = embed(original)

    class Similarity(ModelWrapper):
        model = None

        def __call__(self, text_input_list: list[str], **_: Any) -> Any:
            cosines = np.array(
                [float(anchor @ other) if other.shape == anchor.shape else 0.0 for other in map(embed, text_input_list)]
            )
            same = 1.0 / (1.0 + np.exp(-20.0 * (cosines - SAME_TEXT_COSINE)))
            return np.stack([1.0 - same, same], axis=1)

    return Similarity()


def _words(text: str) -> list[str]:
    from textattack.shared.utils import words_from_text

    return list(words_from_text(text))


def _seed(key: str) -> None:
    """Seed TextAttack's two sources of chance from a text; this process belongs to us alone."""
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "little")
    random.seed(number)
    np.random.seed(number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
