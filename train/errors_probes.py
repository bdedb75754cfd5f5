"""What the errors' head is trained on: real pairs, and copies of their hypotheses with one known mistake each (probes).

The real pair of a family is better than each of its probes, whatever else is wrong with it; the spans of a probe's edits are labels.
"""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from rome.data.perturbations.registry import PERTURBATIONS
from rome.data.perturbations.values import Materials, Perturbed
from rome.data.readers.wmt import read_wmt
from rome.data.sources import data_file
from rome.exceptions import InputError
from rome.features.slips import tidy
from rome.features.values import Analysis

from .errors_words import WORD_PROBES, Vocabulary

__all__ = ["Base", "Probe", "make_probes", "read_probes", "seen_group", "wmt_bases"]

WEIGHTS = {
    **{
        "aspect": 5,
        "omitted_adjective_or_adverb": 5,
        "omitted_prepositional_phrase": 5,
        "omitted_conjunction": 5,
        "hypernym": 5,
    },
    **{
        "negation_removed": 5,
        "gender_pronoun": 5,
        "word_added": 4.5,
        "tense": 4,
        "omitted_content_verb": 4,
        "number_changed": 3,
    },
    **{
        "omitted_noun": 3,
        "omitted_subject": 3,
        "omitted_named_entity": 3,
        "pronoun_case": 3,
        "antonym": 2.5,
        "function_word": 2.5,
    },
    **{"named_entity_replaced": 2.5, "part_of_speech_shift": 2.5, "word_swap": 2, "passive_form": 1.5, "interrogative": 1.5},
    **{
        "added_punctuation": 1.5,
        "negation_added": 1.2,
        "misspelled_word": 1.2,
        "deleted_character": 1.2,
        "words_by_similar": 1.2,
    },
    **{"adjectives_by_synonyms": 1.2, "adjectives_by_antonyms": 1.2, "entities_replaced_fully": 0.6, "shuffled_words": 0.3},
    **{"words_by_token": 0.2},
}
"""How readily each perturbation is tried on a text; those that are hard to see, or seldom apply, come first."""
WORDS = (7, 42)
IDENTITY, SECOND_REFERENCE = 0.06, 0.12
BLOCK = 64
SAMPLE = 4000
SEEN = 7
Analyse = Callable[[Sequence[str]], Mapping[str, Analysis]]


@dataclass(frozen=True, slots=True)
class Base:
    """A real pair. base : identity, reference (two human references) or system (a real output). group : its segment."""

    group: str
    base: str
    reference: str
    clean: str


@dataclass(frozen=True, slots=True)
class Probe:
    """A base with one mistake put into its hypothesis.

    text : the hypothesis with the mistake. name, severity : of the perturbation. edits : (start, end, old, new start, new end, new),
    characters of ``clean`` and of ``text``.
    """

    group: str
    base: str
    reference: str
    clean: str
    text: str
    name: str
    severity: str
    edits: tuple[tuple[int, int, str, int, int, str], ...]


def seen_group(group: str) -> bool:
    """Whether the head may learn from a group of the scorer's pairs; the others are kept for the net, which must not see it overfit."""
    return zlib.crc32(group.encode("utf-8")) % 10 < SEEN


def wmt_bases(seed: int, excluded: frozenset[str] = frozenset()) -> list[Base]:
    """One real pair a WMT segment of 7 to 42 words, in an order drawn by the seed. excluded : references that are left out."""
    bases = []
    for year in ("22", "23"):
        for number, segment in enumerate(read_wmt(data_file(f"text/wmt{year}_to_en_outputs.jsonl.gz"))):
            reference = segment.references[0].strip()
            if reference in excluded or not WORDS[0] <= len(reference.split()) <= WORDS[1]:
                continue
            group = f"w{year}-{number}"
            base = _wmt_base(group, reference, segment.references, [text for _, text in segment.outputs], seed)
            if base is not None:
                bases.append(base)
    random.Random(f"{seed}|bases").shuffle(bases)
    return bases


def _wmt_base(group: str, reference: str, references: Sequence[str], outputs: Sequence[str], seed: int) -> Base | None:
    chance = random.Random(f"{seed}|{group}")
    usable = [text.strip() for text in outputs if 5 <= len(text.split()) <= WORDS[1] + 6]
    drawn = chance.random()
    if drawn < IDENTITY:
        return Base(group, "identity", reference, reference)
    if drawn < SECOND_REFERENCE and len(references) > 1 and references[1].strip():
        return Base(group, "reference", reference, references[1].strip())
    return Base(group, "system", reference, chance.choice(usable)) if usable else None


def make_probes(
    bases: Sequence[Base], analyse: Analyse, materials: Materials, path: Path, *, seed: int, each: int = 5
) -> Iterator[int]:
    """Append the probes of the bases to a file of JSON lines: up to ``each`` perturbations of a base and one of every kind of word probe.

    Yields how many bases are done, block by block. Groups that the file holds already are skipped, so an interrupted run goes on where
    it stopped. The words come from the first bases' texts.
    """
    path.touch()
    known = {json.loads(line)["group"] for line in path.read_text(encoding="utf-8").splitlines()}
    todo = [base for base in bases if base.group not in known]
    vocabulary = Vocabulary(analyse([base.clean for base in bases[:SAMPLE]]).values())
    for start in range(0, len(todo), BLOCK):
        block = todo[start : start + BLOCK]
        analyses = analyse([text for base in block for text in (base.clean, base.reference)])
        made = [probe for base in block for probe in _probes(base, analyses[base.clean], materials, vocabulary, seed, each)]
        analyse([probe.text for probe in made])
        with path.open("a", encoding="utf-8") as out:
            out.writelines(json.dumps(asdict(probe), ensure_ascii=False) + "\n" for probe in made)
        yield start + len(block)


def _probes(base: Base, clean: Analysis, materials: Materials, vocabulary: Vocabulary, seed: int, each: int) -> Iterator[Probe]:
    """The word probes of a base, and up to ``each`` perturbations, drawn by their weights without repetition."""
    words = random.Random(f"{seed}|words|{base.group}")
    for name, (severity, function) in WORD_PROBES.items():
        put = function(clean, words, vocabulary)
        if put is not None:
            yield Probe(**asdict(base), text=put[0], name=name, severity=severity, edits=tuple(put[1]))
    chance = random.Random(f"{seed}|probes|{base.group}")
    made = 0
    for name in sorted(WEIGHTS, key=lambda name: -(chance.random() ** (1.0 / WEIGHTS[name]))):
        if made == each:
            return
        found = PERTURBATIONS[name](clean, chance.randrange(10**6), materials)
        if isinstance(found, Perturbed) and found.text.strip() and found.text != base.clean:
            made += 1
            edits = tuple((e.start, e.end, e.original, e.new_start, e.new_end, e.perturbed) for e in found.edits)
            yield Probe(**asdict(base), text=found.text, name=name, severity=PERTURBATIONS[name].severity, edits=edits)


def read_probes(paths: Iterable[Path]) -> list[Probe]:
    """Read what `make_probes` wrote, without what is decided on characters alone. Raises InputError with the line that is no probe."""
    names = [field.name for field in fields(Probe)]
    probes = []
    for path in paths:
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror}): give files made by `rome train errors`") from error
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                row["edits"] = tuple((*edit,) for edit in row["edits"])
                probe = Probe(**{name: row[name] for name in names})
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{path} line {number} is no probe ({error}): it needs {', '.join(names)}") from error
            if (probe.name in WEIGHTS or probe.name in WORD_PROBES) and tidy(probe.text).text == probe.text:
                probes.append(probe)
    return probes
