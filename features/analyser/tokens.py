"""Sentences, tokens and words of texts: Stanza's tokenizer and expander, fed in bulk.

The networks, their vocabularies and the rules around them are Stanza's; what is ours is how the characters are laid out for them
and how their answers become words. Each paragraph is cut alone, so no text can influence another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence

from .memory import Memory
from .recurrent import in_time, inverse
from .stanza_library import ID, MASK_RE, MISC, NEWLINE_WHITESPACE_RE, TEXT, WHITESPACE_RE, Document, update_pred_regex

__all__ = ["LONGEST_SENTENCE", "TokenizedSentence", "Tokens", "cuts_characters"]

LONGEST_SENTENCE = 200
"""Tokens; what the tokenizer leaves longer is cut, because the parser's memory grows with the square."""
WINDOW = 1000
"""Characters of a paragraph that the tokenizer reads at once, as in Stanza."""
TOO_LONG = "<UNK>"
"""What the models read for a token of more characters than the tokenizer was trained on, as in Stanza."""
FEATURES = ["space_before", "capitalized", "numeric", "end_of_para", "start_of_para"]
TOGETHER = 64
"""Paragraphs read at once."""
ADDRESS = re.compile(r"@|://|www\.|\.(?:gov|org|edu|net|com|co)\.")
"""Only a text with one of these can match Stanza's expressions for addresses, which take much longer."""
SPACES = re.compile("(?<= ) +")


