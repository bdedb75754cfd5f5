"""The same text in another spelling or with synonyms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from .lexicons import table, word_set
from .perturbation import Change, Outcome, Parse, capitalised, in_case_of, perturbation
from .words import form_of, open_words

ONE_WAY = word_set("rewording.one_way")
"""American spellings that are other words, too: only the British one changes."""


def several(parse: Parse, spots: Iterable[Change], reason: str, most: int = 3) -> Outcome:
    """Make one to ``most`` of the exchanges that are apart from each other, in a drawn order, with their articles put right."""
    order = list(spots)
    parse.rng.shuffle(order)
    wanted, taken = parse.rng.randint(1, most), list[Change]()
    for start, end, new in order:
        changes = parse.replace(start, end, at_start(parse, start, new))
        free = all(one[1] < other[0] or other[1] < one[0] for one in changes for other in taken)
        if wanted and free and parse.text[start:end] != changes[-1][2]:
            taken += changes
            wanted -= 1
    return parse.finish(taken, reason)


def at_start(parse: Parse, start: int, new: str) -> str:
    """Return the new text, capitalised where it starts a sentence that starts with a capital."""
    return capitalised(new) if parse.text[start : start + 1].isupper() and parse.starts_sentence(start) else new


def word_at(parse: Parse, start: int) -> int | None:
    """Return the index of the word that contains a character, or None."""
    return next((n for n, word in enumerate(parse.words) if word.start <= start < word.end), None)


@perturbation("robustness", "spelling variant", "none")
def spelling_variant(parse: Parse) -> Outcome:
    """Exchange British and American spellings: *colour* -> *color*."""
    words = [n for n, word in enumerate(parse.words) if not word.xpos.startswith("NNP") and parse.low(n) in _variants()]
    words = [n for n in words if not parse.in_title_case(n) and parse.stands_alone(n)]
    spots = [change for n in words for change in parse.spelled(n, _variants()[parse.low(n)])]
    return several(parse, spots, "no word with a British and an American spelling", max(len(spots), 1))


@cache
def _variants() -> Mapping[str, str]:
    """Return every form of the listed spellings, both ways: *colour* is listed, *colours*, *coloured* and *colourful* follow."""
    results: dict[str, str] = {}
    for british, (american, *_) in table("spellings").items():
        cut, ends = next((row for ending, row in ENDINGS.items() if british.endswith(ending)), (0, ("", "s")))
        stems = [word[: len(word) - cut] for word in (british, american)]
        for old, new in [(stems[0] + end, stems[1] + end) for end in ends]:
            results.setdefault(old, new)
            if new not in ONE_WAY and american not in ONE_WAY:
                results.setdefault(new, old)
    return results


ENDINGS = {
    "ise": (1, ("e", "es", "ed", "ing", "er", "ers", "ation", "ations")),
    "yse": (1, ("e", "es", "ed", "ing", "er", "ers")),
    "our": (0, ("", *"s ed ing ful fully less able ably er ers ite ites ly".split())),
    **dict.fromkeys(("ed", "ing", "s", "ly", "st"), (0, ("",))),
}
"""Ending of a British spelling -> how many of its letters go, and what follows them in the forms of the word."""


TAGS = ("NN", "NNS", "VB", "VBP", "VBZ", "VBD", "VBN", "VBG", "JJ", "RB")
LONGEST = 7
"""Words of a listed phrase, at most."""


def longest(spots: list[Change]) -> list[Change]:
    """Return the spots that are inside no longer one."""
    return [a for a in spots if not any(b[0] <= a[0] and a[1] <= b[1] and b[1] - b[0] > a[1] - a[0] for b in spots)]


@perturbation("robustness", "synonym", "none")
def synonym_reworded(parse: Parse) -> Outcome:
    """Replace one to three words or phrases by synonyms: *due to* -> *because of*, *postponed* -> *put off*."""
    spots = [*_listed_phrases(parse), *_listed_words(parse)]
    return several(parse, longest(spots), "no word or phrase with a synonym that fits")


@cache
def _lexicon(kind: str) -> Mapping[str, tuple[str, ...]]:
    """Return the rows of one word class, or of ``PHRASE``, with the synonyms of each."""
    ending = f"/{kind}"
    return {key.removesuffix(ending): others for key, others in table("rewordings").items() if key.endswith(ending)}


def _listed_phrases(parse: Parse) -> Iterator[Change]:
    """Yield a synonym of every run of words that is listed as a phrase, the longest at each place."""
    phrases, words = _lexicon("PHRASE"), list(re.finditer(r"[\w'’-]+(?:\.(?=$))?", parse.text))
    for n, first in enumerate(words):
        for last in reversed(words[n : n + LONGEST]):
            old = parse.text[first.start() : last.end()]
            options = phrases.get(old.lower())
            if options and (old[1:] == old[1:].lower()) and _phrase_fits(parse, old.lower(), first.start(), last.end()):
                yield first.start(), last.end(), parse.rng.choice(options)
                break


def _phrase_fits(parse: Parse, old: str, start: int, end: int) -> bool:
    """Return whether a phrase is what it looks like: prepositions with what follows, no part of a longer expression."""
    before, after, words = parse.text[:start].rstrip().lower(), parse.text[end : end + 12], old.split()
    if before.endswith(("-", "n't", " not", " no", "exactly", "quite", "just")) or after[:1] in ("-", ","):
        return False
    governs = words[-1] in word_set("rewording.governing") or old in ("despite", "besides", "near")
    if governs and not re.match(r" [\w\"“‘'(]", after):
        return False
    if words[-1] == "to" and len(words) > 1 and words[0] in word_set("rewording.not_reworded_with_to"):
        place = word_at(parse, end + 1)
        return place is not None and parse.tag(place) == "VB"
    return not old.endswith("ly") or len(words) > 1 or _at_edge(parse, end)


def _at_edge(parse: Parse, end: int) -> bool:
    """Return whether a comma or the end of the clause follows, so that an adverb of several words fits."""
    return re.match(r"[.,;!?]|$", parse.text[end:]) is not None


def _listed_words(parse: Parse) -> Iterator[Change]:
    """Yield single words of the open classes with a synonym in their form."""
    for n in open_words(parse):
        word, listed = parse.words[n], _lexicon(parse.pos(n)).get(parse.lemma(n), ())
        options = [option for option in listed if " " not in option or _takes_phrase(parse, n)]
        if not options or word.xpos not in TAGS or word.text.isupper() or not _stands_free(parse, n):
            continue
        form = form_of(parse.materials, parse.rng.choice(options), word.xpos)
        if form and form.lower() != word.text.lower():
            yield word.start, word.end, in_case_of(form, word.text)


def _takes_phrase(parse: Parse, n: int) -> bool:
    """Return whether several words can replace a word: no plural, no passive, no pronoun that would part the words."""
    if parse.pos(n) == "ADV":
        return _at_edge(parse, parse.words[n].end)
    passive = parse.has(n, "nsubj:pass") or parse.relates(n, "acl")
    return parse.tag(n) != "NNS" and not passive and parse.tag(n + 1) != "PRP"


def _stands_free(parse: Parse, n: int) -> bool:
    """Return whether the word is not part of a compound, a phrasal verb or a comparison."""
    upos, below = parse.pos(n), parse.children(n)
    if upos == "NOUN":
        return not parse.has(n, "compound")
    if upos == "ADJ":
        measured = parse.has(n, "obl", "nmod", "xcomp", "ccomp", "advcl")
        graded = any(parse.low(m) in word_set("rewording.graded") for m in below)
        return not (measured or graded) and parse.relates(n, "amod", "root", "conj", "xcomp", "ccomp")
    if upos == "ADV":
        return not below and parse.relates(n, "advmod")
    return parse.relation(n) in CLAUSES and parse.low(n + 1) not in word_set("rewording.particles")


CLAUSES = ("root", "conj", "ccomp", "advcl", "xcomp", "acl:relcl", "acl", "parataxis")
