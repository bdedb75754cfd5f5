"""The lower bounds, such as no text or another text (DEMETR 32 to 34), and the perturbations of RoMe's robustness (RoMe 4.7)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rome.data.perturbations.words import exchanged, has_safe_antonym, open_words

from .perturbation import Change, NotApplicable, Outcome, Parse, capitalised, perturbation

DRAWS = 12


@perturbation("baseline", "empty", "base", 32)
def empty_text(parse: Parse) -> Outcome:
    """Leave nothing but a full stop, as published: most metrics refuse an empty text."""
    if not parse.text:
        return NotApplicable("the text is empty")
    return parse.finish([(0, len(parse.text), ".")], "the text is empty already")


@perturbation("baseline", "different", "base", 33)
def unrelated_text(parse: Parse) -> Outcome:
    """Replace the text by another one of about its length that shares few of its words."""
    if not parse.text or not parse.materials.texts:
        return NotApplicable("no other text to put in its place")
    own = set(re.findall(r"\w+", parse.text.lower()))
    drawn = [parse.materials.texts[parse.rng.randrange(len(parse.materials.texts))] for _ in range(DRAWS)]
    others = [text for text in drawn if text.strip() and set(re.findall(r"\w+", text.lower())) != own]
    others = [text for text in others if 0.5 <= len(text) / len(parse.text) <= 2] or others
    if not others:
        return NotApplicable("no other text to put in its place")
    best = min(others, key=lambda text: _shared(own, set(re.findall(r"\w+", text.lower()))))
    return parse.finish([(0, len(parse.text), best)], "no other text to put in its place")


def _shared(own: set[str], other: set[str]) -> float:
    """Return the share of the other text's words that are in the text too."""
    return len(own & other) / max(len(other), 1)


@perturbation("baseline", "unintelligible", "base", 34)
def shuffled_words(parse: Parse) -> Outcome:
    """Put all words into another order; the capital and the final mark stay in their places."""
    body = re.fullmatch(r"\s*(.*?)([.!?…]+[\"'”’)]*)?\s*", parse.text, re.DOTALL)
    words = body.group(1).split() if body else []
    if body is None or len(words) < 3:
        return NotApplicable("fewer than three words")
    first, capital = parse.words[0], words[0][:1].isupper()
    named = first.upos == "PROPN" or first.text == "I"
    loose = words if named else [words[0][:1].lower() + words[0][1:], *words[1:]]
    for _ in range(DRAWS):
        mixed = " ".join(parse.rng.sample(loose, len(loose)))
        if mixed != " ".join(loose):
            return parse.finish([(*body.span(1), capitalised(mixed) if capital else mixed)], "its words are all the same")
    return NotApplicable("its words are all the same")


TOKEN = "AAA"
LIGHT_WORDS = frozenset("be have do go get make take give know year time many much more other own such same".split())
NEGATIVE_PREFIXES = ("un", "in", "im", "dis", "non", "mis")
CONTENT_CLASSES = ("NOUN", "VERB", "ADJ", "ADV", "PROPN", "NUM")


@perturbation("robustness", "adjective replacement", "none")
def adjectives_by_synonyms(parse: Parse) -> Outcome:
    """Replace every adjective that has a known synonym; the meaning is kept (RoMe 4.7, case 2)."""
    return _adjectives(parse, parse.materials.synonyms, "no adjective with a known synonym")


@perturbation("robustness", "adjective replacement", "critical")
def adjectives_by_antonyms(parse: Parse) -> Outcome:
    """Replace every adjective that has a known antonym; the meaning is reversed (RoMe 4.7, case 2)."""
    return _adjectives(parse, parse.materials.antonyms, "no adjective with a known antonym")


def _adjectives(parse: Parse, words: Mapping[str, Sequence[str]], reason: str) -> Outcome:
    safe = [n for n in open_words(parse, ("ADJ",)) if has_safe_antonym(parse, n)]
    results = [n for n in safe if parse.relates(n, "amod", "root", "conj", "xcomp")]
    changes = [change for n in results for change in exchanged(parse, n, words.get(parse.lemma(n), ())) or ()]
    return parse.finish(changes, reason)


@perturbation("robustness", "random word replacement", "critical")
def words_by_token(parse: Parse) -> Outcome:
    """Replace two content words, neighbours if possible, by AAA; function words stay (RoMe 4.7, case 3)."""
    content = [n for n, word in enumerate(parse.words) if word.upos in CONTENT_CLASSES and parse.has_own_span(n)]
    words = [n for n in content if parse.form(n).isalnum() and parse.form(n) != TOKEN]
    pairs = [(a, b) for a, b in zip(words, words[1:], strict=False) if b == a + 1] or list(zip(words, words[1:], strict=False))

    def make(pair: tuple[int, int]) -> list[Change]:
        return [(parse.words[n].start, parse.words[n].end, TOKEN) for n in pair]

    return parse.choose(pairs, make, "fewer than two content words")


@perturbation("robustness", "text transformation", "minor")
def words_by_similar(parse: Parse) -> Outcome:
    """Replace two content words by similar ones in the same form, none of them an antonym (RoMe 4.7, case 4)."""
    reason = "fewer than two words with a similar word"
    options = {n: words for n in range(len(parse.words)) for words in (_similar(parse, n),) if words}
    if len(options) < 2:
        return NotApplicable(reason)
    changes: list[Change] = []
    for n in sorted(parse.rng.sample(sorted(options), 2)):
        changes += parse.put(n, parse.rng.choice(options[n][:2]))
    return parse.finish(changes, reason)


def _similar(parse: Parse, n: int) -> list[str]:
    """Return similar words that can replace a word: of another stem, in the same form, no antonym; none for light words."""
    low, lemma, tag = parse.low(n), parse.lemma(n), parse.tag(n)
    content = parse.matches(n, pos="NOUN VERB ADJ") or parse.pos(n) == "ADV" and low.endswith("ly")
    light = lemma in LIGHT_WORDS or tag in ("JJR", "JJS") or tag.startswith("NNP") or parse.in_title_case(n)
    if not content or light or not parse.stands_alone(n):
        return []
    negated = {prefix + low for prefix in NEGATIVE_PREFIXES} | {low.removeprefix(prefix) for prefix in NEGATIVE_PREFIXES}
    barred = negated | set(parse.materials.antonyms.get(lemma, ())) | {low, lemma}
    others = [other for other in parse.materials.similar.get(low, ()) if other.isalpha() and other not in barred]
    others = [other for other in others if _ending(other) == _ending(low) and other[:4] != low[:4]]
    return [other for other in others if _inflects_alike(parse, tag, lemma, other)]


def _inflects_alike(parse: Parse, tag: str, lemma: str, other: str) -> bool:
    """Return whether another word has the forms that the lemma of a base form has: a plural, a form in -ing."""
    form = {"NN": "NNS", "VB": "VBG", "VBP": "VBG"}.get(tag)
    return form is None or parse.inflect(lemma, form) is None or parse.inflect(other, form) not in (None, lemma)


def _ending(word: str) -> str:
    """Return the ending that shows the form of a word."""
    plural = "s" if word.endswith("s") and not word.endswith("ss") else ""
    return next((ending for ending in ("ing", "ed", "ly", "est", "er") if word.endswith(ending)), plural)
