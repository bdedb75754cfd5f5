"""The same text in other words: synonyms that fit nearly everywhere, and other function words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from .lexicons import alternatives, names_of, replacements, table, word_sequence, word_set
from .notation import longest, several, word_at
from .perturbation import OPEN_CLASSES, Change, Materials, Outcome, Parse, in_case_of, of_relation, perturbation

TAGS = ("NN", "NNS", "VB", "VBP", "VBZ", "VBD", "VBN", "VBG", "JJ", "RB")
LONGEST = 7
"""Words of a listed phrase, at most."""
SAYING = word_sequence("rewording.saying")
DOUBLE_NEGATIONS = replacements("rewording.double_negations")
PHRASES = alternatives("rewording.phrases").items()


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
    before, after = parse.text[:start].rstrip().lower(), parse.text[end : end + 12]
    if before.endswith(("-", "n't", " not", " no")) or after[:1] == "-":
        return False
    governs = old.split()[-1] in ("of", "to", "with", "for", "in", "by", "as", "on", "at", "the") or old in (
        "despite",
        "besides",
        "near",
    )
    if governs and not re.match(r" [\w\"“‘'(]", after):
        return False
    if old.endswith(" to") and old.split()[0] in word_set("rewording.not_reworded_with_to"):
        place = word_at(parse, end + 1)
        return place is not None and parse.tag(place) == "VB"
    if old in ("such as", "as well as") and before.endswith(("exactly", "quite", "just")):
        return False
    if old.endswith("ly") and " " not in old and not _at_edge(parse, end):
        return False
    place = word_at(parse, start)
    return place is None or not (old in ("although", "even though", "before") and re.match(r",", after))


def _at_edge(parse: Parse, end: int) -> bool:
    """Whether an adverb of several words can stand here: a comma or the end of the clause follows."""
    return re.match(r"[.,;!?]|$", parse.text[end:]) is not None


def _listed_words(parse: Parse) -> Iterator[Change]:
    """Single words of the open classes, in the form of the old one; a particle goes behind a pronoun that is its object."""
    for n, word in enumerate(parse.words):
        known = word.upos in OPEN_CLASSES and word.xpos in TAGS and parse.stands_alone(n) and not parse.in_title_case(n)
        options = _lexicon(word.upos).get(word.lemma.lower(), ()) if known else ()
        if not options or word.text.isupper() or not _stands_free(parse, n):
            continue
        phrase = parse.rng.choice(options)
        first, _, rest = phrase.partition(" ")
        if word.upos == "ADV" and " " in phrase and not _at_edge(parse, word.end):
            continue
        if word.upos == "VERB":
            form = _verb_form(first, word.xpos, parse.materials)
            change = _with_particle(parse, n, form, rest) if form else None
        else:
            form = _nominal_form(phrase, word.xpos, parse.materials)
            change = (word.start, word.end, in_case_of(form, word.text)) if form else None
        if change and change[2].lower() != word.text.lower():
            yield change


def _stands_free(parse: Parse, n: int) -> bool:
    """Whether the word is no part of a compound, a fixed expression, a phrasal verb or a comparison."""
    word = parse.words[n]
    if (
        of_relation(word, "fixed", "compound", "flat", "aux", "cop", "mark", "case")
        or parse.child(n, "fixed", "compound:prt", "flat", "goeswith") is not None
    ):
        return False
    if word.upos == "NOUN":
        return parse.child(n, "compound") is None
    if word.upos == "ADJ":
        below = [parse.low(m) for m in parse.children(n)]
        measured = any(parse.relates(m, "obl", "nmod", "xcomp", "ccomp", "advcl") for m in parse.children(n))
        graded = set(below) & {"as", "so", "too", "more", "most", "less", "how", "enough", "very", "that", "than", "much"}
        return not (measured or graded) and of_relation(word, "amod", "root", "conj", "xcomp", "ccomp")
    if word.upos == "ADV":
        below = [parse.low(m) for m in parse.children(n)]
        return not below and of_relation(word, "advmod")
    near = [parse.low(m) for m in range(n + 1, min(n + 2, len(parse.words)))]
    preposition = near and near[0] in word_set("rewording.particles")
    return word.relation in ("root", "conj", "ccomp", "advcl", "xcomp", "acl:relcl", "acl", "parataxis") and not preposition


def _verb_form(lemma: str, tag: str, materials: Materials) -> str | None:
    """The lemma under a verb's tag."""
    return lemma if tag in ("VB", "VBP") else materials.inflect(lemma, tag) if tag.startswith("VB") else None


