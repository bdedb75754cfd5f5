"""Corpora, comparisons and changes as documents."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rome.combining.combiner import MEASURES
from rome.combining.signature import supervision_note
from rome.features.errors.evidence import SHARES
from rome.features.values import FEATURES
from rome.reports.model import Document, Errors, Head, Heatmap, Line, Note, Part, Section, Strip, Table, Texts
from rome.reports.resampling import LEVEL, Rows, bootstrap_intervals
from rome.reports.segment import SEVERITIES, Step, error_lines, line_of, mistake, step, waterfall
from rome.text_table import shorten

if TYPE_CHECKING:
    from rome.features.errors.evidence import ErrorSpan
    from rome.results import Change, CorpusScore, SegmentScore
    from rome.results.comparison import Comparison, ErrorChange

BINS, SHOWN = 25, 1000
"""Parts of a histogram, and resamples of the intervals beside it."""
CUT, WORST = 1200, 3
"""Characters of a text that are shown in a list of segments, and errors of one segment."""
LISTED, DECIDING, TITLE, NAME = 5, 10, 88, 24
"""Segments of one list, segments that decide, characters of a text in a line with other texts, of a system's name."""
NAMED, CHANGES, PLACES = 4, 20, 8
"""Kinds of mistakes in the title of the error diff and in its table, segment numbers in a cell, at most."""
FEW = 20
"""With fewer segments the percentile interval holds the true mean clearly less often than in 95 % of cases, and correlations are chance."""
FEW_NOTE = f"Intervals from fewer than {FEW} segments are too narrow."


# a corpus


def corpus_document(result: CorpusScore) -> Document:
    """Return distributions and means with intervals, correlations, the worst segments by component.

    Its length depends on the texts of at most 25 segments, not on the number of segments.
    """
    table, count = result.measures, _count(len(result))
    if not len(result):
        return Document("scores of no segments", (Note("No segments: there is nothing to show."),), result.signature)
    note = supervision_note(result.signature)
    flags = Counter(flag for segment in result for flag in segment.flags)
    (low, high), *_ = bootstrap_intervals(table[:, :1], SHOWN, 0)
    interval = f", {LEVEL:.0%} interval {low:.3f} to {high:.3f}" if np.isfinite(low) else ""
    labels = [*([note] if note else []), *(f"{flag} × {n:,}" for flag, n in flags.most_common())]
    head = Head(f"{result.score:.3f}", f"{'supervised ' if note else ''}score of {count}{interval}", tuple(labels))
    parts: list[Part] = [head, *distributions(table)]
    parts += _worst(result, table)
    return Document(f"scores of {count}", tuple(parts), result.signature)


def histogram(values: Rows) -> Strip:
    """Count the values in each of 25 equal parts of [0, 1], those outside at the ends; a mark shows the mean, the label the quartiles."""
    known = np.clip(values[~np.isnan(values)], 0.0, 1.0)
    if not len(known):
        return Strip()
    counts = np.histogram(known, bins=BINS, range=(0.0, 1.0))[0]
    most = int(counts.max())
    pieces = [(n / BINS, (n + 0.9) / BINS, "bar", max(0.04, c / most)) for n, c in enumerate(counts.tolist()) if c]
    low, middle, high = np.percentile(known, [25, 50, 75])
    label = f"median {middle:.3f}, half in {low:.3f}–{high:.3f}"
    return Strip(tuple(pieces), ((float(known.mean()), "mean"),), True, label)


def distributions(table: Rows) -> Iterator[Part]:
    """Yield one row per measure (a histogram, the mean, its interval, and the range), then the correlations."""
    rows = []
    for name, values, (low, high) in zip(MEASURES, table.T, bootstrap_intervals(table, SHOWN, 0), strict=True):
        ends = float(values.min()), float(np.median(values)), float(values.max())
        rows.append((name, histogram(values), float(values.mean()), float(low), float(high), *ends))
    columns = ("", "distribution", "mean", "low", "high", "lowest", "median", "highest")
    note = "from 0 to 1, 1 is best; the line is the mean" + (f". {FEW_NOTE}" if 1 < len(table) < FEW else "")
    places, scale = (("mean", "low", "high"),), ("0", "0.5", "1")
    yield Table("distributions", "Components", columns, tuple(rows), note, intervals=places, rules=(0,), scale=scale)
    if len(table) >= FEW:
        note = "Spearman, over the segments (RoMe, figure 5); a dash: every segment has the same value"
        yield Heatmap("correlations", "Correlations", MEASURES, MEASURES, correlations(table), note=note, ends=(-1.0, 1.0))


