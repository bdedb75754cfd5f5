"""Every perturbation under the same laws, and one row for each: a parsed sentence and the texts that it may become."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from rome.data.perturbations.lexicons import both_ways, default_materials, read_table, table
from rome.data.perturbations.names import entities
from rome.data.perturbations.perturbation import Materials, NotApplicable, Parse, Perturbed, apply_edits, needs_an
from rome.data.perturbations.registry import NOT_AUTOMATED, PERTURBATIONS, named
from rome.exceptions import InputError
from rome.features.values import Analysis, Sentence, Word

from handmade import analysis
from perturbation_sentences import (
    ALBUM,
    BOOK,
    CUP,
    DOGS,
    FRANCE,
    MUSEUM,
    PAPER,
    PARIS,
    ROOMS,
    SENTENCES,
    TENTH,
    inflect,
    parsed,
)

MATERIALS = Materials(
    antonyms=both_ways({"new": ("old",), "large": ("small",), "safe": ("dangerous",), "important": ("trivial",)}),
    hypernyms={"church": ("building",), "museum": ("institution",), "album": ("recording",)},
    synonyms={"large": ("big",), "new": ("recent",), "important": ("significant",), "old": ("aged",)},
    names={"country": ("Spain", "the Netherlands"), "city": ("Oslo",), "male name": ("Peter",), "family name": ("Jones",)},
    texts=("A storm closed every airport on Sunday.", *SENTENCES),
    similar={"album": ("song",), "company": ("firm",), "released": ("published",), "museum": ("gallery",), "large": ("huge",)},
    inflect=inflect,
)

# name -> (text, pattern that every result of it matches in full, over twenty seeds)
ROWS = {
    "repeated_twice": (ALBUM, "The company released an important album album."),
    "repeated_four_times": (ALBUM, "The company released an important album album album album."),
    "hypernym": (ALBUM, "The company released an important recording."),
    "omitted_prepositional_phrase": (
        FRANCE,
        "The president( of France)? recommended a new church( in Houston)?( in 1979)? because it was not safe.",
    ),
    "word_added": (ALBUM, r"The \w+ company released an important album\."),
    "antonym": (ALBUM, "The company released a trivial album."),
    "negation_added": (ALBUM, "The company did not release an important album."),
    "negation_removed": (PARIS, "They (went to Paris without some money|didn't go to Paris with any money)."),
    "named_entity_replaced": (FRANCE, "The president of (Spain|the Netherlands|France) .* in (Houston|Oslo) in 1979 .*"),
    "number_changed": (FRANCE, r".* in (19[4-9]\d|200\d) because it was not safe\."),
    "gender_pronoun": (DOGS, "(He quickly told him .* her .*|She quickly told her .* her .*|She quickly told him .* his .*)"),
    "omitted_conjunction": (MUSEUM, "John Smith has visited the large museum, the workers will close it in July."),
    "part_of_speech_shift": (ALBUM, "The company released an (importantly|importance) album."),
    "word_swap": (TENTH, "(Is this|This the is|This is tenth the|This is the time tenth).*"),
    "pronoun_case": (
        DOGS,
        "(Her quickly told him|She quickly told he) that three old dogs had found her brother near the river.",
    ),
    "function_word": (ALBUM, "The company released a important album."),
    "tense": (TENTH, "This was the tenth time."),
    "aspect": (ALBUM, "The company (was releasing|had released) an important album."),
    "interrogative": (TENTH, r"Is this the tenth time\?"),
    "omitted_adjective_or_adverb": (ALBUM, "The company released an album."),
    "omitted_content_verb": (ALBUM, "The company an important album."),
    "omitted_noun": (ALBUM, "The company released an important."),
    "omitted_subject": (ALBUM, "The released an important album."),
    "omitted_named_entity": (PARIS, "They didn't go to without any money."),
    "misspelled_word": (ALBUM, "The compnay released an important album.|The company released an importent album."),
    "deleted_character": (TENTH, "This is the t(nth|eth|enh) time.|This is the tenth t(me|ie)."),
    "omitted_final_punctuation": (TENTH, "This is the tenth time"),
    "added_punctuation": (TENTH, "This is the[,;:] tenth time.|This is the tenth[,;:] time.|This is[,;:] the tenth time."),
    "tokenised_text": (MUSEUM, "John Smith has visited the large museum , but the workers will close it in July ."),
    "lowercased_text": (MUSEUM, "john smith has visited the large museum, but the workers will close it in july."),
    "lowercased_first_word": (MUSEUM, "john Smith has visited the large museum, but the workers will close it in July."),
    "empty_text": (TENTH, r"\."),
    "unrelated_text": (TENTH, "(A storm|The president|She|John|The company|They|The dog|Doctor|Ann).*"),
    "shuffled_words": (TENTH, r"(?!This is the tenth time)[A-Z]\w* \w+ \w+ \w+ \w+\."),
    "adjectives_by_synonyms": (ALBUM, "The company released a significant album."),
    "adjectives_by_antonyms": (ALBUM, "The company released a trivial album."),
    "entities_replaced_partially": (FRANCE, "The president of (France|Spain|the Netherlands) .* in (Houston|Oslo) in 1979.*"),
    "entities_replaced_fully": (FRANCE, "The president of (Spain|the Netherlands) .* in Oslo in 1979.*"),
    "words_by_token": (ALBUM, "The AAA AAA an important album.|The company released an AAA AAA."),
    "words_by_similar": (ALBUM, "The (firm|company) (published|released) an? (important) (song|album)."),
    "passive_form": (ALBUM, "An important album was released by the company."),
    "spelling_variant": (BOOK, "Doctor Brown gave Mary a gray book, and she thanked him."),
    "synonym_reworded": (ALBUM, "The (firm|company) released an? (important|significant) album."),
    "opposite_word": (ALBUM, "The company released an (unimportant|insignificant) album."),
    "relation_reversed": (DOGS, "She quickly told him that three old dogs had found her brother far from the river."),
    "converse_verb": (PAPER, "(She sold .* to her father on .*|She bought .* from her son on .*)"),
    "related_replaced": (
        PAPER,
        "She (bought|rented|stole) a daily .* from her (father|mother|aunt|uncle) on 12 May at 9:30 pm.",
    ),
    "frequency_changed": (PAPER, "She bought a (weekly|monthly|yearly) paper .*"),
    "unit_changed": (PAPER, "She bought a daily paper for 50 (euros|yen|roubles|francs) from her father on 12 May at 9:30 pm."),
    "day_or_month_changed": (PAPER, r"She bought .* on (\d{1,2} May|12 (?!May)\w+) at 9:30 pm\."),
    "time_of_day_changed": (PAPER, r"She bought .* on 12 May at (9:30 am|\d+:\d\d pm)\."),
    "quantifier_changed": (ROOMS, "They will be able to leave (no|some) rooms, .*"),
    "condition_changed": (ROOMS, "They .*, if John refused to pay."),
    "concession_changed": (CUP, "John beat Maria in Oslo in 1990 although 5 players stayed in Rome until 1996."),
    "inclusion_changed": (ROOMS, "They will be able to leave all rooms, excluding offices, unless John refused to pay."),
    "modality_changed": (ROOMS, "They will be unable to leave .*"),
    "event_reversed": (ROOMS, "They .*, unless John agreed to pay."),
    "roles_swapped": (CUP, "Maria beat John in Oslo in 1990 because .*"),
    "phrases_exchanged": (CUP, ".+"),
    "names_exchanged": (CUP, "(Maria beat John in Oslo .* Rome|John beat Maria in Rome .* Oslo) until 1996."),
    "numbers_exchanged": (CUP, "John beat Maria in Oslo in 1996 because 5 players stayed in Rome until 1990."),
}


def odd() -> list[Analysis]:
    """Edge rows: nothing, blanks, one word, marks only, other scripts, several sentences, a shared span, a broken tree, length."""
    shared = tuple(Word(w, w, "VERB", "VB", "", h, r, 0, 5, 0) for w, h, r in (("don", -1, "root"), ("na", 0, "xcomp")))
    cyclic = tuple(Word(w, w, "NOUN", "NN", "", h, "nmod", s, s + 1, 0) for w, h, s in (("a", 1, 0), ("b", 0, 2), ("c", 1, 4)))
    blank = analysis("")
    two = parsed(TENTH)
    later = [replace(w, head=w.head + 6 * (w.head >= 0), start=w.start + 24, end=w.end + 24, sentence=1) for w in two.words]
    sentences = (Sentence(0, 23, 0.9), Sentence(24, 47, 0.9))
    both = Analysis(f"{TENTH} {TENTH}", sentences, (*two.words, *later), two.vectors, two.word_probabilities)
    return [
        blank,
        Analysis("   ", (), (), blank.vectors, blank.word_probabilities),
        analysis("Go"),
        analysis("?! ..."),
        analysis("Ünïcode 東京 🙂 naïve İstanbul ﬁne."),
        analysis("a" * 5000),
        analysis("The dog of the man saw a cat. " * 60),
        Analysis("donna", (Sentence(0, 5, 0.5),), shared, blank.vectors, blank.word_probabilities),
        Analysis("a b c", (Sentence(0, 5, 0.5),), cyclic, blank.vectors, blank.word_probabilities),
        both,
    ]


TEXTS = [*(parsed(text) for text in SENTENCES), *odd()]


def holds(old: str, result: Perturbed) -> None:
    """The edits are exact on both sides, the text differs, and its blanks are as good as they were."""
    assert result.text != old and result.edits
    back = apply_edits(result.text, [(e.new_start, e.new_end, e.original) for e in result.edits])
    assert back.text == old, "putting every original back gives the old text"
    again = apply_edits(old, [(e.start, e.end, e.perturbed) for e in result.edits])
    assert again == result
    for edit in result.edits:
        assert edit.original != edit.perturbed
        assert old[edit.start : edit.end] == edit.original and result.text[edit.new_start : edit.new_end] == edit.perturbed
    assert len(re.findall(r"\s\s", result.text)) <= len(re.findall(r"\s\s", old)), result.text
    assert result.text == result.text.strip() or old != old.strip(), "no blank at either end"


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_every_perturbation_keeps_the_contract(name: str) -> None:
    """Deterministic, exact, really different, no double blank, never an error; with and without anything to draw on."""
    applied = 0
    for text, seed, materials in product(TEXTS, (0, 1, 2), (MATERIALS, Materials())):
        result = PERTURBATIONS[name](text, seed, materials)
        assert result == PERTURBATIONS[name](text, seed, materials), "the same seed gives the same text"
        if isinstance(result, NotApplicable):
            assert result.reason.strip() and "\n" not in result.reason
        else:
            applied += 1
            holds(text.text, result)
    assert applied


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_every_perturbation_does_what_its_row_says(name: str) -> None:
    """Over twenty seeds it applies every time, gives nothing but what the row allows, and changes no more than its edits."""
    text, pattern = ROWS[name]
    for seed in range(20):
        result = PERTURBATIONS[name](parsed(text), seed, MATERIALS)
        assert isinstance(result, Perturbed), result
        assert re.fullmatch(pattern, result.text), result.text


def test_rows_and_table_are_complete() -> None:
    """A row for each perturbation; DEMETR's numbers 1 to 35 are all made or said to be left out; names are unique."""
    assert set(ROWS) == set(PERTURBATIONS)
    numbers = {p.identifier for p in PERTURBATIONS.values()} - {None}
    assert numbers | set(NOT_AUTOMATED) == set(range(1, 36)) and not numbers & set(NOT_AUTOMATED)
    assert sum(p.category == "robustness" for p in PERTURBATIONS.values()) == 9
    assert all(p.function.__doc__ and p.name.islower() for p in PERTURBATIONS.values())
    severities = {"repeated_twice": "minor", "hypernym": "major", "antonym": "critical", "tense": "major", "empty_text": "base"}
    assert {name: PERTURBATIONS[name].severity for name in severities} == severities
    with pytest.raises(InputError, match="no perturbation 'typo'.*repeated_twice"):
        named("typo")


