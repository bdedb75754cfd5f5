"""Training examples of the errors' head: a pair's inputs as arrays, its words' labels, and the families that are ranked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rome.features.errors.alignment import WordMatch
from rome.features.errors.estimator import ErrorsConfig, compare
from rome.features.errors.head import TYPES, prior, shares
from rome.features.errors.lexicon import Lexicon
from rome.features.errors.pair_inputs import PairInputs, pair_inputs
from rome.features.idf import IdfTable
from rome.features.values import Analysis

from .errors_probes import Analyse, Probe, seen_group
from .scorer_pairs import Pair

__all__ = ["COSTS", "Example", "Families", "Family", "Member"]

COSTS = {"none": 0.0, "minor": 1.0, "major": 3.0, "critical": 5.0, "base": 8.0}
"""What a mistake of each severity should add to the count; DEMETR's major lies between MQM's minor (1) and major (5)."""
CLASS = {"none": 0, "minor": 1, "major": 2, "critical": 2}
UNSURE, FAIRLY_SURE = 0.15, 0.3
"""How sure it is that an unperturbed word of a real output, and of a paraphrase, is no mistake."""
LONGEST = 140
MOST_SEVERE, RATED_RANGE = 15.0, 10.0
BLOCK = 50
TYPE_OF = {
    **dict.fromkeys(("hypernym", "words_by_similar", "words_by_token", "replaced_word"), "substitution"),
    **dict.fromkeys(("word_added", "added_word"), "addition"),
    **dict.fromkeys(("antonym", "adjectives_by_antonyms"), "antonym"),
    **dict.fromkeys(("negation_added", "negation_removed"), "negation"),
    **dict.fromkeys(("named_entity_replaced", "entities_replaced_fully"), "name"),
    **dict.fromkeys(
        ("part_of_speech_shift", "pronoun_case", "function_word", "tense", "aspect", "interrogative", "misused_word"), "grammar"
    ),
    **dict.fromkeys(("misspelled_word", "deleted_character"), "spelling"),
    **{"number_changed": "number", "gender_pronoun": "gender", "word_swap": "order"},
}


@dataclass(frozen=True, eq=False)
class Example:
    """One pair: its inputs without the vectors, which are kept once a text.

    reference, hypothesis : indices of the texts' vectors. prior, share : of the head. surface : what characters alone cost.
    labels : (N,) 0 none, 1 minor, 2 major, -1 unknown; sure : (N,) weight of each label in [0, 1]; types : (N,) index into TYPES or -1.
    """

    reference: int
    hypothesis: int
    inputs: PairInputs
    prior: NDArray[np.float32]
    share: NDArray[np.float32]
    surface: float
    labels: NDArray[np.int8]
    sure: NDArray[np.float32]
    types: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Member:
    """An example of a family, how severe its mistakes are (0 for the real pair), and what was done to it."""

    example: int
    severity: float
    name: str


@dataclass(frozen=True, slots=True)
class Family:
    """Examples that can be ranked by severity.

    kind : "probes" (one reference, each mistake's cost is known on the scale of COSTS), "chain" (one reference, the order is known) or
    "rated" (several references; people rated how similar each pair is).
    """

    group: str
    kind: Literal["probes", "chain", "rated"]
    members: tuple[Member, ...]


class Families:
    """All examples of a training run in memory, about 20 kB a text."""

    def __init__(self, idf: IdfTable, lexicon: Lexicon, config: ErrorsConfig) -> None:
        self.idf, self.lexicon, self.config = idf, lexicon, config
        self.examples: list[Example] = []
        self.vectors: list[NDArray[np.float16]] = []
        self.families: list[Family] = []
        self._known: dict[str, int] = {}
        self.width = 0

    def add_probes(self, probes: Iterable[Probe], analyse: Analyse) -> None:
        """Add the families of probes: the real pair first, then its probes, labelled by their edits."""
        grouped: dict[tuple[str, str, str], list[Probe]] = defaultdict(list)
        for probe in probes:
            grouped[probe.reference, probe.clean, probe.base].append(probe)
        for block in _blocks(list(grouped.values())):
            analyses = analyse([text for row in block for probe in row for text in (probe.reference, probe.clean, probe.text)])
            for row in block:
                self._add_probed(row, analyses)

    def add_chains(self, pairs: Iterable[Pair], analyse: Analyse) -> None:
        """Add the scorer's chains, whose order of severity alone is known, and its pairs of sentences with ratings of their similarity."""
        grouped: dict[str, list[Pair]] = defaultdict(list)
        for pair in pairs:
            if seen_group(pair.group):
                grouped[pair.group].append(pair)
        for block in _blocks(list(grouped.values())):
            analyses = analyse([text for row in block for pair in row for text in (pair.reference, pair.hypothesis)])
            for row in block:
                members = [(self._chained(pair, analyses), _severity(pair), pair.operation) for pair in row]
                self._keep(row[0].group, "chain" if row[0].quality is None else "rated", members)

    def _add_probed(self, row: Sequence[Probe], analyses: Mapping[str, Analysis]) -> None:
        first = row[0]
        reference, clean = analyses[first.reference], analyses[first.clean]
        sure = 1.0 if first.base == "identity" else UNSURE
        inputs, matches, surface = self.measured(reference, clean)
        number = self._add(reference, clean, inputs, surface, _labels(len(inputs), 0, sure))
        members = [(number, 0.0, "clean")]
        there = {match.hypothesis: match.reference for match in matches}
        for probe in row:
            text = analyses[probe.text]
            inputs, _, surface = self.measured(reference, text)
            labels = _probe_labels(probe, reference, clean, text, there, sure)
            members.append((self._add(reference, text, inputs, surface, labels), COSTS[probe.severity], probe.name))
        self._keep(first.group, "probes", members)

    def _chained(self, pair: Pair, analyses: Mapping[str, Analysis]) -> int | None:
        reference, hypothesis = analyses[pair.reference], analyses[pair.hypothesis]
        inputs, _, surface = self.measured(reference, hypothesis)
        clean, sure = pair.level == "clean" and pair.quality is None, 1.0 if pair.base == "identity" else FAIRLY_SURE
        return self._add(
            reference, hypothesis, inputs, surface, _labels(len(inputs), 0 if clean else -1, sure if clean else 0.0)
        )

    def measured(self, reference: Analysis, hypothesis: Analysis) -> tuple[PairInputs, tuple[WordMatch, ...], float]:
        """The head's inputs, the alignment, and what the characters cost."""
        compared = compare(reference, hypothesis, self.idf, self.lexicon, self.config)
        surface = sum(error.weight for error in compared.surface)
        return pair_inputs(compared, self.idf, self.lexicon), compared.matches, surface

    def _add(
        self,
        reference: Analysis,
        hypothesis: Analysis,
        inputs: PairInputs,
        surface: float,
        labels: tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.int8]],
    ) -> int | None:
        """Keep one example; None for one that is empty or too long."""
        if not 0 < len(inputs) <= LONGEST:
            return None
        kept = PairInputs(
            np.zeros((0, 0), np.float32),
            inputs.counterpart.astype(np.int16),
            inputs.scalars.astype(np.float16),
            inputs.forms.astype(np.int16),
            inputs.side.astype(np.int8),
            inputs.position.astype(np.int16),
            inputs.weights,
            inputs.judged,
        )
        sure = np.where(inputs.judged, labels[1], 0.0).astype(np.float32)
        texts = self._text(reference), self._text(hypothesis)
        log_prior, share = prior(inputs).astype(np.float32), shares(inputs).astype(np.float32)
        self.examples.append(Example(*texts, kept, log_prior, share, surface, labels[0], sure, labels[2]))
        return len(self.examples) - 1

    def _text(self, analysis: Analysis) -> int:
        if analysis.text not in self._known:
            self._known[analysis.text] = len(self.vectors)
            self.vectors.append(analysis.vectors.astype(np.float16))
            self.width = self.width or analysis.vectors.shape[1]
        return self._known[analysis.text]

    def _keep(
        self, group: str, kind: Literal["probes", "chain", "rated"], members: Sequence[tuple[int | None, float, str]]
    ) -> None:
        """Keep a family of at least two, if its first could be kept."""
        kept = tuple(Member(number, severity, name) for number, severity, name in members if number is not None)
        if len(kept) > 1 and members[0][0] is not None:
            self.families.append(Family(group, kind, kept))


