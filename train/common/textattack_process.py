"""Answer requests to perturb texts with TextAttack: a script for an interpreter that has TextAttack, without rome.

It reads a JSON request per line from standard input and writes a JSON answer per line to standard output: first
{"version": ..., "operations": [...]}, then {"text": ...} or {"error": ...} per request. `rome.train.common.textattack` starts it.
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

MINIMUM_COSINE = 0.5
"""TextFooler's threshold between a word and its replacement."""
SAME_TEXT_COSINE = 0.80
"""Below this the attack counts as won and stops."""


def main(folder: Path) -> None:
    """Answer requests until standard input ends."""
    out, sys.stdout = sys.stdout, sys.stderr  # what TextAttack prints must not mix with the answers
    import textattack  # noqa: F401  (fails early, with its own message, when it is absent or cannot start offline)

    stopwords = (folder / "nltk/corpora/stopwords/english").read_text(encoding="utf-8").split()
    operations = Operations(_embedding(folder), stopwords)
    print(json.dumps({"version": version("textattack"), "operations": operations.names}), file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(operations, json.loads(line))), file=out, flush=True)


def _answer(operations: Operations, request: dict[str, Any]) -> dict[str, str]:
    """Run one request; an exception of TextAttack on an odd text becomes an answer, so that no text ends the run."""
    try:
        return {"text": operations.perturb(**request)}
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
    stopwords
        Words that a careful perturbation leaves alone.
    """

    def __init__(self, embedding: Any, stopwords: list[str]) -> None:
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
        self._careful = [once, StopwordModification(stopwords=stopwords)]
        free = {**dict.fromkeys(("word_deletion", "inner_swap", "contract", "extend"), []), "change_number": [once]}
        self._constraints = {**dict.fromkeys(self._transformations, self._careful), **free}
        self.names = (*self._transformations, "textfooler")

    def perturb(self, text: str, operation: str, edits: int, seed: int) -> str:
        """Return the text after about ``edits`` changed words; the same seed gives the same text."""
        _set_seed(f"{seed}|{operation}|{edits}|{text}")
        if operation == "textfooler":
            return self._attack(text, edits)
        from textattack.augmentation import Augmenter

        share = min((edits + 0.01) / max(len(_words(text)), 1), 1.0)
        augmenter = Augmenter(self._transformations[operation], self._constraints[operation], pct_words_to_swap=share)
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
