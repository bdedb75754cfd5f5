"""`rome perturb` and perturb_texts: a stream of perturbed texts with their edits, and the perturbations on real parses."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_perturbations import holds

from rome.cli import main
from rome.data.perturbations.perturbation import Materials, Perturbed
from rome.data.perturbations.registry import PERTURBATIONS
from rome.evaluation.annotate.ratings import rated_items
from rome.evaluation.perturbing import PerturbedText, SimilarWords, materials_for, perturb_texts
from rome.exceptions import InputError
from rome.features.values import Analysis
from rome.storage.pair_files import read_pairs

from perturbation_sentences import ALBUM, DOGS, MUSEUM, SENTENCES, TENTH, parsed

Run = Callable[..., tuple[int, str, str]]
MODELS = find_spec("torch") is not None and find_spec("stanza") is not None

# Thirty invented sentences of the kinds that people write: news, encyclopaedias, reviews, letters.
INVENTED = (
    "The mayor of Lisbon opened a new library on Tuesday, although the roof was not finished.",
    "In 1987, the young engineer moved to Canada and founded a small company with her brother.",
    "She told him that the old bridge would be closed for three weeks.",
    "Scientists have found a rare bird in the forests of northern Peru.",
    "The restaurant was cheap and the staff were friendly, but the soup was cold.",
    "About 45% of the voters rejected the proposal in May 2012.",
    "Maria Keller quickly finished the long report before the meeting began.",
    "The committee recommended a strict rule because many workers had complained.",
    "He never visited the museum while he lived in Vienna.",
    "The train to Manchester leaves at 9:30 and arrives two hours later.",
    "Researchers at the University of Oslo published a detailed study of the disease.",
    "They don't know why the large factory was abandoned.",
    "The film tells the story of a poor farmer who loses his son in the war.",
    "Heavy rain destroyed several houses near the river on Friday.",
    "I bought this phone in July and it has already stopped working.",
    "The first edition of the book sold 12,500 copies in Germany.",
    "After the storm, the police found him asleep under a tree.",
    "Dr. Brown explained that the new drug reduces the pain completely.",
    "The singer wrote her most popular album in a quiet village.",
    "Nobody believed the captain when he said that the ship was safe.",
    "The king built a huge castle on the hill to protect the town.",
    "We will discuss the final budget with the president of the club.",
    "The actress, who was born in Chicago, won two prizes for this role.",
    "Although it was late, the children were playing in the garden.",
    "The army attacked the city at night and took many prisoners.",
    "You can easily clean the window with warm water.",
    "The government cut taxes; however, prices rose again.",
    "Tom gave her a letter from Paul, and she read it slowly.",
    "The 19th century church stands between the market and the old school.",
    "No evidence supports the strange claim that the moon is hollow.",
)

# The share of the invented sentences that a perturbation must apply to, with the embedded parser and lemminflect.
CONSTRUCTIONS = ("logic", "rewording", "relations", "quantities", "roles")
SHARES = {
    0.85: "omitted_subject omitted_final_punctuation shuffled_words",
    0.75: "negation_added tense aspect omitted_noun omitted_content_verb",
    0.7: "phrases_exchanged",
    0.6: "interrogative function_word part_of_speech_shift antonym misspelled_word word_added related_replaced opposite_word",
    0.4: "omitted_adjective_or_adverb omitted_prepositional_phrase adjectives_by_antonyms synonym_reworded",
    0.3: "adjectives_by_synonyms words_by_similar hypernym omitted_conjunction",
    0.2: "pronoun_case passive_form number_changed entities_replaced_fully named_entity_replaced omitted_named_entity "
    "gender_pronoun relation_reversed",
    0.1: "roles_swapped day_or_month_changed converse_verb",
    0.03: "negation_removed entities_replaced_partially",
}
LEAST = {
    **dict.fromkeys(PERTURBATIONS, 0.9),
    **dict.fromkeys((name for name, one in PERTURBATIONS.items() if one.function.__module__.endswith(CONSTRUCTIONS)), 0.0),
    **{name: share for share, names in SHARES.items() for name in names.split()},
}
"""The share of thirty plain sentences that each applies to at least; what needs a rare construction may find none."""


class ParsedMetric:
    """Analyses the written-down sentences, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def analyse(self, texts: Sequence[str]) -> dict[str, Analysis]:
        self.asked.append(list(texts))
        return {text: parsed(text) for text in texts}


