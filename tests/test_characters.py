"""Texts as people write them: other characters and marks of format are no errors, and every place is one in the given text."""

from __future__ import annotations

import unicodedata
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rome import InputError, RoMe
from rome.checks import MOST_WORDS
from rome.features.text import compared, visible
from rome.results import CorpusScore

SAME = {
    "composed and decomposed": [
        ("The café in Zürich is open.", "The cafe\u0301 in Zu\u0308rich is open."),
        ("Ångström lived in Uppsala.", "A\u030angstro\u0308m lived in Uppsala."),
        ("Nguyễn wrote the report.", "Nguye\u0302\u0303n wrote the report."),
        ("Dvořák was born in Nelahozeves.", "Dvor\u030ca\u0301k was born in Nelahozeves."),
        ("The word 한국 means Korea.", "The word 한국 means Korea."),
    ],
    "ligatures and full width": [
        ("The first office opened in May.", "The ﬁrst oﬃce opened in May."),
        ("The flight left at five.", "The ﬂight left at ﬁve."),
        ("The staff baffled them.", "The staﬀ baﬄed them."),
        ("Room 12 is on the left!", "Ｒｏｏｍ　１２ is on the left！"),
        ("A bold claim was made.", "A 𝐛𝐨𝐥𝐝 claim was made."),
    ],
    "blanks and hyphens": [
        ("Twenty-five people came.", "Twenty\u2011five people came."),
        ("It weighs 10 kg and costs 5 euros.", "It weighs 10\u00a0kg and costs 5\u202feuros."),
        ("The international agreement holds.", "The inter\u00adnational agree\u00adment holds."),
        ("It fell to -5 degrees.", "It fell to \u22125 degrees."),
        ("A well-known man came.", "A\u2009well\u2010known man came."),
    ],
    "invisible characters": [
        ("1,200 people came to the fair.", "1,200\u200b people came to the fair."),
        ("Lisbon is the capital.", "\ufeffLis\u200bbon is the capital."),
        ("The bank opens at nine.", "The \u200b bank opens at\u2060 nine."),
        ("She said yes.", "\u202aShe said yes.\u202c"),
        ("The file is ready.", "The file\x00 is ready\x07."),
    ],
    "quotes": [
        ('"It\'s late," he said.', "“It’s late,” he said."),
        ('He called it "fine".', "He called it «fine»."),
        ("The 'old' mill burned.", "The ‘old’ mill burned."),
        ("It's Tom's house.", "It´s Tomʼs house."),
        ('"Stop," she said.', "„Stop,‟ she said."),
    ],
    "raised and lowered digits, Roman numerals": [
        ("Water is H2O and it is wet.", "Water is H₂O and it is wet."),
        ("The air has 420 ppm of CO2.", "The air has 420 ppm of CO₂."),
        ("The dish holds 10^6 cells.", "The dish holds 10⁶ cells."),
        ("Chapter IV is long.", "Chapter Ⅳ is long."),
        ("Louis XII died in 1515.", "Louis Ⅻ died in 1515."),
    ],
    "emphasis": [
        ("Lisbon is the capital of Portugal.", "_Lisbon_ is the **capital** of Portugal."),
        ("The big red house was sold.", "The **big *red* house** was sold."),
        ("Note: the pool is closed.", "**Note:** the pool is ~~closed~~."),
        ("It is very important.", "It is __very important__."),
        ("Do not touch it!", "***Do not*** touch *it*!"),
    ],
    "headings, bullets, rules": [
        ("Lisbon\nThe city has 545,000 people.", "# Lisbon\nThe city has 545,000 people."),
        ("Lisbon is large.\nPorto is small.", "- Lisbon is large.\n- Porto is small."),
        ("Mix the flour.\nAdd 2 eggs.", "* Mix the flour.\n* Add 2 eggs."),
        ("She agreed.\nHe did not.", "> She agreed.\n>  He did not."),
        ("Summary\n\nSales rose.", "### Summary\n---\nSales rose."),
    ],
    "links": [
        ("See the guide for help.", "See [the guide](https://a.org/x) for help."),
        ("The map shows the town.", "![The map](map.png) shows the town."),
        ("Ask Anna or Paul.", "Ask [Anna](mailto:anna@a.org) or [Paul](#paul)."),
        ("Visit https://a.org today.", "Visit <https://a.org> today."),
        ("Read the law now.", 'Read [the law](https://a.org/a_(b) "The law") now.'),
    ],
    "tables": [
        ("City People\nLisbon 545,000", "| City | People |\n|---|---|\n| Lisbon | 545,000 |"),
        ("City People\nLisbon 545,000", "City | People\n:---|---:\nLisbon | 545,000"),
        ("|a|b|\n|-|-|\n|12|500|", "| a  | b   |\n|:---|:---:|\n| 12 | 500 |"),
        ("Name Age\nAnna young", "| Name | Age   |\n| ---- | ----- |\n| Anna | young |"),
        ("|x|y|\n|---|---|\n|one||\nEnd.", "| x | y |\n|---|---|\n| one |  |\nEnd."),
    ],
    "code": [
        ("Use --force to delete it.", "Use `--force` to delete it."),
        ("Run this:\nx = a ** 2\nThen stop.", "Run this:\n```python\nx = a ** 2\n```\nThen stop."),
        ("Call `f(x)` twice.", "Call ``f(x)`` twice."),
        ("`a_b` and `__init__` stay.", "**`a_b`** and `__init__` stay."),
        ("Start:\n```\nls\n```", "Start:\n~~~sh\nls\n~~~"),
    ],
}
"""Pairs of one text."""

