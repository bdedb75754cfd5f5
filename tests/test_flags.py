"""Flags: what holds is named, what does not is not, and other languages than English are told by their words."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from rome.combining.table import FeatureTable
from rome.features.analyser.config import set_folder
from rome.features.flags import FLAGS, flags_of, not_english, pack_flags
from rome.features.idf import IdfTable
from rome.features.syntax import SyntaxConfig

from handmade import analysis

TABLE = IdfTable.load(set_folder() / "idf" / "idf.tsv")
DATA = Path(os.environ.get("ROME_DATA", "../shared/data")) / "human"
FOREIGN = {
    "German": (
        "Die Katze schläft seit heute Morgen auf dem alten Sofa.",
        "Wir haben den letzten Zug leider nicht mehr erreicht.",
    ),
    "French": ("Le chat dort sur le vieux canapé depuis ce matin.", "Nous avons malheureusement raté le dernier train."),
    "Spanish": ("El gato duerme en el viejo sofá desde esta mañana.", "Por desgracia perdimos el último tren de la noche."),
    "Dutch": ("De kat slaapt sinds vanochtend op de oude bank.", "We hebben helaas de laatste trein niet gehaald."),
    "Italian": ("Il gatto dorme sul vecchio divano da questa mattina.", "Purtroppo abbiamo perso l'ultimo treno della sera."),
    "Portuguese": ("O gato dorme no velho sofá desde hoje de manhã.", "Infelizmente perdemos o último comboio da noite."),
    "Swedish": ("Katten har sovit på den gamla soffan sedan i morse.", "Vi missade tyvärr det sista tåget hem."),
    "Polish": ("Kot śpi na starej kanapie od samego rana.", "Niestety spóźniliśmy się na ostatni pociąg."),
    "Turkish": ("Kedi sabahtan beri eski kanepede uyuyor.", "Ne yazık ki son treni kaçırdık."),
    "Finnish": ("Kissa on nukkunut vanhalla sohvalla aamusta asti.", "Valitettavasti myöhästyimme viimeisestä junasta."),
    "Indonesian": ("Kucing itu tidur di sofa tua sejak pagi.", "Sayangnya kami ketinggalan kereta terakhir."),
    "Russian": ("Кошка спит на старом диване с самого утра.", "К сожалению, мы опоздали на последний поезд."),
}
ENGLISH = (
    "Marek Hamšík scored for Napoli against Juventus in the second half.",
    "Aarhus Airport serves the city of Aarhus, Denmark.",
    "X is a cheap Italian restaurant near X in the riverside area.",
    "La Liga and the Bundesliga start in August.",
    "Zeitgeist and schadenfreude are words that English took from German.",
    "the badger isn't burrowing a hole",
    "THE COMMITTEE MEETS ON TUESDAY",
    "Bonjour",
    "Ailinn Rabinowitz Nussbaum",
    "",
)


def test_other_languages_are_told_by_their_words() -> None:
    """Sentences of no set that the bounds were found on: nearly all are noticed, two together always."""
    found = {text: not_english(text, TABLE) for pair in FOREIGN.values() for text in pair}
    assert sum(found.values()) >= len(found) - 3, [text for text, noticed in found.items() if not noticed]
    assert all(not_english(" ".join(pair), TABLE) for pair in FOREIGN.values())


@pytest.mark.parametrize("text", ENGLISH)
def test_names_and_rare_words_are_english(text: str) -> None:
    """Names, words of the trade, capitals throughout, and texts too short to tell."""
    assert not not_english(text, TABLE)


@pytest.mark.parametrize("name", ["bagel_references", "webnlg17_third", "wmt15_da_to-en"])
def test_english_outputs_are_practically_never_flagged(name: str) -> None:
    """Of real outputs at most two in a hundred are flagged, of the references of people none."""
    path = DATA / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    outputs = {row["hypothesis"] for row in rows}
    references = {
        text for row in rows for text in ([row["reference"]] if isinstance(row["reference"], str) else row["reference"])
    }
    assert sum(not_english(text, TABLE) for text in outputs) <= len(outputs) / 50
    assert not any(not_english(text, TABLE) for text in references)


def test_a_pair_has_the_flags_of_both_sides() -> None:
    """A reference in another language is flagged too."""
    german, english = analysis(FOREIGN["German"][0]), analysis("The cat sleeps on the old sofa.")
    how = {"english": TABLE, "syntax": SyntaxConfig()}
    assert flags_of(english, english, **how) == ("identical",)
    assert flags_of(english, german, **how) == flags_of(german, english, **how) == ("not_english",)


def test_flags_follow_the_settings_of_the_metric() -> None:
    """The syntax settings decide about ``tree_cut``, the model set's table of words about ``not_english``."""
    german, english = (analysis(text) for text in (FOREIGN["German"][0], "The cat sleeps on the old sofa."))
    table = IdfTable.from_texts([[word.text for word in german.words]])
    assert flags_of(english, english, english=TABLE, syntax=SyntaxConfig(max_nodes=6)) == ("identical", "tree_cut")
    assert flags_of(english, english, english=TABLE, syntax=SyntaxConfig(max_nodes=7)) == ("identical",)
    assert flags_of(english, english, english=TABLE, syntax=SyntaxConfig(max_nodes=7, punctuation=True))[1:] == ("tree_cut",)
    assert flags_of(german, german, english=table, syntax=SyntaxConfig()) == ("identical",)


def test_tables_of_before_keep_their_meaning() -> None:
    """The first seven names keep their bits, and a table that names only those is read by its own names."""
    old = ("empty_hypothesis", "empty_reference", "identical", "punctuation_only", "non_latin", "long", "tree_cut")
    assert FLAGS[: len(old)] == old
    table = FeatureTable([0], [0], [[1.0] * 4], [[0.0] * 4], flags=[pack_flags(("identical", "tree_cut"))], flag_names=old)  # type: ignore[arg-type]
    assert table.flags_of(0) == ("identical", "tree_cut")
