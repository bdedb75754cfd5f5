"""Stratified error synthesis: no edit touches another, every pair can be made again, and fillings come from any checkpoint."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthesis_models import FakeFiller, hypothesis_of

from rome.train.synthesis.edits import TYPES, Draft, Operation, Word, deletion, error_type, filling, swap, words_of
from rome.train.synthesis.fillers import FillRequest, Seq2SeqFiller, load_filler
from rome.train.synthesis.pairs import SyntheticPair
from rome.train.synthesis.sescore import SEScorePipeline, SEScoreSettings
from rome.train.synthesis.severities import EntailmentSeverity

TEXTS = (
    'The president of France, Mr. Smith, did not go to "Paris" (again) in 1979.',
    "He will not accept it because he will not like it",
    '"Stop!" she said, running; nobody heard the well-known singer.',
    "In July, 12,500 people and/or dogs didn't leave the city's old market.",
)
SOURCED = [(f"texts:{number}", text) for number, text in enumerate(TEXTS, 1)]
WORDS = ["red", "cat", "dog", "river", "city", "quickly", "it", "not", "1979"]
MARKS = ["", "", "", ",", ".", ";", "!", '"', ")"]


class LengthEntailment(EntailmentSeverity):
    """What became shorter is not entailed; calls are counted."""

    signature, gamma = "length", 0.9

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Much in one direction, the other by length."""
        self.asked += pairs
        return [0.95 if len(second) <= len(first) + 3 else 0.3 for first, second in pairs]


def pipeline(**options: Any) -> SEScorePipeline:
    """SEScore on a word filler and a phrase filler."""
    return SEScorePipeline([FakeFiller(), FakeFiller(spans=True)], LengthEntailment(), **options)


@st.composite
def sentences(draw: st.DrawFn) -> str:
    """Words with marks behind some of them, more than one blank here and there, and blanks around."""
    parts = draw(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(MARKS)), min_size=1, max_size=14))
    blank = draw(st.sampled_from([" ", " ", "  ", "\t"]))
    edges = draw(st.sampled_from(["", "", " ", "\n"]))
    return edges + blank.join(word + mark for word, mark in parts) + edges


def untouched_after(pair: SyntheticPair) -> list[bool]:
    """For each character of the hypothesis whether it was there from the start; fails where an edit touches another's characters.

    The slow textbook version of the table q: one mark a character, moved along with the text.
    """
    fresh = [True] * len(pair.reference)
    for operation in pair.operations:
        assert all(fresh[operation.start : operation.end]), operation
        fresh[operation.start : operation.end] = [False] * len(operation.new)
    return fresh


@settings(max_examples=120, deadline=None)
@given(sentences(), st.integers(0, 10_000))
def test_every_pair_keeps_the_laws(text: str, seed: int) -> None:
    """Replayed it gives the hypothesis; edits touch no other's characters; labels are sums in [-25, 0]; what is untouched is in order."""
    for pair in pipeline().pairs([("a:1", text)], seed):
        assert hypothesis_of(pair) == pair.hypothesis
        fresh = untouched_after(pair)
        rest = iter(pair.reference)
        assert all(character in rest for character, old in zip(pair.hypothesis, fresh, strict=True) if old)
        assert pair.label == max(-25.0, sum(operation.label or 0.0 for operation in pair.operations))
        assert -25.0 <= pair.label <= 0.0 and len(pair.operations) <= 5
        assert SyntheticPair.from_json(pair.to_json()) == pair
        for operation in pair.operations:
            assert operation.original != operation.new and operation.type in TYPES
            assert (operation.severity, operation.label) in {("minor", -1.0), ("major", -5.0)}


@settings(max_examples=60, deadline=None)
@given(sentences(), st.integers(0, 10_000))
def test_texts_stay_tidy_and_words_whole(text: str, seed: int) -> None:
    """No edit leaves two blanks where one was, a blank before a comma that had none, or two words grown together."""
    for pair in pipeline().pairs([("a:1", " ".join(text.split()))], seed):
        assert "  " not in pair.hypothesis and pair.hypothesis == pair.hypothesis.strip()
        known = {word.text for text in (pair.reference, *(one.new for one in pair.operations)) for word in words_of(text)}
        assert {word.text for word in words_of(pair.hypothesis)} <= known


