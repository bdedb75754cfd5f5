"""SEScore's stratified error synthesis (Xu et al. 2022, §3.2, §3.3, algorithm 1): raw text in, texts with weighed mistakes out."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from rome.exceptions import InputError
from rome.train.synthesis.edits import error_type
from rome.train.synthesis.fillers import Filler, FillRequest
from rome.train.synthesis.pairs import Operation, Pipeline, SyntheticPair, applied, pair_seed, settings_signature
from rome.train.synthesis.severities import SeverityModel, with_severity

TOKEN = re.compile(r"\w+(?:[-'’.,]\w+)*|[^\w\s]")
CLOSING = frozenset(".,;:!?)]}%…’”")
OPENING = frozenset("([{“‘\"'/-")


def tokens_of(text: str) -> list[str]:
    """The words and punctuation marks of a text, as they are edited: ``don't``, ``12,500`` and ``e-mail`` are one each."""
    return TOKEN.findall(text)


class Slot(NamedTuple):
    """A word with the white space before it. What was deleted stays as an empty, touched slot, so that nothing is put in its place."""

    space: str
    word: str
    touched: bool


class Change(NamedTuple):
    """One edit that fits: the operation that it is, and the slots after it."""

    operation: Operation
    slots: list[Slot]


class Draft:
    """The text as it stands, as slots, from 0. An edit is accepted only where nothing was edited before (the table q of §3.2).

    The paper's text asks for one untouched slot more than an edit takes, which would leave the end of every text unedited; its
    algorithm 1 asks for no overlap, as is done here. An insertion stands between two untouched slots.
    """

    def __init__(self, text: str) -> None:
        self.slots: list[Slot] = []
        end = 0
        for match in TOKEN.finditer(text):
            self.slots.append(Slot(text[end : match.start()], match.group(), False))
            end = match.end()
        self.tail = text[end:]

    @property
    def text(self) -> str:
        """The text as it stands."""
        return "".join(f"{slot.space}{slot.word}" for slot in self.slots) + self.tail

    def free(self, position: int, length: int) -> bool:
        """Whether ``length`` slots from ``position`` on are there and untouched."""
        span = self.slots[position : position + length]
        return len(span) == length >= 1 and not any(slot.touched for slot in span)

    def can_insert(self, position: int) -> bool:
        """Whether something may be inserted before a slot: it and the one before it are untouched."""
        return self.free(max(position - 1, 0), 2 if position else 1)

    def place(self, position: int, length: int) -> tuple[int, int]:
        """The characters from the first word of a span to its last; (n, n) before a word for length 0."""
        start = self._before(position) + len(self.slots[position].space)
        return start, start if not length else self._before(position + length)

    def insertion(self, position: int, filling: str) -> Change:
        """A filling put before a slot, with the white space that it needs; a mark such as a comma stands close to the word before."""
        space, word, _ = self.slots[position]
        start = self._before(position)
        if self._is_start(position):
            start += len(space)
            new = f"{filling} "
            slots = [Slot(space, new, True), Slot("", word, False)]
        else:
            apart = filling if filling[0] in CLOSING else f" {filling}"
            new = apart if space else self._spaced(filling, start, start)
            slots = [Slot("", new, True), Slot(space, word, False)]
        return self._change("insertion", start, start, new, [*self.slots[:position], *slots, *self.slots[position + 1 :]])

    def deletion(self, position: int, length: int) -> Change | None:
        """A span of words taken away with the white space on one side of it; None when it does not fit.

        It fits where it is free, words remain, the white space that goes is no other edit's, and no two words grow together.
        """
        if not self.free(position, length) or length >= sum(bool(slot.word) for slot in self.slots):
            return None
        start, end = self.place(position, length)
        text, space, after = self.text, self.slots[position].space, self.slots[position + length :]
        left, right = text[:start].rstrip(), text[end : end + 1]
        if not left or (not space and text[start - 1].isspace()):
            if left and (not right or right in CLOSING):
                return None
            if right.isspace():
                if not after or after[0].touched or not after[0].space:
                    return None
                end += len(after[0].space)
                after[0] = after[0]._replace(space="")
        elif space and (not right or right.isspace() or right in CLOSING):
            start, space = start - len(space), ""
        change = self._change("deletion", start, end, "", [*self.slots[:position], Slot(space, "", True), *after])
        return change if self._keeps_words(change) else None

    def replacement(self, position: int, length: int, filling: str) -> Change:
        """A filling put in the place of a span; a mark such as a comma stands close to the word before, words stand apart."""
        start, end = self.place(position, length)
        space = self.slots[position].space
        if filling[0] in CLOSING and not self._is_start(position):
            start, space = start - len(space), ""
        new = self._spaced(filling, start, end)
        slots = [*self.slots[:position], Slot(space, new, True), *self.slots[position + length :]]
        return self._change("replacement", start, end, new, slots)

    def swap(self, position: int, distance: int) -> Change | None:
        """Two words change places, and what stands between them stays but counts as edited too; None when it does not fit.

        It fits where all of it is free, the two words differ, and no two words grow together.
        """
        if not self.free(position, distance + 1) or self.slots[position].word == self.slots[position + distance].word:
            return None
        start, end = self.place(position, distance + 1)
        span = self.slots[position : position + distance + 1]
        words = [span[-1].word, *(slot.word for slot in span[1:-1]), span[0].word]
        changed = [Slot(slot.space, word, True) for slot, word in zip(span, words, strict=True)]
        new = "".join(f"{slot.space}{slot.word}" for slot in changed)[len(span[0].space) :]
        slots = [*self.slots[:position], *changed, *self.slots[position + distance + 1 :]]
        change = self._change("swap", start, end, new, slots)
        return change if self._keeps_words(change) else None

    def apply(self, change: Change) -> Operation:
        """Carry a change of this draft out."""
        self.slots = change.slots
        return change.operation

    def _spaced(self, filling: str, start: int, end: int) -> str:
        """A filling with the blanks that it needs between ``text[:start]`` and ``text[end:]``: none before a mark or after a bracket."""
        before, after = self.text[:start][-1:], self.text[end : end + 1]
        left = "" if filling[0] in CLOSING or not before or before.isspace() or before in OPENING else " "
        return f"{left}{filling}{' ' if after.isalnum() else ''}"

    def _change(self, kind: str, start: int, end: int, new: str, slots: list[Slot]) -> Change:
        return Change(Operation(kind, start, end, self.text[start:end], new), slots)

    def _keeps_words(self, change: Change) -> bool:
        """Whether the words after a deletion or swap are those of before without the deleted ones."""
        gone = Counter(tokens_of(change.operation.original)) - Counter(tokens_of(change.operation.new))
        return Counter(tokens_of(self.text)) - gone == Counter(tokens_of(applied(self.text, change.operation)))

    def _before(self, position: int) -> int:
        """How many characters stand before a slot and its white space."""
        return sum(len(slot.space) + len(slot.word) for slot in self.slots[:position])

    def _is_start(self, position: int) -> bool:
        """Whether no word stands before a slot."""
        return not any(slot.word for slot in self.slots[:position])


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


