"""Operations that take something away: a needed word, or the rest of the sentence."""

from __future__ import annotations

import random
from collections.abc import Callable

from .lexicon import VERB_TAGS, Lexicon
from .tokens import Token

__all__ = ["OPERATIONS", "remove"]

AUXILIARIES = frozenset("is are was were am be been being has have had does do did 's 're 've".split())
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


def _remover(fits: Callable[[list[Token], int], bool]) -> Callable[[list[Token], random.Random, Lexicon], list[Token] | None]:
    def operation(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
        places = [i for i in range(len(tokens) - 1) if fits(tokens, i)]
        return remove(tokens, rng.choice(places)) if places else None

    return operation


def _article(tokens: list[Token], i: int) -> bool:
    ahead = [token.tag for token in tokens[i + 1 : i + 3]]
    return tokens[i].tag in ("DT", "PRP$") and (ahead[:1] == ["NN"] or ahead == ["JJ", "NN"])


def _preposition(tokens: list[Token], i: int) -> bool:
    return tokens[i].tag in ("IN", "TO") and tokens[i].text.lower() not in ("that", "if") and tokens[i + 1].tag != "PUNCT"


def _auxiliary(tokens: list[Token], i: int) -> bool:
    return tokens[i].text.lower() in AUXILIARIES and tokens[i].tag != "POS" and tokens[i + 1].text.isalnum()


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


def truncated(tokens: list[Token], rng: random.Random, lexicon: Lexicon) -> list[Token] | None:
    """A sentence that stops after a word which needs another one: *He went to the*."""
    places = [i for i in range(2, len(tokens) - 2) if tokens[i].tag in DANGLING]
    if not places:
        return None
    last = rng.choice(places)
    end = [tokens[-1]] if tokens[-1].text in ".!?" and rng.random() < 0.7 else []
    return [*tokens[:last], Token(tokens[last].text, not end, tokens[last].tag, wrong=True), *end]


OPERATIONS = {
    "missing_article": _remover(_article),
    "missing_preposition": _remover(_preposition),
    "missing_auxiliary": _remover(_auxiliary),
    "missing_subject": _remover(_subject),
    "missing_verb": _remover(_verb),
    "missing_noun": _remover(_noun),
    "missing_modal": _remover(_modal),
    "missing_conjunction": _remover(_conjunction),
    "truncated": truncated,
}
