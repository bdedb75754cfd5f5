"""What perturbations ask of a dependency tree: children, subtrees, spans, clauses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rome.features.values import Analysis, Word

OPEN_CLASSES = ("NOUN", "VERB", "ADJ", "ADV")
OBJECTIVE = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "it": "it", "you": "you"}
SUBJECTIVE = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they", "it": "it", "you": "you"}

FINITE_TAGS = ("MD", "VBZ", "VBP", "VBD")
PREDICATES = ("root", "conj", "parataxis", "ccomp", "advcl", "acl:relcl")
PLURAL_PRONOUNS = ("we", "they", "you", "i", "these", "those", "us", "them", "me")


def base(relation: str) -> str:
    """A relation without its subtype: ``nsubj:pass`` -> ``nsubj``."""
    return relation.partition(":")[0]


def children(analysis: Analysis, index: int) -> list[int]:
    """The words of its sentence that hang directly under a word, in reading order."""
    words = analysis.words
    low = high = index
    while low > 0 and words[low - 1].sentence == words[index].sentence:
        low -= 1
    while high + 1 < len(words) and words[high + 1].sentence == words[index].sentence:
        high += 1
    return [n for n in range(low, high + 1) if words[n].head == index]


def child_of(analysis: Analysis, index: int, *relations: str) -> int | None:
    """The first child with one of the relations (a name without a subtype takes all its subtypes), or None."""
    return next((n for n in children(analysis, index) if of_relation(analysis.words[n], *relations)), None)


def of_relation(word: Word, *relations: str) -> bool:
    """Whether the word's relation, or its relation without the subtype, is one of these."""
    return word.relation in relations or base(word.relation) in relations


def subtree(analysis: Analysis, index: int) -> list[int]:
    """The word and everything below it, in reading order; a cycle in a broken tree is walked once."""
    found, waiting = {index}, [index]
    while waiting:
        for child in children(analysis, waiting.pop()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return sorted(found)


def is_contiguous(indices: Sequence[int]) -> bool:
    """Whether sorted indices have no gap; an empty sequence has one."""
    return bool(indices) and indices[-1] - indices[0] + 1 == len(indices)


def span(analysis: Analysis, indices: Iterable[int]) -> tuple[int, int]:
    """First and last character of some words."""
    words = [analysis.words[n] for n in indices]
    return min(word.start for word in words), max(word.end for word in words)


def has_own_span(analysis: Analysis, index: int) -> bool:
    """Whether the word's characters are its own: they spell it, and no neighbour shares them."""
    word = analysis.words[index]
    near = analysis.words[max(index - 1, 0) : index] + analysis.words[index + 1 : index + 2]
    return analysis.text[word.start : word.end] == word.text and all((n.start, n.end) != (word.start, word.end) for n in near)


def stands_alone(analysis: Analysis, index: int) -> bool:
    """Whether the word has its own span and no letter, digit, hyphen or apostrophe touches it: not the *do* of *don't*."""
    word, text = analysis.words[index], analysis.text
    around = text[max(word.start - 1, 0) : word.start] + text[word.end : word.end + 1]
    return has_own_span(analysis, index) and not any(c.isalnum() or c in "-'’_/@" for c in around)


def in_title_case(analysis: Analysis, index: int) -> bool:
    """Whether the word has a capital that no start of a sentence explains: a part of a name or of a heading."""
    word = analysis.words[index]
    first = index == 0 or analysis.words[index - 1].sentence != word.sentence
    return word.text[:1].isupper() and not first and word.text != "I"


def nominal_core(analysis: Analysis, index: int) -> list[int]:
    """The head of a noun phrase with the compound nouns and name parts that touch it, in reading order."""
    parts = {index}
    for child in children(analysis, index):
        if of_relation(analysis.words[child], "compound", "flat"):
            parts.update(subtree(analysis, child))
    found, low, high = [index], index, index
    while low - 1 in parts:
        low -= 1
        found.insert(0, low)
    while high + 1 in parts:
        high += 1
        found.append(high)
    return found


def subject_of(analysis: Analysis, index: int) -> int | None:
    """The subject of a predicate: its nsubj or expl that comes first, or None."""
    return child_of(analysis, index, "nsubj", "expl")


def is_plural(analysis: Analysis, index: int) -> bool:
    """Whether a subject takes a plural verb form (*you* and *I* count as plural: they take the bare form)."""
    word = analysis.words[index]
    if any(analysis.words[n].relation == "conj" for n in children(analysis, index)):
        return not any(
            analysis.words[m].lemma.lower() in ("or", "nor") for n in children(analysis, index) for m in children(analysis, n)
        )
    return word.xpos in ("NNS", "NNPS") or "Number=Plur" in word.feats or word.text.lower() in PLURAL_PRONOUNS


def clauses(analysis: Analysis) -> list[tuple[int, int]]:
    """(predicate, finite word) of every finite clause, main clauses first: the finite word is the first auxiliary or copula,
    or the verb itself."""
    found = []
    for n, word in enumerate(analysis.words):
        if not of_relation(word, *PREDICATES) and word.relation != "acl:relcl":
            continue
        helpers = [m for m in children(analysis, n) if of_relation(analysis.words[m], "aux", "cop") and m < n]
        finite = helpers[0] if helpers else n
        if analysis.words[finite].xpos in FINITE_TAGS and analysis.words[finite].upos in ("AUX", "VERB"):
            found.append((n, finite))
    return sorted(found, key=lambda pair: PREDICATES.index(_kind(analysis.words[pair[0]].relation)))


def _kind(relation: str) -> str:
    """The entry of PREDICATES that a relation belongs to."""
    return relation if relation in PREDICATES else base(relation)
