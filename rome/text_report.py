"""Results as plain text: the table of a corpus and the explanation of one segment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rome.combining.contributions import told
from rome.combining.provenance import supervision_note
from rome.features.protocol import feature_class
from rome.features.values import FEATURES
from rome.text_table import aligned, fixed, shorten, visible

if TYPE_CHECKING:
    from rome.results import CorpusScore, SegmentScore

__all__ = ["blocks", "corpus_footer", "corpus_header", "corpus_means", "corpus_row", "corpus_table", "error_note", "explain"]

RIGHT = [True] * 6
"""Segment and numbers stand at the right of their columns, the texts after them at the left."""
HYPOTHESIS_WIDTH, NOTE_WIDTH, BAR_WIDTH, WORST = 36, 44, 20, 3
SHOWN_DIFFERENCES = 8
"""Differences without consequence that are told; of the others only how many."""
NO_EVIDENCE = "no evidence: the number comes from a stored table"


def corpus_table(result: CorpusScore, notes: Sequence[str] | None = None) -> str:
    """One line a segment (score, four components, hypothesis, flags and worst errors), then the means and the signature.

    notes : one text a segment for a column of its own, such as what kind of mistake an example shows.
    """
    rows = [corpus_header(notes is not None)]
    for number, segment in enumerate(result.segments):
        rows.append(corpus_row(segment, None if notes is None else notes[number]))
    if result.segments:
        rows.append(corpus_means((result.score, *result.components), len(rows[0])))
    table = aligned(rows, RIGHT + [False] * (len(rows[0]) - 6), rule_after=(0, len(rows) - 2) if result.segments else (0,))
    return f"{table}\n\n{corpus_footer(len(result), result.score, result.signature)}"


def corpus_header(notes: bool) -> list[str]:
    """The names of the columns of a corpus table."""
    return ["segment", "score", *FEATURES, *(["example"] if notes else []), "hypothesis", "flags and worst errors"]


def corpus_row(segment: SegmentScore, note: str | None = None) -> list[str]:
    """The line of one segment in a corpus table."""
    values = [f"{value:.3f}" for value in (segment.score, *(c.value for c in segment.components))]
    texts = [shorten(segment.hypothesis, HYPOTHESIS_WIDTH), _remarks(segment)]
    return [str(segment.segment), *values, *([] if note is None else [shorten(note, NOTE_WIDTH)]), *texts]


def corpus_means(means: Sequence[float], columns: int) -> list[str]:
    """The last line of a corpus table: the means of the score and the four components."""
    return ["mean", *(f"{value:.3f}" for value in means), *[""] * (columns - 6)]


def corpus_footer(segments: int, score: float, signature: str) -> str:
    """What stands below a corpus table."""
    label = supervision_note(signature)
    named = f"{'supervised ' if label else ''}score {score:.4f}"
    return f"{segments} segments, {named}, signature {signature}" + (f"\n{label}" if label else "")


def explain(segment: SegmentScore) -> str:
    """Everything about one segment as text: the texts, where the points went, and the evidence of each feature.

    Control characters of the texts, which a terminal would obey, show as their codes.
    """
    return "\n\n".join(map(visible, blocks(segment)))


def blocks(segment: SegmentScore) -> list[str]:
    """The parts of the explanation: texts, losses, contributions, one a feature in the order of FEATURES, signature."""
    parts = [_texts(segment), _losses(segment), _contributions(segment)]
    writers: dict[str, Callable[[Any], Iterator[str]]] = {
        "semantic": _semantic, "syntax": _syntax, "grammar": _grammar, "errors": _errors
    }  # fmt: skip
    for component in segment.components:
        write = writers.get(component.name, partial(_described, component.name))
        title = f"{component.name}  {component.value:.3f}  ({component.raw:.3f} {component.unit})"
        lines = write(component.evidence) if component.evidence is not None else iter([NO_EVIDENCE])
        parts.append("\n".join([title, *(f"  {line}" for line in lines)]))
    parts.append(f"signature  {segment.signature}")
    return parts


def error_note(error: Any) -> str:
    """One error in a few words: severity, what it is, and the texts concerned."""
    before, after = (f'"{shorten(span.text, 20)}"' if span else "" for span in (error.reference, error.hypothesis))
    texts = f"{before} -> {after}" if before and after and before != after else before or after
    label = f"{error.kind}:{error.type}" if error.type and error.type != error.kind else error.kind
    return " ".join(part for part in (error.severity, label, texts) if part)


def _remarks(segment: SegmentScore) -> str:
    """Flags first, then the worst errors, as far as the column reaches."""
    evidence = segment.evidence.errors
    punished = [error for error in evidence.errors if error.severity != "none"] if evidence is not None else []
    errors = sorted(punished, key=lambda error: -error.weight)[:WORST]
    return shorten("; ".join([*segment.flags, *(error_note(error) for error in errors)]), NOTE_WIDTH)


def _texts(segment: SegmentScore) -> str:
    rows = [
        [f"reference {segment.reference_index}", " ".join(segment.reference.split())],
        ["hypothesis", " ".join(segment.hypothesis.split())],
        ["score", f"{segment.score:.4f}"],
    ]
    note = supervision_note(segment.signature)
    rows += [["scorer", note]] if note else []
    return aligned(rows + ([["flags", ", ".join(segment.flags)]] if segment.flags else []), [False, False])


def _losses(segment: SegmentScore) -> str:
    """What each mistake, and each other feature, cost; the largest loss first."""
    rows = [[points, what, f"({kind})" if kind else ""] for points, what, kind in told(segment.losses)]
    return _block("where the points went", aligned(rows, [True, False, False]) or "no point lost")


def _contributions(segment: SegmentScore) -> str:
    """A perfect text, what each feature lost against it, and the score that is left; the longest bar has BAR_WIDTH characters."""
    numbers = list(segment.contributions)
    longest = max(*(abs(number) for number in numbers), 1e-9)
    rows = [["perfect", f"{1.0:.4f}", ""]]
    for name, number in zip(FEATURES, numbers, strict=True):
        rows.append([name, fixed(number, 4), "-" * round(BAR_WIDTH * abs(number) / longest)])
    rows.append(["score", f"{1.0 + sum(numbers):.4f}", ""])
    return _block("contributions", aligned(rows, [False, True, False]))


def _block(title: str, lines: str) -> str:
    """The lines, indented, below their title."""
    return "\n".join([title, *(f"  {line}" for line in lines.splitlines())])


def _semantic(evidence: Any) -> Iterator[str]:
    """The alignment, then the words that no word stands against."""
    rows = [["reference", "hypothesis", "similarity", "cost"]]
    for pair in evidence.pairs:
        words = evidence.reference_words[pair.reference], evidence.hypothesis_words[pair.hypothesis]
        rows.append([*words, f"{pair.similarity:.3f}", f"{pair.distance:.3f}"])
    yield from aligned(rows, [False, False, True, True]).splitlines()
    sides = (("reference", evidence.reference_words), ("hypothesis", evidence.hypothesis_words))
    for side, words in sides:
        met = {getattr(pair, side) for pair in evidence.pairs}
        left = [word for number, word in enumerate(words) if number not in met]
        if left:
            yield f"without counterpart in the {side}: {', '.join(left)}"


def _syntax(evidence: Any) -> Iterator[str]:
    """The two trees, indented by depth, then the edit operations but the matches."""
    for side in ("reference", "hypothesis"):
        yield f"tree of the {side}"
        yield from (f"  {line}" for line in _tree(getattr(evidence, side)))
    operations = [edit for edit in evidence.operations if edit.kind != "match"]
    yield f"edit operations, from hypothesis to reference: {len(operations) or 'none'}"
    for edit in operations:
        old = None if edit.hypothesis is None else evidence.hypothesis.labels[edit.hypothesis]
        new = None if edit.reference is None else evidence.reference.labels[edit.reference]
        yield f"  {edit.kind} " + " -> ".join(label for label in (old, new) if label is not None)


def _tree(tree: Any) -> Iterator[str]:
    """One line a node in depth-first order: lemma and relation; the imaginary root is left out."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parents):
        children.setdefault(parent, []).append(node)
    waiting = [(child, 0) for child in reversed(children.get(0, []))]
    while waiting:
        node, depth = waiting.pop()
        yield f"{'  ' * depth}{tree.labels[node]} ({tree.relations[node]})"
        waiting += [(child, depth + 1) for child in reversed(children.get(node, []))]


