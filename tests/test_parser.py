"""The parser: raw text to sentences, words and trees through Stanza's pipeline, and one pass of the trunk."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import torch
from stanza import Document
from stanza.models.common.chuliu_edmonds import chuliu_edmonds_one_root
from tiny_trees import write_parser

from rome.exceptions import ModelMissingError
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import EmbeddedEncoder, load_encoder
from rome.features.analyser.parser import LONG_TEXT, LONGEST_SENTENCE, Parser, embedded_parser, package_parser, readable
from rome.features.analyser.pieces import encode
from rome.features.analyser.trees import best_tree

SMALL = set_folder("small")
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
def encoder() -> EmbeddedEncoder:
    """The small set's encoder."""
    return load_encoder(SMALL / "encoder")


@pytest.fixture(scope="module")
def parser(encoder, tmp_path_factory) -> Parser:
    """A parser whose tags and trees are a random head's."""
    return embedded_parser(write_parser(tmp_path_factory.mktemp("parser")), encoder)


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
            assert all(c.isspace() or c in "\u200b\x80" for c in text[position : token.start])
            assert text[token.start : token.end] == token.text == token.text.strip()
            for word in sentence.words[token.first : token.last]:
                assert token.start <= word.start < word.end <= token.end
                assert 0 <= word.head <= len(sentence.words) and word.lemma and word.upos and word.relation
            position = token.end


@pytest.mark.parametrize("text", [*TEXTS, *REAL, *STRANGE], ids=lambda text: text[:20])
def test_every_visible_character_belongs_to_one_token(parser, text):
    """Tokens lie side by side in the text, nothing visible lies between them, and each sentence is a tree."""
    (sentences,) = parser.parse([text])
    check(text, sentences)
    assert bool(sentences) or not text.strip("\u200b \t\n")


def test_a_text_does_not_depend_on_its_neighbours(parser):
    """Parsing texts together, in either order, gives what parsing each alone gives: words, trees and nearly the same states."""
    plain = [*TEXTS, *REAL, "abc\n\x80", "\x80\nabc"]
    texts = [*plain, *STRANGE, "so it goes on and on " * 50, "The end came. " * 40]
    together = parser.parse(texts)
    assert parser.parse(plain[::-1]) == together[: len(plain)][::-1]
    for text, sentences in zip(texts, together, strict=True):
        (alone,) = parser.parse([text])
        assert alone == sentences
        for one, other in zip(alone, sentences, strict=True):
            torch.testing.assert_close(one.states.rows, other.states.rows, atol=1e-3, rtol=1e-3)


def test_every_stage_but_ours_is_stanzas_pipeline(parser):
    """Without a long sentence tokens and words are those of one call of the pipeline for this text alone."""
    for text in (*TEXTS, *REAL):
        document = parser.pipeline.process(Document([], text=f"\n\n{readable(text)}\n\n"), "tokenize,mwt")
        (sentences,) = parser.parse([text])
        for sentence, found in zip(document.sentences, sentences, strict=True):
            assert [(token.start_char - 2, token.end_char - 2) for token in sentence.tokens] == [t[1:3] for t in found.tokens]
            assert len(sentence.words) == len(found.words)


def test_lemmas_that_are_remembered_are_those_that_stanza_finds_anew(parser, monkeypatch):
    def lemmas():
        return [[word.lemma for word in sentence.words] for sentences in parser.parse(REAL) for sentence in sentences]

    monkeypatch.setattr("rome.features.analyser.parser.LEMMAS", 0)  # nothing is remembered from one call to the next
    asked: list[int] = []
    process = parser.pipeline.process
    monkeypatch.setattr(parser.pipeline, "process", lambda *given: asked.append(given[1] == "lemma") or process(*given))
    anew = lemmas()
    assert anew == lemmas() and sum(asked) == 2
    monkeypatch.undo()
    assert anew == lemmas()
    words = [(word.text, word.upos) for sentences in parser.parse(REAL) for sentence in sentences for word in sentence.words]
    alone = [parser._lemmatized([word])[0] for word in words]
    assert parser._lemmatized(words) == alone and None not in alone


def test_a_plain_sentence_is_read_as_a_person_would(encoder):
    """With the small set's own head: words, lemmas, tags and heads of an easy sentence, the contraction split inside its characters."""
    text = "The dogs didn't chase cats."
    ((sentence,),) = embedded_parser(SMALL, encoder).parse([text])
    words = sentence.words
    assert [word.text for word in words] == ["The", "dogs", "did", "n't", "chase", "cats", "."]
    assert [text[word.start : word.end] for word in words] == [word.text for word in words]
    assert [word.lemma for word in words] == ["the", "dog", "do", "not", "chase", "cat", "."]
    assert [word.upos for word in words] == ["DET", "NOUN", "AUX", "PART", "VERB", "NOUN", "PUNCT"]
    assert [word.head for word in words] == [2, 5, 5, 5, 0, 5, 5]
    assert [word.relation for word in words] == ["det", "nsubj", "aux", "advmod", "root", "obj", "punct"]


