"""Tags and trees from states: the same in any company and after saving, always trees, and learned from a few sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from tiny_treebank import DOGS

from rome.data.readers.texts import TreeSentence, TreeWord, read_trees
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_tokenizer
from rome.features.analyser.pieces import WordPieces
from rome.features.analyser.trees import SPELLINGS, ParsedTree, TreeHead, WordRows, load_tree_head, spellings_of
from rome.features.analyser.weights import quantise
from rome.train.common.training import padded
from rome.train.parser import trees as tree_data
from rome.train.parser.trees import BITS, TreeExample, examples_of, labels_of, loss_of, save_head, tree_figures

MIXED, WIDTH = 3, 48
LABELS = {
    "upos": ("NOUN", "VERB", "X"),
    "xpos": ("NN", "VB"),
    "feats": ("_", "Number=Sing"),
    "relation": ("dep", "obj", "root"),
}
LENGTHS = [3, 4, 4, 7, 20, 20, 33]
TREEBANK = f"""{DOGS}# text = Cats gonna see dogs.
1	Cats	cat	NOUN	NNS	Number=Plur	2	nsubj	_	_
2-3	gonna	_	_	_	_	_	_	_	_
2	go	go	VERB	VBP	Mood=Ind	0	root	_	_
3	to	to	PART	TO	_	4	mark	_	_
4	see	see	VERB	VB	VerbForm=Inf	2	xcomp	_	_
5	dogs	dog	NOUN	NNS	Number=Plur	4	obj	_	SpaceAfter=No
6	.	.	PUNCT	.	_	2	punct	_	_

# text = Go!
1	Go	go	VERB	VB	VerbForm=Inf	0	root	_	SpaceAfter=No
2	!	!	PUNCT	.	Rare=Yes	1	punct	_	_

"""


def new_head(layers: int, *, labels: dict[str, tuple[str, ...]] = LABELS, mixed: int = MIXED) -> TreeHead:
    """A head whose every part matters, untrained."""
    torch.manual_seed(0)
    sizes = {"heads": 4, "inner": 64, "arc": 24, "relation": 12}
    head = TreeHead(width=WIDTH, mixed=mixed, labels=labels, layers=layers, **sizes)
    for part in (head.arc, head.relation, head.place.weight, head.mix, *head.spelled_parts.parameters()):
        torch.nn.init.normal_(part, std=0.3)
    return head.eval()


@pytest.fixture(scope="module", params=[0, 2], ids=["bare", "with layers"])
def head(request: pytest.FixtureRequest) -> TreeHead:
    return new_head(request.param)


@pytest.fixture(scope="module")
def states() -> list[torch.Tensor]:
    """States of sentences of several lengths, marks included."""
    torch.manual_seed(2)
    return [torch.randn(MIXED, length, WIDTH) for length in LENGTHS]


def places_of(length: int) -> WordRows:
    """A word a row, but for the marks at both ends."""
    words = range(1, length - 1)
    spellings = [(n % SPELLINGS, 7 * n % SPELLINGS, 40)[: 1 + n % 3] for n in words]
    return WordRows([*words], [n + 1 for n in words], [0 for _ in words], spellings)


def parsed(head: TreeHead, states: Sequence[torch.Tensor]) -> list[ParsedTree]:
    return head.parse(states, [places_of(each.shape[1]) for each in states])


def is_tree(heads: Sequence[int]) -> bool:
    """Whether one word hangs on the root, and every word on that one in the end."""
    for word in range(1, len(heads) + 1):
        for _ in heads:
            word = heads[word - 1] if word else 0
        if word:
            return False
    return sum(head == 0 for head in heads) == 1


# What a parse is


def test_a_sentence_is_parsed_alike_in_any_company(head: TreeHead, states: list[torch.Tensor]) -> None:
    """Alone, with others in any order, and several times over."""
    together = parsed(head, states)
    assert len({tree.heads for tree in together}) > 3
    for n, one in enumerate(states):
        assert parsed(head, [one]) == [together[n]]
        assert parsed(head, [one] * 3) == [together[n]] * 3
    assert parsed(head, states[::-1]) == together[::-1]
    assert head.parse([], []) == []


def test_every_parse_is_a_tree(head: TreeHead) -> None:
    """Whatever the states: one root, no cycle, a tag and a relation a word, all of them names that the head knows."""
    torch.manual_seed(4)
    sentences = [torch.randn(MIXED, 3 + n % 9, WIDTH) * (1 + n) for n in range(30)]
    for states, tree in zip(sentences, parsed(head, sentences), strict=True):
        words = states.shape[1] - 2
        assert is_tree(tree.heads) and [len(column) for column in tree] == [words] * 5
        assert set(tree.upos) <= set(LABELS["upos"]) and set(tree.relations) <= set(LABELS["relation"])


def test_words_of_one_token_are_told_apart(head: TreeHead, states: list[torch.Tensor]) -> None:
    """By their number within it, of which the third and all further ones are one."""
    rows = head.mixture(states[4])
    places = WordRows([2] * 5, [4] * 5, [0, 1, 2, 3, 9], [(3, 5)] * 5)
    words = head.read(rows[None], torch.ones(1, len(rows), dtype=torch.bool), [places])[0][0]
    assert not torch.allclose(words[1], words[2]) and not torch.allclose(words[2], words[3])
    torch.testing.assert_close(words[[4, 5]], words[[3, 3]])
    (tree,) = head.parse([states[4]], [places])
    assert is_tree(tree.heads) and tree.upos[2:] == (tree.upos[2],) * 3


def test_how_a_word_is_written() -> None:
    """Capitals, and its letters in order, make the numbers; they are the same wherever the word stands, but for the sentence's first."""
    first, second, third = (set(parts) for parts in spellings_of(["Go", "Go", "go"]))
    assert len(first - second) == len(second - first) == 1 and len(second & third) < len(second) - 3
    assert [set(parts) for parts in spellings_of(['"', "Go"])][1] == first
    long, longer, empty = spellings_of(["x" * 50, "x" * 4000, ""])
    assert long[1:] == longer[1:]
    assert empty and all(0 <= part < SPELLINGS for part in (*long, *empty))
    assert spellings_of([]) == [] and spellings_of(["\ud800"])[0]
    assert spellings_of(["Paris"])[0][:3] == (3671, 3522, 894)  # trained heads know these numbers


