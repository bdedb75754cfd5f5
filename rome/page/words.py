"""What the page says about its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from rome.combining.provenance import supervision_note
from rome.display.markup import Html, element, escaped, joined
from rome.page.board import Standing
from rome.results.resampling import LEVEL

__all__ = ["ABOUT_DISTRIBUTIONS", "about", "about_differences", "about_leaderboard"]

ABOUT_DISTRIBUTIONS = (
    "How many segments have which value, from 0 to 1; the line is the mean. The highest bar of each picture fills its height."
)
_TERMS = {
    "score": "from 0 to 1; the reference itself has 1. A small net turns the four components into it; a better component never lowers it.",
    "semantic": "does the output say the same as the reference? One minus the transport cost between their words' vectors.",
    "syntax": "is it built the same way? One minus the share of tree edits between the two dependency trees.",
    "grammar": "is it acceptable English? The output's probability as a share of the reference's own, at most 1.",
    "errors": "how many mistakes, how bad? A minor one weighs 1, a major one 5, a critical one, which turns the meaning, 10; at most 25 a segment.",
    "difference": "the row's score minus the mean score of the other systems on the same segment.",
    "flag": "what a reader should know about a pair, such as an empty output or a text in another script.",
}


def about_leaderboard(rows: Sequence[Standing], segments: int, seed: int) -> str:
    """What the numbers of the leaderboard are."""
    text = "Means over the segments."
    if segments < 2:
        return text + " One segment says nothing about others, so there are no intervals."
    text += f" Brackets hold {LEVEL:.0%} of the means of bootstrap resamples of the segments (seed {seed})."
    if len(rows) > 1:
        text += (
            " The difference to the first system and its p are paired: the same segments are drawn for both; "
            "a bold difference has an interval without 0."
        )
    if len(rows) > 2:
        text += " They are not corrected for the number of systems."
    return text


def about_differences(first: str) -> str:
    """What the table of differences shows."""
    return (
        f"{first} minus the other system, so a positive number speaks for {first}; bold where the interval leaves out 0. "
        f"At the right: on how many segments {first} has the better score, the worse one, the same."
    )


def about(signature: str) -> Html:
    """What each number is, and the signature."""
    terms = joined(
        joined([element("dt", escaped(name.capitalize())), element("dd", escaped(meaning))]) for name, meaning in _TERMS.items()
    )
    note = supervision_note(signature)
    label = [element("p", element("strong", escaped(note)))] if note else []
    made = element(
        "p", escaped("Signature, every choice that changes a number: "), element("code", escaped(signature or "none"))
    )
    left = element(
        "p",
        escaped("The alignment and flow matrices are left out here: rome explain, or a notebook, shows them."),
        class_="note",
    )
    return joined([*label, element("dl", terms, class_="terms"), made, left])