@pytest.mark.parametrize(
    ("article", "words"),
    [
        ("an", "apple,hour,unusual,FBI agent,8th,unidentified,honest"),
        ("a", "university,user,UN post,European,former,multitude,one,house,,…"),
    ],
)
def test_the_article_follows_the_sound(article: str, words: str) -> None:
    """By sound, not by letter."""
    assert {needs_an(word) for word in words.split(",")} == {article == "an"}


def test_a_deletion_at_the_start_moves_the_capital() -> None:
    """Exactly one thing is wrong: the sentence still starts with a capital, and no comma starts it."""
    rows = """On on ADP IN 1 case | Monday Monday PROPN NNP 4 obl | , , PUNCT , 4 punct
        he he PRON PRP 4 nsubj | left leave VERB VBD -1 root | . . PUNCT . 4 punct"""
    result = PERTURBATIONS["omitted_prepositional_phrase"](parsed("On Monday, he left.", rows), 0, Materials())
    assert isinstance(result, Perturbed) and result.text == "He left."


@pytest.mark.parametrize(
    ("text", "pattern", "allowed"),
    [
        ("It rose by 99% then.", r"It rose by (\d+)% then\.", lambda n: 0 < n <= 100),
        ("It fell from 12 to 14 then.", r"It fell from (\d+) to (?:\d+) then\.", lambda n: 2 <= n < 14),
        ("It cost 1,250,000 then.", r"It cost (\d,\d{3},\d{3}) then\.", lambda n: 600_000 < n < 2_600_000),
        ("It weighs 3.25 then.", r"It weighs (\d\.\d\d) then\.", lambda n: 2 <= n <= 10),
        ("It began in 2024 then.", r"It began in (\d{4}) then\.", lambda n: 1990 < n <= 2025),
        ("It was the 1st then.", r"It was the (2nd|3rd|\d+th) then\.", lambda n: True),
    ],
)
def test_numbers_stay_in_range_and_format(text: str, pattern: str, allowed: Callable[[float], bool]) -> None:
    """Percentages at most 100, years not in the future, commas and decimals as before, and no order of two
    numbers turned round."""
    forms = re.findall(r"\d[\d,.:]*\d(?:st)?|\dst|\w+|\S", text)
    kinds = ["NUM CD" if form[0].isdigit() else "X FW" for form in forms]
    rows = "\n".join(f"{form} {form} {kind} {n - 1} dep" for n, (form, kind) in enumerate(zip(forms, kinds, strict=True)))
    for seed in range(30):
        result = PERTURBATIONS["number_changed"](parsed(text, rows), seed, Materials())
        assert isinstance(result, Perturbed)
        match = re.fullmatch(pattern, result.text)
        assert match, result.text
        assert not match.group(1)[-1].isdecimal() or allowed(float(match.group(1).replace(",", "")))
        order = [int(n) for n in re.findall(r"\d+", result.text)] if "from" in text else []
        assert order == sorted(order) and len(order) == len(set(order))


