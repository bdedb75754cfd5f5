"""The same text in other words: synonyms that fit nearly everywhere, and other function words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from .lexicons import alternatives, names_of, replacements, table, word_sequence, word_set
from .notation import longest, matches, several, word_at
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


@perturbation("robustness", "function words", "none")
def function_words_reworded(parse: Parse) -> Outcome:
    """Function words exchanged, dropped or put in without another meaning: *also*, *that*, *Maria's brother*, *no money*."""
    spots = [*_patterns(parse), *_also(parse), *_complement_that(parse), *_relatives(parse)]
    spots += [*_of_persons(parse), *_no_objects(parse)]
    return several(parse, longest(spots), "no function word that can be another")


def _patterns(parse: Parse) -> Iterator[Change]:
    """Exchanges that need no parse."""
    for pattern, forms in alternatives("rewording.phrases").items():
        for match in re.finditer(pattern, parse.text, re.I):
            seldom = forms == ("in the year ",)
            if match.group()[1:] != match.group()[1:].lower() or seldom and parse.rng.random() < 0.7:
                continue
            if forms:
                yield (*match.span(), in_case_of(parse.rng.choice(forms), match.group()))
            elif match.group(1).lower() == "can":
                subject = next((s for n in range(len(parse.words)) if (s := parse.child(n, "nsubj:pass")) is not None), -1)
                plural = parse.matches(subject, tag="NNS NNPS") or parse.low(subject) == "they"
                if subject >= 0 and not parse.reads(subject, "that which"):
                    yield (*match.span(), "are found " if plural else "is found ")
    for old, new in replacements("rewording.double_negations").items():
        yield from matches(parse, rf"\b{old}\b", new)


def _also(parse: Parse) -> Iterator[Change]:
    """*too* or *as well* at the end of a clause exchanged; the former for the latter."""
    for match in re.finditer(r",? too(?=[.!;]|$)|,? as well(?=[.!;]|$)", parse.text):
        if not re.search(r"(?:\bme|\byou|\bas|\bjust)$", parse.text[: match.start()]):
            yield (*match.span(), " as well" if match.group().endswith("too") else " too")


def _complement_that(parse: Parse) -> Iterator[Change]:
    """*that* after a verb of saying or thinking dropped, or put in right before the subject of the clause."""
    for n, word in enumerate(parse.words):
        clause = parse.child(n, "ccomp")
        if clause is None or parse.lemma(n) not in word_set("rewording.saying") or word.upos != "VERB" or clause < n:
            continue
        first, subject = parse.subtree(clause)[0], parse.subject(clause)
        if first != n + 1 or subject is None or parse.head(subject) != clause or subject > clause:
            continue
        lead, start, that = parse.words[first], parse.subtree(subject)[0], parse.form(first) == "that"
        if that and lead.relation == "mark" and start == first + 1 and not parse.reads(start, "that this"):
            yield lead.start, parse.words[start].start, ""
        elif not that and start == first and parse.text[word.end : lead.start] == " " and parse.matches(first, tag=SUBJECTS):
            yield lead.start, lead.start, "that "


SUBJECTS = "PRP DT PRP$ NNP"


def _relatives(parse: Parse) -> Iterator[Change]:
    """*that* and *which* exchanged in relative clauses that no comma sets apart."""
    for n, word in enumerate(parse.words):
        if n and word.text in ("that", "which") and word.xpos == "WDT" and parse.relates(n, "nsubj", "obj"):
            clause = parse.pos(n - 1) == "NOUN" and parse.relation(word.head) == "acl:relcl" and parse.head(word.head) == n - 1
            person = parse.low(n - 1).endswith(word_sequence("rewording.persons"))
            if clause and not person and parse.text[parse.words[n - 1].end : word.start] == " ":
                yield word.start, word.end, "which" if word.text == "that" else "that"


def _of_persons(parse: Parse) -> Iterator[Change]:
    """*the brother of Maria* <-> *Maria's brother*."""
    kin, name = "|".join(word_sequence("rewording.kin")), r"((?:[A-Z]\w+ )?[A-Z]\w+)"
    given = names_of("male name") | names_of("female name")
    for match in re.finditer(rf"\bthe (({kin})s?) of {name}\b(?! [A-Z]| of\b| and\b|['’,])", parse.text):
        if match.group(3).split()[0] in given:
            yield (*match.span(), f"{match.group(3)}'s {match.group(1)}")
    pattern = rf"(?<![A-Z]\w )(?<!\w[’'])\b{name}['’]s ({kin})\b(?! [a-z]*(?:s|er|ing)\b)(?!['’-])"
    for match in re.finditer(pattern, parse.text):
        longer = re.search(r"(?:[A-Z][\w.]*|\bthe|[A-Z]\.| and) $", parse.text[: match.start()])
        if match.group(1).split()[0] in given and not longer and match.group(2) not in ("house", "book"):
            yield (*match.span(), f"the {match.group(2)} of {match.group(1)}")


def _no_objects(parse: Parse) -> Iterator[Change]:
    """*has no money* <-> *does not have any money*."""
    helpers = {"has": "does", "have": "do", "had": "did"}
    nothing = r"\b(has|have|had) no (?=[a-z]+)(?!one\b|longer\b|more\b|less\b|fewer\b|idea\b|doubt\b|choice\b|other\b)"
    for match in re.finditer(nothing, parse.text):
        place = word_at(parse, match.start())
        if place is not None and parse.matches(place, pos="VERB", tag="VBZ VBP VBD") and not parse.has(place, "aux"):
            subject = parse.subject(place)
            if subject is not None and subject < place and parse.relation(place) != "conj":
                yield (*match.span(), f"{helpers[match.group(1)]} not have any ")
    back = {do: have for have, do in helpers.items()}
    for match in re.finditer(r"\b(does|do|did)(?: not|n['’]t) have any (?=[a-z])", parse.text):
        place = word_at(parse, match.start())
        subject = parse.subject(parse.head(place)) if place is not None and parse.head(place) >= 0 else None
        if place is not None and subject is not None and subject < place:
            yield (*match.span(), f"{back[match.group(1)]} no ")
