"""The entailment head's examples: pairs of texts with the answers that are possible for them.

Perturbations tell what a change does to the meaning; WikiSplit's shorter sentences follow from the long ones; paraphrases (MSRP,
STS) follow from each other and unlike sentences do not; SICK, where it is asked for, has people's judgements.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rome.data.readers.ewt import read_conllu
from rome.data.readers.wmt import read_wmt
from rome.data.sources import data_file, read_jsonl
from rome.evaluation.perturbing import Analyse, materials_for, perturb_texts

__all__ = ["RELATIONS", "Material", "PairExample", "load_material", "perturbed_pairs", "read_sick"]

E, N, C = "e", "n", "c"
ANSWERS = (E, N, C)
SAME, OTHER, LESS, MORE = (E, E), (N + C, N + C), (E, N), (N, E)
AGAINST = (C + N, C + N)

RELATIONS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("adjectives_by_synonyms", "passive_form"), SAME),
    **dict.fromkeys(("repeated_twice", "omitted_conjunction", "word_swap", "pronoun_case", "function_word"), SAME),
    **dict.fromkeys(("part_of_speech_shift", "misspelled_word", "deleted_character", "omitted_final_punctuation"), SAME),
    **dict.fromkeys(("added_punctuation", "tokenised_text"), SAME),
    **dict.fromkeys(("hypernym", "omitted_adjective_or_adverb", "omitted_prepositional_phrase"), LESS),
    **dict.fromkeys(("omitted_noun", "omitted_content_verb", "omitted_subject", "omitted_named_entity"), ("", N)),
    "word_added": (N + C, ""),
    **dict.fromkeys(("antonym", "adjectives_by_antonyms", "negation_added", "negation_removed"), (C, C)),
    **dict.fromkeys(("named_entity_replaced", "number_changed", "entities_replaced_fully", "gender_pronoun"), AGAINST),
    **dict.fromkeys(("tense", "interrogative", "words_by_token", "unrelated_text", "shuffled_words"), OTHER),
}
"""Perturbation -> the answers that are possible from the text to the perturbed one and back; "" where nothing is known.

What is left out (aspect, similar words, typography that the uncased encoder cannot see) says nothing certain of meaning."""

ALIKE, UNLIKE = 4.8, 2.0
A_TEXT = 8
"""So many perturbations of one text are taken."""
SHORTEST, LONGEST = 5, 40
SPLIT = 0
"""Decides what is held out: not the seed."""
HELD_OUT = 0.05


@dataclass(frozen=True, slots=True)
class PairExample:
    """Does ``first`` entail ``second``? answers : those that are possible, of e, n, c. kind : where it is from. group : its source text."""

    first: str
    second: str
    answers: str
    kind: str
    group: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Material:
    """What one training run reads: examples to train on, to calibrate on, and to judge on by the name of the set."""

    train: Sequence[PairExample]
    held: Sequence[PairExample]
    judging: Mapping[str, Sequence[PairExample]]


def load_material(analyse: Analyse, texts: int, sick: bool, seed: int) -> Material:
    """Read and make everything. texts : how many are perturbed; the other sources are drawn in proportion. sick : whether SICK's training part trains.

    Raises InputError, with the remedy, when data is missing.
    """
    rng = random.Random(SPLIT)
    sources = _sources()
    rng.shuffle(sources)
    examples = list(perturbed_pairs(sources[:texts], analyse, seed))
    examples += [*_split_sentences(sources, texts, rng), *_paraphrases(texts, rng), *_rated(2 * texts, rng)]
    examples += read_sick(data_file("pairs/sick_train.jsonl.gz"), both=True) if sick else []
    unseen = [s.text for s in read_conllu(data_file("ud_english_ewt/dev.conllu")) if _fits(s.text)]
    judging = {name: list(read_sick(data_file(f"pairs/sick_{name}.jsonl.gz"))) for name in ("dev", "test")}
    judging = {f"sick_{name}": found for name, found in judging.items()}
    judging["perturbations"] = list(perturbed_pairs(unseen[: max(texts // 8, 1)], analyse, seed))
    groups = sorted({example.group for example in examples})
    held = set(rng.sample(groups, max(1, round(HELD_OUT * len(groups)))))
    train = [example for example in examples if example.group not in held]
    return Material(train, [example for example in examples if example.group in held], judging)


def _sources() -> list[str]:
    """Sentences to perturb: EWT's training part, references of WMT22 and WMT23, the long sentences of WikiSplit."""
    texts = [s.text for s in read_conllu(data_file("ud_english_ewt/train.conllu"))]
    texts += [row["text"] for row in read_jsonl(data_file("text/wikipedia_sentences.jsonl.gz"))]
    for year in (22, 23):
        texts += [s.references[0] for s in read_wmt(data_file(f"text/wmt{year}_to_en_outputs.jsonl.gz")) if s.references]
    return [text for text in dict.fromkeys(texts) if _fits(text)]


