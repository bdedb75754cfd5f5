"""TextAttack's own perturbations by name, each for a chosen number of edits; runs inside the worker process only.

Only what works without any download is here. Word swaps through an embedding, and the TextFooler-like attack, use vectors that
the caller supplies.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["CHARACTER_OPERATIONS", "WORD_OPERATIONS", "Operations"]

CHARACTER_OPERATIONS = (
    "neighbouring_character_swap",
    "character_deletion",
    "character_insertion",
    "character_substitution",
    "qwerty",
)
WORD_OPERATIONS = ("word_deletion", "inner_swap", "change_number", "contract", "extend", "embedding", "textfooler", "masked_lm")
MINIMUM_COSINE = 0.5  # TextFooler's threshold between a word and its replacement
SAME_TEXT_COSINE = 0.80  # below this the attack counts as won and stops


class Operations:
    """The available operations; ``perturb(text, operation, edits, seed)`` runs one.

    vectors, words, neighbours : (n, d) float32, n words, (n, k) int, the word itself first; without them the operations
        ``embedding`` and ``textfooler`` are absent.
    masked_lm : folder of a local masked language model, or None: then ``masked_lm`` is absent.
    """

    def __init__(self, stopwords: list[str], embedding: Any = None, masked_lm: str | None = None) -> None:
        self.stopwords = stopwords
        self.embedding = embedding
        self._transformations = self._build(masked_lm)
        self._constraints = self._shared_constraints()

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

    def _build(self, masked_lm: str | None) -> dict[str, Any]:
        from textattack import transformations as t

        found: dict[str, Any] = {
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
        if self.embedding is not None:
            found["embedding"] = t.WordSwapEmbedding(max_candidates=10, embedding=self.embedding)
        if masked_lm is not None:
            found["masked_lm"] = t.WordSwapMaskedLM(method="bae", masked_language_model=masked_lm, max_length=64)
        return found

    def _shared_constraints(self) -> dict[str, list[Any]]:
        """Never the same word twice; character and synonym edits leave stopwords alone."""
        from textattack.constraints.pre_transformation import RepeatModification, StopwordModification

        careful = [RepeatModification(), StopwordModification(stopwords=self.stopwords)]
        return {name: careful for name in (*CHARACTER_OPERATIONS, "embedding", "masked_lm")} | {
            "change_number": [RepeatModification()]
        }

    def _attack(self, text: str, edits: int) -> str:
        """TextFooler's search (importance ranking, embedding swaps) against an in-memory similarity to the original text."""
        import textattack
        from textattack.constraints.overlap import MaxWordsPerturbed
        from textattack.constraints.pre_transformation import RepeatModification, StopwordModification
        from textattack.constraints.semantics import WordEmbeddingDistance
        from textattack.goal_functions import UntargetedClassification
        from textattack.search_methods import GreedyWordSwapWIR
        from textattack.shared import AttackedText

        constraints = [
            RepeatModification(),
            StopwordModification(stopwords=self.stopwords),
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
