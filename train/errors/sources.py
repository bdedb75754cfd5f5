"""The sources that teach the reader of both texts: what each is, what it teaches, and how many of its lessons are drawn.

A lesson is a `Group`: hypotheses of one reference, or pairs of texts that are compared. `SOURCES` is the table of the data's sources; perturbed
texts and synthesized pairs are two further ones, which need files of their own.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from importlib.resources import files
from math import log1p
from pathlib import Path
from typing import Any

from rome.data.perturbations.changes import Mark, plain
from rome.data.readers.groups import (
    AnnotatedGroup,
    AnnotatedText,
    SingleError,
    is_held_out_group,
    is_held_out_paws,
    is_held_out_summary,
    read_groups,
)
from rome.data.sources import data_file, data_folder, read_jsonl
from rome.exceptions import InputError
from rome.train.errors.groups import COST, MOST, Group, Groups, Member, weight_of_rating
from rome.train.errors.texts import Paraphrase, Pool
from rome.train.synthesis.pairs import read_synthetic

OWN_GROUPS = Path(str(files("rome.data"))) / "groups"
"""Folder of the annotated groups written for this package: everyday texts, news, instructions, facts, translations."""
ACCEPTABLE, CRITICAL = 0.0, 2.0
"""Levels of texts that are only known to be acceptable, or not."""
CONTRADICTION = 12.0
"""Expected cost of a text that contradicts its reference as a whole."""
INVERSE = {"addition": "omission", "omission": "addition"}
LANGUAGE = frozenset("tense agreement article preposition order spelling punctuation repetition idiom style".split())
"""Types that are errors of the text itself: no reference can have them on its behalf."""
TOGETHER = 6
"""Hypotheses of one lesson, at most, of sources with many."""
FURTHER = "further groups"
"""The groups of a file that the wheel leaves out, so that --mixture can give them a share of their own."""
DRAWN = 10
"""Lessons that are drawn of each annotated group."""


def level_of(cost: float) -> float:
    """Return the level of a text whose errors cost so much: 0 for none, 2 for one critical error."""
    return CRITICAL * log1p(cost) / log1p(COST["critical"])


def touching(words: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, ...]:
    """Return the places of the words that share a character with ``text[start:end]``."""
    return tuple(n for n, (a, b) in enumerate(words) if a < end and b > start)


def annotated(group: AnnotatedGroup, chance: random.Random) -> Group:
    """Return one lesson of an annotated group: acceptable texts, single errors near and far, and several errors in one text."""
    texts = list(group.texts)
    own = texts[0] if chance.random() < 0.6 else chance.choice(texts)
    others = [text for text in texts if text is not own]
    rewrites = chance.sample(others, min(2, len(others)))
    members = [_member(own, text) for text in rewrites]
    near = [(own, error) for error in own.errors]
    far = [(text, error) for text in rewrites for error in text.errors]  # beside the same text without the error
    for severity in ("critical", "critical", "major", "major", "minor", "minor"):
        pool = near if chance.random() < 0.5 else far
        fitting = [(text, error) for text, error in pool if error.severity == severity]
        if fitting:
            chosen = chance.choice(fitting)
            pool.remove(chosen)
            members.append(_member(own, *chosen))
    members += _several(own, chance.choice(texts), chance)
    if chance.random() < 0.4:
        members += _exchanged(texts, chance)
    return Group("groups", plain(own.text), tuple(members))


def _several(own: AnnotatedText, text: AnnotatedText, chance: random.Random) -> list[Member]:
    """Return a text with two or three of its errors, if it has as many."""
    chosen: list[SingleError] = []
    for error in chance.sample(text.errors, len(text.errors)):
        if len(chosen) < 3 and all(error.end < other.start or other.end < error.start for other in chosen):
            chosen.append(error)
    chosen = chosen[: chance.choice((2, 3))]
    return [_member(own, text, *chosen)] if len(chosen) > 1 else []


def _member(own: AnnotatedText, text: AnnotatedText, *errors: SingleError) -> Member:
    """Return what is known of a text with some of its errors against a reference."""
    near, shift, marks = text is own, 0, []
    wrong, words = plain(text.with_errors(*errors)), plain(own.text).words
    for error in sorted(errors, key=lambda error: error.start):
        start = error.start + shift
        shift += len(error.wrong) - len(error.right)
        new = touching(wrong.words, start, start + len(error.wrong))
        old = touching(words, error.start, error.end) if near else ()
        marks.append(Mark(error.type, error.severity, new, old, ()))
    wrong = replace(wrong, marks=tuple(marks))
    unplaced = not near and any(
        error.type not in LANGUAGE and error.severity != "minor" and error.right or not error.wrong for error in errors
    )
    known, cost = 1.0 if near or not marks else 0.1, min(MOST, sum(COST[error.severity] for error in errors))
    return Member(wrong, cost, level_of(cost), 1.0, near, reference_sure=known, somewhere=unplaced)


def _exchanged(texts: Sequence[AnnotatedText], chance: random.Random) -> list[Member]:
    """Return an acceptable text against a reference that has an error: the same difference the other way round."""
    wrong = chance.choice(texts)
    errors = [error for error in wrong.errors if error.severity != "minor" and error.type not in LANGUAGE]
    if not errors:
        return []
    error = chance.choice(errors)
    reference, right = plain(wrong.with_errors(error)), chance.choice([wrong, *texts])
    near = right is wrong
    text = plain(right.text)
    new = touching(text.words, error.start, error.end) if near else ()
    old = touching(reference.words, error.start, error.start + len(error.wrong))
    text = replace(text, marks=(Mark(INVERSE.get(error.type, error.type), error.severity, new, old, ()),))
    cost = COST[error.severity]
    return [Member(text, cost, level_of(cost), 1.0 if near else 0.1, True, reference, reference_sure=1.0)]


def differing(reference: str, hypothesis: str, cost: float, sure: float, name: str = "") -> Member:
    """Return a near-copy whose error is where its words differ from the reference's; no place is known where most words differ."""
    one, other = plain(reference), plain(hypothesis)
    codes = [code for code in SequenceMatcher(None, one.forms(), other.forms(), False).get_opcodes() if code[0] != "equal"]
    old = tuple(n for _, a, b, _, _ in codes for n in range(a, b))
    new = tuple(n for _, _, _, a, b in codes for n in range(a, b))
    if len(old) + len(new) > 0.4 * (len(one.words) + len(other.words)):
        return Member(other, cost, level_of(cost), 0.0, reference=one, somewhere=True)
    severity = "critical" if cost > 7.5 else "major"
    other = replace(other, marks=(Mark(name, severity, new, old, ()),))
    return Member(other, cost, level_of(cost), sure, True, one, reference_sure=sure)


