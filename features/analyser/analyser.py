"""The analyser: texts in, analyses out. The only place where the heavy models meet the texts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
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
from .pieces import Encoded, merge_windows, pool_words
from .transformer import Classifier, TransformerEncoder

__all__ = ["Analyser"]

CHUNK_CHARACTERS = 40_000


def _chunks(texts: Sequence[str]) -> Iterator[list[str]]:
    """Texts in the order given, about CHUNK_CHARACTERS at a time, at least one."""
    chunk: list[str] = []
    size = 0
    for text in texts:
        if chunk and size + len(text) > CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
        chunk.append(text)
        size += len(text)
    if chunk:
        yield chunk


class Analyser:
    """Stanza, the encoder and the acceptability model, loaded once.

    config : where the models come from. threads : CPU threads for torch; None leaves torch's own choice. Raises ModelMissingError when
    a model is not there.
    """

    def __init__(self, config: ModelConfig = ModelConfig(), *, threads: int | None = None) -> None:
        if threads is not None:
            torch.set_num_threads(threads)
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        folder = embedded_folder()
        trunk = load_trunk(folder / "encoder")
        if arithmetic() == "bfloat16":
            trunk.to(torch.bfloat16)
        tokenizer = load_tokenizer(folder / "encoder")
        self.memo = MemoisedTrunk(trunk)
        self.embedded = EmbeddedEncoder(folder / "encoder", self.memo, tokenizer)
        self.judge: Acceptability = load_acceptability(folder / "grammar")
        own_parser = config.parser == EMBEDDED
        self.parser = (
            Parser(folder, self.memo, tokenizer)
            if own_parser
            else Parser(folder, self.memo, tokenizer, package_dir=Path(config.parser))
        )
        self.encoder = (
            None if config.encoder == EMBEDDED else TransformerEncoder(config.encoder, config.layer, download=config.download)
        )
        self.classifier: Classifier | None = None
        if config.acceptability != EMBEDDED:
            self.classifier = Classifier(config.acceptability, config.acceptable_label, download=config.download)

    def analyse(self, texts: Sequence[str]) -> Iterator[Analysis]:
        """One Analysis a text, in order; texts are worked on in chunks, so that what is done so far can be stored.

        The result for a text does not depend on the others. An empty or blank text has no sentences and no words.
        """
        for chunk in _chunks(texts):
            yield from self._analyse_chunk(chunk)
            self.memo.clear()

    def _analyse_chunk(self, texts: list[str]) -> list[Analysis]:
        parsed = self.parser.parse(self.parser.tokenize(texts))
        surfaces = [text[s.start : s.end] for text, sentences in zip(texts, parsed, strict=True) for s in sentences]
        encoded = self.embedded.encode(surfaces)
        accepted, fitting = self._judge(encoded)
        if self.classifier is not None:
            accepted = self.classifier.probabilities(surfaces)
        states, pieces = self._vectors(surfaces, encoded)
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

    def _vectors(self, surfaces: list[str], encoded: list[Encoded]) -> tuple[list[NDArray[np.float32]], list[Encoded]]:
        """States of the pieces that word vectors are pooled from, and those pieces."""
        if self.encoder is None:
            return self.embedded.states(encoded), encoded
        pieces = self.encoder.encode(surfaces)
        return self.encoder.states(pieces), pieces

    def _judge(self, encoded: Sequence[Encoded]) -> tuple[list[float], list[NDArray[np.float32]]]:
        """For each sentence the probability that it is acceptable, and (n,) that each of its pieces is the right one."""
        states = self.embedded.rows(encoded, self.judge.input_layer)
        sentence_logs, piece_rows = np.zeros(len(states)), [np.zeros(0, np.float32)] * len(states)
        order = sorted(range(len(states)), key=lambda n: -len(states[n]))
        for start in range(0, len(order), 64):
            batch = order[start : start + 64]
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