def test_the_gender_of_her_follows_its_tag() -> None:
    """*her* before a noun is *his*, as an object *him*."""
    rows = "We we PRON PRP 1 nsubj\nsaw see VERB VBD -1 root\nher she PRON {tag} {head} {relation}\ndog dog NOUN NN 1 obj"
    for tag, head, relation, new in (("PRP$", 3, "nmod:poss", "his"), ("PRP", 1, "iobj", "him")):
        text = parsed("We saw her dog", rows.format(tag=tag, head=head, relation=relation))
        result = PERTURBATIONS["gender_pronoun"](text, 0, Materials())
        assert isinstance(result, Perturbed) and result.text == f"We saw {new} dog"


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("He met Dr. Anna Smith today .", "Dr. Anna Smith", [("Anna Smith", "person")]),
        ("He met Thunberg in Quorn today .", "Thunberg Quorn", [("Thunberg", ""), ("Quorn", "city")]),
        ("He left the Netherlands for Peru .", "Netherlands Peru", [("the Netherlands", "country"), ("Peru", "country")]),
        ("He left the University of Ulm .", "University Ulm", [("the University of Ulm", "organisation")]),
        ("He left Acme Corp. in May .", "Acme Corp. May", [("Acme Corp.", "organisation"), ("May", "date")]),
        ("He saw the Green Lake there .", "Green Lake", [("Green Lake", "landscape")]),
        ("He saw the F16 and O'Brien there .", "F16 O'", []),
        ("he saw nothing there .", "", []),
    ],
)
def test_entities_and_their_kinds(text: str, names: str, expected: list[tuple[str, str]]) -> None:
    """Whole names without their titles, with an article that is theirs; a kind only where a list or the words around tell it."""
    rows = []
    forms = re.findall(r"O'|\S+", text)
    for n, form in enumerate(forms):
        tags = "PROPN NNP" if form in names.split() else {"in": "ADP IN", "the": "DET DT", "of": "ADP IN"}.get(form, "X FW")
        rows.append(f"{form} {form} {tags} {min(n + 1, len(forms) - 1) if n + 1 < len(forms) else -1} {'obl' if n else 'dep'}")
    found = entities(Parse(parsed(text, "\n".join(rows))))
    assert [(entity.text, entity.kind) for entity in found] == expected
    assert all(text[entity.start : entity.end] == entity.text for entity in found)


