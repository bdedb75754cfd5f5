"""Prepare training texts of the reader: paraphrases, changes of each text, and the agreement of real outputs."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rome.data.perturbations.changes import NamedChange, Text
from rome.data.perturbations.damage import DAMAGES, Vocabulary, change_of
from rome.data.perturbations.lexicons import default_materials
from rome.data.perturbations.perturbation import Materials
from rome.data.perturbations.registry import PERTURBATIONS
from rome.data.readers.texts import read_wmt
from rome.data.sources import data_file, read_jsonl
from rome.features.analyser.model_set import multiplies_bf16
from rome.features.analyser.transformer import pretrained
from rome.features.values import Analysis
from rome.storage.files import atomic_path
from rome.train.encoder import source_folder

LENGTHS = (4, 48)
SAMPLE = 3000
BLOCK = 250
EACH = {"none": 8, "critical": 12, "other": 5}
"""Numbers of changes kept per text: harmless ones, critical ones, and those of other severities."""


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """Two texts that say the same.

    Attributes
    ----------
    sure
        How sure that is, in [0, 1].
    """

    group: str
    origin: str
    one: str
    other: str
    sure: float


def _usable(*texts: str) -> bool:
    low, high = LENGTHS
    return all(low <= len(text.split()) <= high for text in texts) and texts[0] != texts[-1]


def wmt_segments() -> Iterator[tuple[str, Any]]:
    """Yield the WMT segments that may train, with a name for each."""
    for year in ("22", "23"):
        for number, segment in enumerate(read_wmt(data_file(f"text/wmt{year}_to_en_outputs.jsonl.gz"))):
            if not segment.judged_elsewhere:
                yield f"w{year}-{number}", segment


def paraphrases(seed: int, wikipedia: int, systems: int) -> list[Paraphrase]:
    """Return the pairs that say the same, from every source.

    Parameters
    ----------
    wikipedia, systems
        How many of those are taken.
    """
    found, outputs = [], []
    for group, segment in wmt_segments():
        references = [text.strip() for text in segment.references]
        if len(references) > 1 and _usable(*references[:2]):
            found.append(Paraphrase(group, "references", references[0], references[1], 0.9))
        agreed = _agreed(references[0], [text.strip() for _, text in segment.outputs])
        if agreed is not None and _usable(references[0], agreed):
            outputs.append(Paraphrase(group, "outputs", references[0], agreed, 0.5))
    chance = random.Random(f"{seed}|paraphrases")
    found += chance.sample(outputs, min(systems, len(outputs)))
    for n, row in enumerate(read_jsonl(data_file("pairs/msrp_train.jsonl.gz"))):
        if row["paraphrase"] == 1 and _usable(row["a"], row["b"]):
            found.append(Paraphrase(f"msrp-{n}", "msrp", row["a"], row["b"], 0.5))
    for n, row in enumerate(read_jsonl(data_file("pairs/sts_2012_2016.jsonl.gz"))):
        if row["similarity"] >= 4.5 and not translated(row["source"]) and _usable(row["a"], row["b"]):
            found.append(Paraphrase(f"sts-{n}", "sts", row["a"], row["b"], 0.8))
    splits = []
    for n, row in enumerate(read_jsonl(data_file("text/wikipedia_sentences.jsonl.gz"))):
        pair = row["text"], " ".join(row["split"])
        if _usable(*pair):
            splits.append(Paraphrase(f"wiki-{n}", "splits", *pair, 0.8))
    found += chance.sample(splits, min(wikipedia, len(splits)))
    chance.shuffle(found)
    return found


def translated(source: str) -> bool:
    """Return whether the sentences of a part of STS are outputs of machine translation, or were made of such."""
    return "SMT" in source or "postediting" in source


def _agreed(reference: str, outputs: Sequence[str]) -> str | None:
    """Return the output whose words the others share most, among those that differ enough from the reference."""
    own, *bags = (frozenset(text.lower().split()) for text in (reference, *outputs))
    shared = {
        text: sum(len(bag & other) / max(1, len(bag | other)) for k, other in enumerate(bags) if k != n)
        for n, (text, bag) in enumerate(zip(outputs, bags, strict=True))
        if bag and len(bag & own) < 0.8 * max(len(bag), len(own))
    }
    return max(filter(shared.get, shared), key=shared.__getitem__, default=None)


def prepare(texts: Sequence[str], models: str, seed: int, path: Path, store: Path, workers: int = 1) -> Path:
    """Analyse texts, make changes of each, and write them as JSON lines, unless the file holds them already.

    An interrupted run leaves no file, but its analyses in the store.
    """
    different = list(dict.fromkeys(texts))
    if path.is_file() and {row["text"] for row in read_jsonl(path)} >= {*different}:
        return path
    blocks = [different[n : n + BLOCK] for n in range(0, len(different), BLOCK)]
    sample = random.Random(seed).sample(list(texts), min(SAMPLE, len(texts)))
    pool = ProcessPoolExecutor(workers, initializer=_start, initargs=(models, seed, sample, store))
    with pool, atomic_path(path) as whole, whole.open("w", encoding="utf-8") as out:
        for n, rows in enumerate(pool.map(_prepared, blocks), 1):
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            print(f"changes of {n} of {len(blocks)} blocks", flush=True)
    return path


_worker: tuple[Any, int, Materials]
"""State of a worker process: a metric, the seed, and the material of changes."""


def _start(models: str, seed: int, sample: Sequence[str], store: Path) -> None:
    global _worker
    from rome.metric import RoMe

    metric = RoMe(models=models, store=store, threads=1, progress=False)
    vocabulary = Vocabulary(metric.analyse(sample[: SAMPLE // 4]).values())
    _worker = metric, seed, replace(default_materials(sample), draw=vocabulary.draw)


def _prepared(texts: Sequence[str]) -> list[dict[str, Any]]:
    metric, seed, materials = _worker
    found = metric.analyse(texts)
    return [_row(found[text], seed, materials) for text in texts]


def _row(analysis: Analysis, seed: int, materials: Materials) -> dict[str, Any]:
    """One text as it is written."""
    return {
        "text": analysis.text,
        "words": [[word.start, word.end] for word in analysis.words],
        "sentences": [[sentence.start, sentence.end] for sentence in analysis.sentences],
        "changes": [[c.name, c.severity, c.edits] for c in changes_of(analysis, seed, materials)],
    }


def changes_of(analysis: Analysis, seed: int, materials: Materials) -> Iterator[NamedChange]:
    """Yield changes of a text: perturbations in a drawn order, so many of each severity as EACH says, then every damage."""
    chance = random.Random(f"{seed}|changes|{zlib.crc32(analysis.text.encode())}")
    left = dict(EACH)
    perturbations = [one for one in PERTURBATIONS.values() if one.severity != "base" and one.category != "typography"]
    chance.shuffle(perturbations)
    for one in perturbations:
        kind = one.severity if one.severity in left else "other"
        change = change_of(one, analysis, seed, materials) if left[kind] else None
        if change is not None:
            left[kind] -= 1
            yield change
    yield from filter(None, (change_of(one, analysis, seed, materials) for one in DAMAGES.values()))


class Pool:
    """Prepared texts by what they say, read from the file that `prepare` wrote."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.texts = {row["text"]: _read(row) for path in paths for row in read_jsonl(path)}

    def get(self, text: str) -> Text | None:
        """Return a prepared text; None for one that is not there or has no word."""
        found = self.texts.get(text)
        return found if found is not None and found.words else None