@dataclass(frozen=True, slots=True)
class TokenizedSentence:
    """One sentence of the text with number ``text``.

    spans : where each token stands in its text. forms : the words that each token stands for, as the models read them.
    """

    text: int
    spans: tuple[tuple[int, int], ...]
    forms: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Characters without a blank line, every run of white space one blank; places : where each stands in the text."""

    text: int
    characters: str
    places: Sequence[int]


def cuts_characters(processor: Any) -> bool:
    """Whether a loaded tokenizer is one that `Tokens` can feed.

    It reads these features of a character, no dictionary and no language model; two recurrent networks and no convolution decide
    whether a token ends, whether a sentence does, and whether the token stands for several words.
    """
    arguments = processor.trainer.args
    return bool(
        arguments.get("feat_funcs") == FEATURES
        and not arguments.get("use_dictionary")
        and not arguments.get("skip_newline")
        and not arguments.get("conv_res")
        and arguments.get("hierarchical")
        and arguments.get("use_mwt")
        and processor.trainer.model.charmodel is None
    )


class Tokens:
    """Cuts texts into sentences, tokens and words. tokenize, expand : Stanza's loaded processors."""

    def __init__(self, tokenize: Any, expand: Any) -> None:
        self._model, self._expand = tokenize.trainer.model.eval(), expand
        self._longest = int(tokenize.config.get("max_seqlen", WINDOW))
        model = self._model
        first, second = (model.tok_clf, model.sent_clf, model.mwt_clf), (model.tok_clf2, model.sent_clf2, model.mwt_clf2)
        self._first = torch.cat([part.weight for part in first]).detach().T, torch.cat([part.bias for part in first]).detach()
        self._second = torch.cat([part.weight for part in second]).detach().T
        self._sharpness = float(model.args["hier_invtemp"])
        vocabulary = tokenize.vocab
        self._unit, self._pad = vocabulary.unit2id, vocabulary.unit2id("<PAD>")
        self._characters: Memory[str, tuple[int, int, int, int]] = Memory(self._of_characters)
        self._words: Memory[str, tuple[str, ...]] = Memory(self._expanded)

    @torch.no_grad()
    def sentences(self, texts: Sequence[str]) -> list[TokenizedSentence]:
        """The sentences of all texts in order; none for a text without a visible character."""
        paragraphs = [paragraph for number, text in enumerate(texts) for paragraph in _paragraphs(number, text)]
        found = []
        for paragraph, classes in zip(paragraphs, self._classes(paragraphs), strict=True):
            for tokens in _sentences(paragraph, classes):
                found += [(paragraph.text, part) for part in _parts(tokens)]
        marked = {form for _, tokens in found for form, _, _, several in tokens if several}
        words = dict(zip(marked, self._words.of(self._shortened(form) for form in marked), strict=True))
        return [
            TokenizedSentence(
                number,
                tuple((start, end) for _, start, end, _ in tokens),
                tuple(words[form] if several else (self._shortened(form),) for form, _, _, several in tokens),
            )
            for number, tokens in found
        ]

    def _shortened(self, form: str) -> str:
        """What the models read for a token."""
        return form if len(form) <= self._longest else TOO_LONG

    def _of_characters(self, characters: list[str]) -> list[tuple[int, int, int, int]]:
        """Number and features of each character."""
        return [(self._unit(c), c == " ", c.isupper(), c.isdecimal()) for c in characters]

    def _expanded(self, forms: list[str]) -> list[tuple[str, ...]]:
        """The words of tokens marked as several; a token with a letter that the expander never saw stays whole, or it would lose it."""
        vocabulary = self._expand.vocab
        known = [form for form in forms if all(letter in vocabulary for letter in form)]
        words = {form: (form,) for form in forms}
        if known:
            document = self._expand.process(Document([[{ID: (1,), TEXT: form, MISC: "MWT=Yes"}] for form in known]))
            words.update({f: tuple(w.text for w in s.words) for f, s in zip(known, document.sentences, strict=True)})
        return [words[form] for form in forms]

    def _classes(self, paragraphs: Sequence[Paragraph]) -> list[NDArray[np.int64]]:
        """For each character 0 inside a token, 1 its end, 2 also the sentence's; 3 and 4 likewise where it stands for several words."""
        layouts = [self._layout(paragraph.characters) for paragraph in paragraphs]
        found: list[list[NDArray[np.int64]]] = [[] for _ in paragraphs]
        position = [0] * len(paragraphs)
        waiting = list(range(len(paragraphs)))
        while waiting:
            windows = [layouts[n][position[n] : position[n] + WINDOW] for n in waiting]
            for n, classes in zip(waiting, self._read(windows), strict=True):
                length = len(paragraphs[n].characters)
                classes = classes[: length - position[n]]
                ends = np.flatnonzero((classes == 2) | (classes == 4))
                if len(ends) and position[n] < length - WINDOW:  # the next window begins after the last whole sentence
                    classes = classes[: ends[-1] + 1]
                found[n].append(classes)
                position[n] += len(classes)
            waiting = [n for n in waiting if position[n] < len(paragraphs[n].characters)]
        return [_closed(p.characters, np.concatenate(parts)) for p, parts in zip(paragraphs, found, strict=True)]

    def _layout(self, characters: str) -> NDArray[np.int64]:
        """(n, 6) number and features of each character, and of a blank place behind a paragraph that fits the window."""
        rows = np.zeros((len(characters) + (len(characters) < WINDOW), 6), np.int64)
        rows[: len(characters), :4] = self._characters.of(characters)
        rows[len(characters) - 1, 4] = rows[0, 5] = 1
        rows[len(characters) :, 0] = self._pad
        return rows

    def _read(self, windows: Sequence[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
        """The classes of each window's characters, windows of similar length read together."""
        found: list[NDArray[np.int64]] = [np.zeros(0, np.int64)] * len(windows)
        order = sorted(range(len(windows)), key=lambda n: -len(windows[n]))
        for start in range(0, len(order), TOGETHER):
            chosen = order[start : start + TOGETHER]
            lengths = [len(windows[n]) for n in chosen]
            classes = self._decided(np.concatenate([windows[n] for n in chosen]), lengths)
            for n, part in zip(chosen, np.split(classes, np.cumsum(lengths)[:-1]), strict=True):
                found[n] = part
        return found

    def _decided(self, laid: NDArray[np.int64], lengths: Sequence[int]) -> NDArray[np.int64]:
        """(n,) the likeliest class of every character of windows that stand one below the other: Stanza's network without its padding.

        Three logits say that a token ends, that a sentence does, and that the token stands for several words; the three are
        independent, so the likeliest class needs the logits' signs and the probability of what they say.
        """
        model = self._model
        rows, going, _ = in_time(lengths)
        read = torch.from_numpy(laid).index_select(0, rows)
        inputs = torch.cat([model.embeddings(read[:, 0]), read[:, 1:].float()], 1)
        found = model.rnn(PackedSequence(inputs, going))[0].data
        scores = torch.addmm(self._first[1], found, self._first[0])
        if self._sharpness > 0:
            found = found * torch.sigmoid(scores[:, :1] * self._sharpness)
        scores.addmm_(model.rnn2(PackedSequence(found, going))[0].data, self._second)
        token, sentence, several = scores.index_select(0, inverse(rows)).unbind(1)
        ends = token + functional.logsigmoid(sentence.abs()) + functional.logsigmoid(several.abs()) > 0
        return np.asarray((ends * (1 + (sentence > 0).long() + 2 * (several > 0).long())).numpy())


def _paragraphs(number: int, text: str) -> Iterator[Paragraph]:
    """What blank lines divide a text into; nothing without a visible character."""
    framed, start = f"\n\n{text}\n\n", 0
    for gap in NEWLINE_WHITESPACE_RE.finditer(framed):
        chunk = framed[start : gap.start()].rstrip()
        if chunk:
            blank = WHITESPACE_RE.sub(" ", chunk)
            places: Sequence[int] = range(start - 2, start - 2 + len(blank))
            if "  " in blank:
                places = [place for n, place in enumerate(places) if n == 0 or blank[n] != " " or blank[n - 1] != " "]
                blank = SPACES.sub("", blank)
            yield Paragraph(number, blank, places)
        start = gap.end()


def _closed(characters: str, classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The classes with a sentence's end at the paragraph's end, and addresses kept whole."""
    classes[-1] = 2 if classes[-1] < 3 else 4
    if ADDRESS.search(characters) and MASK_RE.search(characters):
        return np.asarray(update_pred_regex(list(characters), classes))
    return classes


def _sentences(paragraph: Paragraph, classes: NDArray[np.int64]) -> Iterator[list[tuple[str, int, int, bool]]]:
    """Sentence by sentence the tokens: form, start and end in the text, and whether it stands for several words."""
    sentence: list[tuple[str, int, int, bool]] = []
    begin = 0
    for last in np.flatnonzero(classes).tolist():
        form = paragraph.characters[begin : last + 1].lstrip()
        begin = last + 1
        if form:
            start, end = paragraph.places[begin - len(form)], paragraph.places[last] + 1
            sentence.append((form, start, end, classes[last] >= 3))
            if classes[last] in (2, 4):
                yield sentence
                sentence = []
    if sentence:
        yield sentence


def _parts(tokens: list[Any]) -> Iterator[list[Any]]:
    """A sentence cut into even parts of at most LONGEST_SENTENCE tokens."""
    count = -(-len(tokens) // LONGEST_SENTENCE)
    size = -(-len(tokens) // count)
    for start in range(0, len(tokens), size):
        yield tokens[start : start + size]
