"""What the pair reader is trained on: texts in pairs that say the same, each with changes that are harmless and changes that are not.

A change is kept as its edits, so that a harmless and a critical one can be made of the same text at once, and the words of the
result are known without a parser: those of the text outside the edits, and what a simple rule finds within them.
"""

from __future__ import annotations

import json
import random
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from os.path import commonprefix
from pathlib import Path
from typing import Any

from rome.data.perturbations.materials import default_materials
from rome.data.perturbations.registry import PERTURBATIONS
from rome.data.perturbations.values import Materials, Perturbed, apply_edits
from rome.data.readers.wmt import read_wmt
from rome.data.sources import data_file, read_jsonl
from rome.features.values import Analysis

from .errors_words import WORD_PROBES, Vocabulary

__all__ = [
    "Change",
    "Made",
    "Mark",
    "Paraphrase",
    "Pool",
    "Spans",
    "Text",
    "changes_of",
    "fits",
    "made",
    "paraphrases",
    "plain",
    "prepare",
    "translated",
    "wmt_segments",
]

LENGTHS = (4, 48)
Spans = tuple[tuple[int, int], ...]
Edit = tuple[int, int, str]
TOKEN = re.compile(r"\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|\d+(?:[.,:]\d+)*|\w+|[^\w\s]")
"""Roughly the words of Universal Dependencies."""
ENDS = re.compile(r"(?<=[a-z0-9)\"])[.!?][\"”]?\s+(?=[A-Z\"“])")
"""Where a sentence ends."""
SAMPLE = 3000
BLOCK = 250
EACH = {"none": 8, "critical": 12, "other": 5}
"""How many changes of a text are kept: harmless ones, critical ones, and those of other severities."""


