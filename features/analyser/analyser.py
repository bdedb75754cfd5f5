"""The analyser: texts in, analyses out. The only place where the heavy models meet the texts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors.typos import tidy
from ..text import EditedText
from ..values import Analysis, Sentence, Word
from .acceptability import load_acceptability, probabilities_of
from .config import BATCH_SIZE, EMBEDDED, ModelConfig, most_threads
from .encoder import SentenceStates, as_guest, in_precision, load_encoder
from .model_set import layers_below
from .parser import ParsedSentence, ParsedWord, embedded_parser, package_parser, readable
from .pieces import Encoded, merge_windows, pooled, touched
from .transformer import Classifier, TransformerEncoder

CHUNK_CHARACTERS = 16_000
"""Texts that are worked on together have about so many at most, or what fills a batch."""


class Analyser:
    """Stanza, the encoder and the acceptability model, loaded once.

    Raises ModelMissingError when a model is not there.

    Parameters
    ----------
    config
        Where the models come from.
    threads
        CPU threads that torch uses inside an operation; None takes its own number.
    device
        Where trunk and heads compute; Stanza's models stay on the CPU, and what comes out is NumPy's.
    batch_size
        Word pieces that the set's own models compute at once; the numbers do not depend on it.
    precision
        ``float32``, or ``bf16`` for the products of trunk and acceptability.
    """

    @as_guest()
    def __init__(
        self,
        config: ModelConfig = ModelConfig(),
        *,
        threads: int | None = None,
        device: str = "cpu",
        batch_size: int = BATCH_SIZE,
        precision: str = "float32",
    ) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        self.characters = max(CHUNK_CHARACTERS, 4 * batch_size)
        self.threads = most_threads(threads)
        folder, download = config.folder, config.download
        self.embedded = load_encoder(folder / "encoder", device, batch_size, precision)
        self.acceptability = load_acceptability(folder / "grammar").to(device)
        self.below = layers_below(folder)
        own = config.parser == EMBEDDED
        self.parser = embedded_parser(folder, self.embedded) if own else package_parser(Path(config.parser))
        self.encoder: TransformerEncoder | None = None
        if config.encoder != EMBEDDED:
            self.encoder = TransformerEncoder(config.encoder, config.layer, download=download, device=device)
        self.classifier: Classifier | None = None
        if config.acceptability != EMBEDDED:
            self.classifier = Classifier(config.acceptability, config.acceptable_label, download=download, device=device)

    def analyse(self, texts: Sequence[str]) -> Iterator[Analysis]:
        """Yield one Analysis per text, in order; texts are analysed in chunks, so that finished ones can be stored.

        The result for a text does not depend on the others. An empty or blank text has no sentences and no words.
        """
        for chunk in _chunks(texts, self.characters):
            with as_guest(self.threads, str(self.embedded.device)):
                done = self._analyse_chunk(chunk)
            yield from done

    def _analyse_chunk(self, texts: list[str]) -> list[Analysis]:
        tidied = [tidy(text) for text in texts]
        parsed = self.parser.parse([each.text for each in tidied])
        surfaces = [
            surface[s.start : s.end]
            for surface, sentences in zip((readable(each.text) for each in tidied), parsed, strict=True)
            for s in sentences
        ]
        sentences = [sentence for sentences in parsed for sentence in sentences]
        known = [sentence.states for sentence in sentences if sentence.states is not None]  # from the parser's pass
        states = known if len(known) == len(sentences) else self.embedded.read(surfaces)
        acceptable, piece_probabilities = self._probabilities(states)
        if self.classifier is not None:
            acceptable = self.classifier.probabilities(surfaces)
        if self.encoder is None:
            vectors, pieces = self.embedded.vectors(states), [each.pieces for each in states]
        else:
            pieces = self.encoder.encode(surfaces)
            vectors = self.encoder.states(pieces)
        columns = (sentences, acceptable, states, piece_probabilities, vectors, pieces)
        each = (_AnalysedSentence(*parts) for parts in zip(*columns, strict=True))
        return [
            _assemble(text, meant, [next(each) for _ in found], self.below)
            for text, meant, found in zip(texts, tidied, parsed, strict=True)
        ]

    def _probabilities(self, states: Sequence[SentenceStates]) -> tuple[list[float], list[NDArray[np.float32]]]:
        """Return for each sentence the probability that it is acceptable, and (n,) that each of its pieces is the right one."""
        rows = [row for each in states for row in each.after(self.acceptability.input_layer)]
        with in_precision(self.embedded.precision, str(self.embedded.device)):
            sentences, piece_rows = probabilities_of(self.acceptability, rows, self.embedded.batch_size)
        sentence_logs = np.log(np.maximum(sentences.astype(np.float64), 1e-9))
        acceptable, piece_probabilities, at = [], [], 0
        for each in states:
            upto = at + len(each.rows)
            acceptable.append(float(np.exp(sentence_logs[at:upto].mean())))
            piece_probabilities.append(merge_windows(each.pieces, piece_rows[at:upto]))
            at = upto
        return acceptable, piece_probabilities


def _chunks(texts: Sequence[str], characters: int) -> Iterator[list[str]]:
    """Yield the texts in order, in chunks of about so many characters; at least one text in each."""
    chunk: list[str] = []
    filled = 0
    for text in texts:
        if chunk and filled + len(text) > characters:
            yield chunk
            chunk, filled = [], 0
        chunk.append(text)
        filled += len(text)
    if chunk:
        yield chunk


class _AnalysedSentence(NamedTuple):
    """Hold the predictions of the models for one sentence.

    Attributes
    ----------
    piece_probabilities
        Of the pieces of ``states``.
    vectors, pieces
        The vectors that those of words are pooled from, and the pieces that have them.
    """

    parsed: ParsedSentence
    acceptable: float
    states: SentenceStates
    piece_probabilities: NDArray[np.float32]
    vectors: NDArray[np.float32]
    pieces: Encoded


def _assemble(text: str, meant: EditedText, sentences: Sequence[_AnalysedSentence], below: int) -> Analysis:
    """Put the parts of one text together, its places those of the given text; vectors are rounded to float16, in which stores keep them."""
    if not sentences:
        return Analysis(text, (), (), np.zeros((0, 0), np.float32), np.zeros(0, np.float32))
    words, closed = list[Word](), bool(meant.starts) and meant.starts[-1] == len(text)
    vectors, probabilities, lower = [], [], []
    for number, each in enumerate(sentences):
        last = closed and number + 1 == len(sentences)
        kept = _without_full_stop(each.parsed.words, len(meant.text) - 1) if last else each.parsed.words
        spans = [(word.start - each.parsed.start, word.end - each.parsed.start) for word in kept]
        ranges = touched(each.states.pieces.spans, spans)
        probabilities.append(pooled(each.piece_probabilities, ranges, "min"))
        if below:
            lower.append(pooled(each.states.merged(below), ranges))
        vectors.append(pooled(each.vectors, ranges if each.pieces is each.states.pieces else touched(each.pieces.spans, spans)))
        words += _words(kept, text, meant, len(words), number)
    places = [meant.place(s.parsed.start, min(s.parsed.end, len(meant.text) - closed)) for s in sentences]
    return Analysis(
        text=text,
        sentences=tuple(Sentence(*place, float(np.float32(s.acceptable))) for place, s in zip(places, sentences, strict=True)),
        words=tuple(words),
        vectors=_halved(vectors).astype(np.float32),
        word_probabilities=_halved(probabilities).astype(np.float32),
        states=_halved(lower) if lower else np.zeros((0, 0), np.float16),
    )


def _halved(rows: Sequence[NDArray[np.float32]]) -> NDArray[np.float16]:
    return np.concatenate(rows).astype(np.float16)


def _without_full_stop(words: Sequence[ParsedWord], place: int) -> Sequence[ParsedWord]:
    """Return the words without a full stop that only tidying added, unless another word depends on it."""
    stop = len(words)
    added = stop > 1 and words[-1].start == place and all(word.head != stop for word in words)
    return words[:-1] if added else words


def _words(parsed: Sequence[ParsedWord], text: str, meant: EditedText, first: int, number: int) -> Iterator[Word]:
    """Yield the words of one sentence with their places and forms in the original text."""
    for form, lemma, upos, xpos, feats, head, relation, left, right in parsed:
        start, end = meant.place(left, right)
        surface = text[start:end]
        if surface == form or surface.lower() == form.lower():
            form = surface
        yield Word(form, lemma, upos, xpos, feats, first + head - 1 if head > 0 else -1, relation, start, end, number)
