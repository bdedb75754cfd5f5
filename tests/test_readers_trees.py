"""Trees of a treebank: every word with its place in the text, whatever its token, and files that are none refused by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from rome.data.readers.texts import TreeSentence, read_trees, spans_of_parts
from rome.exceptions import InputError

TEXT = "We  don't, alas."
ROWS = """1|We|PRON|PRP|Number=Plur|3|nsubj|_
2-3|don't|_|_|_|_|_|SpaceAfter=No
2|do|AUX|VBP|_|3|aux|_
3|n't|PART|RB|_|0|root|_
3.1|go|VERB|VB|_|_|_|_
4|,|PUNCT|,|_|5|punct|_
5|alas|INTJ|UH|_|3|discourse|SpaceAfter=No
6|.|PUNCT|.|_|3|punct|_"""


def block(text: str, rows: str) -> str:
    """A sentence as CoNLL-U, from rows of number, form, tags, head, relation and notes."""
    lines = []
    for row in rows.splitlines():
        number, form, upos, xpos, feats, head, relation, misc = row.split("|")
        lines.append("\t".join([number, form, form, upos, xpos, feats, head, relation, "_", misc]))
    return "\n".join(["# newpar", f"# text = {text}", *lines, "", ""])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tree.conllu"


def read(path: Path, content: str) -> list[TreeSentence]:
    path.write_text(content, encoding="utf-8")
    return list(read_trees(path))


def test_every_word_lies_where_it_stands(path: Path) -> None:
    """Words of a token that they spell divide it; blanks, marks without blanks and empty nodes move nothing."""
    (sentence,) = read(path, block(TEXT, ROWS))
    assert sentence.text == TEXT
    assert [TEXT[word.start : word.end] for word in sentence.words] == ["We", "do", "n't", ",", "alas", "."]
    assert [word.form for word in sentence.words] == ["We", "do", "n't", ",", "alas", "."]
    assert [word.place for word in sentence.words] == [0, 0, 1, 0, 0, 0]
    first = sentence.words[0]
    assert (first.upos, first.xpos, first.feats, first.head, first.relation) == ("PRON", "PRP", "Number=Plur", 3, "nsubj")
    assert [word.head for word in sentence.words] == [3, 3, 0, 5, 3, 3]


def test_words_that_do_not_spell_their_token_have_all_of_it(path: Path) -> None:
    """As "wanna" stands for "want" and "to"."""
    rows = "1-2|wanna|_|_|_|_|_|_\n1|want|VERB|VB|_|0|root|_\n2|to|PART|TO|_|3|mark|_\n3|go|VERB|VB|_|1|xcomp|_"
    (sentence,) = read(path, block("wanna go", rows))
    assert [(word.form, word.start, word.end, word.place) for word in sentence.words] == [
        ("want", 0, 5, 0),
        ("to", 0, 5, 1),
        ("go", 6, 8, 0),
    ]
    assert spans_of_parts("Gonna", ["gon", "na"], 4) == [(4, 7), (7, 9)]
    assert spans_of_parts("İs", ["i̇", "s"], 0) == [(0, 2), (0, 2)]  # a letter that is two in lower case


def test_sentences_follow_each_other(path: Path) -> None:
    """With any number of blank lines between, with Windows ends, and without one at the end; an empty file has none."""
    one, two = block(TEXT, ROWS), block("Go.", "1|Go|VERB|VB|_|0|root|SpaceAfter=No\n2|.|PUNCT|.|_|1|punct|_")
    for content in (one + two, one + "\n\n" + two, (one + two).replace("\n", "\r\n"), (one + two).rstrip("\n")):
        assert [sentence.text for sentence in read(path, content)] == [TEXT, "Go."]
    assert read(path, "") == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("discourse\t_\t", "discourse\t", r"tree.conllu:9: .* does not have ten columns"),
        ("alas\talas", "also\talas", r"tree.conllu:9: 'also' does not follow"),
        ("5\talas\talas", "5\ts\talas", r"tree.conllu:9: 's' does not follow"),
        ("2-3\t", "2-9\t", r"tree.conllu:4: 2-9 "),
        ("2-3\t", "x-3\t", r"tree.conllu:4: x-3 "),
        ("\t5\tpunct", "\t7\tpunct", r"tree.conllu:8: the head 7 must be a word"),
        ("\t5\tpunct", "\t_\tpunct", r"tree.conllu:8: the head _ must be a word"),
        ("4\t,", "5\t,", r"tree.conllu:8: 5 is not the number"),
        ("# text = We", "# sent_id = We", r"tree.conllu:3: 'We' does not follow"),
    ],
)
def test_what_is_no_tree_is_named_by_its_line(path: Path, old: str, new: str, message: str) -> None:
    """Columns, words that are not in the text, tokens of words that are not there, heads, numbers; a sentence without its text."""
    good = block(TEXT, ROWS)
    assert old in good
    with pytest.raises(InputError, match=message):
        read(path, good.replace(old, new))


def test_a_sentence_without_text_does_not_take_the_one_before(path: Path) -> None:
    """The same words again without their text are refused, though the sentence before would fit."""
    again = block(TEXT, ROWS).replace("# text = ", "# sent_id = ")
    with pytest.raises(InputError, match=r"tree.conllu:14: 'We' does not follow"):
        read(path, block(TEXT, ROWS) + again)