def _read(row: Mapping[str, Any]) -> Text:
    changes = [NamedChange(name, kind, tuple((a, b, new) for a, b, new in edits)) for name, kind, edits in row["changes"]]
    words, sentences = (tuple((a, b) for a, b in row[name]) for name in ("words", "sentences"))
    return Text(row["text"], words, sentences, tuple(changes))


OUTPUT_LENGTHS = (4, 60)
MOST = 10
"""Outputs of a segment that are compared."""
TOGETHER = 32
REFERENCE = 2.0
"""Weight of a reference beside one output."""


def write_agreements(path: Path, seed: int, segments: int) -> Path:
    """Write one JSON line per segment: a reference and its outputs, each with its agreement in [0, 1]."""
    rows = _segments(seed)[:segments]
    model = _SentenceVectors(source_folder())
    with path.open("w", encoding="utf-8") as out:
        for start in range(0, len(rows), TOGETHER):
            part = rows[start : start + TOGETHER]
            vectors = iter(model([text for references, outputs in part for text in (*references, *outputs)]))
            for references, outputs in part:
                own = np.stack([next(vectors) for _ in (*references, *outputs)])
                found = _agreement(references, outputs, own).round(4).tolist()
                row = {"reference": references[0], "outputs": list(zip(outputs, found, strict=True))}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


def _segments(seed: int) -> list[tuple[list[str], list[str]]]:
    """Return references and different outputs of segments in an order drawn by the seed."""
    found = []
    for group, segment in wmt_segments():
        low, high = OUTPUT_LENGTHS
        references = [text.strip() for text in segment.references if low <= len(text.split()) <= high]
        outputs = list(dict.fromkeys(text.strip() for _, text in segment.outputs if low <= len(text.split()) <= high))
        if references and len(outputs) >= 4:
            random.Random(f"{seed}|{group}").shuffle(outputs)
            found.append((references, outputs[:MOST]))
    random.Random(f"{seed}|agreement").shuffle(found)
    return found


def _agreement(references: Sequence[str], outputs: Sequence[str], vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return (n,) the mean likeness of each output to the other outputs and the references."""
    from sacrebleu.metrics.chrf import CHRF

    chrf = CHRF()
    texts, first = [*references, *outputs], len(references)
    likeness = np.clip(vectors @ vectors.T, 0.0, 1.0).astype(np.float64)
    for i in range(len(texts)):
        for j in range(max(i + 1, first), len(texts)):
            near = chrf.sentence_score(texts[j], [texts[i]]).score / 100.0
            likeness[i, j] = likeness[j, i] = 0.5 * (likeness[i, j] + near)
    weights = np.tile([REFERENCE] * first + [1.0] * len(outputs), (len(outputs), 1))
    weights[np.arange(len(outputs)), first + np.arange(len(outputs))] = 0.0
    return (likeness[first:] * weights).sum(1) / weights.sum(1)


class _SentenceVectors:
    """all-MiniLM-L6-v2 as its card describes: the mean of the pieces' states, brought to length 1."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.tokenizer = pretrained(AutoTokenizer, folder)
        self.model: Any = pretrained(AutoModel, folder).eval()

    @torch.no_grad()
    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 384) unit vectors."""
        order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
        found = np.zeros((len(texts), self.model.config.hidden_size), np.float32)
        for start in range(0, len(order), TOGETHER):
            chosen = order[start : start + TOGETHER]
            inputs = self.tokenizer([texts[n] for n in chosen], padding=True, return_tensors="pt")
            with torch.autocast("cpu", torch.bfloat16, enabled=multiplies_bf16()):
                states = self.model(**inputs).last_hidden_state.float()
            mask = inputs["attention_mask"][..., None]
            mean = (states * mask).sum(1) / mask.sum(1)
            found[chosen] = torch.nn.functional.normalize(mean, dim=1).numpy()
        return found
