"""The parser: raw text to sentences, words and trees with the embedded models, and the trunk's memory."""

from __future__ import annotations

import logging
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import torch
from stanza.models.common.chuliu_edmonds import chuliu_edmonds_one_root

from rome.data.sources import data_folder
from rome.exceptions import ModelMissingError
from rome.features.analyser.bulk import Bulk
from rome.features.analyser.encoder import load_tokenizer, load_trunk
from rome.features.analyser.memo import MemoisedTrunk
from rome.features.analyser.parser import LONGEST_SENTENCE, Parser
from rome.features.analyser.spanning_tree import best_tree
from rome.features.analyser.stanza_documents import StanzaDocuments

MODELS = Path(str(files("rome.data"))) / "models" / "en"
TEXTS = [
    "The dogs weren't barking at John's house.",
    "",
    "  He left.  She stayed, of course!\n",
    "It costs $5.50 (or £4) — a bargain 😀, isn't it?",
    "First line\nsecond line.\n\nA new paragraph",
    " \t\n",
    "word",
    "?!",
    "Привет, мир! 漢字かな",
    "naïve café-goers can't e\u0301chapper\u00a0ici",
    "\u200b",
    "half a character \ud83d and a null \x00 byte",
    "I'M GONNA GO",
]
REAL = [
    "They’re sure it won't rain, but we can't be. Who'd have thought they wouldn't've come?",
    "Mr. O'Brien's 3.5% offer (see p. 12) fell through on Feb. 3rd; the U.S. firm's shares lost $1,200.50.",
    "Really??!! No!!! What?!? ... \"Never,\" she said -- 'not now'.",
    "The president, whom nobody had expected to resign before the end of the year, left the meeting without a word to the press.",
]
STRANGE = [
    "Write to a.b@c.de or see www.example.com/x?y=1, http://foo.bar/baz. Go to foo.co.uk now.",
    'He  said   "no" .\n And\tleft  . \x85 x\x80y\u2003z',
    "[SEP] is [MASK] and [UNK].",
    "a\u00ad \u00ad soft\u00adhyphen \u200f x \ue000",
    "so it goes on and on " * 60,
    "x" * 2_500,
    "unbelievable-" * 110 + " end",
    ". " * 600,
    "qzxjqzxjqzxjqzxj " * 60 + "end.",
    "n't" * 100,
    "!?" * 200,
    "a" * 998 + ".",
    "a" * 999 + ".",
]


@pytest.fixture(scope="module")
def encoder() -> tuple[MemoisedTrunk, object]:
    """The embedded trunk with its memory, and the tokenizer."""
    return MemoisedTrunk(load_trunk(MODELS / "encoder")), load_tokenizer(MODELS / "encoder")


@pytest.fixture(scope="module")
def parser(encoder):
    """The embedded parser."""
    return Parser(MODELS, *encoder)


def shape(sentences):
    """Everything of a parse as plain tuples."""
    return [(s.start, s.end, s.tokens, s.words) for s in sentences]


def check(text, sentences):
    """The laws that every parse of a text must keep."""
    position = 0
    for sentence in sentences:
        assert (sentence.start, sentence.end) == (sentence.tokens[0].start, sentence.tokens[-1].end)
        assert [head for word in sentence.words if (head := word.head) == 0] == [0]
        assert [token.first for token in sentence.tokens] == [0, *[token.last for token in sentence.tokens[:-1]]]
        for token in sentence.tokens:
            assert position <= token.start < token.end <= len(text)
            assert not text[position : token.start].strip("\u200b \t\n\u00a0")
            assert text[token.start : token.end] == token.text == token.text.strip()
            for word in sentence.words[token.first : token.last]:
                assert token.start <= word.start < word.end <= token.end
                assert 0 <= word.head <= len(sentence.words) and word.lemma and word.upos and word.relation
            position = token.end


@pytest.mark.parametrize("text", TEXTS)
def test_every_visible_character_belongs_to_one_token(parser, text):
    """Tokens lie side by side in the text, nothing visible lies between them, and each sentence is a tree."""
    (sentences,) = parser.parse([text])
    check(text, sentences)
    assert bool(sentences) or not text.strip("\u200b \t\n")


def test_a_text_does_not_depend_on_its_neighbours(parser):
    """Parsing texts together gives what parsing each alone gives."""
    together = parser.parse(TEXTS)
    assert [shape(sentences) for sentences in together] == [shape(parser.parse([text])[0]) for text in TEXTS]
    assert [shape(s) for s in parser.parse(TEXTS[::-1])] == [shape(s) for s in together[::-1]]


