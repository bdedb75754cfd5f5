"""A change of one segment as text and as HTML: every number before and after, and the errors that went and came."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, cast

from rome.display.markup import Html, element, escaped, joined, number, signed
from rome.display.summary import CUT, cell, framed, heads, stretched, text_line
from rome.display.texts import error_list
from rome.features.errors.values import ErrorSpan
from rome.features.values import FEATURES
from rome.text_report import error_note
from rome.text_table import aligned, fixed

if TYPE_CHECKING:
    from rome.results.counterfactual import Change

__all__ = ["change_fragment", "change_html", "change_text"]

SHOWN = 12
"""Errors of one list that are named; of more the number."""


def change_text(change: Change) -> str:
    """Texts, a table of the components and of the contributions before and after, then the errors that went and came."""
    before, after = change.before, change.after
    same = before.hypothesis == after.hypothesis
    texts = [["reference", " ".join(before.reference.split())]]
    names = ["hypothesis"] if same else ["before", "after"]
    texts += [[name, " ".join(side.hypothesis.split())] for name, side in zip(names, (before, after), strict=False)]
    parts = [aligned(texts, [False, False]), _table(change)]
    parts += [f"{title}\n" + "\n".join(f"  {line}" for line in lines) for title, lines in _moves(change)]
    return "\n\n".join([*parts, f"signature  {before.signature}"])


def _table(change: Change) -> str:
    """One line a feature, the score below a rule."""
    before, after = change.before, change.after
    rows = [["", "before", "after", "difference", "contribution before", "after", "difference"]]
    components = zip(before.components, after.components, change.components, strict=True)
    contributions = zip(before.contributions, after.contributions, change.contributions, strict=True)
    for name, (x, y, gap), shares in zip(FEATURES, components, contributions, strict=True):
        lost = *(fixed(share, 4) for share in shares[:2]), f"{shares[2]:+.4f}"
        rows.append([name, f"{x.value:.3f}", f"{y.value:.3f}", f"{gap:+.3f}", *lost])
    rows.append(["score", f"{before.score:.4f}", f"{after.score:.4f}", f"{change.difference:+.4f}", "", "", ""])
    return aligned(rows, [False, *[True] * 6], rule_after=(0, len(FEATURES)))


def _moves(change: Change) -> Iterator[tuple[str, list[str]]]:
    """The two lists of errors with their titles; those that nobody would punish are counted, not named."""
    dropped = getattr(change, "dropped", ())
    if dropped:
        yield "without these errors", _notes(dropped, every=True)
        return
    for title, errors in (("errors that went", change.went), ("errors that came", change.came)):
        yield title, _notes(errors)


def _notes(errors: tuple[ErrorSpan, ...], every: bool = False) -> list[str]:
    """One line an error, the heaviest first."""
    named = sorted((error for error in errors if every or error.severity != "none"), key=lambda error: -error.weight)
    lines = [f"{error.weight:.2f}  {note(error)}" for error in named[:SHOWN]]
    rest = len(errors) - len(lines)
    if rest:
        weight = sum(error.weight for error in errors) - sum(error.weight for error in named[:SHOWN])
        lines.append(f"{weight:.2f}  {rest} {'more' if lines else 'slight'}, not listed")
    return lines or ["none"]


def note(error: ErrorSpan) -> str:
    """One error in a few words; what is too unlikely a mistake to have a severity is called slight."""
    return error_note(error) if error.severity != "none" else f"slight {error_note(replace(error, severity=cast(Any, '')))}"


def change_html(change: Change) -> str:
    """What a notebook shows: the fragment with its style and signature."""
    return framed(Html(change_fragment(change)), change.before.signature)


def change_fragment(change: Change) -> str:
    """The change without style and signature: no script and no ``id``, everything escaped."""
    before, after = change.before, change.after
    words = f"score, from {before.score:.3f} ({signed(change.difference)})"
    flags = [element("span", escaped(flag), class_="rome-flag") for flag in after.flags]
    head = element(
        "p", element("strong", escaped(f"{after.score:.3f}")), element("span", escaped(words)), *flags, class_="rome-score"
    )
    lists = element("section", *_lists(change), aria_label="errors")
    parts = [head, _texts(change), _numbers(change), lists]
    return element("article", *parts, class_="rome-summary", aria_label=f"change of segment {before.segment}")


def _texts(change: Change) -> Html:
    """The reference and the hypotheses, what went or was dropped marked in the old one, what came in the new one; then the edit."""
    before, after, dropped = change.before, change.after, getattr(change, "dropped", ())
    went = dropped or change.went
    lines = [text_line("reference", before.reference, went, "reference")]
    if before.hypothesis == after.hypothesis:
        lines.append(text_line("hypothesis", before.hypothesis, went, "hypothesis"))
    else:
        lines.append(text_line("before", before.hypothesis, went, "hypothesis"))
        lines.append(text_line("after", after.hypothesis, change.came, "hypothesis"))
        lines.append(
            joined([element("dt", escaped("edit")), element("dd", _edit(before.hypothesis, after.hypothesis), dir="auto")])
        )
    return element("dl", *lines, class_="rome-texts")


def _edit(before: str, after: str) -> Html:
    """Words taken out and put in, side by side; of long texts the beginning."""
    old, new = (re.findall(r"\s+|\w+|[^\w\s]", text[:CUT]) for text in (before, after))
    parts = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(escaped("".join(old[i:j])))
            continue
        parts += [element(tag, escaped("".join(words))) for tag, words in (("del", old[i:j]), ("ins", new[k:m])) if words]
    return joined([*parts, *([escaped(" …")] if max(len(before), len(after)) > CUT else [])])


def _numbers(change: Change) -> Html:
    """Components and contributions before and after, the score below."""
    before, after = change.before, change.after
    components = zip(before.components, after.components, change.components, strict=True)
    contributions = zip(before.contributions, after.contributions, change.contributions, strict=True)
    rows = []
    for name, (x, y, gap), (old, new, share) in zip(FEATURES, components, contributions, strict=True):
        cells = [cell(f"{x.value:.3f}"), element("td", _arrow(x.value, y.value), class_="rome-drawn"), cell(f"{y.value:.3f}")]
        cells += [
            cell(text) for text in (signed(gap), *(fixed(lost, 3).replace("-", "\u2212") for lost in (old, new)), signed(share))
        ]
        rows.append(element("tr", element("th", escaped(name), scope="row"), *cells))
    drawn = element("td", _arrow(before.score, after.score), class_="rome-drawn")
    scores = [
        cell(f"{before.score:.3f}"),
        drawn,
        cell(f"{after.score:.3f}"),
        cell(signed(change.difference)),
        cell(""),
        cell(""),
    ]
    last = element(
        "tr",
        element("th", escaped("score"), scope="row"),
        *scores,
        cell(signed(change.difference)),
        class_="rome-last rome-bold",
    )
    head = heads(
        "", "before", "from 0 to 1", "after", "difference", "contribution before", "after", "difference", drawn=["from 0 to 1"]
    )
    caption = element("caption", escaped("Components and contributions"))
    table = element("table", caption, head, element("tbody", *rows, last), class_="rome-summing")
    return element("div", table, class_="rome-scroll")


def _arrow(before: float, after: float) -> Html:
    """From 0 to 1: a thin mark where the value was, a thick one where it is, and a band between them."""
    kind, (low, high) = "rome-wins" if after >= before else "rome-losses", sorted((100.0 * before, 100.0 * after))
    parts = [element("path", d="M0 5H100", class_="rome-under")]
    if high - low >= 0.05:
        parts.append(element("path", d=f"M{number(low)} 3.4H{number(high)}V6.6H{number(low)}Z", class_=kind))
    parts.append(element("path", d=f"M{number(100.0 * before)} 2V8", class_="rome-was"))
    parts.append(element("path", d=f"M{number(100.0 * after)} 1V9", class_="rome-mean"))
    return stretched(10, *parts, flat=True)


def _lists(change: Change) -> Iterator[Html]:
    """The errors that were dropped, or those that went and came, each with its title."""
    dropped = getattr(change, "dropped", ())
    if dropped:
        yield element("p", element("strong", escaped("Without these errors")))
        yield error_list(dropped)
        return
    if change.before.evidence.errors is None or change.after.evidence.errors is None:
        yield element("p", escaped("No evidence on one side: which errors came and went is not known."), class_="rome-note")
        return
    for title, errors in (("Errors that went", change.went), ("Errors that came", change.came)):
        yield element("p", element("strong", escaped(title)))
        yield error_list(errors) if errors else element("p", escaped("None."), class_="rome-note")