def poisson(chance: random.Random, mean: float) -> int:
    """One draw from the Poisson distribution with that mean, by inversion."""
    from scipy import stats

    return max(0, int(stats.poisson.ppf(chance.random(), mean)))


@dataclass(slots=True)
class _Drawn:
    """One edit that was drawn: the whole change, or, where a filler is asked, which one, for what, and the draw among its candidates."""

    kind: str
    position: int
    length: int
    draw: float
    filler: int | None
    request: FillRequest | None = None
    change: Change | None = None


@dataclass(slots=True)
class _Work:
    """A text on its way: how many edits were drawn, how many are left, the draft, the operations, and the text before each of them."""

    source: str
    reference: str
    chance: random.Random
    drawn: int
    left: int
    draft: Draft
    operations: list[Operation] = field(default_factory=list)
    before: list[str] = field(default_factory=list)


class SEScorePipeline(Pipeline):
    """Insertions, deletions, replacements and swaps, drawn alike, each on the text that the former ones made, none on another's place.

    With a probability of exp(-lambda_e) a pair has no mistake and the label 0.

    Parameters
    ----------
    fillers
        The models that fillings come from, drawn alike; one that fills with single words replaces single words.
    severities
        Judge each step on the text that the former ones made.
    """

    name = "sescore"

    def __init__(
        self, fillers: Sequence[Filler], severities: SeverityModel, settings: SEScoreSettings | None = None, *, block: int = 64
    ) -> None:
        if not fillers:
            raise InputError("SEScore needs a filler: give `embedded`, a masked or a sequence-to-sequence language model")
        self.fillers, self.severities, self.settings = tuple(fillers), severities, settings or SEScoreSettings()
        filled = "+".join(filler.signature for filler in self.fillers)
        super().__init__(f"sescore{VERSION}|{settings_signature(self.settings)}|fill:{filled}|{severities.signature}", block)

    def is_long_enough(self, text: str) -> bool:
        """By its words and marks."""
        return len(tokens_of(text)) >= self.settings.least_words

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """One pair a text."""
        works = [self._begin(source, text, seed) for source, text in texts]
        while active := [work for work in works if work.left]:
            self._step(active)
        verdicts = iter(self.severities.of([edit for work in works for edit in zip(work.before, work.operations, strict=True)]))
        for work in works:
            if work.drawn and not work.operations:
                self.skipped["no edit found a place"] += 1
                continue
            cost = self.settings.minor, self.settings.major
            operations = [with_severity(operation, next(verdicts), *cost) for operation in work.operations]
            yield self.pair(work.source, work.reference, operations, seed)

    def _begin(self, source: str, text: str, seed: int) -> _Work:
        """A text with its own chance and the number of its edits."""
        chance = random.Random(pair_seed(seed, text))
        count = min(poisson(chance, self.settings.edits), self.settings.most_edits)
        return _Work(source, text, chance, count, count, Draft(text))

    def _step(self, works: Sequence[_Work]) -> None:
        """The next edit of every text: all are drawn, each filler fills its places at once, all are carried out."""
        edits = [(work, edit) for work in works if (edit := self._drawn(work)) is not None]
        found: dict[int, list[tuple[str, float]]] = {}
        for number, filler in enumerate(self.fillers):
            asked = {n: edit.request for n, (_, edit) in enumerate(edits) if edit.filler == number and edit.request}
            found.update(zip(asked, filler.fill(list(asked.values())) if asked else (), strict=True))
        for n, (work, edit) in enumerate(edits):
            self._carry_out(work, edit, found.get(n, []))

    def _drawn(self, work: _Work) -> _Drawn | None:
        """Draw kind, model and a free place (algorithm 1, lines 7 to 29); None when no place was found."""
        work.left -= 1
        chance, settings, draft = work.chance, self.settings, work.draft
        kind = chance.choice(KINDS)
        filler = chance.randrange(len(self.fillers)) if kind in ("insertion", "replacement") else None
        single = filler is not None and not self.fillers[filler].spans
        edit = _Drawn(kind, 0, 0, chance.random(), filler)
        for _ in range(settings.tries):
            edit.position = position = chance.randrange(len(draft.slots))
            if kind == "insertion":
                fits = draft.can_insert(position)
            elif kind == "replacement":
                edit.length = 1 if single else poisson(chance, settings.replacement)
                fits = draft.free(position, edit.length)
            else:
                if kind == "deletion":
                    edit.change = draft.deletion(position, poisson(chance, settings.deletion))
                else:
                    edit.change = draft.swap(position, chance.randint(1, settings.swap))
                fits = edit.change is not None
            if fits:
                if filler is not None:
                    edit.request = FillRequest(draft.text, *draft.place(position, edit.length))
                return edit
        return None

    def _carry_out(self, work: _Work, edit: _Drawn, candidates: Sequence[tuple[str, float]]) -> None:
        """Change the draft and note the operation; an edit without a filling is dropped."""
        change, details = edit.change, {}
        if edit.request is not None:
            chosen = _chosen(candidates, edit.draw, edit.request.original)
            if chosen is None:
                return
            filling, details["filling_probability"] = chosen
            if edit.kind == "insertion":
                change = work.draft.insertion(edit.position, filling)
            else:
                change = work.draft.replacement(edit.position, edit.length, filling)
        if change is not None:
            work.before.append(work.draft.text)
            operation = work.draft.apply(change)
            work.operations.append(replace(operation, type=error_type(operation), details=details))


def _chosen(candidates: Sequence[tuple[str, float]], draw: float, original: str) -> tuple[str, float] | None:
    """The candidate that a draw in [0, 1) falls on, in proportion to their probabilities; None where none changes anything."""
    usable = [(" ".join(word.split()), p) for word, p in candidates if word.strip() and word.strip() != original]
    total = sum(p for _, p in usable)
    reached = 0.0
    for word, p in usable:
        reached += p / total if total > 0 else 1 / len(usable)
        if draw < reached:
            return word, p
    return usable[-1] if usable else None