def acceptable(reference: str, hypothesis: str, sure: float = 0.5) -> Member:
    """Return a text that says the same as its reference."""
    return Member(plain(hypothesis), 0.0, ACCEPTABLE, sure, reference=plain(reference), reference_sure=sure)


def contradicting(reference: str, hypothesis: str, cost: float = COST["critical"]) -> Member:
    """Return a text that is wrong nobody knows where."""
    return Member(plain(hypothesis), cost, CRITICAL, 0.0, reference=plain(reference), somewhere=True)


def _lesson(kind: str, members: Iterable[Member]) -> Group:
    return Group(kind, plain(""), tuple(members))


def _groups(chance: random.Random, times: float, name: str = "groups") -> Iterator[Group]:
    rows = [group for group in training_groups(name) if not is_held_out_group(group.id)]
    for _ in range(round(DRAWN * times)):
        for group in rows:
            lesson = annotated(group, chance)
            more = _with_another_sentence(group, chance.choice(rows), chance) if chance.random() < 0.3 else []
            yield replace(lesson, kind=name, members=(*lesson.members, *more))


def _with_another_sentence(group: AnnotatedGroup, other: AnnotatedGroup, chance: random.Random) -> list[Member]:
    """Return a pair of which one text has one more sentence: an unsupported one, a lost one, or one that contradicts."""
    own, text, stranger = chance.choice(group.texts), chance.choice(group.texts), chance.choice(other.texts).text
    kind = chance.choice(("addition", "omission", "contradiction"))
    wrong = [error for error in text.errors if error.severity == "critical" and error.wrong]
    if wrong and kind == "contradiction":
        error, start = chance.choice(wrong), len(text.text) + 1
        made = plain(f"{text.text} {text.with_errors(error)}")
        new = touching(made.words, start + error.start, start + error.start + len(error.wrong))
        made = replace(made, marks=(Mark(error.type, "critical", new, (), ()),))
        return [Member(made, COST["critical"], CRITICAL, 0.2, False, plain(own.text), reference_sure=0.1)]
    longer = f"{(text if kind == 'addition' else own).text} {stranger}"
    start = len(longer) - len(stranger)
    one, two = (plain(own.text), plain(longer)) if kind == "addition" else (plain(longer), plain(text.text))
    words = touching((two if kind == "addition" else one).words, start, len(longer))
    new, old = (words, ()) if kind == "addition" else ((), words)
    made = replace(two, marks=(Mark(kind, "major", new, old, ()),))
    return [Member(made, COST["major"], level_of(COST["major"]), 1.0, True, one, reference_sure=1.0)]