def edit_of(kind: str, text: str, one: Word, last: Word) -> Operation | None:
    """Return an edit of some words."""
    if kind == "i":
        return filling(text, one.start, one.start, "new")
    if kind == "d":
        return deletion(text, one.start, last.end)
    return filling(text, one.start, last.end, "new words") if kind == "r" else swap(text, one, last)


@settings(max_examples=80, deadline=None)
@given(sentences(), st.lists(st.tuples(st.sampled_from("idrs"), st.integers(0, 20), st.integers(1, 4)), max_size=12))
def test_a_draft_allows_what_touches_no_earlier_edit(text: str, edits: list[tuple[str, int, int]]) -> None:
    """An edit is refused exactly where one of its characters was written before, and each edit is what its operation says."""
    draft = Draft(text)
    for kind, place, length in edits:
        words = words_of(draft.text)
        first = place % len(words)
        made = edit_of(kind, draft.text, words[first], words[min(first + length, len(words)) - 1])
        if made is not None:
            before = draft.text
            assert draft.apply(made) == (before != draft.text)
            if before != draft.text:
                assert before[: made.start] + made.new + before[made.end :] == draft.text
    untouched_after(SyntheticPair("", "", 0, text, draft.text, tuple(one for _, one in draft.steps)))


def test_edits_are_drawn_as_the_paper_draws_them() -> None:
    """Kinds alike, the number of edits Poisson(5) capped at 5, severity as often asked as there are edits, both ways."""
    made = pipeline(settings=SEScoreSettings(tries=2000))
    pairs = [pair for seed in range(250) for pair in made.pairs(SOURCED[:1], seed)]
    kinds = Counter(operation.kind for pair in pairs for operation in pair.operations)
    count = sum(kinds.values())
    assert all(0.18 < kinds[kind] / count < 0.32 for kind in ("insertion", "deletion", "replacement", "swap"))
    lengths = Counter(len(pair.operations) for pair in pairs)
    capped = 1 - sum(math.exp(-5) * 5**n / math.factorial(n) for n in range(5))
    assert lengths[5] / len(pairs) == pytest.approx(capped, abs=0.12) and max(lengths) == 5
    assert len(made.severities.asked) == 2 * count


def test_severity_needs_both_directions() -> None:
    """Eq. 2: minor only when each of the two texts entails the other with at least gamma, from the text before to the text after."""

    class Table(LengthEntailment):
        def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
            return [given[one < other] for one, other in pairs]

    for forward, back, severity in [(0.9, 0.9, "minor"), (0.9, 0.899, "major"), (0.2, 1.0, "major"), (0.89999, 0.95, "minor")]:
        given = {True: forward, False: back}
        made = SEScorePipeline([FakeFiller()], Table(), SEScoreSettings(most_edits=1))
        found = [one for seed in range(20) for pair in made.pairs(SOURCED, seed) for one in pair.operations]
        assert {one.severity for one in found} == {severity}
        assert {one.label for one in found} == {-1.0 if severity == "minor" else -5.0}
        assert all(sorted((one.details["entailment"], one.details["entailment_back"])) == sorted(
            (round(forward, 4), round(back, 4))
        ) for one in found)  # fmt: skip


def test_each_step_is_judged_on_the_text_that_the_former_made() -> None:
    """The texts that entailment sees are a chain from the reference to the hypothesis."""
    made = pipeline()
    (pair,) = made.pairs(SOURCED[:1], 3)
    steps = made.severities.asked[: len(pair.operations)]
    assert steps[0][0] == pair.reference and steps[-1][1] == pair.hypothesis
    assert all(one[1] == other[0] for one, other in zip(steps, steps[1:], strict=False))
    assert made.severities.asked[len(steps) :] == [(after, before) for before, after in steps]


