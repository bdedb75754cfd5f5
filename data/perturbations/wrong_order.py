"""Operations that take words away, put in too many, or put the right ones in the wrong order."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from rome.data.perturbations.lexicons import replacements, word_set
from rome.data.perturbations.treebank_lexicon import VERB_TAGS, Token, TreebankLexicon

AUXILIARY_FORMS = frozenset("is are was were am be been being has have had does do did 's 're 've".split())
DANGLING = frozenset("DT IN TO CC MD PRP$ WDT".split())
FINITE = frozenset("VBZ VBP VBD MD".split())


def remove(tokens: list[Token], place: int) -> list[Token] | None:
    """Take one word away: the next word is blamed, the one before is doubted; None when nothing would be left to blame."""
    if len(tokens) < 3 or place + 1 >= len(tokens):
        return None
    before = [token.doubt() if i == place - 1 else token for i, token in enumerate(tokens[:place])]
    if before and not tokens[place].space:
        before[-1] = Token(before[-1].text, tokens[place].space or before[-1].space, before[-1].tag, unsure=True)
    return [*before, tokens[place + 1].blame(), *tokens[place + 2 :]]


def _remover(
    fits: Callable[[list[Token], int], bool],
) -> Callable[[list[Token], random.Random, TreebankLexicon], list[Token] | None]:
    def operation(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
        places = [i for i in range(len(tokens) - 1) if fits(tokens, i)]
        return remove(tokens, rng.choice(places)) if places else None

    return operation


def _article(tokens: list[Token], i: int) -> bool:
    ahead = [token.tag for token in tokens[i + 1 : i + 3]]
    return tokens[i].tag in ("DT", "PRP$") and (ahead[:1] == ["NN"] or ahead == ["JJ", "NN"])


def _preposition(tokens: list[Token], i: int) -> bool:
    return tokens[i].tag in ("IN", "TO") and tokens[i].text.lower() not in ("that", "if") and tokens[i + 1].tag != "PUNCT"


def _auxiliary(tokens: list[Token], i: int) -> bool:
    return tokens[i].text.lower() in AUXILIARY_FORMS and tokens[i].tag != "POS" and tokens[i + 1].text.isalnum()


def _subject(tokens: list[Token], i: int) -> bool:
    nouns = ("PRP", "NN", "NNS", "NNP", "EX", "WP")
    return i + 1 < len(tokens) and tokens[i].tag in nouns and tokens[i + 1].tag in FINITE


def _verb(tokens: list[Token], i: int) -> bool:
    return tokens[i].tag in VERB_TAGS and tokens[i].tag != "VBG"


def _noun(tokens: list[Token], i: int) -> bool:
    if i == 0 or tokens[i].tag not in ("NN", "NNS"):
        return False
    return tokens[i - 1].tag in ("DT", "PRP$", "JJ", "IN") and tokens[i + 1].tag != "NN"


def _modal(tokens: list[Token], i: int) -> bool:
    return tokens[i].tag in ("MD", "TO") and tokens[i + 1].tag == "VB"


def _conjunction(tokens: list[Token], i: int) -> bool:
    return tokens[i].tag in ("CC", "WDT", "WP", "WRB") and i > 0


def truncated(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A sentence that stops after a word which needs another one: *He went to the*."""
    places = [i for i in range(2, len(tokens) - 2) if tokens[i].tag in DANGLING]
    if not places:
        return None
    last = rng.choice(places)
    end = [tokens[-1]] if tokens[-1].text in ".!?" and rng.random() < 0.7 else []
    return [*tokens[:last], Token(tokens[last].text, not end, tokens[last].tag, wrong=True), *end]


NEEDED = (_article, _preposition, _auxiliary, _subject, _verb, _noun, _modal, _conjunction)
MISSING = {**{f"missing{fits.__name__}": _remover(fits) for fits in NEEDED}, "truncated": truncated}


DETERMINERS = ("a", "the", "an", "this", "these", "some", "every")
PREPOSITIONS = ("of", "to", "in", "for", "on", "at", "with", "from", "by", "about", "that")
AUXILIARIES = ("is", "are", "was", "did", "does", "has", "have", "be", "been", "will", "do", "to")
PRONOUNS = ("he", "it", "they", "she", "him", "them", "there")
NEGATED = {"any": "no", "anything": "nothing", "anyone": "no one", "anybody": "nobody", "ever": "never", "anywhere": "nowhere"}
POLARITY = replacements("wrong_order.polarity")
NEGATORS = word_set("wrong_order.negators")


def _insert(tokens: list[Token], place: int, text: str) -> list[Token]:
    return [*tokens[:place], Token(text, wrong=True), *tokens[place:]]


