"""Training pairs of the scorer: their type, their JSON lines, and those drawn from the development data."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from pathlib import Path
from typing import Any

from rome.data.readers.groups import SEVERITIES, AnnotatedGroup, AnnotatedText, SingleError, is_held_out_group
from rome.data.sources import data_file, read_jsonl
from rome.exceptions import InputError
from rome.storage.files import open_output, read_lines
from rome.train.errors.sources import training_groups

RATED_SCALE, RATED_GROUP = (0.05, 0.85), 8
RATED_SOURCE = "sts_2012_2016/"
TRANSLATED = frozenset(RATED_SOURCE + part for part in ("2012-SMTeuroparl", "2012-SMTnews", "2016-postediting"))
"""Sources of rated pairs with output of machine translation, left out: no rating of a system's output trains the net."""
FORMER = ("meaning", "outputs")
"""Bases of older files that train nothing now: leaving them out changed no figure on held-out pairs."""
MINIMUM_WORDS, MAXIMUM_WORDS = 5, 36


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """One training pair and its damage.

    Attributes
    ----------
    base
        Source of the clean pair: identity, system (reference and a real output), reference (two human references), paraphrase, rated (two
        sentences and people's rating of their similarity), groups (the same meaning or a changed fact, near and far, by annotators).
    operation
        ``none`` for a clean pair, else the last operation (``embedding``, ``unrelated``, ...).
    level
        Clean < light < medium < heavy in damage, severe for the cases outside that ladder.
    strength
        Number of changed words.
    severity
        Severity-weighted sum of the changes, minor about 1, major about 5.
    group
        Pairs of one group can be ranked: they share base and reference, or people rated them on one scale.
    quality
        Target by people's ratings, in [0, 1]; None for the target of the base.
    """

    id: str
    group: str
    reference: str
    hypothesis: str
    source: str
    base: str
    operation: str = "none"
    level: str = "clean"
    strength: int = 0
    severity: float = 0.0
    quality: float | None = None


def write_pairs(path: Path, pairs: Iterable[TrainingPair]) -> None:
    """Write one JSON line per pair. Raises InputError if the file cannot be written."""
    with open_output(str(path)) as out:
        out.writelines(json.dumps(asdict(pair), ensure_ascii=False) + "\n" for pair in pairs)


def read_pairs(path: Path) -> list[TrainingPair]:
    """Read the file of `write_pairs`, without pairs whose source is one of TRANSLATED and those of FORMER bases.

    Raises InputError for a missing file, and with its number for a line that is not a pair.
    """
    pairs = []
    for number, line in enumerate(read_lines(str(path)), 1):
        try:
            pairs.append(TrainingPair(**json.loads(line)))
        except (ValueError, TypeError) as error:
            names = ", ".join(field.name for field in fields(TrainingPair))
            raise InputError(f"{path} line {number} is not a training pair ({error}): it needs the fields {names}") from error
    return [pair for pair in pairs if pair.source not in TRANSLATED and pair.base not in FORMER]


def base_pairs(counts: dict[str, int], seed: int) -> list[TrainingPair]:
    """Draw clean pairs; ``counts`` is their number by base (identity, system, reference, paraphrase).

    Sources: Wikipedia sentences, WMT22 and WMT23 references and real outputs, the paraphrases of MSRP's training part.
    Raises InputError if the development data is missing.
    """
    makers = {"identity": _identity, "system": _system, "reference": _second_reference, "paraphrase": _paraphrase}
    pairs: list[TrainingPair] = []
    for base, count in counts.items():
        chance = random.Random(f"{seed}|{base}")
        candidates = sorted({(a, b, source) for a, b, source in makers[base](chance) if _usable(a) and _usable(b)})
        chance.shuffle(candidates)
        for number, (reference, hypothesis, source) in enumerate(candidates[:count]):
            name = f"{base}-{number:05d}"
            pairs.append(TrainingPair(f"{name}-clean", name, reference, hypothesis, source, base))
    return pairs


def rated_pairs(count: int, seed: int) -> list[TrainingPair]:
    """Draw ``count`` sentence pairs whose similarity people rated from 0 to 5 (STS 2012-2016), in groups of eight to be ranked.

    Unlike perturbed copies of one text they show how much a difference in meaning weighs against one in form. ``quality`` runs
    evenly from 0.05 (nothing in common) to 0.85 (the same in other words). Pairs of TRANSLATED are left out; the others keep their
    numbers and groups. Raises InputError if the data is missing.
    """
    chance = random.Random(f"{seed}|rated")
    rows = [row for row in read_jsonl(data_file("pairs/sts_2012_2016.jsonl.gz")) if row["a"].strip() != row["b"].strip()]
    rows = sorted((row for row in rows if _usable(row["a"]) and _usable(row["b"])), key=lambda row: (row["a"], row["b"]))
    chance.shuffle(rows)
    pairs = []
    kept = [number for number, row in enumerate(rows) if RATED_SOURCE + row["source"] not in TRANSLATED]
    for number in kept[:count]:
        row = rows[number]
        name, group = f"rated-{number:05d}-clean", f"rated-{number // RATED_GROUP:05d}"
        worst, best = RATED_SCALE
        quality = worst + (best - worst) * float(row["similarity"]) / 5.0
        texts, source = (row["a"].strip(), row["b"].strip()), RATED_SOURCE + row["source"]
        pairs.append(TrainingPair(name, group, *texts, source, "rated", quality=quality))
    return pairs