def training_groups(*names: str) -> Iterator[AnnotatedGroup]:
    """Yield the annotated groups of one source, or of both, that may train, those that are held out included.

    Without public data they are the package's alone.
    """
    paths = sorted(OWN_GROUPS.glob("*.jsonl*"))
    with suppress(InputError):
        paths = [*sorted(data_folder().glob("groups/train_*.jsonl")), *paths]
    for path in paths:
        if not names or (FURTHER in names) == path.name.startswith("further"):
            yield from read_groups(path)


def _summaries(chance: random.Random, times: float) -> Iterator[Group]:
    found: dict[str, list[Any]] = defaultdict(list)
    for row in read_jsonl(data_file("meaning/summedits.jsonl.gz")):
        if not is_held_out_summary(row):
            found[row["group"]].append(row)
    for rows in found.values():
        for _ in range(round(times * len(rows) * 1.5 / TOGETHER)):
            chosen = chance.sample(rows, min(TOGETHER, len(rows)))
            yield _lesson("summaries", (_judged(row["reference"], row["hypothesis"], row["consistent"]) for row in chosen))


def _judged(reference: str, hypothesis: str, good: bool) -> Member:
    return acceptable(reference, hypothesis) if good else contradicting(reference, hypothesis)


def together(kind: str, members: Sequence[Member], chance: random.Random, times: float) -> Iterator[Group]:
    """Yield lessons of members with references of their own, as many times over as is wanted."""
    for _ in range(max(1, round(times))):
        order = chance.sample(list(members), len(members))
        for start in range(0, len(order) - 1, TOGETHER):
            yield _lesson(kind, order[start : start + TOGETHER])


def _paws(chance: random.Random, times: float) -> Iterator[Group]:
    rows = [row for row in read_jsonl(data_file("pairs/paws_wiki_dev.jsonl.gz")) if not is_held_out_paws(row)]
    members = [_judged(*pair, row["paraphrase"]) for row in rows for pair in ((row["a"], row["b"]), (row["b"], row["a"]))]
    yield from together("paws", members, chance, 2 * times)


def _captions(chance: random.Random, times: float) -> Iterator[Group]:
    for row in read_jsonl(data_file("meaning/sugarcrepe_pp.jsonl.gz")):
        one, other, wrong = row["reference"], row["acceptable"], row["critical"]
        near = differing(one, wrong, COST["critical"], 0.0 if row["kind"].startswith("swap") else 0.7)
        yield _lesson("captions", (acceptable(one, other), near))
        if chance.random() < 0.5 * times:
            yield _lesson("captions", (acceptable(other, one), contradicting(other, wrong)))


def _facts(chance: random.Random, times: float, name: str, files: Sequence[tuple[str, str, float, float]]) -> Iterator[Group]:
    """Yield lessons of texts with one wrong fact: of each file the column of the text, its cost, and how sure the place is."""
    members = []
    for file, text, cost, sure in files:
        rows = read_jsonl(data_file(f"meaning/{file}.jsonl.gz"))
        members += [differing(row["reference"], row[text], cost, sure) for row in rows]
    yield from together(name, members, chance, times)