def _nominal_form(phrase: str, tag: str, materials: Materials) -> str | None:
    """The phrase under a noun's, adjective's or adverb's tag; its last word takes the plural."""
    if tag != "NNS":
        return phrase if tag in ("NN", "JJ", "RB") else None
    before, _, last = phrase.rpartition(" ")
    plural = materials.inflect(last, "NNS")
    return f"{before} {plural}".strip() if plural and not phrase.startswith(("point of", "brother or")) else None


def _with_particle(parse: Parse, n: int, form: str, rest: str) -> Change | None:
    """A verb with the rest of its phrase: a particle follows a pronoun, a phrase with a preposition needs an object after it."""
    word, target = parse.words[n], parse.child(n, "obj", "nsubj:pass")
    if not rest:
        return word.start, word.end, in_case_of(form, word.text)
    relation = parse.relation(target) if target is not None else ""
    particle = rest in ("up", "down", "out", "off", "over", "away", "in", "back", "together", "apart")
    if relation == "nsubj:pass" or word.xpos == "VBN" and word.relation == "acl":
        return (word.start, word.end, in_case_of(f"{form} {rest}", word.text)) if particle else None
    if target is not None and target == n + 1 and parse.tag(target) == "PRP" and particle:
        return word.start, parse.words[target].end, in_case_of(f"{form} {parse.words[target].text} {rest}", word.text)
    return word.start, word.end, in_case_of(f"{form} {rest}", word.text)


@perturbation("robustness", "function words", "none")
def function_words_reworded(parse: Parse) -> Outcome:
    """Function words exchanged, dropped or put in without another meaning: *also*, *that*, *Maria's brother*, *no money*."""
    spots = [*_patterns(parse), *_also(parse), *_complement_that(parse), *_relatives(parse)]
    spots += [*_of_persons(parse), *_no_objects(parse)]
    return several(parse, longest(spots), "no function word that can be another")


def _patterns(parse: Parse) -> Iterator[Change]:
    """Exchanges that need no parse."""
    for pattern, forms in PHRASES:
        for match in re.finditer(pattern, parse.text, re.I):
            if match.group()[1:] != match.group()[1:].lower():
                continue
            if forms == ("in the year ",) and parse.rng.random() < 0.7:
                continue
            if forms:
                yield match.start(), match.end(), in_case_of(parse.rng.choice(forms), match.group())
            elif match.group(1).lower() == "can":
                subject = next(
                    (parse.words[s] for n in range(len(parse.words)) for s in [parse.child(n, "nsubj:pass")] if s is not None),
                    None,
                )
                if subject is not None and subject.text.lower() not in ("that", "which"):
                    yield (
                        match.start(),
                        match.end(),
                        "are found " if subject.xpos in ("NNS", "NNPS") or subject.text.lower() == "they" else "is found ",
                    )
    for old, new in DOUBLE_NEGATIONS.items():
        for match in re.finditer(rf"\b{old}\b", parse.text):
            yield match.start(), match.end(), new


def _also(parse: Parse) -> Iterator[Change]:
    """*too* or *as well* at the end of a clause exchanged; the former for the latter."""
    for match in re.finditer(r",? too(?=[.!;]|$)|,? as well(?=[.!;]|$)", parse.text):
        before = parse.text[: match.start()]
        if re.search(r"(?:\bme|\byou|\bas|\bjust)$", before):
            continue
        yield match.start(), match.end(), " as well" if match.group().endswith("too") else " too"