def _inside(tokens: list[Token]) -> list[int]:
    """Places before which a word can stand: after white space, or at the start."""
    return [i for i in range(len(tokens)) if (i == 0 or tokens[i - 1].space) and tokens[i].text[0].isalnum()]


def doubled_word(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """One word stands twice; the second one is wrong."""
    fine = ("very", "had", "that")
    places = [i for i, token in enumerate(tokens) if token.text.isalnum() and token.space and token.text.lower() not in fine]
    if not places:
        return None
    place = rng.choice(places)
    return [*tokens[: place + 1], tokens[place].blame(), *tokens[place + 1 :]]


def doubled_phrase(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A phrase of two to six words stands two or four times; its repetitions are wrong."""
    if len(tokens) < 4:
        return None
    length = rng.randint(2, min(6, len(tokens) - 1))
    start = rng.randint(0, len(tokens) - length)
    phrase = tokens[start : start + length]
    spaced = [*phrase[:-1], Token(phrase[-1].text, True, phrase[-1].tag)]
    again = [token.blame() for token in spaced] * rng.choice((1, 1, 3))
    return [*tokens[:start], *spaced, *again, *tokens[start + length :]]


def extra_determiner(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A determiner before a pronoun, a name, another determiner or a verb: *the a dog*, *a she*."""
    fits = ("PRP", "NNP", "DT", "PRP$", "VBZ", "VBD", "VBP", "MD", "IN", "TO", "RB")
    places = [i for i in _inside(tokens) if tokens[i].tag in fits]
    return _insert(tokens, rng.choice(places), rng.choice(DETERMINERS)) if places else None


def extra_preposition(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A preposition where none belongs: *discuss about it*, *to of Paris*."""
    places = [i for i in _inside(tokens) if i]
    return _insert(tokens, rng.choice(places), rng.choice(PREPOSITIONS)) if places else None


def extra_auxiliary(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """An auxiliary too many: *he is goes*, *she did went*."""
    verbs = [i for i in _inside(tokens) if i and tokens[i].tag in ("VBZ", "VBD", "VBP", "MD", "VB")]
    return _insert(tokens, rng.choice(verbs), rng.choice(AUXILIARIES)) if verbs else None


def extra_pronoun(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A pronoun for what was already said: *the man he went*, *the book that I read it*."""
    before, after = ("VBZ", "VBD", "MD"), ("VBD", "VBZ", "VBN")
    places = [i for i in _inside(tokens) if i and (tokens[i].tag in before or tokens[i - 1].tag in after)]
    return _insert(tokens, rng.choice(places), rng.choice(PRONOUNS)) if places else None


def extra_word(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """Any word at any place, drawn by frequency or because it often follows the word before."""
    places = [i for i in _inside(tokens) if i]
    if not places:
        return None
    place = rng.choice(places)
    seen = lexicon.draw_between(tokens[place - 1].text, tokens[place].text, rng) if rng.random() < 0.5 else None
    word = seen or lexicon.draw(rng.choice(("NN", "VBD", "JJ", "IN", "RB", "NNS", "VB", "PRP", "VBZ", "WP")), rng)
    return _insert(tokens, place, word) if word and word[0].isalnum() else None


def negation(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A negation too many, too few, or beside its auxiliary: *didn't see nothing*, *he goes not*, *I have ever*."""
    lower = [token.text.lower() for token in tokens]
    negated = bool(NEGATORS & set(lower))
    table = NEGATED if negated else POLARITY
    places = [i for i, word in enumerate(lower) if word in table]
    if places and rng.random() < 0.8:
        place = rng.choice(places)
        return [*tokens[:place], tokens[place].put(table[lower[place]]), *tokens[place + 1 :]]
    finite = [i for i, t in enumerate(tokens) if t.tag in ("VBZ", "VBD", "VBP") and t.space]
    verbs = [i for i in finite if lower[i] not in ("is", "are", "was", "were", "am")]
    verbs = [i for i in verbs if i + 1 < len(tokens) and tokens[i + 1].tag not in ("VBN", "VB", "VBG", "RB")]
    return _insert(tokens, rng.choice(verbs) + rng.choice((0, 1)), "not") if verbs else None


TOO_MANY = (
    doubled_word,
    doubled_phrase,
    extra_determiner,
    extra_preposition,
    extra_auxiliary,
    extra_pronoun,
    extra_word,
    negation,
)
EXTRA = {one.__name__: one for one in TOO_MANY}


def _movable(token: Token) -> bool:
    return token.text[0].isalnum() and token.tag not in ("POS", "UH")


def _arrange(tokens: list[Token], start: int, words: list[Token]) -> list[Token] | None:
    """Put the words into the places from start on; each place keeps its white space, each word that moved is wrong."""
    places = tokens[start : start + len(words)]
    new = [w if w.text.lower() == p.text.lower() else w.blame() for w, p in zip(words, places, strict=True)]
    if sum(token.wrong for token in new) < 2:
        return None
    spaced = [replace(w, space=p.space) for w, p in zip(new, places, strict=True)]
    return [*tokens[:start], *spaced, *tokens[start + len(words) :]]


def swap_adjacent(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """Two neighbours of different word classes change places: *dog the*."""
    pairs = zip(tokens, tokens[1:], strict=False)
    movable = [(i, a.tag, b.tag) for i, (a, b) in enumerate(pairs) if _movable(a) and _movable(b) and a.space]
    fits = [i for i, first, second in movable if first[:2] != second[:2] and "RB" not in (first, second)]
    if not fits:
        return None
    place = rng.choice(fits)
    return _arrange(tokens, place, [tokens[place + 1], tokens[place]])


def swap_distant(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """Two words of different classes, at least three apart, change places."""
    words = [i for i, token in enumerate(tokens) if _movable(token)]
    pairs = [(i, j) for i in words for j in words if j - i >= 3 and tokens[i].tag[:2] != tokens[j].tag[:2]]
    if not pairs:
        return None
    i, j = rng.choice(pairs)
    return _arrange(tokens, i, [tokens[j], *tokens[i + 1 : j], tokens[i]])


def shuffled_window(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """Three to six neighbouring words in random order."""
    length = min(rng.randint(3, 6), len(tokens) - 1)
    starts = [i for i in range(len(tokens) - length + 1) if all(_movable(token) for token in tokens[i : i + length])]
    if length < 3 or not starts:
        return None
    start = rng.choice(starts)
    window = tokens[start : start + length]
    rng.shuffle(window)
    return _arrange(tokens, start, window)


def shuffled(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """All words but the final mark in random order."""
    if len(tokens) < 5:
        return None
    words = tokens[:-1]
    rng.shuffle(words)
    return _arrange(tokens, 0, words)


def moved_word(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """One word (not an adverb) goes to another place; it alone is wrong there, its old and new neighbours are doubted."""
    fixed = ("RB", "CC")
    words = [i for i, t in enumerate(tokens) if _movable(t) and t.tag not in fixed and (i == 0 or tokens[i - 1].space)]
    pairs = [(i, j) for i in words for j in words if abs(i - j) >= 2]
    if not pairs:
        return None
    i, j = rng.choice(pairs)
    word = replace(tokens[i].blame(), space=True)
    rest = [token.doubt() if k in (i - 1, i + 1, j) else token for k, token in enumerate(tokens)]
    rest[j : j + 1] = [rest[j], word] if j > i else [word, rest[j]]
    if j > i and not rest[j].space:
        rest[j], rest[j + 1] = replace(rest[j], space=True), replace(word, space=False)
    del rest[i if j > i else i + 1]
    return rest


def verb_last(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """A verb goes to the end, as in a clause of another language: *He the book bought*."""
    end = len(tokens) - 1 if not tokens[-1].text[0].isalnum() else len(tokens)
    places = [i for i, token in enumerate(tokens[: max(end - 2, 0)]) if token.tag in VERB_TAGS and token.space]
    if not places:
        return None
    i = rng.choice(places)
    window = [replace(token, unsure=True) if k == 0 else token for k, token in enumerate(tokens[i + 1 : end])]
    moved = replace(tokens[i].blame(), space=window[-1].space)
    return [*tokens[:i], *window[:-1], replace(window[-1], space=True), moved, *tokens[end:]]


def inversion(tokens: list[Token], rng: random.Random, lexicon: TreebankLexicon) -> list[Token] | None:
    """The subject after its auxiliary in a statement, or before it in a question: *Where he is?*, *Is he where knows*."""
    finite = ("VBZ", "VBP", "VBD", "MD")
    fits = [
        i
        for i, (a, b) in enumerate(zip(tokens, tokens[1:], strict=False))
        if a.space and ((a.tag in ("PRP", "NNP", "WP") and b.tag in finite) or (a.tag in finite and b.tag in ("PRP", "NNP")))
    ]
    if not fits:
        return None
    place = rng.choice(fits)
    return _arrange(tokens, place, [tokens[place + 1], tokens[place]])


ORDER = {
    one.__name__: one for one in (swap_adjacent, swap_distant, shuffled_window, shuffled, moved_word, verb_last, inversion)
}