def test_a_spelling_adds_to_the_word_and_its_rows(head: TreeHead) -> None:
    """To no other row, and nothing to the root; nearly the same in any company."""
    one, other = places_of(6), places_of(33)
    rows, own = (part[0] for part in head.spelled([one, other], 33))
    rows, own = rows[:6], own[: 1 + len(one.place)]
    assert not rows[[0, 5]].any() and not own[0].any() and rows[1:5].any(1).all() and own[1:].any(1).all()
    alone, words = (part[0] for part in head.spelled([one], 6))
    torch.testing.assert_close(alone, rows)
    torch.testing.assert_close(words, own)


# On disk


def test_a_saved_head_parses_as_its_rounded_numbers(head: TreeHead, states: list[torch.Tensor], tmp_path: Path) -> None:
    """Sizes and labels come back, matrices rounded, those of its own layers and of spellings most, the rest whole; two readings parse alike."""
    save_head(head, tmp_path)
    one, two = load_tree_head(tmp_path), load_tree_head(tmp_path)
    assert (one.sizes, one.labels, one.training) == (head.sizes, head.labels, False)
    assert not any(parameter.requires_grad for parameter in one.parameters())
    kept = one.state_dict()
    for name, tensor in head.state_dict().items():
        values, scale = (
            quantise(tensor, BITS if name.startswith(("layers.", "spell")) else 8)
            if tensor.ndim == 2
            else (tensor, torch.ones(1))
        )
        assert torch.equal(kept[name], values * scale.half().float()[:, None] if tensor.ndim == 2 else tensor.half().float()), name
    twin = new_head(head.sizes["layers"])
    twin.load_state_dict(kept)
    assert parsed(one, states) == parsed(two, states) == parsed(twin, states)


# What it learns from


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    return load_tokenizer(set_folder("small") / "encoder")


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> list[TreeSentence]:
    path = tmp_path_factory.mktemp("treebank") / "train.conllu"
    path.write_text(TREEBANK, encoding="utf-8")
    return list(read_trees(path))


def test_classes_are_the_most_frequent_first(treebank: list[TreeSentence]) -> None:
    """All that the treebank has, but for a string of features that stands there once."""
    labels = labels_of(treebank)
    assert labels["upos"] == ("VERB", "NOUN", "PUNCT", "PART", "AUX")
    assert labels["relation"][:2] == ("root", "punct") and set(labels["relation"]) == {
        *("root", "punct", "nsubj", "aux", "advmod", "mark", "xcomp", "obj")
    }
    assert "Rare=Yes" not in labels["feats"] and {"Number=Plur", "Mood=Ind", "VerbForm=Inf", "_"} == set(labels["feats"])