def test_a_plain_sentence_is_read_as_a_person_would(parser):
    """Words, lemmas, tags and heads of an easy sentence, the contraction split inside its characters."""
    text = "The dogs didn't chase cats."
    ((sentence,),) = parser.parse([text])
    words = sentence.words
    assert [word.text for word in words] == ["The", "dogs", "did", "n't", "chase", "cats", "."]
    assert [text[word.start : word.end] for word in words] == [word.text for word in words]
    assert [word.lemma for word in words] == ["the", "dog", "do", "not", "chase", "cat", "."]
    assert [word.upos for word in words] == ["DET", "NOUN", "AUX", "PART", "VERB", "NOUN", "PUNCT"]
    assert [word.head for word in words] == [2, 5, 5, 5, 0, 5, 5]
    assert [word.relation for word in words] == ["det", "nsubj", "aux", "advmod", "root", "obj", "punct"]


def test_texts_beyond_every_limit_are_parsed(parser):
    """Two thousand words without a full stop, one endless word and very long words come through, cut but complete."""
    texts = ["so it goes on and on " * 400, "x" * 20_000, "unbelievable-" * 300 + " end", ". " * 900]
    for text, sentences in zip(texts, parser.parse(texts), strict=True):
        check(text, sentences)
        assert max(len(sentence.tokens) for sentence in sentences) <= LONGEST_SENTENCE


def test_no_text_gives_no_result(parser):
    """No texts give an empty list, empty texts an empty list each."""
    assert parser.parse([]) == []
    assert parser.parse(["", " "]) == [[], []]


def test_the_two_steps_equal_the_one(parser):
    """Tokenizing first and parsing later is the same as parsing texts."""
    assert parser.parse(parser.tokenize(TEXTS[:3])) == parser.parse(TEXTS[:3])


def test_parsing_is_silent_and_leaves_the_logger_alone(parser, capfd):
    """Nothing is printed or logged, and Stanza's logger keeps its level."""
    logger = logging.getLogger("stanza")
    before = logger.level
    parser.parse(["A sentence.", "very " * 600])
    assert (logger.level, *capfd.readouterr()) == (before, "", "")


def test_missing_models_are_named_with_the_remedy(tmp_path, encoder):
    """Absent files give ModelMissingError: the file and the training command, or Stanza's own download command."""
    with pytest.raises(ModelMissingError, match="rome train parser"):
        Parser(tmp_path, *encoder)
    with pytest.raises(ModelMissingError, match=r"import stanza; stanza.download\('en'\)"):
        Parser(package_dir=tmp_path / "nothing")


def test_the_parser_and_the_features_share_one_pass(encoder, parser, monkeypatch):
    """After a parse, the trunk already knows the rows of the sentences' words."""
    trunk, tokenizer = encoder
    ((sentence,),) = parser.parse(["Nobody has read this before."])
    row = tokenizer([word.text for word in sentence.words], is_split_into_words=True)["input_ids"]
    calls = []
    monkeypatch.setattr(trunk, "_compute", calls.append)
    states = trunk.states([row])
    assert states[0].shape == (len(row), trunk.width) and not calls


def test_the_compiled_search_finds_the_trees_that_stanza_finds():
    """On random scores, from one word to forty, and on scores with a forbidden arc: the same heads as Stanza's own search."""
    rng = np.random.default_rng(0)
    for size in range(2, 42):
        scores = rng.normal(size=(size, size)) * rng.choice([0.1, 1, 5])
        assert best_tree(scores)[1:].tolist() == chuliu_edmonds_one_root(scores.copy())[1:].tolist()
    for size in range(2, 42):  # scores that are nearly a tree's, as a trained parser's are
        heads = [0, 0, *(int(rng.integers(1, node)) for node in range(2, size))]
        scores = rng.normal(size=(size, size))
        scores[np.arange(1, size), heads[1:]] += 6
        found = best_tree(scores)
        assert found.tolist() == [0, *chuliu_edmonds_one_root(scores.copy())[1:].tolist()]
        assert size > 12 or found.tolist() == heads
    assert best_tree(np.zeros((1, 1))).tolist() == [0]
    assert best_tree(np.array([[0, 0, 0], [-np.inf, 0, 1.0], [0, 1.0, 0]])).tolist() == [0, 2, 0]


def with_documents(parser, texts, monkeypatch):
    """The parse of texts by Stanza's processors, from document to document, with the parser's own models."""
    with monkeypatch.context() as patched:
        patched.setattr(parser, "_steps", StanzaDocuments(parser._pipeline.processors, 1000))
        return parser.parse(texts)


