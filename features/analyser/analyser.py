"""The analyser: texts in, analyses out. The only place where the heavy models meet the texts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..slips import Tidied, tidy
from ..values import Analysis, Sentence, Word
from .acceptability import Acceptability, load_acceptability
from .config import EMBEDDED, ModelConfig, embedded_folder
from .encoder import EmbeddedEncoder, load_tokenizer, load_trunk
from .identity import arithmetic
from .judge import Judge
from .lanes import chunks_of, in_lanes
from .memo import MemoisedTrunk
from .parser import ParsedSentence, ParsedWord, Parser
from .pieces import Encoded, merge_windows, pooled, touched
from .transformer import Classifier, TransformerEncoder

__all__ = ["Analyser"]

MOST_LANES = 4
"""Each holds a tokenizer and a memory of states; further threads work inside the operations."""


@dataclass(frozen=True, slots=True)
class Lane:
    """What one thread needs for itself: a memory of the trunk's states and a tokenizer; all models are shared."""

    parser: Parser
    embedded: EmbeddedEncoder


class Analyser:
    """Stanza, the encoder and the acceptability model, loaded once.

    config : where the models come from. threads : CPU threads; None takes torch's own number. With the embedded models up to MOST_LANES
    threads work on texts of their own each, because the layers are too small to be shared out well.
    Raises ModelMissingError when a model is not there.
    """

    def __init__(self, config: ModelConfig = ModelConfig(), *, threads: int | None = None) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        wanted = threads if threads is not None else torch.get_num_threads()
        with _torch_threads(1):  # so many small steps that several threads would wait for each other longer than they work
            self._load(config)
        own = self._package is None and self.encoder is None and self.classifier is None
        self.lanes = min(wanted, MOST_LANES) if own else 1
        self._inner = max(1, wanted // self.lanes)

    def _load(self, config: ModelConfig) -> None:
        """All models, and a first lane."""
        folder = embedded_folder()
        self._folder = folder
        self._trunk = load_trunk(folder / "encoder")
        if arithmetic() == "bfloat16":
            self._trunk.to(torch.bfloat16)
        self.judge: Acceptability = load_acceptability(folder / "grammar")
        self._row_judge = Judge(self.judge)
        self._package = None if config.parser == EMBEDDED else Path(config.parser)
        self.encoder = (
            None if config.encoder == EMBEDDED else TransformerEncoder(config.encoder, config.layer, download=config.download)
        )
        self.classifier: Classifier | None = None
        if config.acceptability != EMBEDDED:
            self.classifier = Classifier(config.acceptability, config.acceptable_label, download=config.download)
        self._ready: list[Lane] = []
        self._ready.append(self._new_lane())

    def _new_lane(self) -> Lane:
        """A lane with a tokenizer of its own, because tokenizers do not bear two threads."""
        tokenizer, memo = load_tokenizer(self._folder / "encoder"), MemoisedTrunk(self._trunk)
        embedded = EmbeddedEncoder(self._folder / "encoder", memo, tokenizer)
        parser = self._ready[0].parser.beside(memo, tokenizer) if self._ready else None
        return Lane(parser or Parser(self._folder, memo, tokenizer, package_dir=self._package), embedded)

    def analyse(self, texts: Sequence[str]) -> Iterator[Analysis]:
        """One Analysis a text, in order; texts are worked on in chunks, so that what is done so far can be stored.

        The result for a text does not depend on the others. An empty or blank text has no sentences and no words.
        """
        chunks = list(chunks_of(texts, self.lanes))
        while len(self._ready) < min(self.lanes, len(chunks)):
            self._ready.append(self._new_lane())
        free: SimpleQueue[Lane] = SimpleQueue()
        for lane in self._ready:
            free.put(lane)

        def work(chunk: list[str]) -> list[Analysis]:
            lane = free.get()
            try:
                return self._analyse_chunk(lane, chunk)
            finally:
                lane.embedded.trunk.clear()
                free.put(lane)

        with _torch_threads(self._inner), closing(in_lanes(work, chunks, self.lanes)) as finished:
            for done in finished:
                yield from done

    def _analyse_chunk(self, lane: Lane, texts: list[str]) -> list[Analysis]:
        tidied = [tidy(text) for text in texts]
        parsed = lane.parser.parse([each.text for each in tidied])
        surfaces = [each.text[s.start : s.end] for each, sentences in zip(tidied, parsed, strict=True) for s in sentences]
        encoded = lane.embedded.encode(surfaces)
        accepted, fitting = self._judge(lane, encoded)
        if self.classifier is not None:
            accepted = self.classifier.probabilities(surfaces)
        states, pieces = self._vectors(lane, surfaces, encoded)
        result, at = [], 0
        for text, meant, sentences in zip(texts, tidied, parsed, strict=True):
            upto = at + len(sentences)
            parts = (accepted[at:upto], encoded[at:upto], fitting[at:upto], states[at:upto], pieces[at:upto])
            result.append(_assemble(text, meant, sentences, *parts))
            at = upto
        return result

    def _vectors(
        self, lane: Lane, surfaces: list[str], encoded: list[Encoded]
    ) -> tuple[list[NDArray[np.float32]], list[Encoded]]:
        """States of the pieces that word vectors are pooled from, and those pieces."""
        if self.encoder is None:
            return lane.embedded.states(encoded), encoded
        pieces = self.encoder.encode(surfaces)
        return self.encoder.states(pieces), pieces

    def _judge(self, lane: Lane, encoded: Sequence[Encoded]) -> tuple[list[float], list[NDArray[np.float32]]]:
        """For each sentence the probability that it is acceptable, and (n,) that each of its pieces is the right one."""
        sentences, piece_rows = self._row_judge.probabilities(lane.embedded.rows(encoded, self.judge.input_layer))
        sentence_logs = np.log(np.maximum(sentences.astype(np.float64), 1e-9))
        accepted, fitting, at = [], [], 0
        for sentence in encoded:
            upto = at + len(sentence.rows)
            accepted.append(float(np.exp(sentence_logs[at:upto].mean())))
            fitting.append(merge_windows(sentence, piece_rows[at:upto]))
            at = upto
        return accepted, fitting


@contextmanager
def _torch_threads(count: int) -> Iterator[None]:
    """Let torch use ``count`` threads inside each operation, and put its own number back."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _assemble(
    text: str,
    meant: Tidied,
    parsed: Sequence[ParsedSentence],
    accepted: Sequence[float],
    encoded: Sequence[Encoded],
    fitting: Sequence[NDArray[np.float32]],
    states: Sequence[NDArray[np.float32]],
    pieces: Sequence[Encoded],
) -> Analysis:
    """Put the parts of one text together, its places those of the text as it stands; vectors are rounded to float16, in which stores keep them."""
    words: list[Word] = []
    vectors: list[Any] = []
    probabilities: list[Any] = []
    for number, sentence in enumerate(parsed):
        last = meant.closed and number + 1 == len(parsed)
        own = _spans(sentence)
        ranges = touched(encoded[number].spans, own)
        probabilities.append(pooled(fitting[number], ranges, "min"))
        if pieces[number] is not encoded[number]:
            ranges = touched(pieces[number].spans, own)
        vectors.append(pooled(states[number], ranges))
        kept = _without_full_stop(sentence.words, len(meant.text) - 1) if last else sentence.words
        vectors[-1], probabilities[-1] = vectors[-1][: len(kept)], probabilities[-1][: len(kept)]
        words += _words(kept, text, meant, len(words), number)
    width = vectors[0].shape[1] if vectors else 0
    places = [meant.place(s.start, min(s.end, len(meant.text) - meant.closed)) for s in parsed]
    return Analysis(
        text=text,
        sentences=tuple(Sentence(*place, float(np.float32(a))) for place, a in zip(places, accepted, strict=True)),
        words=tuple(words),
        vectors=np.concatenate(vectors).astype(np.float16).astype(np.float32) if words else np.zeros((0, width), np.float32),
        word_probabilities=np.concatenate(probabilities).astype(np.float16).astype(np.float32)
        if words
        else np.zeros(0, np.float32),
    )


def _spans(sentence: ParsedSentence) -> list[tuple[int, int]]:
    """Where each word stands within its sentence."""
    start = sentence.start
    return [(word.start - start, word.end - start) for word in sentence.words]


def _without_full_stop(words: Sequence[ParsedWord], place: int) -> Sequence[ParsedWord]:
    """The words without a full stop that only tidying put there, unless something hangs on it."""
    stop = len(words)
    added = stop > 1 and words[-1].start == place and all(word.head != stop for word in words)
    return words[:-1] if added else words


def _words(parsed: Sequence[ParsedWord], text: str, meant: Tidied, first: int, number: int) -> Iterator[Word]:
    """Words of one sentence at their places in the text as it stands, written as they stand there."""
    for form, lemma, upos, xpos, feats, head, relation, left, right in parsed:
        start, end = meant.place(left, right)
        end = min(end, len(text))
        start = min(start, end)
        surface = text[start:end]
        if surface == form or surface.lower() == form.lower():
            form = surface
        yield Word(form, lemma, upos, xpos, feats, first + head - 1 if head > 0 else -1, relation, start, end, number)