def test_texts_that_give_nothing_are_counted() -> None:
    """Too short ones are skipped; without fillings only deletions and swaps are left."""
    made = SEScorePipeline([FakeFiller(silent=True)], LengthEntailment())
    pairs = list(made.pairs([("a:1", "Too short"), ("a:2", ""), ("a:3", TEXTS[0])], 5))
    assert made.skipped == {"too short": 2} and [pair.source for pair in pairs] == ["a:3"]
    assert {one.kind for one in pairs[0].operations} <= {"deletion", "swap"}
    only = SEScorePipeline([FakeFiller(silent=True)], LengthEntailment(), SEScoreSettings(most_edits=1))
    found = [pair for seed in range(60) for pair in only.pairs(SOURCED[:1], seed)]
    assert only.skipped["no edit found a place"] + len(found) == 60 and only.skipped["no edit found a place"] > 5


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (Operation("insertion", 0, 0, "", " cat"), "addition"),
        (Operation("insertion", 0, 0, "", ","), "punctuation"),
        (Operation("deletion", 0, 4, " cat", ""), "omission"),
        (Operation("deletion", 0, 1, ".", ""), "punctuation"),
        (Operation("replacement", 0, 3, "cat", "dog"), "mistranslation"),
        (Operation("replacement", 0, 3, "cat", ","), "mistranslation"),
        (Operation("replacement", 0, 5, "Café", "cafe"), "spelling"),
        (Operation("swap", 0, 7, "cat dog", "dog cat"), "grammar"),
        (Operation("swap", 0, 2, '!"', '"!'), "punctuation"),
    ],
)
def test_types_are_those_of_table_1(operation: Operation, expected: str) -> None:
    """Kind and characters decide the type."""
    assert error_type(operation) == expected


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        ("the film, but", lambda t, w: deletion(t, w[1].start, w[1].end), "the, but"),
        ("the film, but", lambda t, w: deletion(t, w[2].start, w[2].end), "the film but"),
        ("the film ends", lambda t, w: deletion(t, w[2].start, w[2].end), "the film"),
        ('see the "film" now', lambda t, w: deletion(t, w[2].start, w[2].end), 'see the film" now'),
        ("the film, but", lambda t, w: filling(t, w[2].start, w[2].start, "old"), "the film old, but"),
        ('the "film" ends', lambda t, w: filling(t, w[2].start, w[2].start, "old"), 'the "old film" ends'),
        ("the film, but", lambda t, w: filling(t, w[2].start, w[2].end, "and"), "the film and but"),
        ("the film,) but", lambda t, w: filling(t, w[3].start, w[3].end, "and"), "the film, and but"),
        ("the film ends", lambda t, w: filling(t, w[1].start, w[1].end, ","), "the, ends"),
        ("the film, but", lambda t, w: swap(t, w[0], w[3]), "but film, the"),
        ('a "film") was made', lambda t, w: deletion(t, w[4].start, w[5].end), 'a "film" made'),
    ],
)
def test_white_space_follows_the_words(text: str, edit: Any, expected: str) -> None:
    """Marks follow the word before them directly, words are apart."""
    draft = Draft(text)
    assert draft.apply(edit(text, words_of(text))) and draft.text == expected


def test_edits_that_do_not_fit() -> None:
    """The whole text cannot be deleted, equal words cannot be swapped, and nothing is put in the place of a deletion."""
    draft = Draft("a cat a dog")
    words = words_of(draft.text)
    assert deletion(draft.text, 0, len(draft.text)) is None and swap(draft.text, words[0], words[2]) is None
    joined = "a part of it."
    assert swap(joined, *(words_of(joined)[n] for n in (2, 4))) is None
    assert draft.apply(deletion(draft.text, words[1].start, words[1].end))
    assert draft.text == "a a dog"
    assert [draft.allows(filling(draft.text, word.start, word.start, "x")) for word in words_of(draft.text)] == [
        True,
        False,
        True,
    ]


# Fillers on tiny checkpoints with random weights: the real loading code.