def test_lists_are_well_formed() -> None:
    """No empty cell, no word that is its own partner, no misspelling that is right."""
    for name in ("misspellings", "synonyms", "hypernyms", "derivations"):
        rows = table(name)
        assert len(rows) > 100
        assert all(word not in others and all(others) and others for word, others in rows.items())
    assert {"country", "city", "male name", "female name", "family name", "organisation", "title"} <= set(table("names"))
    assert not {bad for others in table("misspellings").values() for bad in others} & set(table("derivations"))


def test_a_users_lexicon_is_read_and_faults_are_placed(tmp_path: Path) -> None:
    """Rows of one lemma join; a line without a tab is named with its file and number; a missing file is an InputError."""
    path = tmp_path / "antonyms.tsv"
    path.write_text("# ours\nhot\tcold\nhot\tcool\n\n", encoding="utf-8")
    assert read_table(path) == {"hot": ("cold", "cool")}
    assert both_ways(read_table(path)) == {"hot": ("cold", "cool"), "cold": ("hot",), "cool": ("hot",)}
    path.write_text("hot\tcold\nwarm\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"antonyms\.tsv:2: .*two lemmas"):
        read_table(path)
    with pytest.raises(InputError, match="nothing.tsv does not exist"):
        read_table(path.parent / "nothing.tsv")


def test_names_come_from_the_texts_where_they_hold_enough() -> None:
    """Entities are replaced by others of the data set; where it holds too few, by those of the list."""
    texts = ["From Norway to Kenya, Peru and Japan.", "He left the Netherlands."]
    names = default_materials(texts).names
    assert set(names["country"]) == {"Norway", "Kenya", "Peru", "Japan", "the Netherlands"}
    assert names["city"] == table("names")["city"] == default_materials().names["city"]


def test_lemminflect_inflects_by_tag() -> None:
    """The default materials know irregular forms, and give None for what is no word."""
    pytest.importorskip("lemminflect", reason="lemminflect (extra [evaluate]) is not installed")
    forms = default_materials().inflect
    expected = {("go", "VBD"): "went", ("be", "VBD"): "was", ("child", "NNS"): "children", ("good", "JJR"): "better"}
    assert {key: forms(*key) for key in expected} == expected
    assert forms("worshippq", "VBD") is None