def _grammar(evidence: Any) -> Iterator[str]:
    """Each sentence with its probability and the geometric mean of its words' probabilities."""
    for sentence in evidence.sentences:
        yield f"{sentence.probability:.3f}  words {sentence.word_probability:.3f}  {' '.join(sentence.text.split())}"


def _described(name: str, evidence: Any) -> Iterator[str]:
    """What another feature says of its evidence."""
    rows = [list(row) for row in feature_class(name).describe(evidence)]
    yield from aligned(rows, [False] * len(rows[0])).splitlines() if rows else ()


def _errors(evidence: Any) -> Iterator[str]:
    """Each error with its weight, confidence and place, the worst first; then how many differences count nothing."""
    if not evidence.errors:
        yield "no errors found"
    for error in sorted(evidence.errors, key=lambda error: -error.weight):
        places = [
            f"{side} {span.start}-{span.end}"
            for side, span in (("reference", error.reference), ("hypothesis", error.hypothesis))
            if span
        ]
        yield f"{error.weight:.2f}  {error_note(error)}  ({', '.join(places)}; confidence {error.confidence:.2f})"
    if evidence.differences:
        words = ", ".join(_difference(each) for each in evidence.differences[:SHOWN_DIFFERENCES])
        more = len(evidence.differences) - SHOWN_DIFFERENCES
        yield f"differences without consequence: {words}{f' and {more} more' if more > 0 else ''}"


def _difference(error: Any) -> str:
    """The texts of a difference: ``before -> after``."""
    before, after = (shorten(span.text, 20) if span else "" for span in (error.reference, error.hypothesis))
    return f"{before or 'nothing'} -> {after or 'nothing'}" if before != after else f"{before} (moved)"
