"""The corruptions: what they promise about the text, the marked places and the seed; and the readers that feed them."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from rome.data.perturbations.treebank_words import Corruption, TaggedWord, TreebankWords, render, tokenise
from rome.data.perturbations.ungrammatical import OPERATIONS, STILL_GRAMMATICAL, corrupt, corrupt_randomly
from rome.data.readers.conllu import TreebankSentence, TreebankWord, read_conllu
from rome.data.readers.texts import LabelledSentence, TranslatedSegment, read_cola, read_wikipedia, read_wmt
from rome.exceptions import InputError

TREEBANK = """she/she/PRP goes/go/VBZ to/to/IN a/a/DT small/small/JJ school/school/NN near/near/IN
    the/the/DT river/river/NN ././.
they/they/PRP go/go/VBP home/home/RB quickly/quickly/RB ././.
he/he/PRP went/go/VBD there/there/RB with/with/IN two/two/CD dogs/dog/NNS and/and/CC
    a/a/DT bigger/big/JJR dog/dog/NN ././.
we/we/PRP have/have/VBP gone/go/VBN to/to/TO see/see/VB him/he/PRP and/and/CC
    did/do/VBD n't/not/RB see/see/VB anything/anything/NN ././.
the/the/DT quick/quick/JJ children/child/NNS are/be/VBP going/go/VBG to/to/TO eat/eat/VB
    the/the/DT cakes/cake/NNS ././.
