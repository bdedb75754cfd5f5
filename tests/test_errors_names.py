"""What errors are called: slips of spelling, forms of one stem, words that do not stand for each other; names never change the count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from errors_laws import check_laws
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.features.analyser.config import set_folder
from rome.features.errors.estimator import ErrorsConfig
from rome.features.errors.evidence import SEVERITIES, TYPES, ErrorSpan, PairPrediction
from rome.features.errors.learned import LearnedErrors
from rome.features.errors.lexicon import AntonymLexicon
from rome.features.errors.names import alike, misspelled, name_of, of_one_stem, slip, stand_for_each_other, unknown
from rome.features.errors.units import Sides, Unit
from rome.features.idf import IdfTable
from rome.features.values import Analysis, Word

from handmade import analysis

COUNTS = dict.fromkeys("the gardener waters her roses every morning evening friend kitchen close may many on is".split(), 300)
COUNTS |= {"may": 900, "ay": 2, "many": 800}
IDF = IdfTable(1000, COUNTS)
LEXICON = AntonymLexicon.load(set_folder() / "lexicon" / "antonyms.tsv")
CONFIG = ErrorsConfig(estimator="learned", forgiveness=0.0)
TAGS = ("NOUN", "VERB", "ADJ", "DET", "ADP", "PROPN", "PRON", "PUNCT")


def word(text: str, upos: str = "NOUN", lemma: str | None = None, feats: str = "") -> Word:
    """A word that stands for itself."""
    return Word(text, lemma or text.lower(), upos, "", feats, -1, "root", 0, len(text), 0)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("friend", "freind", True),
        ("kitchen", "kitchn", True),
        ("kitchen", "ktichne", True),
        ("kitchen", "chicken", False),
        ("on", "no", True),
        ("is", "as", True),
        ("is", "an", False),
        ("Rose", "rose", False),
        ("", "a", True),
        ("crème", "creme", True),
    ],
)
def test_slips_are_one_or_two_letters(old: str, new: str, expected: bool) -> None:
    """Letters left out, exchanged or swapped: one in a short word, two in a longer one; case is none; both ways alike."""
    assert alike(old, new) is alike(new, old) is expected


def test_a_word_that_nobody_knows() -> None:
    """What was counted is known, and its regular forms are; numbers and words with marks in them are not judged."""
    assert not any(unknown(word(text), COUNTS) for text in ("gardener", "Gardeners", "friendly", "25", "state-of-the-art", ""))
    assert unknown(word("gardner"), COUNTS) and unknown(word("花園"), COUNTS)


def test_a_misspelled_word_is_known_by_the_word_that_was_meant() -> None:
    """One letter away from a known word, in small letters; a name, a far word, a short word or one in another script may be right."""
    assert all(misspelled(word(text), COUNTS) for text in ("gardner", "gardenner", "gadrener", "mornong"))
    assert not any(misspelled(word(text), COUNTS) for text in ("morning", "Mornong", "mrnng", "teh", "花園花園", "grdnr"))


def test_a_slip_is_unknown_or_much_rarer_than_what_was_meant() -> None:
    """Two known words of one kind are no slip of each other, nor is a name spelled in another way, nor another form of a stem."""
    assert slip(word("friend"), word("freind"), COUNTS)
    assert slip(word("may", "AUX"), word("ay"), COUNTS)
    assert not slip(word("many"), word("may", "AUX"), COUNTS)
    assert not slip(word("Gardner", "PROPN"), word("Gardnr", "PROPN"), COUNTS)
    assert not slip(word("close"), word("closes"), COUNTS)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("close", "closely", True),
        ("garden", "gardener", True),
        ("destroy", "destroyed", True),
        ("country", "county", False),
        ("rose", "roses", True),
        ("on", "only", False),
        ("a", "a", False),
    ],
)
def test_words_of_one_stem(old: str, new: str, expected: bool) -> None:
    """They share four letters, and what follows is a suffix or nothing."""
    assert of_one_stem(word(old), word(new)) is of_one_stem(word(new), word(old)) is expected


@pytest.mark.parametrize(
    ("old", "new", "cosine", "expected"),
    [
        (("waters", "VERB"), ("cuts", "VERB"), 0.0, True),
        (("waters", "VERB"), ("on", "ADP"), 0.9, False),
        (("waters", "VERB"), ("roses", "NOUN"), 0.5, False),
        (("waters", "VERB"), ("irrigation", "NOUN"), 0.7, True),
        (("not", "PART"), ("always", "ADV"), 0.0, True),
        (("two", "NUM"), ("a", "DET"), 0.0, True),
        (("close", "ADJ"), ("closely", "ADV"), 0.0, True),
    ],
)
def test_which_words_stand_for_each_other(old: tuple[str, str], new: tuple[str, str], cosine: float, expected: bool) -> None:
    """Words of one class do, others when they are near and both carry meaning, or are written almost alike."""
    assert (
        stand_for_each_other(word(*old), word(*new), cosine) is stand_for_each_other(word(*new), word(*old), cosine) is expected
    )


@pytest.mark.parametrize(
    ("kind", "ruled", "learned", "old", "new", "expected"),
    [
        ("missing", "verb", "antonym", word("waters", "VERB"), None, "verb"),
        ("missing", "auxiliary", "modality", word("may", "AUX"), None, "modality"),
        ("unnecessary", "repetition", "name", None, word("roses"), "repetition"),
        ("unnecessary", "noun", "name", None, word("gardner"), "spelling"),
        ("order", "order", "grammar", word("roses"), word("roses"), "order"),
        ("order", "order", "roles", word("roses"), word("roses"), "roles"),
        ("replacement", "noun", "roles", word("rose"), word("tulip"), "noun"),
        ("replacement", "noun", "name", word("rose"), word("tulip"), "noun"),
        ("replacement", "noun", "unit", word("kilo"), word("pound"), "unit"),
        ("replacement", "inflection", "negation", word("takes", "VERB", "take"), word("taking", "VERB", "take"), "inflection"),
        ("replacement", "negation", "other", word("unable", "ADJ"), word("unabl", "ADJ"), "spelling"),
        ("replacement", "number", "other", word("9", "NUM"), word("8", "NUM"), "number"),
        ("replacement", "preposition", "grammar", word("on", "ADP"), word("at", "ADP"), "preposition"),
        ("replacement", "verb", "grammar", word("turned", "VERB", "turn"), word("was", "AUX", "be"), "grammar"),
        ("replacement", "adverb", "other", word("closely", "ADV"), word("close", "ADJ"), "grammar"),
        ("replacement", "verb", "grammar", word("eating", "VERB", "eat", "VerbForm=Ger"), word("consuming", "VERB", "consume", "VerbForm=Ger"), "verb"),
        ("replacement", "verb", "grammar", word("ate", "VERB", "eat", "Tense=Past"), word("consumes", "VERB", "consume", "Tense=Pres"), "grammar"),
        ("replacement", "pronoun", "other", word("his", "PRON", "his", "Gender=Masc"), word("her", "PRON", "she", "Gender=Fem"), "gender"),
    ],
)  # fmt: skip
def test_what_an_error_is_called(
    kind: str, ruled: str, learned: str, old: Word | None, new: Word | None, expected: str
) -> None:
    """The reader names what can be so; a word alone goes by its class, a moved one by its place, a slip is spelling."""
    assert name_of(kind, ruled, learned, old, new, COUNTS) == expected  # type: ignore[arg-type]


def read(amount: float, wrong: Sequence[str]) -> LearnedErrors:
    """A reader that finds these words wrong, all major and of no type, and nothing else."""

    def reader(pairs: Sequence[tuple[Analysis, Analysis]]) -> list[PairPrediction]:
        found = []
        for pair in pairs:
            chances = [0.9 if one.text in wrong else 0.05 for side in pair for one in side.words]
            rows = np.array([[1.0 - chance, 0.0, chance, 0.0] for chance in chances]).reshape(-1, 4)
            types = np.tile(np.eye(len(TYPES))[TYPES.index("other")], (len(chances), 1))
            found.append(PairPrediction(rows, types, amount))
        return found

    return LearnedErrors(IDF, LEXICON, reader, CONFIG)


def told(reference: Analysis, hypothesis: Analysis, wrong: str) -> list[tuple[str, str, str | None, str | None]]:
    """Kind, type and words of every error and difference, the laws checked."""
    found = read(6.0, wrong.split()).measure(reference, hypothesis)
    check_laws(found, reference, hypothesis)
    spans: list[ErrorSpan] = [*found.evidence.errors, *found.evidence.differences]
    return [(e.kind, e.type, e.reference and e.reference.text, e.hypothesis and e.hypothesis.text) for e in spans]


def test_a_slip_is_laid_beside_the_word_that_was_meant() -> None:
    """Also where the alignment took it for another word, or for one too much."""
    reference = analysis("the gardener waters roses", upos=["DET", "NOUN", "VERB", "NOUN"])
    one = analysis("the gardener wtaers roses", upos=["DET", "NOUN", "X", "NOUN"])
    assert told(reference, one, "waters wtaers") == [("replacement", "spelling", "waters", "wtaers")]
    other = analysis("the gardener mornong roses", upos=["DET", "NOUN", "ADP", "NOUN"])
    assert ("surface", "spelling", None, "mornong") in told(
        analysis("the gardener roses", upos=["DET", "NOUN", "NOUN"]), other, "mornong"
    )


def test_a_word_in_another_script_stands_for_the_word_that_is_lost() -> None:
    """Whatever class a tagger gives it."""
    reference = analysis("the gardener waters roses", upos=["DET", "NOUN", "VERB", "NOUN"])
    for tag in ("PUNCT", "X", "PROPN"):
        foreign = analysis("the gardener 浇水 roses", upos=["DET", "NOUN", tag, "NOUN"])
        assert [row[0] for row in told(reference, foreign, "waters 浇水")] == ["replacement"]
        added = analysis("the gardener waters 浇水 roses", upos=["DET", "NOUN", "VERB", tag, "NOUN"])
        ((kind, name, *_),) = told(reference, added, "浇水")
        assert kind == "unnecessary" and name != "punctuation"


def test_a_word_of_another_class_is_no_replacement() -> None:
    """A verb that is left out is missing, although the preposition that now stands in its place looks like it."""
    vectors = np.eye(64, dtype=np.float32)
    reference = analysis("the gardener waters roses", upos=["DET", "NOUN", "VERB", "NOUN"], vectors=vectors[[0, 1, 2, 3]])
    hypothesis = analysis("the gardener on roses", upos=["DET", "NOUN", "ADP", "NOUN"], vectors=vectors[[0, 1, 2, 3]])
    assert sorted(told(reference, hypothesis, "waters on")) == [
        ("missing", "verb", "waters", None),
        ("unnecessary", "preposition", None, "on"),
    ]


def test_opposites_and_names_find_each_other_wherever_they_stand() -> None:
    """A lost word and its opposite are one error, so are two names, though neither stands in the other's place."""
    reference = analysis("early roses bloom there", upos=["ADJ", "NOUN", "VERB", "ADV"])
    hypothesis = analysis("there bloom roses late", upos=["ADV", "VERB", "NOUN", "ADV"])
    assert ("replacement", "antonym", "early", "late") in told(reference, hypothesis, "early late")
    reference = analysis("Ada waters roses", upos=["PROPN", "VERB", "NOUN"])
    hypothesis = analysis("roses waters Zoe", upos=["NOUN", "VERB", "PROPN"])
    assert ("replacement", "name", "Ada", "Zoe") in told(reference, hypothesis, "Ada Zoe")