@dataclass(frozen=True, slots=True)
class Change:
    """One perturbation of a text. edits : (start, end, new), in reading order."""

    name: str
    severity: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A text with the spans of its words and sentences, and what can be made of it."""

    text: str
    words: Spans
    sentences: Spans
    changes: tuple[Change, ...]

    def of(self, *severities: str) -> list[Change]:
        """The changes of these severities."""
        return [change for change in self.changes if change.severity in severities]


@dataclass(frozen=True, slots=True)
class Mark:
    """One edit that is an error.

    new : the words that it put in. old, forms : the words of the old text that it took away, by place and as they are written.
    """

    name: str
    severity: str
    new: tuple[int, ...]
    old: tuple[int, ...]
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """A text after some changes.

    words, sentences : spans in the new text. marks : one for each edit that is an error.
    """

    text: str
    words: Spans
    sentences: Spans
    marks: tuple[Mark, ...]

    def forms(self) -> tuple[str, ...]:
        """The words in small letters."""
        return tuple(self.text[a:b].lower() for a, b in self.words)


def fits(changes: Sequence[Change]) -> bool:
    """Whether the edits of several changes of one text touch each other nowhere."""
    edits = sorted(edit for change in changes for edit in change.edits)
    return all(one[1] < other[0] for one, other in zip(edits, edits[1:], strict=False))


def made(text: Text, changes: Sequence[Change]) -> Made:
    """The text after changes that fit together."""
    if not changes:
        return Made(text.text, text.words, text.sentences, ())
    named = sorted((edit, change) for change in changes for edit in change.edits)
    result = apply_edits(text.text, [edit for edit, _ in named])
    words, kept = _words(text, result)
    marks = []
    for edit, (_, change) in zip(result.edits, named, strict=True):
        if change.severity != "none":
            new = tuple(n for n, (a, b) in enumerate(words) if a < edit.new_end and b > edit.new_start)
            old = tuple(n for n, (a, b) in enumerate(text.words) if a < edit.end and b > edit.start)
            forms = tuple(text.text[slice(*text.words[n])].lower() for n in old)
            marks.append(Mark(change.name, change.severity, new, old, forms))
    return Made(result.text, words, _moved(text.sentences, result), tuple(marks))


def _place(result: Perturbed, place: int, end: bool) -> int:
    """Where a character of the old text stands in the new one; an end stays behind what an edit at it puts in."""
    shift = 0
    for edit in result.edits:
        if edit.end <= place and (end or edit.start < place or edit.end < place):
            shift = edit.new_end - edit.end
        elif edit.start < place:
            return edit.new_end if end else edit.new_start
    return place + shift


def _moved(spans: Spans, result: Perturbed) -> Spans:
    """Spans of the old text in the new one; those of nothing are left out."""
    found = ((_place(result, a, False), _place(result, b, True)) for a, b in spans)
    return tuple((a, min(b, len(result.text))) for a, b in found if a < b)


def _words(text: Text, result: Perturbed) -> tuple[Spans, int]:
    """The words of a perturbed text: those that no edit touches, and what stands between them cut by a rule."""
    touched = [any(e.start <= b and a <= e.end for e in result.edits) for a, b in text.words]
    found: list[tuple[int, int]] = []
    at = 0
    for (a, b), changed in zip(text.words, touched, strict=True):
        if changed:
            continue
        start = a + sum(len(e.perturbed) - len(e.original) for e in result.edits if e.end < a)
        found += _cut(result.text, at, start)
        found.append((start, start + b - a))
        at = max(at, start + b - a)
    found += _cut(result.text, at, len(result.text))
    return tuple(found), at


def _cut(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [match.span() for match in TOKEN.finditer(text, start, end)]


def plain(text: str) -> Made:
    """A text whose words and sentences simple rules find."""
    cuts = [0, *(match.end() for match in ENDS.finditer(text)), len(text)]
    sentences = tuple((a, b) for a, b in zip(cuts, cuts[1:], strict=False) if a < b)
    return Made(text, tuple(match.span() for match in TOKEN.finditer(text)), sentences, ())


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """Two texts that say the same. sure : how sure that is, in [0, 1]."""

    group: str
    origin: str
    one: str
    other: str
    sure: float


def _usable(*texts: str) -> bool:
    low, high = LENGTHS
    return all(low <= len(text.split()) <= high for text in texts) and texts[0] != texts[-1]


def wmt_segments() -> Iterator[tuple[str, Any]]:
    """The WMT segments that may train, with a name for each."""
    for year in ("22", "23"):
        for number, segment in enumerate(read_wmt(data_file(f"text/wmt{year}_to_en_outputs.jsonl.gz"))):
            if not segment.judged_elsewhere:
                yield f"w{year}-{number}", segment


def paraphrases(seed: int, wikipedia: int, systems: int) -> list[Paraphrase]:
    """All pairs that say the same, from every source. wikipedia, systems : how many of those are taken."""
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
    """Whether the sentences of a part of STS are outputs of machine translation, or were made of such."""
    return "SMT" in source or "postediting" in source


def _agreed(reference: str, outputs: Sequence[str]) -> str | None:
    """The output whose words the others share most, among those that are not the reference once more."""
    bags = [frozenset(text.lower().split()) for text in outputs]
    best, found = 0.0, None
    own = frozenset(reference.lower().split())
    for n, (text, bag) in enumerate(zip(outputs, bags, strict=True)):
        if bag and len(bag & own) < 0.8 * max(len(bag), len(own)):
            shared = sum(len(bag & other) / max(1, len(bag | other)) for k, other in enumerate(bags) if k != n)
            if shared > best:
                best, found = shared, text
    return found


def prepare(texts: Sequence[str], models: str, seed: int, path: Path, store: Path, workers: int = 1) -> Path:
    """Analyse texts, make changes of each, and write them as JSON lines; texts that the file has already are skipped."""
    path.touch()
    _end_whole(path)
    known = {row["text"] for row in read_jsonl(path)}
    fresh = [text for text in dict.fromkeys(texts) if text not in known]
    todo = [fresh[n : n + BLOCK] for n in range(0, len(fresh), BLOCK)]
    sample = random.Random(seed).sample(list(texts), min(SAMPLE, len(texts)))
    with (
        ProcessPoolExecutor(workers, initializer=_start, initargs=(models, seed, sample, store)) as pool,
        path.open("a", encoding="utf-8") as out,
    ):
        for n, rows in enumerate(pool.map(_prepared, todo), 1):
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            out.flush()
            print(f"changes of {n} of {len(todo)} blocks", flush=True)
    return path


def _end_whole(path: Path) -> None:
    """Cut off a last line that an interruption left unfinished."""
    with path.open("r+b") as stream:
        stream.truncate(stream.read().rfind(b"\n") + 1)


@dataclass(slots=True)
class _Worker:
    """What one process holds."""

    metric: Any
    materials: Materials
    vocabulary: Vocabulary
    seed: int


_worker: _Worker


def _start(models: str, seed: int, sample: Sequence[str], store: Path) -> None:
    global _worker
    from rome.metric import RoMe

    metric = RoMe(models=models, store=store, threads=1, progress=False)
    vocabulary = Vocabulary(metric.analyse(sample[: SAMPLE // 4]).values())
    _worker = _Worker(metric, default_materials(sample), vocabulary, seed)


def _prepared(texts: Sequence[str]) -> list[dict[str, Any]]:
    found = _worker.metric.analyse(texts)
    return [_row(found[text]) for text in texts]


def _row(analysis: Analysis) -> dict[str, Any]:
    """One text as it is written."""
    return {
        "text": analysis.text,
        "words": [[word.start, word.end] for word in analysis.words],
        "sentences": [[sentence.start, sentence.end] for sentence in analysis.sentences],
        "changes": [
            [c.name, c.severity, c.edits] for c in changes_of(analysis, _worker.seed, _worker.materials, _worker.vocabulary)
        ],
    }


def changes_of(analysis: Analysis, seed: int, materials: Materials, vocabulary: Vocabulary) -> Iterator[Change]:
    """Changes of a text, drawn without repetition, so many of each severity as EACH says."""
    chance = random.Random(f"{seed}|changes|{zlib.crc32(analysis.text.encode())}")
    left = dict(EACH)
    names = [name for name, one in PERTURBATIONS.items() if one.severity != "base" and one.category != "typography"]
    chance.shuffle(names)
    for name in names:
        severity = PERTURBATIONS[name].severity
        kind = severity if severity in left else "other"
        if left[kind]:
            found = PERTURBATIONS[name](analysis, seed, materials)
            if isinstance(found, Perturbed) and found.text.strip():
                left[kind] -= 1
                yield Change(name, severity, tuple((e.start, e.end, e.perturbed) for e in found.edits))
    for name, (grade, function) in WORD_PROBES.items():
        put = function(analysis, chance, vocabulary)
        if put is not None:
            yield Change(name, grade, (_difference(analysis.text, put[0]),))


def _difference(old: str, new: str) -> Edit:
    """The one edit that makes a text of another."""
    start = len(commonprefix([old, new]))
    end = min(len(commonprefix([old[start:][::-1], new[start:][::-1]])), len(old) - start, len(new) - start)
    return start, len(old) - end, new[start : len(new) - end]


class Pool:
    """Prepared texts by what they say, read from the file that `prepare` wrote."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.texts: dict[str, Text] = {}
        for path in paths:
            for row in read_jsonl(path):
                self.texts[row["text"]] = _read(row)

    def get(self, text: str) -> Text | None:
        """A prepared text; None for one that is not there or has no word."""
        found = self.texts.get(text)
        return found if found is not None and found.words else None


def _read(row: Mapping[str, Any]) -> Text:
    changes = (Change(name, severity, tuple((a, b, new) for a, b, new in edits)) for name, severity, edits in row["changes"])
    spans: partial[Spans] = partial(map, tuple)  # type: ignore[arg-type]
    return Text(row["text"], tuple(spans(row["words"])), tuple(spans(row["sentences"])), tuple(changes))