def _inference(chance: random.Random, times: float) -> Iterator[Group]:
    members = []
    for row in read_jsonl(data_file("pairs/nli.jsonl.gz")):
        if row["source"] == "curriculum_syntactic_alternation":
            members.append(_judged(row["a"], row["b"], row["label"] == "entailment"))
        elif row["label"] == "contradiction":
            members.append(contradicting(row["a"], row["b"], CONTRADICTION))
    yield from together("inference", members, chance, times)


def _bio(chance: random.Random, times: float) -> Iterator[Group]:
    found: dict[str, list[Member]] = defaultdict(list)
    for row in read_jsonl(data_file("rated/bio_mqm.jsonl.gz")):
        text = plain(row["hypothesis"])
        errors = [error for error in row["errors"] if error["severity"] != "neutral"]
        placed = [error for error in errors if error["start"] is not None]
        marks = [Mark("", e["severity"], touching(text.words, e["start"], e["end"]), (), ()) for e in placed]
        cost = min(MOST, sum(COST[error["severity"]] for error in errors))
        text, reference = replace(text, marks=tuple(marks)), plain(row["reference"])
        found[f"{row['lp']} {row['segment']}"].append(Member(text, cost, level_of(cost), 0.3, False, reference))
    for members in found.values():
        for _ in range(max(1, round(times))):
            yield _lesson("bio", chance.sample(members, min(TOGETHER, len(members))))


def _assessed(chance: random.Random, times: float) -> Iterator[Group]:
    found: dict[str, list[Member]] = defaultdict(list)
    for row in read_jsonl(data_file("rated/mlqe_pe.jsonl.gz")):
        cost, text = weight_of_rating(row["da"] / 20.0), plain(row["hypothesis"])
        member = Member(text, cost, -row["da"] / 25.0, 0.0, False, plain(row["reference"]))
        telling = (row["da"] >= 90 and row["hter"] >= 0.3) or (row["da"] <= 50 and row["hter"] <= 0.2)
        found[row["lp"]] += [member] * (3 if telling else 1)
    for members in found.values():
        yield from together("assessed", members, chance, times)


@dataclass(frozen=True)
class Perturbed:
    """Draws the lessons that are made of perturbed texts, ranked outputs and rated sentences, see `Groups`."""

    paraphrases: Sequence[Paraphrase]
    texts: Path
    agreement: Path

    def __call__(self, chance: random.Random, times: float) -> Iterator[Group]:
        """Yield the lessons of every kind."""
        groups = Groups(Pool([self.texts]), self.paraphrases, self.agreement)
        counts = {"meaning": 7000, "mistakes": 7000, "ranked": 12000, "rating": 3000, "ladder": 4000}
        for name, count in counts.items():
            for _ in range(round(times * count)):
                yield getattr(groups, name)(chance)


@dataclass(frozen=True)
class Synthesized:
    """Draws the lessons of the pairs that `rome synthesize` wrote: a reference, itself acceptable, and its hypotheses at their labels' costs.

    Raises InputError for files without a labelled pair.
    """

    files: Sequence[Path]

    def __call__(self, chance: random.Random, times: float) -> Iterator[Group]:
        """Yield every labelled pair once; those without text are left out."""
        found: dict[str, list[Member]] = defaultdict(list)
        for pair in (pair for path in self.files for pair in read_synthetic(path)):
            if pair.label is not None and pair.reference.strip() and pair.hypothesis.strip():
                cost = abs(pair.label)
                found[pair.reference].append(Member(plain(pair.hypothesis), cost, level_of(cost), 0.0))
        if not found:
            raise InputError(
                f"--synthesized must have pairs with labels, got none in {', '.join(map(str, self.files)) or 'no file'}"
            )
        for text, members in found.items():
            reference = plain(text)
            own = Member(reference, 0.0, ACCEPTABLE, 1.0, True)
            order = chance.sample(members, len(members))
            for start in range(0, len(order), TOGETHER - 1):
                yield Group(SYNTHESIZED, reference, (own, *order[start : start + TOGETHER - 1]))