def test_letters_that_the_expander_never_saw_stay(parser):
    """A multi-word token keeps every character, whatever alphabet it is in; its words divide them."""
    text = "Прив\u0435t't 漢'll don\u0301't I\u2019ll"
    ((*sentences,),) = [parser.parse([text])[0]]
    for sentence in sentences:
        for token in sentence.tokens:
            words = sentence.words[token.first : token.last]
            assert "".join(word.text for word in words) == token.text
            assert "".join(text[word.start : word.end] for word in words) == token.text


def test_texts_beyond_every_limit_are_parsed(parser):
    """Five hundred words without a full stop, one endless word and very long words come through, cut but complete."""
    texts = ["so it goes on and on " * 100, "x" * 5_000, "unbelievable-" * 100 + " end", ". " * 400]
    for text, sentences in zip(texts, parser.parse(texts), strict=True):
        check(text, sentences)
        assert max(len(sentence.tokens) for sentence in sentences) <= LONGEST_SENTENCE


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Last week Maple River National Park was closed because of a storm.", 1),
        ("Cancelled after drummer Paul Reed hurt himself when he slipped on stage.", 1),
        ("It rained on Monday. Nobody came to the market.", 2),
        ('"It rained on Monday." Nobody came to the market.', 2),
        ("A day of rain\n\nNobody came to the market", 2),
    ],
)
def test_a_sentence_ends_with_a_mark_or_a_blank_line(parser, text, count):
    """Names in the middle of a sentence begin no new one; the trees stay whole, a root each and heads inside the sentence."""
    (sentences,) = parser.parse([text])
    assert len(sentences) == count
    check(text, sentences)


def test_no_text_gives_no_result(parser):
    """No texts give an empty list, empty texts an empty list each."""
    assert parser.parse([]) == []
    assert parser.parse(["", " "]) == [[], []]


def test_parsing_is_silent_and_leaves_the_logger_alone(parser, capfd):
    """Nothing is printed or logged, and Stanza's logger keeps its level."""
    logger = logging.getLogger("stanza")
    before = logger.level
    parser.parse(["A sentence.", "very " * 600])
    assert (logger.level, *capfd.readouterr()) == (before, "", "")


def test_missing_models_are_named_with_the_remedy(tmp_path, encoder):
    """Absent files give ModelMissingError: the file and the training command, or Stanza's own download command."""
    with pytest.raises(ModelMissingError, match="trees.safetensors"):
        embedded_parser(tmp_path, encoder)
    (write_parser(tmp_path / "set") / "mwt").mkdir()
    with pytest.raises(ModelMissingError, match=r"mwt.safetensors is missing: .* `rome train"):
        embedded_parser(tmp_path / "set", encoder)
    with pytest.raises(ModelMissingError, match=r"import stanza; stanza.download\('en'\)"):
        package_parser(tmp_path / "nothing")


def test_a_text_is_read_in_one_pass(encoder, parser, monkeypatch):
    """The trunk sees each different sentence once, as it stands in the text, and the states come with the parse."""
    read, passed = [], encoder.states_of_rows
    monkeypatch.setattr(encoder, "states_of_rows", lambda rows: read.extend(rows) or passed(rows))
    text = "Nobody has read this.  It isn't\nlong."
    found = parser.parse([text, "It isn't\nlong. Nobody has read this."])
    assert len(read) == 2
    for sentence in found[0]:
        (row,) = sentence.states.rows
        assert row.shape == (4, len(sentence.states.pieces.ids) + 2, 384)
        assert sentence.states.pieces == encode(encoder.tokenizer, [text[sentence.start : sentence.end]], encoder.window)[0]


def test_short_texts_fit_the_tokenizers_window() -> None:
    """Only a paragraph beyond Stanza's own limit is read in windows."""
    from stanza.pipeline.tokenize_processor import TokenizeProcessor

    assert LONG_TEXT < TokenizeProcessor.MAX_SEQ_LENGTH_DEFAULT - 1


def test_the_quick_look_finds_the_trees_that_stanza_finds():
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
    assert best_tree(np.array([[0, 0, 0], [-np.inf, 0, 1.0], [0, 1.0, 0]])).tolist() == [0, 2, 0]