PIECES = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on mat . a dog ##s , two old 1979 slept red".split()
LINE = "the cat sat on the red mat ."


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Folders of a BERT and a RoBERTa (masked), a BART (infilling), and checkpoints of other kinds."""
    import torch
    import transformers as t

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("fillers")
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    wide = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    wide |= {"encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
    bpe, wordpiece = byte_pairs(), word_pieces(folder)
    sizes = {"vocab_size": len(PIECES), "max_position_embeddings": 24}
    pads = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    models: dict[str, tuple[Any, Any]] = {
        "bert": (t.BertForMaskedLM(t.BertConfig(**small, **sizes)), wordpiece),
        "encoder": (t.BertModel(t.BertConfig(**small, **sizes)), wordpiece),
        "gpt": (t.GPT2LMHeadModel(t.GPT2Config(vocab_size=len(bpe), n_embd=16, n_layer=1, n_head=2)), bpe),
        "roberta": (
            t.RobertaForMaskedLM(t.RobertaConfig(**small, vocab_size=len(bpe), max_position_embeddings=34, **pads)),
            bpe,
        ),
        "bart": (
            t.BartForConditionalGeneration(
                t.BartConfig(**wide, vocab_size=len(bpe), max_position_embeddings=64, **pads, decoder_start_token_id=2)
            ),
            bpe,
        ),
    }
    for name, (model, tokenizer) in models.items():
        model.save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    return {name: str(folder / name) for name in models}


def word_pieces(folder: Path) -> Any:
    """An uncased BERT tokenizer."""
    from transformers import BertTokenizerFast

    (folder / "vocab.txt").write_text("\n".join(PIECES), encoding="utf-8")
    return BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=24)


def byte_pairs() -> Any:
    """A byte-pair tokenizer as RoBERTa and BART have it."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaTokenizerFast

    trained = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator([LINE, "two old dogs slept", *TEXTS] * 3, vocab_size=420, special_tokens=special)
    return RobertaTokenizerFast(tokenizer_object=wrapped(trained), model_max_length=64)


def wrapped(trained: Any) -> Any:
    """The inner tokenizer with RoBERTa's frame around every text."""
    from tokenizers.processors import RobertaProcessing

    inner = trained._tokenizer
    inner.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0))
    return inner


SIZES = {"layers": 1, "attention_heads": 2, "ffn_dim": 64}
REQUESTS = [
    FillRequest(LINE, 4, 7),
    FillRequest(LINE, 0, 3),
    FillRequest(LINE, 8, 8),
    FillRequest("A dog slept.", 2, 5),
    FillRequest(f"{LINE} " * 9, 120, 123),
]


@pytest.mark.parametrize("kind", ["bert", "roberta", "bart"])
def test_fillers_give_whole_other_words_and_do_not_look_at_neighbours(checkpoints: dict[str, str], kind: str) -> None:
    """At most four candidates in order of probability, none of them what stands there; the same alone and in company, twice."""
    filler = load_filler(checkpoints[kind])
    found = filler.fill(REQUESTS)
    assert found == [filler.fill([request])[0] for request in REQUESTS] == load_filler(checkpoints[kind]).fill(REQUESTS)
    assert filler.spans == (kind == "bart") and filler.fill([]) == []
    for request, candidates in zip(REQUESTS, found, strict=True):
        words, probabilities = [word for word, _ in candidates], [p for _, p in candidates]
        assert len(words) == len(set(words)) <= 4 and probabilities == sorted(probabilities, reverse=True)
        assert request.original.lower() not in [word.lower() for word in words]
        assert all(0 < p <= 1 and word == word.strip() != "" and "mask" not in word.lower() for word, p in candidates)
        assert filler.spans or all(len(word.split()) == 1 and "#" not in word and "Ġ" not in word for word in words)
    assert filler.spans or all(len(candidates) == 4 for candidates in found)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_likelihood_is_a_probability_of_each_word(checkpoints: dict[str, str], kind: str) -> None:
    """In (0, 1], none for an empty place; a text longer than the window is read around the place; signatures tell checkpoints apart."""
    likelihood: Any = load_filler(checkpoints[kind])
    requests = [*REQUESTS, FillRequest(LINE, 4, 15)]
    found = likelihood.of(requests)
    assert all(0 < value < 1 for values in found for value in values) and list(map(len, found)) == [1, 1, 0, 1, 1, 3]
    assert found == [likelihood.of([request])[0] for request in requests] and likelihood.of([]) == []
    assert len({load_filler(checkpoints[name]).signature for name in ("bert", "roberta", "bart")}) == 3


