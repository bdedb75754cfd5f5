"""SEScore's stratified error synthesis (Xu et al. 2022, §3.2, §3.3, algorithm 1): raw text in, texts with weighed mistakes out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice

from rome.exceptions import InputError
from rome.train.synthesis.edits import error_type, identifier, pair_seed, poisson
from rome.train.synthesis.fillers import Filler, FillRequest
from rome.train.synthesis.pairs import MOST, GeneratedPair, Operation
from rome.train.synthesis.severities import Severities
from rome.train.synthesis.stratified import Change, Draft

__all__ = ["SEScore", "SEScoreSettings"]

KINDS = ("insertion", "deletion", "replacement", "swap")
VERSION = 3


@dataclass(frozen=True, slots=True)
class SEScoreSettings:
    """The paper's numbers (§3.2, §3.3, §4.1).

    Attributes
    ----------
    edits
        Mean number of edits a text (lambda_e), Poisson.
    most_edits
        Its cap (M_max).
    deletion, replacement
        Mean length of a span in words (lambda_d, lambda_r), Poisson without 0.
    swap
        Largest distance between swapped words (lambda_s).
    minor, major
        What each mistake costs.
    least_words
        Shorter texts are skipped.
    tries
        Draws of a place before an edit is given up (algorithm 1 would draw for ever).
    """

    edits: float = 5.0
    most_edits: int = 5
    deletion: float = 1.5
    replacement: float = 1.5
    swap: int = 4
    minor: float = -1.0
    major: float = -5.0
    least_words: int = 4
    tries: int = 50

    @property
    def signature(self) -> str:
        """Every value by its name."""
        return "|".join(f"{name}:{value:g}" for name, value in asdict(self).items())


@dataclass(slots=True)
class _EditPlan:
    """One edit that was drawn: kind, which filler (None: it needs none), first slot, how many of them, the draw of the filling; or the
    whole change, where nothing has to be filled in."""

    kind: str
    filler: int | None
    position: int
    length: int
    draw: float
    change: Change | None = None


@dataclass(slots=True)
class _Work:
    """A text on its way: how many edits were drawn, how many of them are left, the draft, the operations so far and the texts between them."""

    source: str
    reference: str
    chance: random.Random
    drawn: int
    left: int
    draft: Draft
    operations: list[Operation] = field(default_factory=list)
    strata: list[str] = field(default_factory=list)


class SEScore:
    """Insertions, deletions, replacements and swaps, drawn alike, each on the text that the former ones made, none on another's place.

    Parameters
    ----------
    fillers
        The models that fillings come from, drawn alike; one that fills with single words replaces single words.
    severities
        Judge each step on the text that the former ones made.
    block
        Texts at a time, for speed.

    Attributes
    ----------
    skipped
        How many texts gave nothing, by reason.
    dropped
        How many edits found no place or no filling, by kind.
    """

    name = "sescore"

    def __init__(
        self, fillers: Sequence[Filler], severities: Severities, settings: SEScoreSettings | None = None, *, block: int = 64
    ) -> None:
        if not fillers:
            raise InputError("SEScore needs a filler: give `embedded`, a masked or a sequence-to-sequence language model")
        self.fillers, self.severities, self.block = tuple(fillers), severities, block
        self.settings = settings or SEScoreSettings()
        filled = "+".join(filler.signature for filler in self.fillers)
        self.signature = f"sescore{VERSION}|{self.settings.signature}|fill:{filled}|{severities.signature}"
        self.skipped: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()

    def pairs(self, texts: Iterable[tuple[str, str]], seed: int) -> Iterator[GeneratedPair]:
        """Yield one pair a text, in their order; (source, text) as they come, a block at a time.

        A pair depends on its text and the seed alone. With a probability of exp(-lambda_e) it has no mistake and the label 0.
        """
        remaining = iter(texts)
        while block := list(islice(remaining, self.block)):
            works = [work for source, text in block if (work := self._begin(source, text, seed)) is not None]
            while active := [work for work in works if work.left]:
                self._step(active)
            yield from self._judged(works, seed)

    def _begin(self, source: str, text: str, seed: int) -> _Work | None:
        """A text with its own chance and the number of its edits; None, counted, for one that is too short."""
        draft = Draft(text)
        if len(draft.slots) < self.settings.least_words:
            self.skipped["too short"] += 1
            return None
        chance = random.Random(pair_seed(seed, text))
        count = min(poisson(chance, self.settings.edits), self.settings.most_edits)
        return _Work(source, text, chance, count, count, draft, strata=[text])

    def _step(self, works: Sequence[_Work]) -> None:
        """The next edit of every text: all are drawn, each filler fills its places at once, all are carried out."""
        plans = [(work, plan) for work in works if (plan := self._plan(work)) is not None]
        found: dict[int, list[tuple[str, float]]] = {}
        for number, filler in enumerate(self.fillers):
            asking = [n for n, (_, plan) in enumerate(plans) if plan.filler == number]
            requests = [_request(*plans[n]) for n in asking]
            found.update(zip(asking, filler.fill(requests) if requests else [], strict=True))
        for n, (work, plan) in enumerate(plans):
            self._carry_out(work, plan, found.get(n, []))

    def _plan(self, work: _Work) -> _EditPlan | None:
        """Draw kind, model and a free place (algorithm 1, lines 7 to 29); None, counted, when no place was found."""
        work.left -= 1
        chance, settings, draft = work.chance, self.settings, work.draft
        kind = chance.choice(KINDS)
        filler = chance.randrange(len(self.fillers)) if kind in ("insertion", "replacement") else None
        single = filler is not None and not self.fillers[filler].spans
        draw = chance.random()
        for _ in range(settings.tries):
            position = chance.randrange(len(draft.slots))
            plan = _EditPlan(kind, filler, position, 0, draw)
            if kind == "insertion":
                fits = draft.can_insert(position)
            elif kind == "deletion":
                plan.change = draft.deletion(position, poisson(chance, settings.deletion))
                fits = plan.change is not None
            elif kind == "replacement":
                plan.length = 1 if single else poisson(chance, settings.replacement)
                fits = draft.free(position, plan.length)
            else:
                plan.change = draft.swap(position, chance.randint(1, settings.swap))
                fits = plan.change is not None
            if fits:
                return plan
        self.dropped[f"{kind}: no free place"] += 1
        return None

    def _carry_out(self, work: _Work, plan: _EditPlan, candidates: Sequence[tuple[str, float]]) -> None:
        """Change the draft and note the operation; an edit without a filling is dropped and counted."""
        change, details = plan.change, {}
        if change is None:
            chosen = _drawn(candidates, plan.draw, _request(work, plan).original)
            if chosen is None:
                self.dropped[f"{plan.kind}: no filling"] += 1
                return
            filling, probability = chosen
            details["filling_probability"] = probability
            if plan.kind == "insertion":
                change = work.draft.insertion(plan.position, filling)
            else:
                change = work.draft.replacement(plan.position, plan.length, filling)
        operation = work.draft.apply(change)
        work.operations.append(replace(operation, type=error_type(operation), details=details))
        work.strata.append(work.draft.text)

    def _judged(self, works: Sequence[_Work], seed: int) -> Iterator[GeneratedPair]:
        """The pairs, every step judged on the text before it, all at once."""
        verdicts = iter(
            self.severities.of([edit for work in works for edit in zip(work.strata, work.operations, strict=False)])
        )
        for work in works:
            if work.drawn and not work.operations:
                self.skipped["no edit found a place"] += 1
                continue
            operations = tuple(self._weighed(operation, *next(verdicts)) for operation in work.operations)
            label = max(sum(operation.label or 0.0 for operation in operations), -MOST)
            name = identifier(self.signature, seed, work.source, work.reference)
            yield GeneratedPair(
                name, self.signature, seed, work.reference, work.draft.text, operations, label, source=work.source
            )

    def _weighed(self, operation: Operation, minor: bool, details: dict[str, float]) -> Operation:
        """The operation with severity and label."""
        severity, label = ("minor", self.settings.minor) if minor else ("major", self.settings.major)
        return replace(operation, severity=severity, label=label, details={**operation.details, **details})


def _request(work: _Work, plan: _EditPlan) -> FillRequest:
    return FillRequest(work.draft.text, *work.draft.place(plan.position, plan.length))


def _drawn(candidates: Sequence[tuple[str, float]], draw: float, original: str) -> tuple[str, float] | None:
    """The candidate that a draw in [0, 1) falls on, in proportion to their probabilities; None where none changes anything."""
    usable = [(" ".join(word.split()), p) for word, p in candidates if word.strip() and word.strip() != original]
    total = sum(p for _, p in usable)
    reached = 0.0
    for word, p in usable:
        reached += p / total if total > 0 else 1 / len(usable)
        if draw < reached:
            return word, p
    return usable[-1] if usable else None
