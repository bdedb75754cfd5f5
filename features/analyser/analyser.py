"""The analyser: texts in, analyses out. The only place where the heavy models meet the texts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..values import Analysis, Sentence, Word
from .acceptability import Acceptability, load_acceptability
from .config import EMBEDDED, ModelConfig, embedded_folder
from .encoder import EmbeddedEncoder, load_tokenizer, load_trunk
from .identity import arithmetic
from .memo import MemoisedTrunk
from .parser import ParsedSentence, Parser
from .pieces import Encoded, batches_of, merge_windows, pool_words
from .transformer import Classifier, TransformerEncoder

__all__ = ["Analyser"]

MOST_LANES = 4
"""Each holds Stanza's models once more; further threads work inside the operations."""
BATCH_PIECES = 512
"""Padded pieces judged at once; few, so that what passes between two layers stays in the processor's cache."""
CHUNK_CHARACTERS, LEAST_CHARACTERS = 8_000, 2_000
"""A lane takes at most the one at a time; a second lane is not worth its start for less than the other."""


def chunks_of(texts: Sequence[str], lanes: int) -> Iterator[list[str]]:
    """Texts in the order given, cut into chunks of even size, as many as keep all lanes busy; at least one text in each."""
    total = sum(map(len, texts))
    rounds = -(-total // (lanes * CHUNK_CHARACTERS))
    size = max(LEAST_CHARACTERS, -(-total // max(1, lanes * rounds)))
    chunk: list[str] = []
    filled = 0
    for text in texts:
        if chunk and filled + len(text) // 2 > size:
            yield chunk
            chunk, filled = [], 0
        chunk.append(text)
        filled += len(text)
    if chunk:
        yield chunk


@dataclass(frozen=True, slots=True)
class Lane:
    """What one thread needs for itself: Stanza's pipeline and a memory of the trunk's states; the weights of the trunk are shared."""

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
        folder = embedded_folder()
        self._folder = folder
        self._trunk = load_trunk(folder / "encoder")
        if arithmetic() == "bfloat16":
            self._trunk.to(torch.bfloat16)
        self.judge: Acceptability = load_acceptability(folder / "grammar")
        self._package = None if config.parser == EMBEDDED else Path(config.parser)
        self.encoder = (
            None if config.encoder == EMBEDDED else TransformerEncoder(config.encoder, config.layer, download=config.download)
        )
        self.classifier: Classifier | None = None
        if config.acceptability != EMBEDDED:
            self.classifier = Classifier(config.acceptability, config.acceptable_label, download=config.download)
        wanted = threads if threads is not None else torch.get_num_threads()
        own = self._package is None and self.encoder is None and self.classifier is None
        self.lanes = min(wanted, MOST_LANES) if own else 1
        self._inner = max(1, wanted // self.lanes)
        self._ready = [self._new_lane()]

    def _new_lane(self) -> Lane:
        """A lane with a tokenizer of its own, because tokenizers do not bear two threads."""
        tokenizer, memo = load_tokenizer(self._folder / "encoder"), MemoisedTrunk(self._trunk)
        embedded = EmbeddedEncoder(self._folder / "encoder", memo, tokenizer)
        return Lane(Parser(self._folder, memo, tokenizer, package_dir=self._package), embedded)

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

        with _torch_threads(self._inner):
            if self.lanes == 1 or len(chunks) < 2:
                for chunk in chunks:
                    yield from work(chunk)
                return
            pool = ThreadPoolExecutor(len(self._ready))
            try:
                for done in pool.map(work, chunks):
                    yield from done
            finally:  # after an error or an interruption, chunks that have not begun are dropped
                pool.shutdown(cancel_futures=True)

    def _analyse_chunk(self, lane: Lane, texts: list[str]) -> list[Analysis]:
        parsed = lane.parser.parse(texts)
        surfaces = [text[s.start : s.end] for text, sentences in zip(texts, parsed, strict=True) for s in sentences]
        encoded = lane.embedded.encode(surfaces)
        accepted, fitting = self._judge(lane, encoded)
        if self.classifier is not None:
            accepted = self.classifier.probabilities(surfaces)
        states, pieces = self._vectors(lane, surfaces, encoded)
        result, at = [], 0
        for text, sentences in zip(texts, parsed, strict=True):
            upto = at + len(sentences)
            result.append(
                _assemble(
                    text, sentences, accepted[at:upto], encoded[at:upto], fitting[at:upto], states[at:upto], pieces[at:upto]
                )
            )
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
        states = lane.embedded.rows(encoded, self.judge.input_layer)
        sentence_logs, piece_rows = np.zeros(len(states)), [np.zeros(0, np.float32)] * len(states)
        for batch in batches_of([len(row) for row in states], BATCH_PIECES):
            padded = torch.nn.utils.rnn.pad_sequence([states[n].float() for n in batch], batch_first=True)
            mask = torch.arange(padded.shape[1])[None, :] < torch.tensor([len(states[n]) for n in batch])[:, None]
            sentences, pieces = self.judge.probabilities(padded, mask)
            sentence_logs[batch] = np.log(np.maximum(sentences.numpy(), 1e-9))
            for position, n in enumerate(batch):
                piece_rows[n] = pieces[position, : len(states[n])].numpy()
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
    parsed: Sequence[ParsedSentence],
    accepted: Sequence[float],
    encoded: Sequence[Encoded],
    fitting: Sequence[NDArray[np.float32]],
    states: Sequence[NDArray[np.float32]],
    pieces: Sequence[Encoded],
) -> Analysis:
    """Put the parts of one text together; vectors are rounded to float16, in which stores keep them."""
    words: list[Word] = []
    vectors: list[Any] = []
    probabilities: list[Any] = []
    for number, sentence in enumerate(parsed):
        first = len(words)
        for w in sentence.words:
            head = first + w.head - 1 if w.head > 0 else -1
            words.append(Word(w.text, w.lemma, w.upos, w.xpos, w.feats, head, w.relation, w.start, w.end, number))
        spans = [(w.start - sentence.start, w.end - sentence.start) for w in sentence.words]
        vectors.append(pool_words(states[number], pieces[number].spans, spans))
        probabilities.append(pool_words(fitting[number], encoded[number].spans, spans, "min"))
    width = vectors[0].shape[1] if vectors else 0
    return Analysis(
        text=text,
        sentences=tuple(Sentence(s.start, s.end, float(np.float32(a))) for s, a in zip(parsed, accepted, strict=True)),
        words=tuple(words),
        vectors=np.concatenate(vectors).astype(np.float16).astype(np.float32) if words else np.zeros((0, width), np.float32),
        word_probabilities=np.concatenate(probabilities).astype(np.float16).astype(np.float32)
        if words
        else np.zeros(0, np.float32),
    )