@pytest.fixture
def rome(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `rome perturb` on the written-down sentences; exit code, standard output, standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["perturb", *words], metric=lambda _: ParsedMetric())  # type: ignore[arg-type,return-value]
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def texts(tmp_path: Path) -> str:
    """A file of three sentences."""
    path = tmp_path / "texts.txt"
    path.write_text(f"{ALBUM}\n{TENTH}\n{DOGS}\n", encoding="utf-8")
    return str(path)


def test_tsv_has_a_row_for_each_perturbed_text(rome: Run, texts: str) -> None:
    """A header, then text by text; the edits are JSON that puts the old text back."""
    pytest.importorskip("lemminflect", reason="lemminflect (extra [evaluate]) is not installed")
    code, out, err = rome(texts, "--perturbation", "repeated_twice", "tense", "--seed", "4")
    rows = [line.split("\t") for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert [row[:2] for row in rows[1:3]] == [["0", "repeated_twice"], ["0", "tense"]]
    first = dict(zip(rows[0], rows[1], strict=True))
    assert first["perturbed"] == "The company released an important album album." and first["seed"] == "4"
    assert json.loads(first["edits"]) == [
        {"start": 39, "end": 39, "original": "", "new_start": 39, "new_end": 45, "perturbed": " album"}
    ]
    assert (first["category"], first["severity"], first["identifier"], first["reason"]) == ("accuracy", "minor", "1", "")


def test_jsonl_and_the_reasons_why_not(rome: Run, texts: str) -> None:
    """With --not-applicable every text has a row for every perturbation: a new text, or a reason."""
    code, out, _ = rome(texts, "--perturbation", "gender_pronoun", "--format", "jsonl", "--not-applicable")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [row["number"] for row in rows] == [0, 1, 2]
    assert [row["perturbed"] is None for row in rows] == [True, True, False]
    assert rows[0]["reason"] == "no pronoun that shows a gender" and rows[0]["edits"] == []


def test_pairs_are_read_by_the_other_commands(rome: Run, texts: str, tmp_path: Path) -> None:
    """--format pairs gives what `rome score` and `rome annotate` read: the text is the reference, the perturbation the system."""
    code, out, _ = rome(texts, "--perturbation", "lowercased_text", "number_changed", "--format", "pairs")
    path = tmp_path / "pairs.tsv"
    path.write_text(out, encoding="utf-8")
    pairs = read_pairs(str(path))
    assert code == 0 and pairs
    systems = [item.system for item in rated_items(read_pairs(str(path)))]
    lowered = [n for n, system in enumerate(systems) if system == "lowercased_text"]
    assert lowered and set(systems) <= {"lowercased_text", "number_changed"}
    assert all(pairs[n].hypothesis == pairs[n].references[0].lower() != pairs[n].references[0] for n in lowered)


def test_the_limit_counts_perturbed_texts_of_each_perturbation(rome: Run, texts: str) -> None:
    """--limit 1 keeps one of each."""
    names = ("tense", "word_swap", "lowercased_text")
    _, out, _ = rome(texts, "--limit", "2", "--format", "jsonl", "--perturbation", *names)
    assert Counter(json.loads(line)["perturbation"] for line in out.splitlines()) == dict.fromkeys(names, 2)


def test_list_needs_no_text_and_names_what_is_left_out(rome: Run) -> None:
    """The table of all perturbations, with DEMETR's numbers, and why 4 and 35 are missing."""
    code, out, _ = rome("--list")
    lines = out.splitlines()
    assert code == 0 and len(lines) == 1 + len(PERTURBATIONS) + 2
    assert all(len(line.split("\t")) == 6 for line in lines)
    assert "left out: untranslated word" in out


def test_a_users_antonyms_replace_the_embedded_ones(rome: Run, texts: str, tmp_path: Path) -> None:
    """--antonyms FILE is the only source of antonyms then."""
    (tmp_path / "a.tsv").write_text("important\ttrivial\n", encoding="utf-8")
    _, out, _ = rome(texts, "--perturbation", "antonym", "--antonyms", str(tmp_path / "a.tsv"), "--format", "jsonl")
    assert [json.loads(line)["perturbed"] for line in out.splitlines()] == ["The company released a trivial album."]


def test_a_missing_inflection_library_is_said_once(rome: Run, texts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without lemminflect the run goes on, says so on standard error with the install line, and inflects nothing."""
    monkeypatch.setattr("rome.data.perturbations.lexicons.find_spec", lambda name: None)
    code, out, err = rome(texts, "--perturbation", "aspect", "--not-applicable", "--format", "jsonl")
    assert code == 0 and len(err.splitlines()) == 1 and 'pip install "rome-metric[evaluate]"' in err
    assert json.loads(out.splitlines()[0])["reason"] == "no finite verb with another aspect"


def test_the_first_results_come_before_the_last_texts_are_analysed() -> None:
    """Streaming: a block is analysed when its first result is asked for, and no later one."""
    metric = ParsedMetric()
    stream = perturb_texts([ALBUM] * 100, ["repeated_twice"], analyse=metric.analyse, materials=Materials())
    assert metric.asked == []
    assert isinstance(next(stream), PerturbedText) and len(metric.asked) == 1
    assert len(list(stream)) == 99 and len(metric.asked) == 4


def test_analyses_need_no_analyser_and_names_are_checked_at_once() -> None:
    """Analysed texts are perturbed as they are; a text without `analyse` is a TypeError; an unknown name an InputError."""
    (result,) = perturb_texts([parsed(TENTH)], ["interrogative"], materials=materials_for([]))
    assert result.perturbed == "Is this the tenth time?" and result.to_dict()["edits"][0]["original"] == "This"
    with pytest.raises(TypeError, match="analyse"):
        next(perturb_texts([TENTH]))
    with pytest.raises(InputError, match="typo"):
        perturb_texts([TENTH], ["typo"])


def test_what_was_perturbed_before_changes_nothing() -> None:
    """The same seed gives the same text alone, in company, and in another order; another seed another choice."""
    analyses = [parsed(text) for text in SENTENCES]
    together = {(r.text, r.perturbation): r.perturbed for r in perturb_texts(analyses, materials=Materials())}
    (alone,) = perturb_texts([parsed(MUSEUM)], ["word_swap"], materials=Materials())
    assert together[MUSEUM, "word_swap"] == alone.perturbed
    others = {next(perturb_texts([parsed(MUSEUM)], ["word_swap"], seed=n, materials=Materials())).perturbed for n in range(9)}
    assert len(others) > 1


@pytest.fixture(scope="module")
def real() -> Iterator[SimpleNamespace]:
    """The invented sentences by the embedded parser, and the default materials over them."""
    if not MODELS:
        pytest.skip("the extra [models] is not installed")
    pytest.importorskip("lemminflect", reason="lemminflect (extra [evaluate]) is not installed")
    from rome.metric import RoMe

    found: Any = RoMe(progress=False).analyse(INVENTED)
    yield SimpleNamespace(analyses=[found[text] for text in INVENTED], materials=materials_for(INVENTED))


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_real_sentences_are_perturbed_often_enough(real: SimpleNamespace, name: str) -> None:
    """On real parses every perturbation keeps the laws and applies to its share of thirty plain sentences."""
    results = [PERTURBATIONS[name](analysis, 0, real.materials) for analysis in real.analyses]
    for text, result in zip(INVENTED, results, strict=True):
        if isinstance(result, Perturbed):
            holds(text, result)
    share = sum(isinstance(result, Perturbed) for result in results) / len(results)
    assert share >= LEAST[name], f"{name} applies to {share:.2f}"


def test_similar_words_are_near_and_never_the_word_itself() -> None:
    """Static vectors of the embedded encoder: *film* is near *movie*; an unknown word raises KeyError, so `get` gives None."""
    if not MODELS:
        pytest.skip("the extra [models] is not installed")
    similar = SimilarWords()
    assert "movie" in similar["film"] and "film" not in similar["film"]
    assert similar.get("qqqq") is None and len(similar) == 12_000 and "film" in set(similar)