def correlations(table: Rows) -> Rows:
    """Return Spearman's rank correlations (k, k) of the columns of (n, k), in [-1, 1]; nan for a constant column.

    Source: RoMe, figure 5, which draws such a matrix for metrics on BAGEL; ranks, because the components have different scales.
    """
    from scipy.stats import rankdata

    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.corrcoef(rankdata(table, axis=0), rowvar=False), dtype=np.float64)


def worst_places(values: Rows, count: int) -> list[int]:
    """Return the places of the lowest values below 1, the lowest first, the first of equals first."""
    return [int(place) for place in np.argsort(values, kind="stable")[:count] if values[place] < 1.0]


def _worst(result: CorpusScore, table: Rows) -> Iterator[Part]:
    """Yield the segments with the lowest values, for the score and each component; the first list is open."""
    for column, name in enumerate(MEASURES):
        rows = [_row(result[place], float(table[place, column])) for place in worst_places(table[:, column], LISTED)]
        if rows:
            yield Section(f"Lowest {name}", tuple(rows), column == 0, _count(len(rows)))


def _row(segment: SegmentScore, value: float) -> Section:
    """Return a segment that unfolds into its numbers, both texts and its worst errors."""
    errors = _worst_errors(segment)
    measures = zip(MEASURES, segment.measures, strict=True)
    values = [*(f"{name} {number:.3f}" for name, number in measures if number == number), *segment.flags]
    lines = tuple(line_of(side, segment, side, errors, CUT) for side in ("reference", "hypothesis"))
    known = segment.evidence.errors is not None
    listed: Part = error_lines(errors) if known else Note("No evidence: the numbers come from a stored table.")
    about = f": {shorten(segment.hypothesis, TITLE) or 'empty hypothesis'}"
    parts = (Note(" · ".join(values), "values"), Texts(lines), listed)
    return Section(f"segment {segment.segment}", parts, False, lead=f"{value:.3f}", about=about)


def _worst_errors(segment: SegmentScore) -> tuple[ErrorSpan, ...]:
    """Return the heaviest mistakes of a segment before the cut, in the order of the hypothesis."""
    errors = [error for error in segment.errors if error.severity in SEVERITIES]
    errors = [e for e in errors if all(span is None or span.end <= CUT for span in (e.reference, e.hypothesis))]
    heaviest = sorted(range(len(errors)), key=lambda place: -errors[place].weight)[:WORST]
    return tuple(errors[place] for place in sorted(heaviest))


def _count(size: int) -> str:
    return "1 segment" if size == 1 else f"{size:,} segments"


# two systems


def comparison_document(comparison: Comparison) -> Document:
    """Return the differences with their intervals, the changed mistakes, and the segments that decide."""
    note = supervision_note(comparison.a.signature)
    head = Head(f"{comparison.score.difference:+.3f}", f"difference of the scores, {comparison.sign}", (note,) if note else ())
    parts: list[Part] = [Note(verdict(comparison), "verdict"), head, differences(comparison)]
    parts += _mistakes(comparison)
    pairs, names = comparison.deciding(DECIDING), comparison.names
    if pairs:
        rows = tuple(_pair(pair, names) for pair in pairs)
        label = f"The segments that decide: {' minus '.join(shorten(name, NAME) for name in names[::-1])}"
        counted = f"the {len(rows)} largest differences" if len(rows) > 1 else "the largest difference"
        parts.append(Section(label, rows, note=counted))
    return Document(f"comparison of {names[0]} and {names[1]}", tuple(parts), comparison.a.signature)


def _mistakes(comparison: Comparison) -> Iterator[Part]:
    """Yield the kinds of mistakes that only one system makes, each with its segments; nothing without evidence."""
    changes = [change for change in comparison.error_changes if change.difference]
    if not changes:
        return
    a, b = (shorten(name, NAME) for name in comparison.names)
    rows = []
    for change in changes[:CHANGES]:
        counts = len(change.gone), len(change.come)
        rows.append((change.plural, f"{change.difference:+}", *counts, _places(change.gone), _places(change.come)))
    columns = ("mistake", "difference", f"only {a}", f"only {b}", f"segments of {a}", f"segments of {b}")
    note = "A mistake that both make at the same place is left out"
    table = Table("mistakes", "", columns, tuple(rows), note, right=("difference",))
    yield Section("Mistakes", (table,), note=f"{b} against {a}: {changes_text(changes)}")