OTHER = {
    "code": [
        ("Use `x ** 2` for the square.", "Use `x * 2` for the square.", "x * 2"),
        ("Set `timeout=30` in the file.", "Set `timeout=300` in the file.", "timeout=300"),
        ("Use `--force` to delete it.", "Use `-force` to delete it.", "-force"),
        ("Run:\n```\na = 1\nb = a_c\n```\nStop.", "Run:\n```\na = 1\nb = ac\n```\nStop.", "b = ac"),
        ("Call `Open()` here.", "Call `open()` here.", "open()"),
    ],
    "values": [
        ("It takes 2½ hours.", "It takes 3½ hours.", "3½ hours"),
        ("“It costs 5 euros.”", "“It costs 6\u00a0euros.”", "6\u00a0euros"),
        ("**Lisbon** has 12 ﬁelds.", "**Lisbon** has 15 ﬁelds.", "15"),
        ("- It opens at 9:00.", "* It opens at 1\u200b0:00.", "1\u200b0:00"),
        ("See [it](https://a.org/x) now.", "See [it](https://b.org/x) now.", "https://b.org/x"),
    ],
}
"""Pairs of two texts, and the words of the hypothesis that are a critical error."""

APART = [("10⁶ cells", "106 cells"), ("2½ hours", "21/2 hours"), ("x²", "x2"), ("`x * 2`", "`x ** 2`"), ("5 m²", "5 m")]
"""What must not become one text."""

KEPT = """2 * 3 * 4|snake_case_name|x ** 2|__init__|#1|- 5|a - b|5 > 3|x**2 + y**2|SELECT *, count(*) FROM t|f(*args, **kwargs)|
_private|fill in ____ here|``quoted'' and ``more''|it`s|a[i](x)|[1]|a | b|~5 to ~6|5* and 4* hotels|# NAME # said|1. First|naïve|☕️ → 5 °C"""
"""Texts without marks of format, one between each two lines."""


@cache
def metric() -> RoMe:
    return RoMe(models="small", progress=False, threads=1)


def scored(pairs: list[tuple[str, str]]) -> CorpusScore:
    return metric().score(references=[pair[0] for pair in pairs], hypotheses=[pair[1] for pair in pairs])


@pytest.mark.parametrize("kind", SAME)
def test_one_text_in_other_characters_is_one_text(kind: str) -> None:
    """Both ways round: score 1, flagged as identical, without an error."""
    pairs = [pair for one, other in SAME[kind] for pair in ((one, other), (other, one))]
    found = scored(pairs)
    assert [pair for pair, one in zip(pairs, found, strict=True) if one.score != 1.0 or one.errors] == []
    assert all(one.flags[0] == "identical" for one in found)


@pytest.mark.parametrize("kind", OTHER)
def test_an_error_is_reported_in_the_users_own_characters(kind: str) -> None:
    """It is critical, and its spans are those of the given texts."""
    pairs = [(one, other) for one, other, _ in OTHER[kind]]
    for (reference, hypothesis, words), segment in zip(OTHER[kind], scored(pairs), strict=True):
        assert [e.hypothesis.text for e in segment.errors if e.severity == "critical" and e.hypothesis] == [words], segment
        for error in segment.errors:
            for span, text in ((error.reference, reference), (error.hypothesis, hypothesis)):
                assert span is None or span.text == text[span.start : span.end]


