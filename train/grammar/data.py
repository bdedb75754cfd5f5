"""Training examples of the grammar model: word pieces with labels, from judged sentences and from corrupted ones."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from rome.data.perturbations.changes import NamedChange
from rome.data.perturbations.damage import OPERATIONS, Corruption, Vocabulary, corrupt, corrupt_randomly, corruption
from rome.data.perturbations.lexicons import default_materials
from rome.data.perturbations.perturbation import Materials
from rome.data.readers.texts import LabelledSentence, read_cola, read_trees, read_wikipedia, read_wmt
from rome.data.sources import data_file
from rome.features.values import Analysis
from rome.train.common.training import padded, shuffled_batches

IGNORED = -1
LIMIT, SHORTEST, LONGEST = 48, 3, 32
HELD_OUT, CALIBRATION = 1500, 400
SPLIT = 0
"""Seed of what is held out: not that of the run, or a training that continues with another seed would learn from it."""
DEVELOPMENT = ("in_domain_dev", "out_of_domain_dev")
TWICE_SHARE = 0.15
BARE_SHARE = 0.15
BLOCK = 1000
"""Sentences that are analysed together."""
NO_VECTORS = np.zeros((0, 0), np.float32)


@dataclass(frozen=True, slots=True)
class Example:
    """Word pieces with a label for the sentence and one per piece: 1 right, 0 wrong, -1 unknown."""

    pieces: tuple[int, ...]
    sentence: int
    labels: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded examples: (b, L) piece numbers, bool mask and labels; (b,) sentence labels. Labels are float, -1 = unknown.

    ``pairs`` are the rows of clean sentences and their corruptions.
    """

    pieces: torch.Tensor
    mask: torch.Tensor
    sentence: torch.Tensor
    labels: torch.Tensor
    pairs: Sequence[tuple[int, int]] = ()


def without_final_stop(analysis: Analysis, rng: random.Random) -> list[NamedChange]:
    """Return the change that removes the final full stop, for BARE_SHARE of the sentences; it is not a mistake."""
    last = analysis.words[-1] if len(analysis.words) > 3 else None
    bare = last is not None and last.text == "." and rng.random() < BARE_SHARE
    return [NamedChange("", "none", ((last.start, last.end, ""),))] if bare and last is not None else []


def encode(items: Sequence[Corruption], tokenizer: Any, *, limit: int = 64) -> list[Example]:
    """Return word pieces and labels of texts whose wrong places are known; pieces beyond the limit are cut off."""
    coded = tokenizer([item.text for item in items], return_offsets_mapping=True, truncation=True, max_length=limit)
    examples = []
    for item, pieces, offsets in zip(items, coded["input_ids"], coded["offset_mapping"], strict=True):
        labels = tuple(_label(item, start, end) for start, end in offsets)
        sentence = IGNORED if item.ungrammatical is None else int(not item.ungrammatical)
        examples.append(Example(tuple(pieces), sentence, labels))
    return examples


def _label(item: Corruption, start: int, end: int) -> int:
    if start == end or any(start < b and a < end for a, b in item.unsure_spans):
        return IGNORED
    return int(not any(start < b and a < end for a, b in item.spans))


def collate(group: Sequence[Example], pairs: Sequence[tuple[int, int]] = ()) -> Batch:
    """Pad examples to the longest of them."""
    pieces, mask = padded([example.pieces for example in group])
    labels = torch.full(mask.shape, float(IGNORED))
    labels[mask] = torch.tensor([float(label) for example in group for label in example.labels])
    return Batch(pieces, mask, torch.tensor([float(example.sentence) for example in group]), labels, pairs)


@dataclass(frozen=True, slots=True)
class Material:
    """All data of a training run.

    Attributes
    ----------
    pool
        Clean sentences to corrupt.
    judged
        Examples of the training set of CoLA.
    calibration
        Held-out examples of it.
    held_pairs
        Minimal pairs (operation, clean, corrupted) of sentences held out of the pool, for calibration too.
    judging
        The development sets by name.
    pairs
        Minimal pairs of the development part of EWT, for figures only.
    """

    tokenizer: Any
    materials: Materials
    pool: Sequence[Analysis]
    judged: Sequence[Example]
    calibration: Sequence[Example]
    held_pairs: Sequence[tuple[str, Example, Example]]
    judging: Mapping[str, Sequence[Example]]
    pairs: Sequence[tuple[str, Example, Example]]


def grammar_batches(material: Material, rng: random.Random, *, judged: float, pieces: int, pool: int = 1500) -> Iterator[Batch]:
    """Yield batches without end: a share ``judged`` are sentences of CoLA, the others a clean sentence and its corruption."""
    waiting: list[Example] = []
    count = int(pool * judged)
    while True:
        while len(waiting) < count:
            waiting += rng.sample(material.judged, len(material.judged))
        units = [*_clean_and_corrupted(material, rng, int(pool * (1 - judged) / 2)), *((one,) for one in waiting[:count])]
        waiting = waiting[count:]
        for group in shuffled_batches(units, rng, pieces, lambda unit: max(len(one.pieces) for one in unit), len, noise=3):
            starts = np.cumsum([0, *map(len, group)]).tolist()
            pairs = [(n, n + 1) for n, unit in zip(starts, group, strict=False) if len(unit) == 2 and unit[1].sentence == 0]
            yield collate([example for unit in group for example in unit], pairs)