def changes_text(changes: Sequence[ErrorChange]) -> str:
    """Return the largest changes: ``12 fewer wrong numbers, 3 more missing negations; 2 other kinds differ``."""
    more = len(changes) - NAMED
    rest = f"; {more} other kind{' differs' if more == 1 else 's differ'}" if more > 0 else ""
    return ", ".join(map(str, changes[:NAMED])) + rest


def _places(segments: Sequence[int]) -> str:
    """Return the numbers of the first segments, each once."""
    numbers = list(dict.fromkeys(segments))
    return ", ".join(map(str, numbers[:PLACES])) + (" …" if len(numbers) > PLACES else "")


def verdict(comparison: Comparison) -> str:
    """Return one sentence: which system is ahead, by how much, and whether the interval excludes 0."""
    score, (a, b), count = comparison.score, comparison.names, len(comparison.a)
    if not score.wins and not score.losses:
        return f"{a} and {b} have the same score on every one of {_count(count)}."
    ahead, behind = (b, a) if score.difference >= 0 else (a, b)
    lead = f"{ahead} is {abs(score.difference):.3f} ahead of {behind} on {_count(count)}"
    if count == 1:
        return f"{lead}: one segment says nothing about others."
    interval = f"the {comparison.level:.0%} interval of the difference {'excludes' if score.decided else 'includes'} 0"
    few = "" if count >= FEW else f" {FEW_NOTE[:-1]}; go by the p-value."
    join = "; " if score.decided else ", which may be chance: "
    return f"{lead}{join}{interval} ({comparison.resamples} paired resamples, seed {comparison.seed}).{few}"


def p_text(value: float) -> str:
    """Return a p-value in three decimals, or ``<0.001``."""
    return "–" if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"


def differences(comparison: Comparison) -> Table:
    """Return one row per measure: both means, the difference with its interval, p-value, wins, losses and ties."""
    ends = [abs(end) for measure in comparison for end in (measure.low, measure.high, measure.difference) if end == end]
    reach = max(*ends, 0.01) * 1.05
    rows = []
    shares = comparison.score.difference, *comparison.contributions, *[None] * len(SHARES)
    for one, share in zip(comparison, shares, strict=True):
        low, middle, high = (0.5 + 0.5 * value / reach for value in (one.low, one.difference, one.high))
        pieces = ((low, high, "reach", 1.0),) if low == low else ()
        strip = Strip(pieces, ((0.5, "zero"), (middle, "mean")))
        numbers = (one.difference, one.low, one.high, p_text(one.p_value), share)
        rows.append((one.name, one.a, one.b, strip, *numbers, one.wins, one.losses, one.ties))
    a, b = (shorten(name, NAME) for name in comparison.names)
    columns = ("", a, b, "interval", "difference", "low", "high", "p", "contribution", "wins", "losses", "ties")
    note = f"bold or *: the interval excludes 0; differences: {b} minus {a}; the contributions add up to that of the scores"
    return Table(
        "differences",
        "Differences",
        columns,
        tuple(rows),
        f"{note}; wins and losses are those of {b}; intervals of {comparison.level:.0%}",
        intervals=(("difference", "low", "high"),),
        signed=("difference", "contribution"),
        right=("p",),
        strong=tuple((row, "difference") for row, measure in enumerate(comparison) if measure.decided),
        rules=(0,),
        scale=(f"−{reach:.3f}", "0", f"+{reach:.3f}"),
    )