Draw = Callable[[random.Random, float], Iterator[Group]]
SOURCES: dict[str, tuple[Draw, float]] = {
    "groups": (_groups, 1.0),
    FURTHER: (partial(_groups, name=FURTHER), 1.0),
    "summaries": (_summaries, 4.0),
    "paws": (_paws, 1.0),
    "captions": (_captions, 1.0),
    "foils": (partial(_facts, name="foils", files=[("valse_foils", "critical", 10, 0.7)]), 1.0),
    "turned facts": (partial(_facts, name="turned facts", files=[("bump", "critical", 10, 0.8), ("defacto", "hypothesis", 7, 0.5)]), 2.0),
    "inference": (_inference, 1.0),
    "bio": (_bio, 2.0),
    "assessed": (_assessed, 1.0),
}
"""By name: what draws the lessons, and how many times over."""
PERTURBED, SYNTHESIZED = "perturbed", "synthesized"
NAMES = (*SOURCES, PERTURBED, SYNTHESIZED)
_WMT = "WMT22 without Chinese and WMT23; research use"
TEACHES = {
    "groups": "single errors with place, severity and type (annotated groups written for this project, nine tenths; CC0)",
    FURTHER: "more annotated groups (rome/data/groups/further.jsonl.xz, nine tenths; CC0)",
    "summaries": "consistent above inconsistent summaries (SummEdits without its domain podcast; Apache-2.0)",
    "paws": "paraphrases above other sentences of the same words (half of PAWS-Wiki dev; free use)",
    "captions": "rewritten captions above captions with one wrong fact (SugarCrepe++; CC BY 4.0)",
    "foils": "captions with one wrong fact (VALSE; MIT)",
    "turned facts": "summaries with one wrong fact (BUMP, DeFacto; MIT)",
    "inference": "contradictions, and active beside passive sentences (NLI sets; Apache-2.0, MIT, SNLI texts CC BY-SA 4.0)",
    "bio": "people's error spans and severities of biomedical translations (Bio-MQM; Apache-2.0)",
    "assessed": "people's direct assessments of translations against their post-edits (MLQE-PE; CC0)",
    "meaning": f"acceptable above perturbed texts (WikiSplit, CC BY-SA 4.0; MSRP train, STS 2012-2016, research use; {_WMT})",
    "mistakes": f"system outputs above the same with one perturbation ({_WMT})",
    "outputs": f"system outputs ranked by their agreement ({_WMT})",
    "rated": "people's ratings of similarity (STS 2012-2016 without machine translations; research use)",
    "ladders": f"texts with more and more perturbations (as meaning and mistakes; {_WMT})",
    SYNTHESIZED: "hypotheses at the costs of their labels (pairs of `rome synthesize`)",
    "ratings": "rated outputs at the costs of their marks, or in the order of their ratings",
}
"""What the lessons of each name teach, for the card; perturbed texts have five names."""


def lessons(further: Mapping[str, Draw], names: Iterable[str], seed: int, share: float = 1.0) -> Iterator[Group]:
    """Yield the lessons of some sources, one source after the other.

    Parameters
    ----------
    further
        What draws the sources that are not in `SOURCES`.
    share
        Of their usual numbers.
    """
    for name in names:
        draw, times = SOURCES[name] if name in SOURCES else (further[name], 1.0)
        yield from draw(random.Random(f"{seed}|{name}"), share * times)


def held_out_lessons() -> Iterator[Group]:
    """Yield the held-out groups whole: the acceptable texts, and every single error, each once."""
    for group in training_groups():
        if is_held_out_group(group.id):
            yield whole(group)


def whole(group: AnnotatedGroup) -> Group:
    """Return a group as it judges: its acceptable texts but the reference, and each of its errors alone."""
    own = group.texts[0]
    members = [_member(own, text) for text in group.texts[1:]]
    members += [_member(own, text, error) for text in group.texts for error in text.errors]
    return Group("groups", plain(own.text), tuple(members))
