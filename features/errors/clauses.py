"""Clauses: the tense and aspect of their verbs and the words that join them, and where those of a pair differ.

A reader of vectors overlooks these small words first; tags and trees have them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..values import Word

TENSES = {"VBD": "past", "VBZ": "present", "VBP": "present"}
"""Of finite verbs, by Penn Treebank tag."""
FUTURE = frozenset(("will", "shall", "'ll", "wo"))
OPTIONAL = frozenset(("that", "to", "whether"))
"""Conjunctions that English leaves out, or writes otherwise."""


class VerbForm(NamedTuple):
    """How one finite verb, with its auxiliaries, says its time.

    Attributes
    ----------
    tense
        "past", "present", "future" or "modal".
    words
        The indices of the auxiliaries and the verb, in order.
    """

    tense: str
    perfect: bool
    progressive: bool
    words: tuple[int, ...]

    @property
    def time(self) -> tuple[str, bool, bool]:
        """What is compared."""
        return self[:3]


def verb_forms(words: Sequence[Word]) -> dict[int, VerbForm]:
    """The finite verb of each clause that has one, by the index of its predicate: a verb, or what a copula stands with."""
    chains: dict[int, list[int]] = defaultdict(list)
    for n, word in enumerate(words):
        helps = word.relation.split(":")[0] in ("aux", "cop") and word.head >= 0
        if helps or word.upos in ("VERB", "AUX"):
            chains[word.head if helps else n].append(n)
    return {predicate: form for predicate, chain in chains.items() if (form := _form(words, chain)) is not None}


def _form(words: Sequence[Word], chain: Sequence[int]) -> VerbForm | None:
    """The form of a verb and its auxiliaries; None where the first of them is not finite."""
    first = words[chain[0]]
    tense = TENSES.get(first.xpos)
    if first.xpos == "MD":
        tense = "future" if first.text.lower() in FUTURE else "modal"
    if tense is None:
        return None
    lemmas = [words[n].lemma.lower() for n in chain]
    perfect = "have" in lemmas[:-1]
    progressive = any(words[n].text.lower().endswith("ing") and "be" in lemmas[:k] for k, n in enumerate(chain))
    return VerbForm(tense, perfect, progressive, tuple(chain))


def other_times(
    reference: Mapping[int, VerbForm], hypothesis: Mapping[int, VerbForm], aligned: Mapping[int, int]
) -> list[tuple[VerbForm, VerbForm]]:
    """The verbs that stand for each other and whose tense or aspect differs.

    Parameters
    ----------
    aligned
        Words that stand for each other, index of the reference: of the hypothesis. Verbs stand for each other when their predicates do; those that
        are left over, when one of their auxiliaries does.
    """
    paired = {i: j for i, j in aligned.items() if i in reference and j in hypothesis}
    taken = set(paired.values())
    owners = [
        {n: p for p, form in side.items() if p not in known for n in form.words}
        for side, known in ((reference, paired), (hypothesis, taken))
    ]
    for i, j in aligned.items():
        old, new = owners[0].get(i), owners[1].get(j)
        if old is not None and new is not None and old not in paired and new not in taken:
            paired[old] = new
            taken.add(new)
    return [(reference[i], hypothesis[j]) for i, j in sorted(paired.items()) if reference[i].time != hypothesis[j].time]


def conjunctions(words: Sequence[Word]) -> dict[int, tuple[int, ...]]:
    """The words that join a clause or a phrase to what stands before it, by the index of its head."""
    found: dict[int, tuple[int, ...]] = {}
    for n, word in enumerate(words):
        if word.upos in ("CCONJ", "SCONJ") and word.relation in ("cc", "mark") and word.head >= 0:
            found[word.head] = (*found.get(word.head, ()), n)
    return found


def lost_conjunctions(
    reference: Sequence[Word],
    hypothesis: Sequence[Word],
    joining: tuple[Mapping[int, Sequence[int]], Mapping[int, Sequence[int]]],
    aligned: Mapping[int, int],
) -> list[int]:
    """Words of the reference that join two things which the hypothesis has in one sentence too, with nothing to join them.

    Parameters
    ----------
    joining
        Of both texts, see `conjunctions`.
    aligned
        As for `other_times`.
    """
    found = []
    for head, places in joining[0].items():
        here, there = aligned.get(head), aligned.get(reference[head].head)
        lost = [n for n in places if n not in aligned and reference[n].text.lower() not in OPTIONAL]
        if not lost or here is None or there is None or here in joining[1]:
            continue
        if hypothesis[here].sentence == hypothesis[there].sentence:
            found.append(lost[0])
    return found