def _pair(pair: Change, names: tuple[str, str]) -> Section:
    """Return one segment of both systems: what moved its score, the reference and both hypotheses with their worst errors."""
    shares = sorted(zip(FEATURES, pair.contributions, strict=True), key=lambda item: -abs(item[1]))
    moved = ", ".join(f"{name} {share:+.3f}" for name, share in shares if abs(share) >= 0.0005) or "nothing"
    lines = [line_of("reference", pair.before, "reference", (), CUT)]
    if pair.before.reference != pair.after.reference:
        lines.append(line_of(f"reference of {shorten(names[1], NAME)}", pair.after, "reference", (), CUT))
    listed: list[Part] = []
    for name, side in zip(names, (pair.before, pair.after), strict=True):
        errors = _worst_errors(side)
        lines.append(line_of(f"{shorten(name, NAME)} {side.score:.3f}", side, "hypothesis", errors, CUT))
        listed += [Note(f"Errors of {shorten(name, NAME)}"), error_lines(errors)] if errors else []
    about = f" · {shorten(pair.before.reference, TITLE)}"
    title, lead = f"segment {pair.after.segment}: {moved}", f"{pair.difference:+.3f}"
    return Section(title, (Texts(tuple(lines)), *listed), False, lead=lead, about=about)


# a change


def change_document(change: Change) -> Document:
    """Return what moved the score, the texts, the errors that went and came, and every number before and after."""
    before, after, dropped = change.before, change.after, getattr(change, "dropped", ())
    head = Head(f"{after.score:.3f}", f"score, from {before.score:.3f} ({change.difference:+.3f})", after.flags)
    steps = sorted(_moves(change, dropped or change.went), key=lambda step: -abs(step[0]))
    moved = waterfall("moves", "What moved the points", ("before", before.score), steps, "after")
    parts: list[Part] = [head, *([moved] if steps else []), Texts(tuple(_change_lines(change, dropped or change.went)))]
    if dropped:
        parts.append(Section("Without these errors", (error_lines(dropped),)))
    elif before.evidence.errors is None or after.evidence.errors is None:
        parts.append(Note("No evidence on one side: which errors came and went is not known."))
    else:
        for title, errors in (("Errors that went", change.went), ("Errors that came", change.came)):
            listed: Errors | Note = error_lines(errors) if errors else Note("None.")
            parts.append(Section(title, (listed,)))
    parts.append(_numbers(change))
    return Document(f"change of segment {before.segment}", tuple(parts), before.signature)


def _moves(change: Change, went: Sequence[ErrorSpan]) -> Iterator[Step]:
    """Yield each mistake that went or came with its points, and each feature that moved; the other mistakes are one step."""
    moved = dict(zip(FEATURES, change.contributions, strict=True))
    for losses, errors, sign in ((change.before.losses, went, -1), (change.after.losses, change.came, 1)):
        for loss in losses:
            if loss.error is not None and loss.error in errors:
                moved["errors"] -= sign * loss.loss
                yield sign * loss.loss, *mistake(loss.error)
    others = "other errors" if went or change.came else "errors"
    yield from ((points, others if name == "errors" else name, "") for name, points in moved.items() if points)


def _change_lines(change: Change, went: Sequence[ErrorSpan]) -> Iterator[Line]:
    """Yield the reference, the old hypothesis with the errors that went, the new one with those that came."""
    before, after = change.before, change.after
    yield line_of("reference", before, "reference", went, CUT)
    if before.hypothesis == after.hypothesis:
        yield line_of("hypothesis", before, "hypothesis", went, CUT)
        return
    yield line_of("before", before, "hypothesis", went, CUT)
    yield line_of("after", after, "hypothesis", change.came, CUT)


def _numbers(change: Change) -> Table:
    """Return components and contributions before and after, with the score below."""
    before, after = change.before, change.after
    rows: list[tuple[Any, ...]] = []
    triples = zip(before.components, after.components, change.components, strict=True)
    contributions = zip(before.contributions, after.contributions, change.contributions, strict=True)
    for name, (x, y, gap), shares in zip(FEATURES, triples, contributions, strict=True):
        rows.append((name, x.value, step(x.value, y.value), y.value, gap, *shares))
    gap = change.difference
    rows.append(("score", before.score, step(before.score, after.score), after.score, gap, None, None, gap))
    for name in SHARES:
        x, y = getattr(before, name), getattr(after, name)
        if x == x and y == y:
            rows.append((name, x, step(x, y), y, y - x, None, None, None))
    costs = ("points before", "points after", "points difference")
    columns = ("", "before", "from 0 to 1", "after", "difference", *costs)
    signed, title = ("difference", "points difference"), "Components and the points that each cost"
    return Table("change", title, columns, tuple(rows), signed=signed, rules=(len(FEATURES) - 1,))