def _fits(text: str) -> bool:
    return SHORTEST <= len(text.split()) <= LONGEST


def perturbed_pairs(texts: Sequence[str], analyse: Analyse, seed: int) -> Iterator[PairExample]:
    """Each text with itself and with A_TEXT of its perturbed copies, drawn evenly, in both directions where both are known."""
    made: dict[str, list[tuple[str, str]]] = defaultdict(list)
    materials = materials_for(texts)
    for result in perturb_texts(texts, list(RELATIONS), analyse=analyse, seed=seed, materials=materials):
        if result.perturbed and result.perturbed.strip() and result.perturbed != result.text:
            made[result.text].append((result.perturbation, result.perturbed))
    for text, found in made.items():
        rng = random.Random(f"{seed} {text}")
        yield PairExample(text, text, E, "identity", text)
        for name, other in rng.sample(found, min(A_TEXT, len(found))):
            for answers, first, second in zip(RELATIONS[name], (text, other), (other, text), strict=True):
                if answers:
                    yield PairExample(first, second, answers, name, text)


def _split_sentences(others: Sequence[str], count: int, rng: random.Random) -> Iterator[PairExample]:
    """A long sentence entails its parts and their sum, the sum entails it, a part does not; nor does a sentence entail another."""
    rows = list(read_jsonl(data_file("text/wikipedia_sentences.jsonl.gz")))
    for row in rng.sample(rows, min(count, len(rows))):
        text, parts = row["text"], row["split"]
        whole, part = " ".join(parts), rng.choice(parts)
        yield PairExample(text, part, E, "split", text, 0.5)
        yield PairExample(part, text, N, "split", text, 0.5)
        for first, second in ((text, whole), (whole, text)):
            yield PairExample(first, second, E, "split", text, 0.5)
        yield PairExample(text, rng.choice(others), N, "unrelated", text, 0.5)


def _paraphrases(count: int, rng: random.Random) -> Iterator[PairExample]:
    """MSRP: paraphrases entail each other (nearly: a third of the weight)."""
    rows = [row for row in read_jsonl(data_file("pairs/msrp_train.jsonl.gz")) if row["paraphrase"]]
    for row in rng.sample(rows, min(count, len(rows))):
        for first, second in ((row["a"], row["b"]), (row["b"], row["a"])):
            yield PairExample(first, second, E, "paraphrase", row["a"], 0.3)


def _rated(count: int, rng: random.Random) -> Iterator[PairExample]:
    """STS 2012 to 2016: the most similar pairs entail each other, unlike ones do not; what lies between says nothing."""
    rows = list(read_jsonl(data_file("pairs/sts_2012_2016.jsonl.gz")))
    rows = [row for row in rows if row["similarity"] >= ALIKE or row["similarity"] <= UNLIKE]
    for row in rng.sample(rows, min(count, len(rows))):
        answers = E if row["similarity"] >= ALIKE else N + C
        for first, second in ((row["a"], row["b"]), (row["b"], row["a"])):
            yield PairExample(first, second, answers, "rated", row["a"], 0.5)


def read_sick(path: Path, both: bool = False) -> Iterator[PairExample]:
    """SICK's pairs with people's answer. both : contradictions also the other way round."""
    answers = {"ENTAILMENT": E, "NEUTRAL": N, "CONTRADICTION": C}
    for row in read_jsonl(path):
        answer = answers[row["entailment"]]
        yield PairExample(row["a"], row["b"], answer, "sick", row["a"])
        if both and answer == C:
            yield PairExample(row["b"], row["a"], answer, "sick", row["a"])


def texts_of(examples: Iterable[PairExample]) -> list[str]:
    """Every distinct text, in the order of first appearance."""
    return list(dict.fromkeys(text for example in examples for text in (example.first, example.second)))