def _clean_and_corrupted(material: Material, rng: random.Random, count: int) -> Iterator[tuple[Example, ...]]:
    """Yield sentences of the pool, each with a corruption; some have lost their final full stop, which is not a mistake."""
    for source in rng.choices(material.pool, k=count):
        bare = without_final_stop(source, rng)
        made = corrupt_randomly(source, rng, material.materials, 1 + (rng.random() < TWICE_SHARE), bare)
        yield tuple(encode([corruption(source, bare)] + ([made] if made else []), material.tokenizer, limit=LIMIT))


def judged_examples(rows: Iterable[LabelledSentence], tokenizer: Any) -> list[Example]:
    """Return examples of judged sentences: the pieces of acceptable ones are right, those of the others unknown."""
    kept = list(rows)
    examples = encode([Corruption(row.text) for row in kept], tokenizer, limit=LIMIT)
    return [
        Example(e.pieces, int(row.acceptable), e.labels if row.acceptable else (IGNORED,) * len(e.labels))
        for row, e in zip(kept, examples, strict=True)
    ]


def minimal_pairs(
    sources: Iterable[Analysis], materials: Materials, tokenizer: Any, rng: random.Random
) -> list[tuple[str, Example, Example]]:
    """Return minimal pairs by one operation per sentence, drawn evenly; sentences that it does not apply to are left out."""
    found = []
    for source in sources:
        made = corrupt(source, rng.choice(list(OPERATIONS)), rng.getrandbits(32), materials)
        if made is not None:
            clean, corrupted = encode([Corruption(source.text), made], tokenizer, limit=LIMIT)
            found.append((made.operation, clean, corrupted))
    return found


def load_material(tokenizer: Any) -> Material:
    """Read the corpora below the data folder; the held-out part is the same for every seed.

    Sentences are analysed by the set ``small``. Raises InputError if the corpora are missing.
    """
    rng = random.Random(SPLIT)
    treebank = [sentence.text for sentence in read_trees(data_file("ud_english_ewt/train.conllu"))]
    segments = [s for year in (22, 23) for s in read_wmt(data_file(f"text/wmt{year}_to_en_outputs.jsonl.gz"))]
    texts = list(read_wikipedia(data_file("text/wikipedia_sentences.jsonl.gz")))
    texts += [text for s in segments for text in (*s.references, rng.choice(s.outputs)[1])]
    judged_elsewhere = {text for s in segments if s.judged_elsewhere for text in (*s.references, *(t for _, t in s.outputs))}
    pool = [text for text in treebank if _fits(text)]
    pool += [text for text in dict.fromkeys(texts) if _fits(text) and text not in judged_elsewhere]
    rng.shuffle(pool)
    held_out, pool = pool[:HELD_OUT], pool[HELD_OUT:]
    judgements = list(read_cola(data_file("cola/in_domain_train.tsv")))
    rng.shuffle(judgements)
    calibration, judgements = judgements[:CALIBRATION], judgements[CALIBRATION:]
    pool += [row.text for row in judgements if row.acceptable and _fits(row.text)] * 2
    judging = {name: judged_examples(read_cola(data_file(f"cola/{name}.tsv")), tokenizer) for name in DEVELOPMENT}
    unseen = [s.text for s in read_trees(data_file("ud_english_ewt/dev.conllu")) if _fits(s.text)]
    analyses = _analysed([*pool, *held_out, *unseen])
    given = [analyses[text] for text in pool]
    materials = replace(default_materials(pool), draw=Vocabulary(given).draw)
    held_pairs = minimal_pairs([analyses[text] for text in held_out], materials, tokenizer, rng)
    pairs = minimal_pairs([analyses[text] for text in unseen], materials, tokenizer, rng)
    judged, held = judged_examples(judgements, tokenizer), judged_examples(calibration, tokenizer)
    return Material(tokenizer, materials, given, judged, held, held_pairs, judging, pairs)


def _analysed(texts: Sequence[str]) -> dict[str, Analysis]:
    """Return the words and trees of each text, without its vectors, which would fill the memory."""
    from rome.metric import RoMe

    metric = RoMe(models="small")
    found: dict[str, Analysis] = {}
    for start in range(0, len(texts), BLOCK):
        for text, analysis in metric.analyse(texts[start : start + BLOCK]).items():
            found[text] = Analysis(text, analysis.sentences, analysis.words, NO_VECTORS, NO_VECTORS)
    return found


def _fits(text: str) -> bool:
    return SHORTEST <= len(text.split()) <= LONGEST