def _complement_that(parse: Parse) -> Iterator[Change]:
    """*that* after a verb of saying or thinking dropped, or put in right before the subject of the clause."""
    for n, word in enumerate(parse.words):
        clause = parse.child(n, "ccomp")
        if clause is None or word.lemma.lower() not in SAYING or word.upos != "VERB" or clause < n:
            continue
        phrase = parse.subtree(clause)
        first, subject = phrase[0], parse.subject(clause)
        lead = parse.words[first]
        if first != n + 1 or subject is None or parse.words[subject].head != clause or subject > clause:
            continue
        start = parse.subtree(subject)[0]
        if lead.text == "that" and lead.relation == "mark" and start == first + 1 and parse.low(start) not in ("that", "this"):
            yield lead.start, parse.words[start].start, ""
        elif (
            start == first
            and parse.text[word.end : lead.start] == " "
            and lead.xpos in ("PRP", "DT", "PRP$", "NNP")
            and lead.text != "that"
        ):
            yield lead.start, lead.start, "that "


def _relatives(parse: Parse) -> Iterator[Change]:
    """*that* and *which* exchanged in relative clauses that no comma sets apart."""
    for n, word in enumerate(parse.words):
        if n < 1 or word.text not in ("that", "which") or word.xpos != "WDT" or not of_relation(word, "nsubj", "obj"):
            continue
        before = parse.words[n - 1]
        thing = before.upos == "NOUN" and parse.relation(word.head) == "acl:relcl" and parse.words[word.head].head == n - 1
        if (
            thing
            and parse.text[before.end : word.start] == " "
            and not before.text.lower().endswith(
                ("er", "ers", "ist", "ists", "man", "men", "people", "woman", "women", "children", "child")
            )
        ):
            yield word.start, word.end, "which" if word.text == "that" else "that"


def _of_persons(parse: Parse) -> Iterator[Change]:
    """*the brother of Maria* <-> *Maria's brother*."""
    kin = "brother|sister|father|mother|son|daughter|wife|husband|friend|house|parents|book|death|birth|grandson|widow|uncle|nephew|cousin"
    given = names_of("male name") | names_of("female name")
    for match in re.finditer(rf"\bthe ({kin})s? of ((?:[A-Z]\w+ )?[A-Z]\w+)\b(?! [A-Z]| of\b| and\b|['’,])", parse.text):
        if match.group(2).split()[0] in given:
            relative = match.group()[4:].partition(" of ")[0]
            yield match.start(), match.end(), f"{match.group(2)}'s {relative}"
    for match in re.finditer(
        rf"(?<![A-Z]\w )(?<!\w[’'])\b((?:[A-Z]\w+ )?[A-Z]\w+)['’]s ({kin})\b(?! [a-z]*(?:s|er|ing)\b)(?!['’-])", parse.text
    ):
        single = match.group(1).split()[0] in given and not re.search(
            r"(?:[A-Z][\w.]*|\bthe|[A-Z]\.| and) $", parse.text[: match.start()]
        )
        if single and match.group(2) not in ("house", "book"):
            yield match.start(), match.end(), f"the {match.group(2)} of {match.group(1)}"


def _no_objects(parse: Parse) -> Iterator[Change]:
    """*has no money* <-> *does not have any money*."""
    helpers = {"has": "does not have", "have": "do not have", "had": "did not have"}
    for match in re.finditer(
        r"\b(has|have|had) no (?=[a-z]+)(?!one\b|longer\b|more\b|less\b|fewer\b|idea\b|doubt\b|choice\b|other\b)", parse.text
    ):
        place = word_at(parse, match.start())
        word = parse.words[place] if place is not None else None
        if (
            place is None
            or word is None
            or word.upos != "VERB"
            or parse.child(place, "aux") is not None
            or word.xpos not in ("VBZ", "VBP", "VBD")
        ):
            continue
        subject = parse.subject(place)
        if subject is not None and subject < place and word.relation != "conj":
            yield match.start(), match.end(), f"{helpers[match.group(1)]} any "
    back = {"does": "has no", "do": "have no", "did": "had no"}
    for match in re.finditer(r"\b(does|do|did)(?: not|n['’]t) have any (?=[a-z])", parse.text):
        place = word_at(parse, match.start())
        subject = parse.subject(parse.words[place].head) if place is not None and parse.words[place].head >= 0 else None
        if place is not None and subject is not None and subject < place:
            yield match.start(), match.end(), f"{back[match.group(1)]} "