def test_examples_hold_each_word_and_its_answers(treebank: list[TreeSentence], pieces: WordPieces) -> None:
    """Rows begin and end with marks, words lie where their pieces do, classes that training does not know are never right."""
    labels = labels_of(treebank)
    first, second, third = examples_of(treebank, pieces, labels)
    assert pieces.convert_ids_to_tokens(first.pieces) == ["[CLS]", "dogs", "don", "'", "t", "bark", ".", "[SEP]"]
    assert (first.places.first, first.places.last) == ([1, 2, 2, 5, 6], [2, 3, 5, 6, 7])
    assert first.places.spellings == spellings_of(["Dogs", "do", "n't", "bark", "."])
    assert second.places.spellings[1:3] == spellings_of(["x", "gonna", "gonna"])[1:]
    assert first.places.place == [0, 0, 1, 0, 0] and first.heads.tolist() == [4, 4, 4, 0, 4]
    assert second.places.first[1:3] == [2, 2] and second.places.last[1:3] == [3, 3] and second.places.place[1:3] == [0, 1]
    for sentence, example in zip(treebank, (first, second, third), strict=True):
        for name, answer in example.answers.items():
            wanted = [getattr(word, name) for word in sentence.words]
            assert [labels[name][n] if n >= 0 else "unknown" for n in answer.tolist()] == [
                "unknown" if label == "Rare=Yes" else label for label in wanted
            ]


def test_what_cannot_be_learned_is_left_out(pieces: WordPieces) -> None:
    """A sentence of more than LONGEST pieces, and one without a piece."""

    def sentence(text: str) -> TreeSentence:
        return TreeSentence(text, (TreeWord(text, "X", "FW", "_", 0, "root", 0, len(text), 0),))

    labels = {"upos": ("X",), "xpos": ("FW",), "feats": ("_",), "relation": ("root",)}
    given = [sentence("dog"), sentence("dog " * tree_data.LONGEST), sentence("\u200f")]
    assert [len(example.pieces) for example in examples_of(given, pieces, labels)] == [3]


def states_of(examples: Sequence[TreeExample]) -> list[torch.Tensor]:
    """(2, L, width) random states of each example, the same for the same piece in the same place."""
    found = []
    for one in examples:
        generators = (torch.Generator().manual_seed(1000 * piece + place) for place, piece in enumerate(one.pieces))
        found.append(torch.stack([torch.randn(2, WIDTH, generator=generator) for generator in generators], dim=1))
    return found


def batched(states: Sequence[torch.Tensor], examples: Sequence[TreeExample]) -> tuple[torch.Tensor, torch.Tensor]:
    """Padded states and their mask; what fills them up is no number that a loss could bear."""
    _, mask = padded([one.pieces for one in examples])
    layers = torch.full((2, *mask.shape, WIDTH), 1e4)
    for n, one in enumerate(states):
        layers[:, n, : one.shape[1]] = one
    return layers, mask


@pytest.mark.parametrize("layers", [0, 1])
def test_a_few_sentences_are_learned(layers: int, treebank: list[TreeSentence], pieces: WordPieces) -> None:
    """The loss falls, and then tags, heads and relations are right: training and parsing compute the same."""
    labels = labels_of(treebank)
    examples = examples_of(treebank, pieces, labels)
    states, head = states_of(examples), new_head(layers, labels=labels, mixed=2).train()
    given, mask = batched(states, examples)
    optimizer = torch.optim.Adam(head.parameters(), 3e-3)
    losses = []
    for _ in range(80):
        loss = loss_of(head, given, mask, examples)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 < 3 < losses[0]
    trees = head.eval().parse(states, [one.places for one in examples])
    for sentence, tree in zip(treebank, trees, strict=True):
        assert tree.heads == tuple(word.head for word in sentence.words)
        assert tree.relations == tuple(word.relation for word in sentence.words)
        assert tree.upos == tuple(word.upos for word in sentence.words)
    figures = tree_figures(head, states, examples)
    assert figures == {"las": 100, "uas": 100, "upos": 100, "xpos": 100, "feats": round(100 * 12 / 13, 2)}


def test_the_loss_of_a_sentence_does_not_depend_on_what_fills_it_up(treebank: list[TreeSentence], pieces: WordPieces) -> None:
    """A batch costs the mean over its words of what the sentences cost alone (here without tags that are unknown)."""
    labels = {**labels_of(treebank), "feats": ("_", "Number=Plur", "Mood=Ind", "VerbForm=Inf", "Rare=Yes")}
    examples = examples_of(treebank, pieces, labels)
    states, head = states_of(examples), new_head(1, labels=labels, mixed=2)
    with torch.no_grad():
        alone = [float(loss_of(head, *batched([s], [e]), [e])) for s, e in zip(states, examples, strict=True)]
        together = float(loss_of(head, *batched(states, examples), examples))
    words = [len(one.heads) for one in examples]
    assert together == pytest.approx(sum(w * a for w, a in zip(words, alone, strict=True)) / sum(words), rel=1e-4)