def _usable(text: str) -> bool:
    plain = "\n" not in text and sum(map(str.isascii, text)) > 0.9 * len(text)
    return plain and MINIMUM_WORDS <= len(text.split()) <= MAXIMUM_WORDS


Candidates = Iterable[tuple[str, str, str]]


def _identity(_: random.Random) -> Candidates:
    for row in read_jsonl(data_file("text/wikipedia_sentences.jsonl.gz")):
        yield row["text"].strip(), row["text"].strip(), "wikipedia_sentences"
    for row in _wmt():
        yield row["reference"][0].strip(), row["reference"][0].strip(), "wmt"


def _system(chance: random.Random) -> Candidates:
    for row in _wmt():
        reference = chance.choice(row["reference"]).strip()
        output = row["outputs"][chance.choice(sorted(row["outputs"]))].strip()
        if output != reference:
            yield reference, output, "wmt"


def _second_reference(_: random.Random) -> Candidates:
    for row in _wmt():
        texts = [text.strip() for text in row["reference"]]
        if len(texts) > 1 and texts[0] != texts[1]:
            yield texts[0], texts[1], "wmt"


def _paraphrase(_: random.Random) -> Candidates:
    for row in read_jsonl(data_file("pairs/msrp_train.jsonl.gz")):
        if row["paraphrase"] == 1:
            yield row["a"].strip(), row["b"].strip(), "msrp_train"


def _wmt() -> Iterable[dict[str, Any]]:
    """Yield the WMT texts, without those for final figures (WMT22 from Chinese)."""
    for name in ("wmt22", "wmt23"):
        rows = read_jsonl(data_file(f"text/{name}_to_en_outputs.jsonl.gz"))
        yield from (row for row in rows if (name, row["lp"]) != ("wmt22", "zh-en"))


GROUP_QUALITY = {"acceptable": 0.98, "minor": 0.88, "major": 0.58, "critical": 0.15}
"""The quality of a text of an annotated group by the severity of its single error, at any distance from the reference."""
ACCEPTABLE_TEXTS = 2
"""Acceptable texts per group, at most."""
TWO_ERRORS = "two_errors"


def group_pairs(count: int, seed: int) -> list[TrainingPair]:
    """Draw annotated groups that did not train the reader of `errors`, because it knows the others too well.

    Each yields acceptable texts, single errors of every severity near and far, and a text with two errors.

    The pairs of a group share its reference, and the qualities of two errors multiply. An error is near when it is made in the reference's
    own text.

    Parameters
    ----------
    count
        Number of groups, at most as many as there are.

    Raises
    ------
    InputError
        If the data is missing.
    """
    chance = random.Random(f"{seed}|groups")
    groups = [group for group in training_groups() if is_held_out_group(group.id)]
    pairs = []
    for group in chance.sample(groups, min(count, len(groups))):
        for number, (operation, text, quality) in enumerate(_drawn(group, chance)):
            name = f"groups-{group.id}"
            level = "clean" if operation.startswith("acceptable") else "severe"
            columns = group.reference, text, "groups", "groups"
            pairs.append(TrainingPair(f"{name}-{number}", name, *columns, operation, level, quality=quality))
    return pairs


def _drawn(group: AnnotatedGroup, chance: random.Random) -> Iterator[tuple[str, str, float]]:
    """Yield operation, text and quality of the texts drawn from a group."""
    own, *others = group.texts
    for text in chance.sample(others, min(ACCEPTABLE_TEXTS, len(others))):
        yield "acceptable_far", text.text, GROUP_QUALITY["acceptable"]
    far = [(text, error) for text in others for error in text.errors]
    singles = {"near": [(own, error) for error in own.errors], "far": far}
    for severity in SEVERITIES:
        for distance, choices in singles.items():
            fitting = [(text, error) for text, error in choices if error.severity == severity]
            if fitting:
                text, error = chance.choice(fitting)
                yield f"{severity}_{distance}", text.with_errors(error), GROUP_QUALITY[severity]
    text = chance.choice(group.texts)
    apart = _two_apart(text, chance)
    if apart:
        first, second = (GROUP_QUALITY[error.severity] for error in apart)
        distance = "near" if text is own else "far"
        yield f"{TWO_ERRORS}_{distance}", text.with_errors(*apart), first * second / GROUP_QUALITY["acceptable"]


def _two_apart(text: AnnotatedText, chance: random.Random) -> tuple[SingleError, ...]:
    """Return two errors of a text that do not touch, or nothing."""
    errors = chance.sample(text.errors, len(text.errors))
    return next(((one, two) for one, two in combinations(errors, 2) if one.end < two.start or two.end < one.start), ())