def test_sentences_are_reported_in_the_users_own_characters() -> None:
    """Their places are those of the given hypothesis, with what is not compared inside."""
    hypothesis = "# The ﬁrst day\nIt was **very** cold\u200b. “We left.”"
    (segment,) = scored([("It was cold.", hypothesis)])
    sentences = segment.evidence.grammar.sentences
    assert [s.text for s in sentences] == [hypothesis[s.start : s.end] for s in sentences]
    assert "**very** cold\u200b." in " ".join(s.text for s in sentences)


def test_blanks_inside_code_are_a_slip() -> None:
    """They are an error, but no other value."""
    (segment,) = scored([("Use `x ** 2` for it.", "Use `x**2` for it.")])
    assert [(e.type, e.severity, e.hypothesis.text) for e in segment.errors if e.hypothesis] == [("spacing", "minor", "x**2")]


def test_what_means_something_else_stays_another_text() -> None:
    """Exponents, fractions and code."""
    assert not [pair for pair, one in zip(APART, scored(APART), strict=True) if "identical" in one.flags or one.score == 1.0]


@pytest.mark.parametrize("text", KEPT.replace("\n", "").split("|"))
def test_what_only_resembles_a_mark_of_format_stays(text: str) -> None:
    """Operators, names, numbers and quotes are compared as they are."""
    assert compared(text).text.replace("\ufe0f", "") == text.replace("\ufe0f", "")


@pytest.mark.parametrize("text", ["\u200b", "\x00", "\ufeff", "\u00ad \u2060", "\u3164\u200e\n"])
def test_a_text_of_nothing_visible_is_empty(text: str) -> None:
    """As a reference it is refused by its place; else it is as an empty one, on both sides."""
    with pytest.raises(InputError, match=r"references\[1\] is empty"):
        metric().score(references=["A cat.", text], hypotheses=["A cat.", "A cat."])
    lenient = RoMe(models="small", progress=False, threads=1, empty_reference="score")
    found = lenient.score(references=["A cat.", text, text], hypotheses=[text, "A cat.", ""])
    empty = lenient.score(references=["A cat.", "", ""], hypotheses=["", "A cat.", ""])
    assert [one.flags for one in found] == [one.flags for one in empty] and found.scores == pytest.approx(empty.scores, abs=2e-5)


def test_identical_holds_for_whole_texts_beyond_the_bound() -> None:
    """Equal in other characters to the end: 1 and identical; with another end it is neither."""
    text = "The café was open on Monday. " * (MOST_WORDS // 6 + 10)
    found, longer = scored([(text, unicodedata.normalize("NFD", text)), (text, f"{text}It burned down.")])
    assert found.score == 1.0 and "identical" in found.flags
    assert longer.score < 1.0 and "identical" not in longer.flags


MARKED = st.text(st.sampled_from("ab1 .\n*_`~#|-[](/)e\u0301ﬁ½²Ⅳ“”\u200b\u00ad\ufeff😍\u200d\ufe0f"), max_size=40)
LETTERS = st.characters(max_codepoint=0x482) | st.characters(min_codepoint=0x1E00, max_codepoint=0x22FF)
PLAIN = st.text(LETTERS.filter(lambda character: character not in "*_`~#|-+>=[<•^"), max_size=40)


@given(MARKED | PLAIN)
@settings(max_examples=400, deadline=None)
def test_places_rise_and_lie_in_the_text(text: str) -> None:
    """Every character of the compared text stands for a piece of the given one, and an equal visible one keeps its place."""
    found = compared(text)
    assert len(found.starts) == len(found.ends) == len(found.text)
    assert all(0 <= start < end <= len(text) for start, end in zip(found.starts, found.ends, strict=True))
    assert list(found.starts) == sorted(found.starts) and list(found.ends) == sorted(found.ends)
    assert visible(text) == bool(found.text.strip())


@given(PLAIN)
@settings(max_examples=400, deadline=None)
def test_the_compared_form_is_its_own_and_that_of_every_normal_form(text: str) -> None:
    """Without marks of format it does not change again, and composed and decomposed texts have the same."""
    found = compared(text).text
    assert compared(found).text == found
    assert compared(unicodedata.normalize("NFC", text)).text == compared(unicodedata.normalize("NFD", text)).text
