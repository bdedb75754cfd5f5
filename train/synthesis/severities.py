"""How bad a single edit of a text is: the papers' own rules (`reader_judge` has another).

SEScore2's (§4.2): an edit is minor when what it brings is likely there, or when what it takes weighs little; else major. Three things are
done otherwise than printed:

- The likelihood of several words is the geometric mean of their probabilities, all masked at once, not the arithmetic one: one
  likely word ("of") does not excuse an unlikely one beside it.
- The paper's model sees the source sentence t besides the rest of y. There is no source here; the reference, which says the
  same, may stand in its place (``context``).
- The weight of a deleted word is its inverse document frequency: each occurrence counts for itself, as everywhere in RoMe.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from rome.exceptions import InputError
from rome.features.analyser.config import set_folder
from rome.features.idf import IdfTable
from rome.train.synthesis.edit_script import words_of
from rome.train.synthesis.fillers import FillRequest, Likelihood
from rome.train.synthesis.values import Operation

if TYPE_CHECKING:
    from rome.train.synthesis.entailment import Entailment

__all__ = ["Edits", "EntailmentRule", "LikelihoodRule", "Severities", "Verdict"]

CONTEXTS = ("hypothesis", "reference")
Edits = Sequence[tuple[str, Operation]]
"""Texts, each with an edit of it; each is carried out alone."""
Verdict = tuple[bool, dict[str, float]]
"""Whether an edit is minor, and the number behind it by its name."""


class Severities(Protocol):
    """Tells minor edits from major ones. signature : every choice that changes a verdict."""

    @property
    def signature(self) -> str:
        """Models and thresholds in one line."""

    def of(self, edits: Edits) -> list[Verdict]:
        """One verdict an edit, in order; it depends on the edit and its text alone."""


class EntailmentRule:
    """SEScore's rule (§3.3, eq. 2): minor where the texts before and after entail each other, both with at least gamma, to three decimals."""

    def __init__(self, entailment: Entailment, gamma: float = 0.9) -> None:
        self.entailment, self.gamma = entailment, gamma
        self.signature = f"entailment:{entailment.signature}|gamma:{gamma:g}"

    def of(self, edits: Edits) -> list[Verdict]:
        """By both probabilities, all asked for at once."""
        steps = [(text, text[: edit.start] + edit.new + text[edit.end :]) for text, edit in edits]
        both = [*steps, *((after, before) for before, after in steps)]
        found = [round(float(p), 3) for p in self.entailment.probabilities(both)] if both else []
        judged = zip(found[: len(steps)], found[len(steps) :], strict=True)
        return [(min(there, back) >= self.gamma, {"entailment": there, "entailment_back": back}) for there, back in judged]


class LikelihoodRule:
    """SEScore2's rule.

    likelihood : of words in their places. idf : weights of deleted words, the embedded table by default. gamma : a likelihood of at
    least this makes an insertion or replacement minor (0.1). weight : lambda, deleted words all below this make a deletion minor (1).
    context : what the likelihood sees: the changed text alone ("hypothesis"), or the reference before it ("reference").

    Raises InputError for another context.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        idf: IdfTable | None = None,
        *,
        gamma: float = 0.1,
        weight: float = 1.0,
        context: str = "hypothesis",
    ) -> None:
        if context not in CONTEXTS:
            raise InputError(f"context={context!r}: choose one of {CONTEXTS}")
        self.likelihood, self.gamma, self.weight, self.context = likelihood, gamma, weight, context
        self.idf = idf or IdfTable.load(set_folder("small") / "idf" / "idf.parquet")
        table = f"{self.idf.name}/{self.idf.documents}"
        self.signature = (
            f"likelihood:{likelihood.signature}|idf:{table}|gamma:{gamma:.6g}|weight:{weight:.6g}|context:{context}"
        )

    def of(self, edits: Edits) -> list[Verdict]:
        """By likelihood or weight, all likelihoods asked for at once."""
        requests = [self._request(text, edit) for text, edit in edits if edit.kind != "deletion"]
        found = iter(zip(requests, self.likelihood.of(requests), strict=True)) if requests else iter(())
        verdicts: list[Verdict] = []
        for _, edit in edits:
            if edit.kind == "deletion":
                weight = max((self._weight(word.text) for word in words_of(edit.original)), default=0.0)
                verdicts.append((weight < self.weight, {"tfidf": round(weight, 6)}))
            else:
                request, probability = next(found)
                likelihood = probability ** (1 / max(1, len(words_of(request.original))))
                verdicts.append((likelihood >= self.gamma, {"likelihood": float(f"{likelihood:.6g}")}))
        return verdicts

    def _request(self, text: str, edit: Operation) -> FillRequest:
        """The place of what an edit brings."""
        start = edit.start + len(edit.new) - len(edit.new.lstrip())
        end = edit.start + len(edit.new.rstrip())
        before = f"{text.strip()} " if self.context == "reference" else ""
        changed = text[: edit.start] + edit.new + text[edit.end :]
        return FillRequest(before + changed, len(before) + start, len(before) + end)

    def _weight(self, word: str) -> float:
        """How much a deleted word weighs; a sign weighs the least there is."""
        return self.idf.idf(word) if any(map(str.isalnum, word)) else self.idf.floor