def test_swapped_neighbours_are_out_of_order() -> None:
    """Whatever the reader calls them."""
    tags = ["DET", "NOUN", "VERB", "PRON", "NOUN"]
    reference = analysis("the gardener waters her roses", upos=tags)
    hypothesis = analysis("the gardener her waters roses", upos=[*tags[:2], "PRON", "VERB", "NOUN"])
    assert {row[:2] for row in told(reference, hypothesis, "waters her")} == {("order", "order")}


TEXTS = st.lists(
    st.tuples(
        st.sampled_from("the gardener wtaers waters roses on ay may many Ada 花 9 nine late early .".split()),
        st.sampled_from(TAGS),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=400, deadline=None)
@given(TEXTS, TEXTS, st.integers(0, 10**6))
def test_names_never_change_the_count(one: list[tuple[str, str]], other: list[tuple[str, str]], seed: int) -> None:
    """Law: laid side by side as a person would, errors weigh together what they weigh as they are aligned, and no word is told twice or lost."""

    def reader(pairs: Sequence[tuple[Analysis, Analysis]]) -> list[PairPrediction]:
        found = []
        for pair in pairs:
            chance = np.random.default_rng([seed, *(len(side.text) for side in pair)])
            count = sum(len(side.words) for side in pair)
            rows = chance.dirichlet(np.full(len(SEVERITIES), 0.4), count), chance.dirichlet(np.full(len(TYPES), 0.4), count)
            found.append(PairPrediction(*rows, float(chance.exponential(8.0))))
        return found

    class AsAligned(Sides):
        """No word is laid anew."""

        def relaid(self, units: Sequence[Unit]) -> list[Unit]:
            """As they are."""
            return list(units)

    def tagged(words: list[tuple[str, str]]) -> Analysis:
        return analysis(" ".join(text for text, _ in words), upos=["PUNCT" if text == "." else tag for text, tag in words])

    pair = tagged(one), tagged(other)
    errors = LearnedErrors(IDF, LEXICON, reader, CONFIG)
    found = errors.measure(*pair)
    check_laws(found, *pair)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rome.features.errors.learned.Sides", AsAligned)
        assert found.raw == pytest.approx(errors.measure(*pair).raw)
