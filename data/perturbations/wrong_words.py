"""Operations that put a wrong form of the right word, another word, or a misspelt one: agreement, tense, number, case, degree, article, spelling."""

from __future__ import annotations

import random
from dataclasses import replace

from rome.data.perturbations.lexicons import alternatives, replacements, word_sequence
from rome.data.perturbations.treebank_lexicon import Token, TreebankLexicon

BE = replacements("wrong_words.be")
DEMONSTRATIVES = replacements("wrong_words.demonstratives")
PRONOUNS = replacements("wrong_words.pronouns")
POSSESSIVES = {"my": "me", "his": "him", "their": "they", "our": "us", "your": "you", "its": "it's", "her": "she"}
REFLEXIVES = ("myself", "yourself", "himself", "herself", "itself", "ourselves", "themselves")
CONFUSED = replacements("wrong_words.confused")
SINGULAR = frozenset("a an this that each every another one".split())
PLURAL = frozenset("these those many several few both two three four five six ten various all".split())
WRONG_FORMS = alternatives("wrong_words.wrong_forms")


def _one(tokens: list[Token], rng: random.Random, options: list[tuple[int, str, str]]) -> list[Token] | None:
    """Carry out one of the options (place, new word, new tag); None when there is none."""
    if not options:
        return None
    place, text, tag = rng.choice(options)
    if tokens[place].text[0].isupper() and place == 0:
        text = text[0].upper() + text[1:]
    return [*tokens[:place], tokens[place].put(text, tag), *tokens[place + 1 :]]


def _listed(table: dict[str, str], tokens: list[Token], tags: tuple[str, ...] = ()) -> list[tuple[int, str, str]]:
    found = [(i, table.get(token.text.lower()), token.tag) for i, token in enumerate(tokens) if not tags or token.tag in tags]
    return [(i, new, tag) for i, new, tag in found if new]