def _severity(pair: Pair) -> float:
    """How bad a pair of the scorer's is, against others of its group."""
    return min(MOST_SEVERE, pair.severity) if pair.quality is None else RATED_RANGE * (1.0 - pair.quality)


def _labels(size: int, label: int, sure: float) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.int8]]:
    return np.full(size, label, np.int8), np.full(size, sure, np.float32), np.full(size, -1, np.int8)


def _over(analysis: Analysis, start: int, end: int) -> list[int]:
    """The words that share a character with [start, end)."""
    return [n for n, word in enumerate(analysis.words) if word.start < end and word.end > start]


def _probe_labels(
    probe: Probe, reference: Analysis, clean: Analysis, text: Analysis, there: Mapping[int, int], sure: float
) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.int8]]:
    """Labels of every word of a probe: the words that an edit put in, and the reference's words for those that it took away."""
    p = len(reference.words)
    size = p + len(text.words)
    if probe.severity == "base":
        return _labels(size, -1, 0.0)
    labels, weights, types = _labels(size, 0, sure)
    about = TYPE_OF.get(probe.name, "omission" if probe.name.startswith("omitted") else None)
    for start, end, old, new_start, new_end, new in probe.edits:
        marked = [p + j for j in _over(text, new_start, new_end)] if new.strip() else []
        if not new.strip() or len(old.split()) > len(new.split()) + 1:
            marked += [there[h] for h in _over(clean, start, end) if h in there]
        labels[marked], weights[marked] = CLASS[probe.severity], 1.0
        if about is not None and CLASS[probe.severity]:
            types[marked] = TYPES.index(about)
    return labels, weights, types


def _blocks(rows: Sequence[list]) -> Iterator[Sequence[list]]:
    """Rows a block at a time, so that only few analyses are in memory at once."""
    for start in range(0, len(rows), BLOCK):
        yield rows[start : start + BLOCK]
