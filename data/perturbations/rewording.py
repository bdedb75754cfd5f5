"""Synonyms that fit nearly everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from .lexicons import table, word_set
from .notation import longest, several, word_at
from .perturbation import OPEN_CLASSES, Change, Outcome, Parse, in_case_of, perturbation

TAGS = ("NN", "NNS", "VB", "VBP", "VBZ", "VBD", "VBN", "VBG", "JJ", "RB")
LONGEST = 7
"""Words of a listed phrase, at most."""


@perturbation("robustness", "synonym", "none")
def synonym_reworded(parse: Parse) -> Outcome:
    """One to three words or phrases become others that say the same: *due to* -> *because of*, *postponed* -> *put off*."""
    spots = [*_listed_phrases(parse), *_listed_words(parse)]
    return several(parse, longest(spots), "no word or phrase with a synonym that fits")


@cache
def _lexicon(kind: str) -> Mapping[str, tuple[str, ...]]:
    """The rows of one word class, or of ``PHRASE``: what is reworded -> what says the same."""
    ending = f"/{kind}"
    return {key.removesuffix(ending): others for key, others in table("rewordings").items() if key.endswith(ending)}


def _listed_phrases(parse: Parse) -> Iterator[Change]:
    """Runs of words that are listed as phrases, the longest at each place."""
    phrases, words = _lexicon("PHRASE"), list(re.finditer(r"[\w'’-]+(?:\.(?=$))?", parse.text))
    for n, first in enumerate(words):
        for last in reversed(words[n : n + LONGEST]):
            old = parse.text[first.start() : last.end()]
            options = phrases.get(old.lower())
            if options and (old[1:] == old[1:].lower()) and _phrase_fits(parse, old.lower(), first.start(), last.end()):
                yield first.start(), last.end(), parse.rng.choice(options)
                break


def _phrase_fits(parse: Parse, old: str, start: int, end: int) -> bool:
    """Whether a phrase is what it looks like: prepositions with what follows, no part of a longer expression."""
    before, after, words = parse.text[:start].rstrip().lower(), parse.text[end : end + 12], old.split()
    if before.endswith(("-", "n't", " not", " no")) or after[:1] == "-":
        return False
    governs = words[-1] in word_set("rewording.governing") or old in ("despite", "besides", "near")
    if governs and not re.match(r" [\w\"“‘'(]", after):
        return False
    if words[-1] == "to" and len(words) > 1 and words[0] in word_set("rewording.not_reworded_with_to"):
        place = word_at(parse, end + 1)
        return place is not None and parse.tag(place) == "VB"
    if old in ("such as", "as well as") and before.endswith(("exactly", "quite", "just")):
        return False
    if old.endswith("ly") and len(words) == 1 and not _at_edge(parse, end):
        return False
    return word_at(parse, start) is None or not (old in ("although", "even though", "before") and after.startswith(","))


def _at_edge(parse: Parse, end: int) -> bool:
    """Whether an adverb of several words can stand here: a comma or the end of the clause follows."""
    return re.match(r"[.,;!?]|$", parse.text[end:]) is not None


def _listed_words(parse: Parse) -> Iterator[Change]:
    """Single words of the open classes, in the form of the old one; a particle goes behind a pronoun that is its object."""
    for n, word in enumerate(parse.words):
        known = word.upos in OPEN_CLASSES and word.xpos in TAGS and parse.stands_alone(n) and not parse.in_title_case(n)
        options = _lexicon(word.upos).get(parse.lemma(n), ()) if known else ()
        if not options or word.text.isupper() or not _stands_free(parse, n):
            continue
        phrase = parse.rng.choice(options)
        if word.upos == "ADV" and " " in phrase and not _at_edge(parse, word.end):
            continue
        form = _form(parse, phrase, word.xpos) if (word.upos == "VERB") == word.xpos.startswith("VB") else None
        change = _with_particle(parse, n, form) if form and word.upos == "VERB" else None
        if form and word.upos != "VERB":
            change = (word.start, word.end, in_case_of(form, word.text))
        if change and change[2].lower() != word.text.lower():
            yield change


def _stands_free(parse: Parse, n: int) -> bool:
    """Whether the word is no part of a compound, a fixed expression, a phrasal verb or a comparison."""
    upos, below = parse.pos(n), parse.children(n)
    if parse.relates(n, *BOUND) or parse.has(n, "fixed", "compound:prt", "flat", "goeswith"):
        return False
    if upos == "NOUN":
        return not parse.has(n, "compound")
    if upos == "ADJ":
        measured = parse.has(n, "obl", "nmod", "xcomp", "ccomp", "advcl")
        graded = any(parse.low(m) in word_set("rewording.graded") for m in below)
        return not (measured or graded) and parse.relates(n, "amod", "root", "conj", "xcomp", "ccomp")
    if upos == "ADV":
        return not below and parse.relates(n, "advmod")
    return parse.relation(n) in CLAUSES and parse.low(n + 1) not in word_set("rewording.particles")


BOUND = ("fixed", "compound", "flat", "aux", "cop", "mark", "case")
CLAUSES = ("root", "conj", "ccomp", "advcl", "xcomp", "acl:relcl", "acl", "parataxis")


def _form(parse: Parse, phrase: str, tag: str) -> str | None:
    """The phrase under a tag: its first word inflected as a verb, its last one with the plural of a noun."""
    first, _, rest = phrase.partition(" ")
    if tag in ("VB", "VBP", "NN", "JJ", "RB"):
        return phrase
    if tag != "NNS":
        form = parse.inflect(first, tag)
        return f"{form} {rest}".strip() if form else None
    before, _, last = phrase.rpartition(" ")
    plural = parse.inflect(last, "NNS")
    return f"{before} {plural}".strip() if plural and not phrase.startswith(("point of", "brother or")) else None


def _with_particle(parse: Parse, n: int, new: str) -> Change | None:
    """A verb with the rest of its phrase: a particle follows a pronoun, a phrase with a preposition needs an object after it."""
    word, target = parse.words[n], parse.child(n, "obj", "nsubj:pass")
    form, _, rest = new.partition(" ")
    relation = parse.relation(target) if target is not None else ""
    particle = rest in word_set("rewording.particle_words")
    if rest and not particle and (relation == "nsubj:pass" or word.xpos == "VBN" and word.relation == "acl"):
        return None
    if particle and target == n + 1 and parse.tag(target) == "PRP" and relation != "nsubj:pass":
        if word.xpos != "VBN" or word.relation != "acl":
            return word.start, parse.words[target].end, in_case_of(f"{form} {parse.form(target)} {rest}", word.text)
    return word.start, word.end, in_case_of(new, word.text)
