"""How good the parser is: CoNLL 2018 shared task evaluation from raw text, with the evaluation script that Stanza uses."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

from udtools import udeval

from rome.features.analyser.parsed import ParsedSentence, ParsedWord
from rome.features.analyser.parser import Parser

__all__ = ["METRICS", "raw_text_scores", "to_conllu"]

METRICS = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS")
BLOCK = 64
"""Paragraphs parsed together, so that the states of few are held at once; no paragraph influences another."""


def raw_text_scores(parser: Parser, text: str, gold: Path) -> dict[str, float]:
    """F1 in percent of each of METRICS for a parser that sees only the raw text of a treebank file."""
    paragraphs = text.split("\n\n")
    blocks = (paragraphs[start : start + BLOCK] for start in range(0, len(paragraphs), BLOCK))
    system = "".join(to_conllu(sentences) for block in blocks for sentences in parser.parse(block))
    scores = udeval.evaluate(udeval.load_conllu_file(str(gold)), udeval.load_conllu(io.StringIO(system), "", {}))
    return {name: round(100 * scores[name].f1, 2) for name in METRICS}


def to_conllu(sentences: Iterable[ParsedSentence]) -> str:
    """Sentences as CoNLL-U text, multi-word tokens included."""
    return "".join("\n".join(_lines(sentence)) + "\n\n" for sentence in sentences)


def _lines(sentence: ParsedSentence) -> list[str]:
    """The lines of one sentence."""
    lines = []
    for token in sentence.tokens:
        if token.last - token.first > 1:
            lines.append(f"{token.first + 1}-{token.last}\t{token.text}" + "\t_" * 8)
        lines += [_line(number + 1, sentence.words[number]) for number in range(token.first, token.last)]
    return lines


def _line(number: int, word: ParsedWord) -> str:
    """One word as a line of ten columns."""
    columns = [word.text, word.lemma, word.upos, word.xpos, word.feats, str(word.head), word.relation, "", ""]
    return "\t".join([str(number), *(" ".join(column.split()) or "_" for column in columns)])
