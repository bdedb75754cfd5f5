"""The edit script: what must be done to the reference's words to get the hypothesis' words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..values import Word
from .alignment import WordMatch
from .prepared import PreparedText
from .values import Kind

__all__ = ["Edit", "edit_script", "repetitions"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One operation on words.

    reference, hypothesis : the word indices concerned on each side, consecutive; empty on a side that is not touched.
    distance : for ``order``, how far the words moved, as a share of the text in [0, 1]. repeated : for ``unnecessary``, whether the
    words repeat what stands right before them. match : for ``replacement``, the two words' cosine and spelling.
    """

    kind: Kind
    reference: tuple[int, ...]
    hypothesis: tuple[int, ...]
    distance: float = 0.0
    repeated: bool = False
    match: WordMatch | None = None


def repetitions(words: Sequence[Word], longest: int = 8) -> set[int]:
    """Indices of the words that repeat, word for word, the run of up to ``longest`` words that ends right before them."""
    forms = [word.text.lower() for word in words]
    repeated: set[int] = set()
    for size in range(1, longest + 1):
        for start in range(size, len(forms) - size + 1):
            if forms[start] != forms[start - size]:
                continue
            run = forms[start : start + size]
            if run == forms[start - size : start] and any(any(map(str.isalnum, form)) for form in run):
                repeated.update(range(start, start + size))
    return repeated


def _moves(matches: Sequence[WordMatch], moved: Collection[int], p: int, q: int) -> list[Edit]:
    """Moved matches, neighbours on both sides joined into one edit."""
    groups: list[list[WordMatch]] = []
    for k in sorted(moved):
        match = matches[k]
        if groups and match.reference == groups[-1][-1].reference + 1 and match.hypothesis == groups[-1][-1].hypothesis + 1:
            groups[-1].append(match)
        else:
            groups.append([match])
    return [
        Edit(
            "order",
            tuple(match.reference for match in group),
            tuple(match.hypothesis for match in group),
            distance=min(1.0, abs(q * (group[0].reference + 1) - p * (group[0].hypothesis + 1)) / (p * q)),
        )
        for group in groups
    ]


def edit_script(
    reference: PreparedText, hypothesis: PreparedText, matches: Sequence[WordMatch], moved: Collection[int]
) -> tuple[Edit, ...]:
    """Every edit, word by word: replacements of words whose forms differ, missing and unnecessary words, and moved runs.

    moved : the matches that are out of order, see `moved_pairs`.

    Words that differ in case alone are no replacement here, and punctuation marks are no words: features/errors/surface.py and
    punctuation.py find what is wrong with them.
    """
    p, q = len(reference.words), len(hypothesis.words)
    matched = {m.reference for m in matches}, {m.hypothesis for m in matches}
    repeated = repetitions(hypothesis.words)
    edits = [Edit("missing", (i,), ()) for i in reference.places if i not in matched[0]]
    edits += [Edit("unnecessary", (), (j,), repeated=j in repeated) for j in hypothesis.places if j not in matched[1]]
    edits += [
        Edit("replacement", (m.reference,), (m.hypothesis,), match=m)
        for m in matches
        if reference.words[m.reference].text.lower() != hypothesis.words[m.hypothesis].text.lower()
    ]
    return tuple(edits + _moves(matches, moved, p, q))