def agreement(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A finite verb that does not agree with its subject: *she go*, *they is*."""
    options = []
    for i, new, tag in _listed(BE, tokens, ("VBZ", "VBP", "VBD")):
        if not (new == "were" and any(t.text.lower() in ("if", "wish") for t in tokens)):
            options.append((i, new, tag))
    for i, token in enumerate(tokens):
        if token.tag in ("VBZ", "VBP") and token.text.lower() not in BE:
            other = "VBP" if token.tag == "VBZ" else "VBZ"
            form = lexicon.inflect(token.text, token.tag, other)
            if form:
                options.append((i, form, other))
    return _one(tokens, rng, options)


def number(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A noun whose number does not fit its determiner or its verb: *two dog*, *a dogs*, *the dogs is*."""
    options = []
    for i, token in enumerate(tokens):
        before = tokens[i - 1].text.lower() if i else ""
        after = tokens[i + 1] if i + 1 < len(tokens) else Token("")
        counted = i > 0 and tokens[i - 1].tag == "CD"
        finite = after.tag in ("VBZ", "VBP") or after.text.lower() in ("was", "were")
        if token.tag == "NN" and (before in SINGULAR or finite):
            options.append((i, lexicon.inflect(token.text, "NN", "NNS"), "NNS"))
        elif token.tag == "NNS" and (before in PLURAL or (counted and before not in ("one", "1")) or finite):
            options.append((i, lexicon.inflect(token.text, "NNS", "NN"), "NN"))
    return _one(tokens, rng, [(i, form, tag) for i, form, tag in options if form])


def verb_form(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A verb in a form that its place does not allow: *can goes*, *has go*, *he going home*."""
    options = []
    for i, token in enumerate(tokens):
        for tag in WRONG_FORMS.get(token.tag, ()):
            form = lexicon.inflect(token.text, token.tag, tag)
            if form and form != lexicon.inflect(token.text, token.tag, "VBD" if token.tag == "VBN" else "VBN"):
                options.append((i, form, tag))
    return _one(tokens, rng, options)


def tense(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A finite verb in the other tense; often still grammatical."""
    options = []
    for i, token in enumerate(tokens):
        for tag in {"VBD": ("VBZ", "VBP"), "VBZ": ("VBD",), "VBP": ("VBD",)}.get(token.tag, ()):
            form = lexicon.inflect(token.text, token.tag, tag)
            if form:
                options.append((i, form, tag))
    return _one(tokens, rng, options)


def determiner(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A determiner that its noun does not allow: *these dog*, *much friends*, *an dog*."""
    options = []
    for i, new, tag in _listed(DEMONSTRATIVES, tokens, ("DT", "JJ", "PDT")):
        if i + 1 < len(tokens) and tokens[i + 1].tag in ("NN", "NNS", "JJ", "NNP"):
            options.append((i, new, tag))
    options += _listed({"a": "an", "an": "a"}, tokens, ("DT",))
    plain = [i for i, t in enumerate(tokens[:-1]) if t.tag == "DT" and tokens[i + 1].tag == "NNS"]
    options += [(i, rng.choice(("a", "each", "every", "this")), "DT") for i in plain]
    return _one(tokens, rng, options)


def pronoun(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A pronoun in the wrong case, or a reflexive without an antecedent: *him left*, *herself was asked*."""
    options = _listed(PRONOUNS, tokens, ("PRP",)) + _listed(POSSESSIVES, tokens, ("PRP$",))
    for i, token in enumerate(tokens):
        lower = token.text.lower()
        if lower in REFLEXIVES:
            options.append((i, rng.choice([word for word in REFLEXIVES if word != lower]), "PRP"))
        elif lower in PRONOUNS and i == 0:
            options.append((i, rng.choice(REFLEXIVES), "PRP"))
    return _one(tokens, rng, options)


def confusion(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A function word taken for one that looks or works alike: *there house*, *bigger then*, *the man which*."""
    return _one(tokens, rng, _listed(CONFUSED, tokens))


def degree(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A wrong comparison: *more better*, *most biggest*, *big than*, *the more big*."""
    for i, token in sorted(enumerate(tokens), key=lambda _: rng.random()):
        if token.tag in ("JJR", "JJS") and token.text.lower() not in ("more", "most", "less", "least"):
            if rng.random() < 0.6:
                more = Token("more" if token.tag == "JJR" else "most", wrong=True)
                return [*tokens[:i], more, token.doubt(), *tokens[i + 1 :]]
            base = lexicon.inflect(token.text, token.tag, "JJ")
            if base:
                return [*tokens[:i], token.put(base, "JJ"), *tokens[i + 1 :]]
        if token.tag == "JJ" and token.text.lower() not in ("other", "such", "own", "same"):
            form = lexicon.inflect(token.text, "JJ", rng.choice(("JJR", "JJS")))
            if form and i and tokens[i - 1].tag in ("DT", "RB"):
                return [*tokens[:i], Token("more", wrong=True), token.put(form, "JJR"), *tokens[i + 1 :]]
    return None


def adverb(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """An adjective for an adverb or the other way round: *sings beautiful*, *a quickly dog*."""
    options = []
    for i, token in enumerate(tokens):
        lower = token.text.lower()
        if token.tag == "RB" and lower.endswith("ly") and "JJ" in lexicon.tags.get(lower[:-2], {}):
            options.append((i, lower[:-2], "JJ"))
        elif token.tag == "JJ" and "RB" in lexicon.tags.get(lower + "ly", {}):
            options.append((i, lower + "ly", "RB"))
    return _one(tokens, rng, options)


FORMS = {one.__name__: one for one in (agreement, number, verb_form, tense, determiner, pronoun, confusion, degree, adverb)}


CONTENT = ("NN", "NNS", "JJ", "VB", "VBD", "VBZ", "VBP", "VBN", "VBG", "RB", "NNP")
DRAWN = ("NN", "NNS", "JJ", "VB", "VBD", "VBZ", "VBG", "RB", "IN", "DT", "PRP", "CC", "WRB", "MD")
PREPOSITIONS = word_sequence("wrong_words.prepositions")
PARTICLES = ("up", "out", "off", "down", "on", "in", "over", "away", "back")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _places(tokens: list[Token], tags: tuple[str, ...] = ()) -> list[int]:
    return [i for i, token in enumerate(tokens) if token.text[0].isalpha() and (not tags or token.tag in tags)]


def _put(tokens: list[Token], place: int, word: str | None, tag: str) -> list[Token] | None:
    if not word or word.lower() == tokens[place].text.lower():
        return None
    return [*tokens[:place], tokens[place].put(word, tag), *tokens[place + 1 :]]


def wrong_preposition(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """Another preposition or particle: *depends of*, *picked down*."""
    places = [i for i in _places(tokens, ("IN", "RP", "TO")) if tokens[i].text.lower() in PREPOSITIONS + PARTICLES]
    if not places:
        return None
    place = rng.choice(places)
    return _put(tokens, place, rng.choice(PARTICLES if tokens[place].tag == "RP" else PREPOSITIONS), tokens[place].tag)


def other_class(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A word of another word class: *the quickly of the*."""
    places = _places(tokens)
    if not places:
        return None
    place = rng.choice(places)
    tag = rng.choice([tag for tag in DRAWN if tag[:2] != tokens[place].tag[:2]])
    return _put(tokens, place, lexicon.draw(tag, rng), tag)


def same_class(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """Another word with the same tag: grammatical more often than not, seldom what was meant."""
    places = _places(tokens, CONTENT)
    if not places:
        return None
    place = rng.choice(places)
    return _put(tokens, place, lexicon.draw(tokens[place].tag, rng), tokens[place].tag)


def neighbour_word(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """One to three words, each replaced by one that was seen beside its neighbours."""
    places = [i for i in _places(tokens) if 0 < i < len(tokens) - 1]
    if not places:
        return None
    new = list(tokens)
    for place in rng.sample(places, min(len(places), rng.choice((1, 1, 2, 3)))):
        word = lexicon.draw_between(tokens[place - 1].text, tokens[place + 1].text, rng)
        if word and word[0].isalnum() and word != tokens[place].text.lower():
            new[place] = tokens[place].put(word)
    return new if any(token.wrong for token in new) else None


def text_word(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A word of the same text stands a second time, in the place of a word of another class."""
    places = _places(tokens)
    pairs = [(i, j) for i in places for j in places if abs(i - j) > 1 and tokens[i].tag[:2] != tokens[j].tag[:2]]
    if not pairs:
        return None
    place, source = rng.choice(pairs)
    return _put(tokens, place, tokens[source].text, tokens[source].tag)


def misspelt(word: str, rng: random.Random) -> str:
    """The word with one letter dropped, doubled, exchanged for another, or two neighbours swapped; at least three letters."""
    i = rng.randrange(1, len(word))
    kind = rng.randrange(4)
    if kind == 0:
        return word[:i] + word[i + 1 :]
    if kind == 1:
        return word[:i] + word[i] + word[i:]
    if kind == 2:
        return word[:i] + rng.choice(LETTERS) + word[i + 1 :]
    return word[: i - 1] + word[i] + word[i - 1] + word[i + 1 :]


def misspelling(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A word with a wrong letter; never one that is a word itself."""
    places = [i for i in _places(tokens) if len(tokens[i].text) > 3 and tokens[i].tag not in ("NNP", "NNPS")]
    if not places:
        return None
    place = rng.choice(places)
    word = misspelt(tokens[place].text, rng)
    return None if word.lower() in lexicon.tags else _put(tokens, place, word, tokens[place].tag)


def split_word(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A word broken in two: *im possible*."""
    places = [i for i in _places(tokens) if len(tokens[i].text) > 5]
    if not places:
        return None
    place = rng.choice(places)
    word = tokens[place].text
    cut = rng.randrange(2, len(word) - 1)
    parts = [replace(tokens[place].put(word[:cut]), space=True), tokens[place].put(word[cut:])]
    return [*tokens[:place], *parts, *tokens[place + 1 :]]


OTHER_WORDS = {
    one.__name__: one
    for one in (wrong_preposition, other_class, same_class, neighbour_word, text_word, misspelling, split_word)
}
