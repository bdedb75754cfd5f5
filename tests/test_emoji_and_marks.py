"""Emoji, final marks before tags, footnotes and quotes, and blanks, kind by kind, with the shipped small set."""

from __future__ import annotations

import pytest

from rome import RoMe
from rome.features.errors.evidence import ErrorSpan

METRIC = RoMe(models="small", progress=False)
CHANGED = [
    ("The food was great 😍", "The food was great 🤮"),
    ("See you tomorrow 👍🏽!", "See you tomorrow 👎🏽!"),
    ("We meet in 🇫🇷 next week.", "We meet in 🇩🇪 next week."),
    ("👨‍⚕️ arrived first.", "👩‍⚕️ arrived first."),
    ("Press 1️⃣ to confirm.", "Press 2️⃣ to confirm."),
    ("👍", "👎"),
    ("Great job👏👏, team!", "Great job🙄🙄, team!"),
    ("Rating: ★★★★☆", "Rating: ★★☆☆☆"),
]
LOST = [
    ("Happy birthday 🎉", "Happy birthday"),
    ("Thanks for the help! 🙏", "Thanks for the help!"),
    ("The food was great 😍.", "The food was great."),
    ("Good morning ☀️ everyone.", "Good morning everyone."),
    ("Our trip to 🏴󠁧󠁢󠁳󠁣󠁴󠁿🏴󠁧󠁢󠁳󠁣󠁴󠁿 starts today.", "Our trip to 🏴󠁧󠁢󠁳󠁣󠁴󠁿 starts today."),
]
SAME = [
    ("See you tomorrow 👍", "See you tomorrow 👍🏿"),
    ("I love this song ❤️", "I love this song ❤"),
    ("😀 The food was good.", "The food was good. 😀"),
    ("Great job 👏, team 🎉!", "Great job 🎉, team 👏!"),
    ("Press 3️⃣ to confirm.", "Press 3 to confirm."),
]
ENDS = '{} <p>{}</p> <b><i>{}</i></b> {}[1] {}^[12] {}[citation%needed] {}<sup>3</sup> "{}" “{}” ({}) {}%🎉'.split()
"""Frames of a sentence; % is a blank."""


def errors_of(pairs: list[tuple[str, str]]) -> list[tuple[ErrorSpan, ...]]:
    """Return the errors of each pair, after checking that their characters are those of the texts."""
    result = METRIC.score(references=[old for old, _ in pairs], hypotheses=[new for _, new in pairs])
    for (old, new), segment in zip(pairs, result.segments, strict=True):
        for error in segment.errors:
            assert error.reference is None or old[error.reference.start : error.reference.end] == error.reference.text
            assert error.hypothesis is None or new[error.hypothesis.start : error.hypothesis.end] == error.hypothesis.text
    return [segment.errors for segment in result.segments]


def test_another_emoji_is_an_error_of_content() -> None:
    """Major or worse, and the only error; so it is where it touches a word or a mark."""
    for pair, errors in zip(CHANGED, errors_of(CHANGED), strict=True):
        assert [(error.kind, error.severity in ("major", "critical")) for error in errors] == [("replacement", True)], pair


def test_a_lost_or_added_emoji_is_minor() -> None:
    """And nothing else is worse."""
    added = [(new, old) for old, new in LOST]
    for pair, errors in zip(LOST + added, errors_of(LOST + added), strict=True):
        kind = "omission" if pair in LOST else "addition"
        assert kind in [e.type for e in errors] and {e.severity for e in errors} == {"minor"}, pair


def test_skin_tone_variation_and_place_of_an_emoji_do_not_count() -> None:
    """No error above a slip; a keycap is its number."""
    for pair, errors in zip(SAME, errors_of(SAME), strict=True):
        assert sum(error.weight for error in errors) < 0.2, (pair, errors)


@pytest.mark.parametrize("emoji", ["👍🏽", "👨‍👩‍👧", "🇫🇷", "3️⃣", "❤️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"])
def test_an_emoji_is_one_word(emoji: str) -> None:
    """With its skin tone, joined or not, a flag and a keycap; beside words and marks."""
    text = f"Great job{emoji}{emoji}, team {emoji}!"
    words = [text[word.start : word.end] for word in METRIC.analyse([text])[text].words]
    one = emoji.removesuffix("\ufe0f\u20e3")  # a keycap is its number
    assert words == ["Great", "job", one, one, ",", "team", one, "!"]
    assert "punctuation_only" not in METRIC.score(references=[text], hypotheses=[emoji])[0].flags


@pytest.mark.parametrize("end", [".", "!", "?"])
@pytest.mark.parametrize("frame", ENDS)
def test_a_missing_final_mark_is_an_error_whatever_follows(frame: str, end: str) -> None:
    """With its full weight, as at the very end of a text; with the mark there is none."""
    old, new = (frame.format(f"About 200 people came{mark}").replace("%", " ") for mark in (end, ""))
    missing, kept = errors_of([(old, new), (old, old)])
    assert [(e.kind, e.reference and e.reference.text) for e in missing if e.weight == 0.6] == [("missing", end)] and not kept


@pytest.mark.parametrize("blank", ["  ", "\t", " \t", "\t\t", "   "])
def test_tabs_and_double_blanks_are_alike(blank: str) -> None:
    """One spacing slip where the reference has one blank, none where it has another of these."""
    text = "The museum{}opened today."
    (slip,), none = errors_of([(text.format(" "), text.format(blank)), (text.format("  "), text.format(blank))])
    assert (slip.type, slip.severity) == ("spacing", "minor") and not none
