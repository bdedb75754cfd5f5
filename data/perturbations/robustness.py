"""The lower bounds, such as no text or another text (DEMETR 32 to 34), and what RoMe's robustness is measured with (RoMe 4.7)."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

from rome.data.perturbations.lexical import exchanged, may_turn, open_words
from rome.data.perturbations.surgery import Change, choose, finish, in_case_of, replacement
from rome.data.perturbations.tree import has_own_span, in_title_case, of_relation, stands_alone
from rome.data.perturbations.values import Materials, NotApplicable, Perturbation, Perturbed
from rome.features.values import Analysis

DRAWS = 12


def empty_text(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Nothing but a full stop, as published: most metrics refuse an empty text."""
    return (
        finish(analysis, [(0, len(analysis.text), ".")], "the text is empty already")
        if analysis.text
        else NotApplicable("the text is empty")
    )


def unrelated_text(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Another text: of a dozen drawn ones, of about its length where there is one, the one that shares the smallest part of its words."""
    if not analysis.text or not materials.texts:
        return NotApplicable("no other text to put in its place")
    own = set(re.findall(r"\w+", analysis.text.lower()))
    drawn = [materials.texts[rng.randrange(len(materials.texts))] for _ in range(DRAWS)]
    others = [text for text in drawn if text.strip() and set(re.findall(r"\w+", text.lower())) != own]
    others = [text for text in others if 0.5 <= len(text) / len(analysis.text) <= 2] or others
    if not others:
        return NotApplicable("no other text to put in its place")
    best = min(others, key=lambda text: _shared(own, set(re.findall(r"\w+", text.lower()))))
    return finish(analysis, [(0, len(analysis.text), best)], "no other text to put in its place")


def _shared(own: set[str], other: set[str]) -> float:
    """The share of the other text's words that stand in the text too."""
    return len(own & other) / max(len(other), 1)


def shuffled_words(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """All words in another order; the capital and the final mark stay where they were."""
    found = list(re.finditer(r"\S+", analysis.text))
    if len(found) < 3:
        return NotApplicable("fewer than three words")
    start, end = found[0].start(), found[-1].end()
    final = re.search(r"[.!?…]+[\"'”’)]*$", analysis.text[start:end])
    end = start + len(analysis.text[start : final.start() + start].rstrip()) if final else end
    words = analysis.text[start:end].split()
    names = {word.text for word in analysis.words if word.upos == "PROPN" or word.text == "I"}
    proper = not words or words[0].strip("\"'“,") in names
    loose = words if proper else [words[0][:1].lower() + words[0][1:], *words[1:]]
    for _ in range(DRAWS):
        mixed = rng.sample(loose, len(loose))
        if mixed != loose:
            new = " ".join(mixed)
            new = new[:1].upper() + new[1:] if words[0][:1].isupper() else new
            return finish(analysis, [(start, end, new)], "its words are all the same")
    return NotApplicable("its words are all the same")


TOKEN = "AAA"
LIGHT_WORDS = frozenset("be have do go get make take give know year time many much more other own such same".split())
NEGATIVE_PREFIXES = ("un", "in", "im", "dis", "non", "mis")
OPEN_CLASSES = ("NOUN", "VERB", "ADJ", "ADV", "PROPN", "NUM")


def adjectives_by_synonyms(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Every adjective that has a known synonym becomes it; the meaning is kept (RoMe 4.7, case 2)."""
    return _adjectives(analysis, rng, materials, materials.synonyms, "no adjective with a known synonym")


def adjectives_by_antonyms(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Every adjective that has a known antonym becomes it; the meaning turns (RoMe 4.7, case 2)."""
    return _adjectives(analysis, rng, materials, materials.antonyms, "no adjective with a known antonym")


def _adjectives(
    analysis: Analysis, rng: random.Random, materials: Materials, words: Mapping[str, Sequence[str]], reason: str
) -> Perturbed | NotApplicable:
    found = [
        n
        for n in open_words(analysis, ("ADJ",))
        if may_turn(analysis, n) and of_relation(analysis.words[n], "amod", "root", "conj", "xcomp")
    ]
    changes = [change for n in found for change in exchanged(analysis, n, words, rng, materials) or ()]
    return finish(analysis, changes, reason) if changes else NotApplicable(reason)


def words_by_token(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Two neighbouring content words become AAA, or two apart where none are neighbours; function words stay (case 3)."""
    words = [
        n
        for n, word in enumerate(analysis.words)
        if word.upos in OPEN_CLASSES and has_own_span(analysis, n) and word.text.isalnum() and word.text != TOKEN
    ]
    pairs = [(a, b) for a, b in zip(words, words[1:], strict=False) if b == a + 1] or list(zip(words, words[1:], strict=False))

    def make(pair: tuple[int, int]) -> list[Change]:
        return [(analysis.words[n].start, analysis.words[n].end, TOKEN) for n in pair]

    return choose(analysis, rng, pairs, make, "fewer than two content words")


def words_by_similar(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Two content words become similar ones in the same form, none of them an antonym of the old one (case 4)."""
    reason = "fewer than two words with a similar word"
    options = {n: words for n in range(len(analysis.words)) for words in (_similar(analysis, n, materials),) if words}
    if len(options) < 2:
        return NotApplicable(reason)
    changes: list[Change] = []
    for n in sorted(rng.sample(sorted(options), 2)):
        word = analysis.words[n]
        changes += replacement(analysis, word.start, word.end, in_case_of(rng.choice(options[n][:2]), word.text))
    return finish(analysis, changes, reason)


def _similar(analysis: Analysis, n: int, materials: Materials) -> list[str]:
    """Similar words that can stand in the word's place: another stem, the same ending, no antonym; none for light words."""
    word = analysis.words[n]
    low, lemma = word.text.lower(), word.lemma.lower()
    content = word.upos in ("NOUN", "VERB", "ADJ") or (word.upos == "ADV" and low.endswith("ly"))
    light = lemma in LIGHT_WORDS or word.xpos in ("JJR", "JJS") or in_title_case(analysis, n)
    if not content or light or word.xpos.startswith("NNP") or not stands_alone(analysis, n):
        return []
    opposite = set(materials.antonyms.get(lemma, ()))
    own = {materials.inflect(lemma, tag) for tag in ("VB", "VBZ", "VBD", "VBN", "VBG", "NN", "NNS")} | {low, lemma}
    return [
        other
        for other in materials.similar.get(low, ())
        if other.isalpha()
        and _ending(other) == _ending(low)
        and other not in opposite | own
        and not other.startswith(low[:4])
        and not any(a == prefix + b for prefix in NEGATIVE_PREFIXES for a, b in ((low, other), (other, low)))
        and materials.inflect(other, "NNS") != low
        and _same_form(word.xpos, lemma, other, materials)
    ]


def _same_form(tag: str, lemma: str, other: str, materials: Materials) -> bool:
    """Whether the other word can be the same form: it inflects as the lemma does; a past tense ends in -ed."""
    check = {"NN": "NNS", "VB": "VBG", "VBP": "VBG"}.get(tag)
    inflects = check is None or materials.inflect(lemma, check) is None or materials.inflect(other, check) is not None
    plural = tag != "NNS" or _ending(other) == "s"
    return inflects and plural and (tag not in ("VBD", "VBN") or _ending(other) == "ed")


def _ending(word: str) -> str:
    """The ending that tells a word's form."""
    return next(
        (e for e in ("ing", "ed", "ly", "est", "er") if word.endswith(e)),
        "s" if word.endswith("s") and not word.endswith("ss") else "",
    )


PERTURBATIONS = (
    Perturbation("empty_text", "baseline", "empty", "base", 32, empty_text),
    Perturbation("unrelated_text", "baseline", "different", "base", 33, unrelated_text),
    Perturbation("shuffled_words", "baseline", "unintelligible", "base", 34, shuffled_words),
    Perturbation("adjectives_by_synonyms", "robustness", "adjective replacement", "none", None, adjectives_by_synonyms),
    Perturbation("adjectives_by_antonyms", "robustness", "adjective replacement", "critical", None, adjectives_by_antonyms),
    Perturbation("words_by_token", "robustness", "random word replacement", "critical", None, words_by_token),
    Perturbation("words_by_similar", "robustness", "text transformation", "minor", None, words_by_similar),
)