def test_the_stages_in_bulk_give_what_stanzas_processors_give(parser, monkeypatch):
    """Together and one by one, the texts have the sentences, words, tags, lemmas and trees that Stanza's documents have."""
    assert isinstance(parser._steps, Bulk)
    assert parser.parse([*TEXTS, *REAL]) == with_documents(parser, [*TEXTS, *REAL], monkeypatch)
    for text in TEXTS[3:6]:
        assert parser.parse([text]) == with_documents(parser, [text], monkeypatch)


@pytest.mark.parametrize("text", STRANGE, ids=lambda text: text[:20])
def test_strange_texts_are_parsed_as_stanza_parses_them(parser, monkeypatch, text):
    """Addresses, white space of every kind, special pieces' names, invisible words and texts beyond every window."""
    assert parser.parse([text]) == with_documents(parser, [text], monkeypatch)


def test_real_sentences_are_parsed_as_stanza_parses_them(parser, monkeypatch):
    """A hundred sentences of the treebank's development part, if it is there: no difference in any column."""
    treebank = data_folder() / "ud_english_ewt" / "dev.conllu"
    if not treebank.is_file():
        pytest.skip("needs the English Web Treebank of the shared data")
    lines = treebank.read_text(encoding="utf-8").splitlines()
    texts = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")][:2000:20]
    assert len(texts) == 100
    assert parser.parse(texts) == with_documents(parser, texts, monkeypatch)


def test_the_trees_are_stanzas_own(parser, monkeypatch):
    """Scoring arcs and searching ourselves gives what Stanza's processor gives without its repairs."""
    ours = with_documents(parser, TEXTS, monkeypatch)
    monkeypatch.setitem(parser._pipeline.processors["depparse"].config, "resolve_head_constraints", False)
    monkeypatch.setattr("rome.features.analyser.stanza_documents.scores_arcs", lambda processor: False)
    assert with_documents(parser, TEXTS, monkeypatch) == ours


def test_scoring_only_the_chosen_arcs_changes_no_relation(parser, monkeypatch):
    """Relations scored for the tree's own arcs are those that scoring every pair of words would have given."""
    ours = with_documents(parser, TEXTS, monkeypatch)
    monkeypatch.setattr("rome.features.analyser.trees._plain", lambda model: False)
    assert with_documents(parser, TEXTS, monkeypatch) == ours


def test_long_paragraphs_do_not_depend_on_their_neighbours(parser):
    """Texts of several windows have one parse, beside shorter and longer ones or alone."""
    texts = ["so it goes on and on " * 120, "The end came. " * 90, "a b " * 249 + "a b.", "Short."]
    assert parser.parse(texts) == [parser.parse([text])[0] for text in texts]


@pytest.fixture
def tiny():
    """A trunk of two layers, eight numbers wide."""
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    config = BertConfig(vocab_size=30, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16)
    return BertModel(config, add_pooling_layer=False)


def test_remembered_states_equal_the_trunks_own(tiny):
    """Rows computed together, alone or from memory have the states that the trunk gives each row by itself."""
    memo = MemoisedTrunk(tiny, batch_pieces=12)
    rows = [(1, 2, 3), (4,), (5, 6, 7, 8, 9), (1, 2, 3), ()]
    first, second = memo.states(rows), memo.states(rows)
    for row, states, again, alone in zip(
        rows, first, second, (MemoisedTrunk(tiny).states([row])[0] for row in rows), strict=True
    ):
        assert torch.equal(states, again) and torch.equal(states, alone) and states.shape == (len(row), 8)
        if row:
            torch.testing.assert_close(states, tiny(torch.tensor([row])).last_hidden_state[0])


def test_a_padded_batch_has_every_layer_and_zero_padding(tiny):
    """The form that Stanza reads: one tensor a layer, as transformers gives it, with zeros behind each row."""
    memo = MemoisedTrunk(tiny).train()
    ids, mask = torch.tensor([[1, 2, 3], [4, 5, 0]]), torch.tensor([[1, 1, 1], [1, 1, 0]])
    output = memo(ids, attention_mask=mask, output_hidden_states=True)
    expected = tiny(ids, attention_mask=mask, output_hidden_states=True).hidden_states[1:]
    for layer, wanted in zip(output.hidden_states, expected, strict=True):
        torch.testing.assert_close(layer[mask.bool()], wanted[mask.bool()])
        assert not layer[1, 2].any()


def test_the_memory_is_bounded_and_can_be_cleared(tiny):
    """Beyond its capacity the oldest rows leave; clear forgets all; a row longer than the trunk reads is refused."""
    memo = MemoisedTrunk(tiny, capacity=5)
    for first in range(10):
        memo.states([(1, 2, first), (4, 5, first)])
        assert memo.remembered == 1
    memo.clear()
    assert memo.remembered == 0
    with pytest.raises(ValueError, match="windows"):
        memo.states([tuple([1] * 513)])