def test_a_masked_model_is_asked_at_the_mask(checkpoints: dict[str, str]) -> None:
    """Probabilities are the model's own at the masked place, and those of all words at a place sum to at most 1."""
    import torch
    from transformers import BertForMaskedLM

    filler: Any = load_filler(checkpoints["bert"], top_k=99)
    ((*candidates,),) = filler.fill(REQUESTS[:1])
    ids = torch.tensor([filler.tokenizer(LINE.replace("cat", "[MASK]"))["input_ids"]])
    logits = BertForMaskedLM.from_pretrained(checkpoints["bert"])(input_ids=ids).logits
    own = torch.softmax(logits[0, 2].detach(), dim=0)
    assert dict(candidates) == {word: pytest.approx(float(own[PIECES.index(word)]), rel=1e-4) for word, _ in candidates}
    assert {word for word, _ in candidates} == {p for p in PIECES if p[0] not in "[#"} - {"cat"}
    assert filler.of(REQUESTS[:1])[0] == [pytest.approx(float(own[PIECES.index("cat")]), rel=1e-4)]
    assert filler.fill([FillRequest("A Dog slept", 2, 5)])[0][0][0][0].isupper() or not candidates


def test_the_name_of_a_mask_in_a_text_is_no_mask(checkpoints: dict[str, str]) -> None:
    """A text that says [MASK] has one gap, where it was asked for."""
    filler = load_filler(checkpoints["bert"])
    text = "the [MASK] sat on the mat"
    assert len(filler.fill([FillRequest(text, 11, 14)])[0]) == 4


def test_an_infilling_model_fills_what_belongs_there() -> None:
    """A BART that has learnt two fillings of one gap gives the one that is not there, and each about half the probability."""
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    torch.manual_seed(0)
    tokenizer = byte_pairs()
    sizes = {f"{side}_{what}": n for side in ("encoder", "decoder") for what, n in SIZES.items()}
    tokens = {
        "vocab_size": len(tokenizer),
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
        "decoder_start_token_id": 2,
    }
    config = BartConfig(**sizes, **tokens, d_model=32, dropout=0.0, max_position_embeddings=64, min_length=40)
    model = BartForConditionalGeneration(config)
    read = tokenizer(["the<mask> sat on the red mat ."] * 2, return_tensors="pt")
    told = tokenizer([LINE, LINE.replace("cat", "two old dogs")], return_tensors="pt", padding=True)
    labels = told.input_ids.masked_fill(told.attention_mask == 0, -100)
    optimiser = torch.optim.Adam(model.parameters(), 5e-3)
    for _ in range(60):
        optimiser.zero_grad()
        model(**read, labels=labels).loss.backward()
        optimiser.step()
    filler = Seq2SeqFiller(model.eval().requires_grad_(False), tokenizer)
    there, gap = FillRequest(LINE, 4, 7), FillRequest(LINE.replace("cat ", ""), 4, 4)
    found = filler.fill([there, gap])
    assert found[0][0][0] == "two old dogs" and {word for word, _ in found[1][:2]} == {"cat", "two old dogs"}
    assert found[0][0][1] > 0.5


def test_a_span_is_filled_word_by_word_and_marks_are_drawn(checkpoints: dict[str, str]) -> None:
    """A masked model gives phrases of Poisson length and punctuation; a mark stands beside no other, a word beside no equal one."""
    made = SEScorePipeline([load_filler(checkpoints["bert"])], LengthEntailment())
    pairs = [pair for seed in range(40) for pair in made.pairs(SOURCED, seed)]
    filled = [one for pair in pairs for one in pair.operations if one.kind in ("insertion", "replacement")]
    lengths = Counter(len(words_of(one.new)) for one in filled)
    assert lengths[1] > lengths[2] > lengths[3] > 0 and lengths.total() > 150
    expected = 1.5 / 2 / (math.exp(1.5) - 1) * 1.5  # of Poisson's lengths without 0, the share of 2
    assert lengths[2] / lengths.total() == pytest.approx(expected, abs=0.1)
    assert {one.type for one in filled} >= {"addition", "mistranslation", "punctuation"}
    for one in filled:
        words = [word.text.lower() for word in words_of(one.new)]
        assert all(a != b and (a.isalnum() or b.isalnum()) for a, b in zip(words, words[1:], strict=False)), one.new
        assert 0 < one.details["filling_probability"] <= 1