this/this/DT cake/cake/NN is/be/VBZ good/good/JJ but/but/CC that/that/DT was/be/VBD better/good/JJR ././.
who/who/WP can/can/MD say/say/VB that/that/IN these/this/DT schools/school/NNS were/be/VBD big/big/JJ ?/?/.
he/he/PRP eats/eat/VBZ some/some/DT fish/fish/NN because/because/IN his/he/PRP$ mother/mother/NN
    ate/eat/VBD it/it/PRP ././."""

SENTENCES = (
    "She goes to a small school near the river.",
    "Who can say that these children were going to see him?",
    "He didn't go there with two dogs, and they have gone home quickly.",
    "This cake is better than that, because his mother says so.",
    "The quick children are going to eat some of the cakes tomorrow.",
)


@pytest.fixture(scope="module")
def lexicon() -> TreebankWords:
    """A lexicon of eight sentences, with the word pairs of five more."""
    sentences = []
    for line in TREEBANK.replace("\n    ", " ").splitlines():
        words = tuple(TreebankWord(*word.split("/"), space_after=True) for word in line.split(" "))
        sentences.append(TreebankSentence(" ".join(word.form for word in words), words))
    made = TreebankWords(sentences)
    for text in SENTENCES:
        made.count_pairs(tokenise(text))
    return made


def every(lexicon: TreebankWords, operation: str, seeds: int = 20) -> list[tuple[str, Corruption]]:
    """All that an operation makes of the sentences, over several seeds."""
    found = []
    for seed in range(seeds):
        for text in SENTENCES:
            made = corrupt(lexicon.tag(tokenise(text)), operation, random.Random(seed), lexicon)
            if made is not None:
                found.append((text, made))
    return found


@pytest.mark.parametrize("text", [*SENTENCES, "", "x", "They don't; we cannot.", 'A 1,000.5 (or so)  -- see e.g. "it" …'])
def test_joining_the_tokens_gives_the_text_again(text: str) -> None:
    """Tokenising loses nothing but runs of white space."""
    assert render(tokenise(text)).text == " ".join(text.split())


def test_contractions_come_apart() -> None:
    """As in the treebank, so that the tags and forms apply."""
    assert [token.text for token in tokenise("We don't; she's.")] == ["We", "do", "n't", ";", "she", "'s", "."]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation_changes_the_text_and_marks_the_right_characters(operation: str, lexicon: TreebankWords) -> None:
    """Every operation applies somewhere, really changes the text, and its spans are whole words of the new text."""
    found = every(lexicon, operation)
    assert found
    for text, made in found:
        assert made.operation == operation
        assert made.text.lower().split() != text.lower().split()
        assert made.spans and len(made.spans) == len(made.words)
        assert all(0 <= a < b <= len(made.text) and made.text[a:b].strip() == made.text[a:b] for a, b in made.spans)
        assert list(made.spans) == sorted(made.spans)
        assert not set(made.spans) & set(made.unsure_spans)
        assert made.ungrammatical is (None if operation in STILL_GRAMMATICAL else True)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_same_seed_gives_same_corruption(operation: str, lexicon: TreebankWords) -> None:
    """Nothing but the generator decides."""
    assert every(lexicon, operation, 3) == every(lexicon, operation, 3)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("text", ["", ".", "Go", "Go!", "the", "is ?", "A b"])
def test_very_short_texts_are_harmless(operation: str, text: str, lexicon: TreebankWords) -> None:
    """Where an operation does not apply the result is None, never an error or an empty text."""
    for seed in range(5):
        made = corrupt(lexicon.tag(tokenise(text)), operation, random.Random(seed), lexicon)
        assert made is None or made.text


@pytest.mark.parametrize(
    ("operation", "text", "expected"),
    [
        ("agreement", "She goes home.", {"She go home."}),
        ("missing_article", "He sees the dog.", {"He sees dog."}),
        ("determiner", "I see these dog.", {"I see this dog."}),
        ("doubled_word", "Go home.", {"Go Go home."}),
        ("pronoun", "We saw him.", {"Us saw him.", "We saw he."}),
        ("verb_form", "She ate it.", {"She eating it.", "She eat it."}),
    ],
)
def test_known_results(operation: str, text: str, expected: set[str], lexicon: TreebankWords) -> None:
    """A few operations by example; the pronoun may also become a reflexive at the start."""
    made = {corrupt(lexicon.tag(tokenise(text)), operation, random.Random(seed), lexicon) for seed in range(40)}
    texts = {item.text for item in made if item is not None}
    assert expected <= texts
    assert texts == expected or operation == "pronoun"


def test_a_gap_blames_the_next_word_and_doubts_the_one_before(lexicon: TreebankWords) -> None:
    """A missing word has no characters of its own, so its neighbours carry the label."""
    made = corrupt(lexicon.tag(tokenise("He sees the dog.")), "missing_article", random.Random(0), lexicon)
    assert made is not None
    assert [made.text[a:b] for a, b in made.spans] == ["dog"]
    assert [made.text[a:b] for a, b in made.unsure_spans] == ["sees"]


def test_several_corruptions_add_up(lexicon: TreebankWords) -> None:
    """Two operations are named in order, and both are ungrammatical if one is."""
    tokens = lexicon.tag(tokenise(SENTENCES[0]))
    for seed in range(30):
        made = corrupt_randomly(tokens, random.Random(seed), lexicon, count=2)
        assert made is not None
        names = made.operation.split("+")
        assert len(names) == 2 and set(names) <= set(OPERATIONS)
        assert made.ungrammatical is (None if set(names) <= STILL_GRAMMATICAL else True)


def test_corruptions_do_not_undo_each_other(lexicon: TreebankWords) -> None:
    """What is called corrupted is never the sentence itself, as after the same swap twice."""
    for text in ("Dogs sleep.", "She goes to a school."):
        tokens = lexicon.tag(tokenise(text))
        made = [corrupt_randomly(tokens, random.Random(seed), lexicon, count=2) for seed in range(300)]
        assert not any(one is not None and one.text.lower() == text.lower() for one in made)


def test_inflection_prefers_the_treebank_to_the_rules(lexicon: TreebankWords) -> None:
    """Irregular forms come from the treebank, unknown words follow the rules, equal forms are no inflection."""
    assert lexicon.inflect("goes", "VBZ", "VBD") == "went"
    assert lexicon.inflect("walk", "VB", "VBZ") == "walks"
    assert lexicon.inflect("baby", "NN", "NNS") == "babies"
    assert lexicon.inflect("dog", "NN", "NN") is None
    assert lexicon.inflect("dog", "NN", "VBZ") is None


def test_empty_lexicon_still_tags_and_corrupts() -> None:
    """Without a treebank only the rules work."""
    bare = TreebankWords(())
    tokens = bare.tag(tokenise("Dogs bark loudly ."))
    assert [token.tag for token in tokens] == ["NNP", "NN", "RB", "."]
    assert bare.draw("NN", random.Random(0)) is None
    assert corrupt_randomly(tokens, random.Random(0), bare) is not None


def test_tokens_with_spaced_punctuation_keep_it() -> None:
    """Tokenised text stays tokenised."""
    assert render([TaggedWord("x"), TaggedWord("is"), TaggedWord("good"), TaggedWord(".")]).text == "x is good ."


def test_read_conllu_splits_multiword_tokens_that_their_words_spell(tmp_path: Path) -> None:
    """*don't* comes apart without white space; a token that its words do not spell stays whole."""
    rows = ["1-2 don't _ _", "1 do do VBP", "2 n't not RB", "3-4 dunno _ _", "3 don't do VB", "4 know know VB", "5 . . ."]
    lines = ["# text = don't dunno."]
    for row in rows:
        number, form, lemma, tag = row.split()
        misc = "SpaceAfter=No" if number == "3-4" else "_"
        lines.append("\t".join([number, form, lemma, "_", tag, "_", "0", "root", "_", misc]))
    path = tmp_path / "a.conllu"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (sentence,) = read_conllu(path)
    assert sentence.text == "don't dunno."
    assert [(w.form, w.space_after) for w in sentence.words] == [("do", False), ("n't", True), ("dunno", False), (".", True)]
    path.write_text("1 no tabs here\n", encoding="utf-8")
    with pytest.raises(InputError, match="ten columns"):
        list(read_conllu(path))


def test_read_cola_and_its_complaint(tmp_path: Path) -> None:
    """Four columns, quotes taken literally; another layout is refused with the line's number."""
    path = tmp_path / "a.tsv"
    path.write_text('gj04\t1\t\tThe "dog barks.\nks08\t0\t*\tDog the barks.\n', encoding="utf-8")
    assert list(read_cola(path)) == [
        LabelledSentence('The "dog barks.', True, "gj04"),
        LabelledSentence("Dog the barks.", False, "ks08"),
    ]
    path.write_text("sentence\tlabel\n", encoding="utf-8")
    with pytest.raises(InputError, match=":1 is not a CoLA line"):
        list(read_cola(path))


def test_read_wikipedia_and_wmt(tmp_path: Path) -> None:
    """Both come from gzipped JSON lines; systems in the order of their names."""
    path = tmp_path / "a.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps({"text": "A and B.", "split": ["A.", "B."]}) + "\n")
    assert list(read_wikipedia(path)) == ["A and B.", "A.", "B."]
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps({"lp": "de-en", "segment": 3, "reference": ["A."], "outputs": {"y": "B.", "x": "C."}}) + "\n")
    assert list(read_wmt(path)) == [TranslatedSegment("de-en", 3, ("A.",), (("x", "C."), ("y", "B.")))]
