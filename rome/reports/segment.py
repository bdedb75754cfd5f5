"""One segment as a document: texts, errors, where the points went, and the evidence of each feature, described once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rome.combining.signature import supervision_note
from rome.features.errors.evidence import SHARES
from rome.features.protocol import feature_class
from rome.features.values import FEATURES
from rome.reports import model
from rome.text_table import fixed, shorten

if TYPE_CHECKING:
    from rome.features.errors.evidence import ErrorSpan
    from rome.features.grammar import GrammarEvidence
    from rome.features.semantic import AlignedPair, SemanticEvidence
    from rome.features.syntax import SyntaxEvidence, Tree
    from rome.results import SegmentScore

Side = Literal["reference", "hypothesis"]
Step = tuple[float, str, str]
"""Points, the mistake or feature, and the kind of mistake."""
SEVERITIES = ("critical", "major", "minor")
"""The severities that are underlined, the worst first; an edit of severity ``none`` is listed only."""
DEEDS = {"missing": "missing", "unnecessary": "added", "replacement": "wrong", "order": "misplaced", "surface": "wrong"}
"""The adjective for each kind of error."""
ABOUT = {"completeness": ("reference", "missing"), "faithfulness": ("hypothesis", "added")}
"""The text that a share is of, and the kind of its errors that are not replacements."""
NAMES = {
    "agreement": "agreement mistake",
    "antonym": "opposite",
    "casing": "casing mistake",
    "order": "wrong order",
    "punctuation": "punctuation mistake",
    "roles": "exchange of roles",
    "spacing": "spacing mistake",
    "spelling": "misspelling",
    "style": "matter of style",
    "tense": "wrong tense",
    **{name: name for name in ("addition", "generalisation", "omission", "repetition")},
}
"""Names of error types that need no adjective."""
STORED = "The numbers come from a stored table, which holds no evidence: no errors, alignment or trees to show."
MATRICES = "Alignment and flow as matrices"
LINKS, OPEN = 160, 72
"""Places of an alignment that are shown at most, and the most that an unfolded one has."""
WORDS = 64
"""Words of a side that a matrix shows at most."""
NODES = 100
"""Nodes of a tree that is drawn at most."""
SIGNS = {"match": "=", "change": "≠", "insert": "+", "delete": "−"}
"""The signs between the nodes of two trees."""
SMALLEST, FAINT = 0.0005, 0.05
"""The smallest loss that does not round to 0 points; the share of the highest value of a matrix below which a cell is blank."""
STEPS = 12
"""Rows of the waterfall at most; the rest is one row."""
LEGEND = (
    "Reference first, hypothesis second. A line links equal words; a number is the similarity of two different words; ∅ means no "
    "counterpart."
)


def segment_document(segment: SegmentScore, *, every: bool = True) -> model.Document:
    """Return everything about one segment; every=False omits the matrices, which are the longest part."""
    note = supervision_note(segment.signature)
    words = f"{'supervised ' if note else ''}score of segment {segment.segment}"
    errors = segment.evidence.errors
    spans = () if errors is None else (*errors.errors, *errors.differences)
    name = "reference" + (f" {segment.reference_index}" if segment.reference_index else "")
    lines = [line_of(name, segment, "reference", spans), line_of("hypothesis", segment, "hypothesis", spans)]
    head = model.Head(f"{segment.score:.3f}", words, (*([note] if note else []), *segment.flags))
    lost = any(loss.loss for loss in segment.losses)
    parts: list[model.Part] = [head, losses(segment) if lost else model.Note("No point lost."), model.Texts(tuple(lines))]
    parts += [model.Note(STORED)] if not any(getattr(segment.evidence, feature) for feature in FEATURES) else []
    parts += [error_lines(spans)] if errors is not None else []
    evidence = segment.evidence
    aligned = list(_semantic(evidence.semantic)) if evidence.semantic is not None else []
    trees = _syntax(evidence.syntax) if evidence.syntax is not None else ()
    sentences = _grammar(evidence.grammar) if evidence.grammar is not None else ()
    parts += [*aligned[:1], components(segment), *trees, *sentences, *(aligned[1:] if every else [])]
    return model.Document(f"explanation of segment {segment.segment}", tuple(parts), segment.signature)


# errors


def line_of(name: str, segment: SegmentScore, side: Side, errors: Sequence[ErrorSpan], cut: int | None = None) -> model.Line:
    """Return one text with these errors marked; the characters beyond the cut are only counted."""
    text, marks = getattr(segment, side), []
    shown = text if cut is None else text[:cut]
    for number, error in enumerate((error for error in errors if error.severity in SEVERITIES), start=1):
        span = getattr(error, side)
        if span is not None and span.end <= len(shown):
            start = min(max(0, span.start), len(shown))
            words = f"{error.severity} {kind_of(error)}, weight {error.weight:.3f}, confidence {error.confidence:.3f}"
            marks.append(model.Mark(number, error.severity, start, max(start, span.end), words))
    rest = f"… and {len(text) - len(shown)} more characters" if len(text) > len(shown) else ""
    return model.Line(name, shown, tuple(marks), rest)


def pieces(line: model.Line) -> list[tuple[str, list[dict[str, Any]]]]:
    """Split the text of a line into pieces, each with the marks that cover it, the worst first; ``ends`` is True at the end of a mark.

    A mark without characters is its own piece.
    """
    marks = sorted(line.marks, key=lambda mark: (SEVERITIES.index(mark.severity), mark.start, -mark.end))
    points = [(mark.start, [asdict(mark) | {"ends": True}]) for mark in marks if mark.start == mark.end]
    cuts = sorted({0, len(line.text), *(place for mark in marks for place in (mark.start, mark.end))})
    split: list[tuple[str, list[dict[str, Any]]]] = [("", own) for place, own in points if place == 0]
    for start, end in zip(cuts, cuts[1:], strict=False):
        held = [asdict(mark) | {"ends": mark.end == end} for mark in marks if mark.start <= start and end <= mark.end]
        split += [(line.text[start:end], held), *(("", own) for place, own in points if place == end)]
    return split


def error_lines(errors: Sequence[ErrorSpan]) -> model.Errors:
    """Divide the errors into those that count and the others."""
    counted = tuple(error for error in errors if error.severity in SEVERITIES)
    return model.Errors(counted, tuple(error for error in errors if error.severity not in SEVERITIES))


def error_note(error: ErrorSpan) -> str:
    """Return one error in a few words: severity, kind and type, and the texts concerned."""
    return " ".join(part for part in (error.severity, kind_of(error).replace(": ", ":"), _from_to(error, 20, '"')) if part)


def _from_to(error: ErrorSpan, width: int, quote: str = "") -> str:
    """Return the texts of both sides, ``before -> after``, or the only one."""
    before, after = (
        f"{quote}{shorten(span.text, width)}{quote}" if span else "" for span in (error.reference, error.hypothesis)
    )
    return f"{before} -> {after}" if before and after and before != after else before or after


def error_name(error: ErrorSpan) -> tuple[str, str]:
    """Return the name of a mistake, singular and plural: ``missing negation``, ``missing negations``."""
    name = NAMES.get(error.type) or f"{DEEDS[error.kind]} {error.type.replace('_', ' ')}"
    head, of, rest = name.partition(" of ")
    if head.endswith("y"):
        head = f"{head[:-1]}ie"
    return name, f"{head.removesuffix('s')}s{of}{rest}"


def kind_of(error: ErrorSpan) -> str:
    """Return kind and type of an error."""
    return f"{error.kind}: {error.type}" if error.type and error.type != error.kind else error.kind


def sides_of(error: ErrorSpan) -> dict[str, str]:
    """Return the words of an error by their side, of reference and hypothesis; blanks, which would not show, by name."""
    sides = {"reference": error.reference, "hypothesis": error.hypothesis}
    return {name: _named(span.text) for name, span in sides.items() if span is not None}


def places_of(error: ErrorSpan) -> str:
    """Return where an error is: ``reference 0-4, hypothesis 0-4``."""
    sides = {"reference": error.reference, "hypothesis": error.hypothesis}
    return ", ".join(f"{name} {span.start}-{span.end}" for name, span in sides.items() if span is not None)


def _named(text: str) -> str:
    return shorten(text, 40) if text.strip() else "blank" if text else "nothing"


# numbers


def losses(segment: SegmentScore) -> model.Table:
    """Return the way from 1 down to the score: the cost of each mistake and of each other feature, the largest loss first."""
    notes = {"errors": "expected, at no certain place"} if segment.evidence.errors else {}
    steps = [
        (loss.loss, *(mistake(loss.error) if loss.error is not None else (loss.feature, notes.get(loss.feature, ""))))
        for loss in segment.losses
        if loss.loss
    ]
    return waterfall("losses", "Where the points went", ("perfect", 1.0), steps, "score")


def waterfall(name: str, title: str, start: tuple[str, float], steps: Sequence[Step], end: str) -> model.Table:
    """Return the way from one number to another, one row per step: ``nine -> ten`` or a feature, points, kind (``number, major``).

    Steps that round to 0 points, and those after the first ones, are the last row.
    """
    chosen = [place for place, (points, *_) in enumerate(steps) if abs(points) >= SMALLEST][:STEPS]
    large, small = [steps[place] for place in chosen], [steps[n][0] for n in range(len(steps)) if n not in chosen]
    if small and (not large or abs(sum(small)) >= SMALLEST):
        large.append((sum(small), f"{len(small)} smaller", ""))
    levels = list(itertools.accumulate((points for points, *_ in large), initial=start[1]))
    levels[-1] = start[1] + math.fsum(points for points, *_ in steps)
    places = [min(1.0, max(0.0, level)) for level in levels]
    rows = [(start[0], model.Strip((), ((places[0], "mean"),)), fixed(levels[0], 3), "")]
    for (points, what, kind), before, after in zip(large, places[:-1], places[1:], strict=True):
        rows.append((what, step(before, after), "+" * (points >= SMALLEST) + fixed(points, 3), kind))
    rows.append((end, model.Strip((), ((places[-1], "mean"),)), fixed(levels[-1], 3), ""))
    columns, rules = ("what", "lost", "points", "kind"), (0, len(large))
    return model.Table(name, title, columns, tuple(rows), right=("points",), scale=("0", "1"), rules=rules, header=False)


def mistake(error: ErrorSpan) -> tuple[str, str]:
    """Return the texts concerned, ``nine -> ten``, and type and severity, ``number, major``."""
    kind = f"{error.kind} {error.type}".strip() if error.kind in ("missing", "unnecessary") else error.type or error.kind
    return _from_to(error, 24) or error.kind, f"{kind}, {'slight' if error.severity == 'none' else error.severity}"


def components(segment: SegmentScore) -> model.Table:
    """Return one row per feature: bar, value, lost points, and the raw quantity in its unit; then completeness and faithfulness."""
    rows = []
    for part, share in zip(segment.components, segment.contributions, strict=True):
        unit = part.unit.removesuffix("s") if part.raw == 1.0 else part.unit
        raw = fixed(part.raw, 3 if part.raw % 1 else 0) if math.isfinite(part.raw) else "–"
        rows.append((part.name, _bar(part.value), part.value, f"{fixed(share, 3)} points", f"{raw} {unit}"))
    for name in SHARES if segment.evidence.errors is not None else ():
        value, (side, deed) = getattr(segment, name), ABOUT[name]
        rows.append((name, _bar(value), value, "", f"of the {side} is neither {deed} nor wrong"))
    note = "from 0 to 1, 1 is best; then the points that each cost, and what was measured"
    columns, rules = ("", "value", "number", "cost", "raw"), (len(FEATURES) - 1,)
    return model.Table("components", "Components", columns, tuple(rows), note, right=("cost",), rules=rules, header=False)


def _bar(value: float) -> model.Strip:
    """Draw a value in [0, 1]."""
    end = min(1.0, max(0.0, value)) if value == value else 0.0
    return model.Strip(((0.0, 1.0, "track", 1.0), (0.0, end, "bar", 1.0)))


def step(before: float, after: float) -> model.Strip:
    """Draw the way from one place to another in the colour of a loss or a gain, with a mark at its beginning."""
    low, high = sorted((before, after))
    pieces = ((low, high, "down" if after < before else "up", 1.0),) if high - low >= 5e-4 else ()
    return model.Strip(pieces, ((before, "was"), (after, "mean")))


# semantic


def _semantic(evidence: SemanticEvidence) -> Iterator[model.Part]:
    """Yield the alignment word by word, and both matrices."""
    words, others = evidence.reference_words, evidence.hypothesis_words
    if not words or not others:
        return
    links = links_of(evidence)
    cut = "" if len(links) <= LINKS else f" Only the first {LINKS} of {len(links)} places are drawn."
    linked = sum(pair.distance < 1.0 for pair in evidence.pairs)
    note = f"{linked} links between {len(words)} and {len(others)} words"
    yield model.Section("Word alignment", (model.Alignment(links[:LINKS]), model.Note(LEGEND + cut)), len(links) <= OPEN, note)
    parts: list[model.Part] = [*matrices(evidence)]
    if max(len(words), len(others)) > WORDS:
        counts = f"{len(words)} in the reference and {len(others)} in the hypothesis"
        parts.append(model.Note(f"Only the first {WORDS} words of a side are drawn, of {counts}."))
    yield model.Section(MATRICES, tuple(parts), False, "reference down, hypothesis across")


def matrices(evidence: SemanticEvidence) -> tuple[model.Heatmap, model.Heatmap]:
    """Return the closeness of each two words and the mass that flows between them, in %; tiny values are blank."""
    rows, columns = evidence.reference_words[:WORDS], evidence.hypothesis_words[:WORDS]
    flow = evidence.flow / max(float(evidence.flow.sum()), 1e-12)
    maps = []
    for name, title, values in (
        ("alignment", "Alignment: 100 × (1 − transport cost)", 1.0 - evidence.cost),
        ("flow", "Flow: % of the mass that is moved from word to word", flow),
    ):
        shown = 100.0 * np.asarray(values, np.float64)[: len(rows), : len(columns)]
        highest = max(float(shown.max(initial=0.0)), 1e-9) if name == "flow" else 100.0
        shown[shown < FAINT * highest] = np.nan
        maps.append(model.Heatmap(name, title, rows, columns, shown, digits=0, ends=(0.0, highest)))
    return maps[0], maps[1]


def links_of(evidence: SemanticEvidence) -> tuple[model.Link, ...]:
    """Return every word of both texts once: those of the reference in order, then the hypothesis' words without a counterpart.

    A pair of cost 1 is not a link: its words are unrelated.
    """
    words, others = evidence.reference_words, evidence.hypothesis_words
    linked = {pair.reference: pair for pair in evidence.pairs if pair.distance < 1.0}
    met = {pair.hypothesis for pair in linked.values()}
    above = [_link(word, others, linked.get(place)) for place, word in enumerate(words)]
    return (*above, *(model.Link("", word, alone=True) for place, word in enumerate(others) if place not in met))


def _link(word: str, others: Sequence[str], pair: AlignedPair | None) -> model.Link:
    """Return a word of the reference with its counterpart, and their similarity where they are not equal."""
    if pair is None:
        return model.Link(word, "", alone=True)
    other = others[pair.hypothesis]
    label = f"{word} – {other}: similarity {pair.similarity:.3f}, cost {pair.distance:.3f}"
    same = fixed(max(pair.similarity, 0.0), 3)
    return model.Link(word, other, "" if word.casefold() == other.casefold() else same, label)


# syntax


def _syntax(evidence: SyntaxEvidence) -> Iterator[model.Part]:
    """Yield both trees side by side; a note in place of trees that are too large to draw."""
    sizes = len(evidence.reference.labels) - 1, len(evidence.hypothesis.labels) - 1
    if not sum(sizes):
        return
    edits = f"{evidence.distance:g} edit{'' if evidence.distance == 1 else 's'} from hypothesis to reference"
    if max(sizes) > NODES:
        text = f"The trees have {sizes[0]} and {sizes[1]} nodes, too many to draw; segment.evidence.syntax has them."
        yield model.Section("Dependency trees", (model.Note(text),), note=edits)
        return
    order = tree_rows(evidence)
    sides = [_nodes(tree, [edit[n] for edit in order]) for n, tree in ((1, evidence.reference), (2, evidence.hypothesis))]
    rows = tuple(model.TreeRow(kind, *nodes) for (kind, _, _), *nodes in zip(order, *sides, strict=True))
    legend = "= the same, or near enough in meaning; ≠ changed; + inserted: only in the reference; − deleted: only in the hypothesis."
    trees = model.Trees(rows, f"dependency trees, {edits}")
    yield model.Section("Dependency trees", (trees, model.Note(legend)), note=edits)


def _nodes(tree: Tree, order: Sequence[Any]) -> list[model.TreeNode | None]:
    """Return the nodes of one side in the order of the rows, parents before their children; None for a row without one."""
    rows = {node: row for row, node in enumerate(order)}
    depths: dict[int, int] = {}
    nodes: list[model.TreeNode | None] = []
    for node in order:
        if node is None:
            nodes.append(None)
            continue
        parent, label = tree.parents[node], tree.labels[node] if node else "imaginary root"
        depths[node] = depths.get(parent, -1) + 1
        nodes.append(model.TreeNode(label, tree.relations[node], depths[node], rows.get(parent)))
    return nodes


def tree_rows(evidence: SyntaxEvidence) -> list[tuple[str, int | None, int | None]]:
    """Return (edit, reference node, hypothesis node): every node of both trees once, in depth-first order, mapped nodes in one row.

    A mapping of ordered trees keeps that order, so such rows always exist. The imaginary root is the first row only where it is needed:
    above several sentences, or where one tree is empty.
    """
    kinds: Mapping[Any, str] = {(edit.reference, edit.hypothesis): edit.kind for edit in evidence.operations}
    partner = {r: h for r, h in kinds if r is not None and h is not None}
    partners = set(partner.values())
    left, right = _depth_first(evidence.reference)[::-1], _depth_first(evidence.hypothesis)[::-1]
    rows: list[tuple[str, int | None, int | None]] = []
    while left or right:
        if left and left[-1] not in partner:
            rows.append(("insert", left.pop(), None))
        elif right and right[-1] not in partners:
            rows.append(("delete", None, right.pop()))
        else:
            pair = left.pop(), right.pop()
            rows.append((kinds[pair], *pair))
    roots = [tree.parents.count(0) for tree in (evidence.reference, evidence.hypothesis)]
    return rows if max(roots) > 1 else [row for row in rows if row[1] != 0 and row[2] != 0]


def _depth_first(tree: Tree) -> list[int]:
    """Return the nodes, each before its children, children in word order."""
    children: list[list[int]] = [[] for _ in tree.parents]
    for node, parent in enumerate(tree.parents):
        if parent >= 0:
            children[parent].append(node)
    order, waiting = [], [0]
    while waiting:
        order.append(waiting.pop())
        waiting += reversed(children[order[-1]])
    return order


# grammar


def _grammar(evidence: GrammarEvidence) -> Iterator[model.Part]:
    """Yield the table of the sentences with their probabilities."""
    columns, *rows = feature_class("grammar").describe(evidence)
    if rows:
        yield model.Section("Grammar", (model.Table("grammar", "", columns, tuple(rows)),), False)
