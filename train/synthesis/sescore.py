"""SEScore's stratified error synthesis (Xu et al. 2022, §3.2, §3.3, algorithm 1): raw text in, texts with weighted mistakes out."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rome.train.synthesis.edits import CLOSING, Draft, Operation, applied, deletion, error_type, filling, swap, words_of
from rome.train.synthesis.fillers import Candidates, Filler, FillRequest
from rome.train.synthesis.pairs import Pipeline, SyntheticPair, pair_seed, settings_signature
from rome.train.synthesis.severities import SeverityModel, Work, judged_pairs

KINDS = ("insertion", "deletion", "replacement", "swap")
VERSION = 5
Drafting = Generator[tuple[int, FillRequest], Candidates, Draft]
"""Edits of a text in progress: it asks a filler, by its number, for the words of a place, and returns the finished draft."""
Phrase = Generator[tuple[int, FillRequest], Candidates, Operation | None]


@dataclass(frozen=True, slots=True)
class SEScoreSettings:
    """Numbers of the paper (§3.2, §3.3, §4.1).

    Attributes
    ----------
    edits
        Mean number of edits per text (lambda_e), Poisson.
    most_edits
        Largest number of edits (M_max).
    deletion, replacement
        Mean length of a span in words (lambda_d, lambda_r), Poisson without 0; the words of an insertion are as many as those of a
        replacement.
    swap
        Largest distance between swapped words (lambda_s).
    least_words
        Shorter texts are skipped.
    tries
        Draws of a place before an edit is given up (algorithm 1 would draw forever).
    """

    edits: float = 5.0
    most_edits: int = 5
    deletion: float = 1.5
    replacement: float = 1.5
    swap: int = 4
    least_words: int = 4
    tries: int = 50


class SEScorePipeline(Pipeline):
    """Draw insertions, deletions, replacements and swaps with equal chance, each on the text after the previous edits.

    A span is filled by a phrase of a sequence-to-sequence model or, word by word from left to right, by as many words or marks of a
    masked one, each drawn from the k most probable.

    With a probability of exp(-lambda_e) a pair has no mistake and the label 0. The paper asks for one untouched word more than an edit
    takes, which would leave the end of every text unedited; its algorithm 1 only forbids overlap, as is done here.

    Parameters
    ----------
    fillers
        Models that fill gaps, drawn with equal chance.
    severities
        Judge each step on the text after the previous ones.
    """

    name = "sescore"

    def __init__(
        self, fillers: Sequence[Filler], severities: SeverityModel, settings: SEScoreSettings | None = None, *, block: int = 64
    ) -> None:
        self.fillers, self.severities, self.settings = tuple(fillers), severities, settings or SEScoreSettings()
        filled = "+".join(filler.signature for filler in self.fillers)
        parts = f"sescore{VERSION}", settings_signature(self.settings), f"fill:{filled}", severities.signature
        super().__init__("|".join(parts), block, self.settings.least_words)

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """Yield one pair per text."""
        chances = [np.random.default_rng(pair_seed(seed, text)) for _, text in texts]
        counts = [min(int(chance.poisson(self.settings.edits)), self.settings.most_edits) for chance in chances]
        drawn = zip(texts, chances, counts, strict=True)
        drafts = self._filled([self._drawn(text, chance, count) for (_, text), chance, count in drawn])
        made = [draft.steps or not count for draft, count in zip(drafts, counts, strict=True)]
        self.skipped.update(["no edit found a place"] * made.count(False))
        works: list[Work] = [(*text, draft.steps, {}) for text, draft, kept in zip(texts, drafts, made, strict=True) if kept]
        yield from judged_pairs(self, works, seed)

    def _filled(self, drawn: Sequence[Drafting]) -> list[Draft]:
        """Return the finished drafts; each filler fills the places of all texts at once."""
        drafts: dict[int, Draft] = {}
        answers: dict[int, Any] = dict.fromkeys(range(len(drawn)))
        while answers:
            asked: list[dict[int, FillRequest]] = [{} for _ in self.fillers]
            for number, answer in answers.items():
                try:
                    filler, request = drawn[number].send(answer)
                    asked[filler][number] = request
                except StopIteration as finished:
                    drafts[number] = finished.value
            filled = [
                zip(requests, filler.fill(list(requests.values())), strict=True)
                for filler, requests in zip(self.fillers, asked, strict=True)
            ]
            answers = {number: candidates for pairs in filled for number, candidates in pairs}
        return [drafts[number] for number in range(len(drawn))]

    def _drawn(self, text: str, chance: np.random.Generator, edits: int) -> Drafting:
        """Draw kinds, models and free places (algorithm 1, lines 7 to 29), and carry the edits out."""
        draft, settings = Draft(text), self.settings
        for _ in range(edits):
            kind, filler = KINDS[chance.integers(len(KINDS))], int(chance.integers(len(self.fillers)))
            words = words_of(draft.text)
            for _ in range(settings.tries):
                first = int(chance.integers(len(words)))
                span = int(chance.poisson(settings.deletion if kind == "deletion" else settings.replacement))
                length = {"insertion": 1, "swap": 1 + int(chance.integers(1, settings.swap + 1))}.get(kind, span)
                if not span or length > len(words) - first:
                    continue
                one, last = words[first], words[first + length - 1]
                if kind == "deletion":
                    operation = deletion(draft.text, one.start, last.end)
                elif kind == "swap":
                    operation = swap(draft.text, one, last)
                else:
                    place = FillRequest(draft.text, one.start, one.start if kind == "insertion" else last.end)
                    operation = filling(*place, "x")
                if operation is None or not draft.allows(operation):
                    continue
                if kind in ("insertion", "replacement"):
                    operation = yield from self._phrase(place, span, filler, chance)
                if operation is not None:
                    draft.apply(replace(operation, type=error_type(operation)))
                break
        return draft

    def _phrase(self, place: FillRequest, length: int, filler: int, chance: np.random.Generator) -> Phrase:
        """Return an edit that puts drawn words into a place, or None if none of the candidates changes the text."""
        made, new, request = None, "", place
        for _ in range(1 if self.fillers[filler].spans else length):
            candidates = [(word, p) for word, p in (yield filler, request) if p > 0 and _fits(word, request)]
            if not candidates:
                break
            weights = np.array([p for _, p in candidates])
            word, p = candidates[chance.choice(len(candidates), p=weights / weights.sum())]
            new += word if not new or word[0] in CLOSING else f" {word}"
            details = {"filling_probability": p * (made.details["filling_probability"] if made else 1.0)}
            made = replace(filling(*place, new), details=details)
            end = made.start + len(made.new.rstrip())
            request = FillRequest(applied(place.text, made), end, end)
        return made if made and made.new.strip() != place.original else None


def _fits(word: str, request: FillRequest) -> bool:
    """Tell whether a filling differs from the words in and beside a place, and is no mark beside another one."""
    beside = [*words_of(request.text[: request.start])[-1:], *words_of(request.text[request.end :])[:1]]
    known = {text.casefold() for text in (request.original, *(one.text for one in beside))}
    return word.casefold() not in known and (word[0].isalnum() or not any(one.is_sign for one in beside))
