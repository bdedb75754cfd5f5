"""Split raw text into sentences, words and trees with a pipeline of Stanza, built silently from local files.

Of the embedded one tokenizer, expander and lemmatizer are Stanza's, trained by us; tags and trees come from the trunk's states.
All texts go through each stage together, yet no text influences another: the tokenizer reads one paragraph at a time, and every
later stage looks at one sentence at a time.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import torch
from stanza import Document, Pipeline
from stanza.models.common.doc import LEMMA
from stanza.resources.common import ResourcesFileNotFoundError

from rome.exceptions import ModelMissingError

from .config import part_folder
from .encoder import EmbeddedEncoder, SentenceStates
from .trees import Reading, TreeReader, load_tree_head, word_places
from .weights import load_checkpoint

MODELS = {"tokenize": "tokenizer", "mwt": "mwt", "lemma": "lemmatizer"}
"""The processors of an embedded pipeline, and the folder and file of each one's model."""
LONGEST_SENTENCE = 200
"""Tokens; what the tokenizer leaves longer is cut, because what looks for trees grows with the square."""
LONG_TEXT = 900
"""Characters. The tokenizer reads longer paragraphs in windows and fills up those of one batch to the same length: each text alone."""
LEMMAS = 100_000
"""Words whose lemmas are remembered, about 20 MB; then it begins anew."""
SURROGATE = re.compile("[\ud800-\udfff]")
LONG_RUN = re.compile(r"[!-~]{1000,}")
SENTENCE_END = re.compile(r"[.!?…:;。！？)\]}][\"'”’»*_]*$")
"""Marks that end a sentence, unless a line ends there."""


class SurfaceToken(NamedTuple):
    """One surface token, ``text[start:end]`` of its text; it stands for ``words[first:last]`` of its sentence."""

    text: str
    start: int
    end: int
    first: int
    last: int


class ParsedWord(NamedTuple):
    """One syntactic word; head is 1-based within the sentence and 0 for the root, start and end are offsets into the text.

    The words of a multi-word token divide its characters when their texts add up to it, else each has the whole span.
    """

    text: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    relation: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """One sentence, ``text[start:end]``, with its tokens and words in reading order; never empty.

    Attributes
    ----------
    states
        What the trunk gave for its text, when the parser read that.
    """

    start: int
    end: int
    tokens: tuple[SurfaceToken, ...]
    words: tuple[ParsedWord, ...]
    states: SentenceStates | None = field(default=None, compare=False, repr=False)


def _or(tag: str | None, instead: str) -> str:
    """Return the tag, or a default where there is none."""
    return instead if not tag or tag == "_" else tag


class Parser:
    """Parses texts with a pipeline of Stanza's.

    Parameters
    ----------
    reader
        Gives tags and trees in the place of Stanza's own tagger and parser.
    """

    def __init__(self, pipeline: Pipeline, reader: TreeReader | None = None) -> None:
        self.pipeline, self.reader = pipeline, reader
        self._lemmas: dict[tuple[str, str], str | None] = {}

    @torch.no_grad()
    def parse(self, texts: Sequence[str]) -> list[list[ParsedSentence]]:
        """Return the sentences of each text with words, tags, lemmas and trees; none for a text without a visible character."""
        documents = self._tokenized([readable(text) for text in texts])
        readings = iter(self._completed([document for document in documents if document.sentences]))
        return [
            [_parsed(sentence, text, next(readings)) for sentence in document.sentences]
            for text, document in zip(texts, documents, strict=True)
        ]

    def _completed(self, documents: list[Document]) -> Sequence[Reading | None]:
        """Fill the documents with all that Stanza is asked for; the reading of each sentence, where there is a reader."""
        if self.reader is None:
            self.pipeline.process(documents, "mwt,pos,lemma,depparse")
            return [None for document in documents for _ in document.sentences]
        several = [document for document in documents if any(token.misc for one in document.sentences for token in one.tokens)]
        self.pipeline.process(several, "mwt")
        readings = self.reader.read(documents)
        words = [word for document in documents for sentence in document.sentences for word in sentence.words]
        tags = (tag for reading in readings for tag in reading.tree.upos)
        for word, lemma in zip(words, self._lemmatized([(word.text, next(tags)) for word in words]), strict=True):
            word.lemma = lemma
        return readings

    def _lemmatized(self, words: Sequence[tuple[str, str]]) -> list[str | None]:
        """Return the lemma of each word by its form and part of speech; Stanza is asked for those that are not cached."""
        if len(self._lemmas) > LEMMAS:
            self._lemmas = {}
        known = self._lemmas
        new = [word for word in dict.fromkeys(words) if word not in known]
        if new:
            document = Document([[{"id": (n,), "text": form, "upos": upos} for n, (form, upos) in enumerate(new, 1)]])
            self.pipeline.process([document], "lemma")
            known |= zip(new, document.get(LEMMA), strict=True)
        return [known[word] for word in words]

    def _tokenized(self, texts: Sequence[str]) -> list[Document]:
        """Return a document per text with its sentences and tokens; unfinished sentences are joined, and long ones cut."""
        documents = [Document([], text=text) for text in texts]
        groups = [[document] for document in documents if len(document.text) > LONG_TEXT]
        groups.append([document for document in documents if len(document.text) <= LONG_TEXT])
        for group in groups:  # empty texts at both ends, so that every text has a blank line on both sides
            self.pipeline.processors["tokenize"].bulk_process([Document([], text=""), *group, Document([], text="")])
        return [_cut(_joined(document)) for document in documents]


def embedded_parser(folder: Path, encoder: EmbeddedEncoder, trees: Path | None = None) -> Parser:
    """Return the parser of a model set.

    Raises ModelMissingError, with what to do, when a model's file is absent.

    Parameters
    ----------
    folder
        That of the set. It holds trees/ unless another set's are given; tokenizer/, mwt/ and lemmatizer/ that it lacks are those of `base`.
    encoder
        Whose states the trees are found from.
    """
    reader = TreeReader(encoder, load_tree_head(trees or Path(folder) / "trees").to(encoder.device))
    return Parser(embedded_pipeline(folder), reader)


def package_parser(folder: Path) -> Parser:
    """Return Stanza's own English package, from its directory. Raises ModelMissingError, with Stanza's command, when it is not there."""
    command = """python -c "import stanza; stanza.download('en')" """.strip()
    try:
        return Parser(_pipeline(str(folder), ("tokenize", "mwt", "pos", "lemma", "depparse")))
    except (FileNotFoundError, ResourcesFileNotFoundError, KeyError) as error:
        raise ModelMissingError(f"Stanza's English package is not complete in {folder}: get it with `{command}`") from error


def embedded_pipeline(folder: Path) -> Pipeline:
    """Return Stanza's pipeline over a model set's folder; its lemmatizer is given the tags.

    Raises ModelMissingError when a model's file is absent or damaged.
    """
    with tempfile.TemporaryDirectory() as name:
        stub = Path(name)
        (stub / "resources.json").write_text("{}")
        for model in MODELS.values():  # Stanza reads a checkpoint only as torch.save writes it
            torch.save(load_checkpoint(model_file(folder, model)), stub / model)
        options = {f"{processor}_model_path": str(stub / model) for processor, model in MODELS.items()}
        return _pipeline(name, tuple(MODELS), allow_unknown_language=True, lemma_pretagged=True, **options)


def model_file(folder: Path, name: str) -> Path:
    """Return the path of one of MODELS in the folder of a set."""
    return part_folder(folder, name) / f"{name}.safetensors"


def _pipeline(folder: str, processors: Sequence[str], **options: Any) -> Pipeline:
    """Return a quiet pipeline on the CPU that downloads nothing."""
    named = {"processors": ",".join(processors), "download_method": None, "use_gpu": False, "logging_level": "CRITICAL"}
    return Pipeline("en", dir=folder, **named, **options)


def readable(text: str) -> str:
    """Return the text as the models can read it, every character in its place."""
    return LONG_RUN.sub(_interrupted, SURROGATE.sub("\ufffd", text))


def _interrupted(run: re.Match[str]) -> str:
    """Return a long run of visible ASCII characters with every 500th made foreign, its length kept.

    Stanza's expressions for addresses take a time that grows with the square of such a run.
    """
    return "".join("\u00e9" if number % 500 == 499 else letter for number, letter in enumerate(run.group()))


def _joined(document: Document) -> Document:
    """Join each sentence that neither a mark nor the end of a line closes to the next one.

    The tokenizer, which knows the web's unfinished lines, otherwise ends one before a capital: "Maple River National | Park was closed".
    """
    sentences, text = document.sentences, document.text
    open_ends = [
        not SENTENCE_END.search(text, 0, one.tokens[-1].end_char)
        and "\n" not in text[one.tokens[-1].end_char : other.tokens[0].start_char]
        for one, other in pairwise(sentences)
    ]
    if not any(open_ends):
        return document
    parts: list[list[dict[str, Any]]] = []
    for sentence, goes_on in zip(document.to_dict(), [False, *open_ends], strict=True):
        if goes_on:
            parts[-1] += sentence
        else:
            parts.append(sentence)
    return Document([_numbered(part) for part in parts], text)


def _cut(document: Document) -> Document:
    """Cut sentences of more than LONGEST_SENTENCE tokens into even parts."""
    if all(len(sentence.tokens) <= LONGEST_SENTENCE for sentence in document.sentences):
        return document
    parts = []
    for sentence in document.to_dict():
        count = -(-len(sentence) // LONGEST_SENTENCE)
        size = -(-len(sentence) // count)
        parts += [_numbered(sentence[start : start + size]) for start in range(0, len(sentence), size)]
    return Document(parts, document.text)


def _numbered(tokens: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tokens of one sentence, counted from 1."""
    return [{**token, "id": (n,)} for n, token in enumerate(tokens, 1)]


def _parsed(sentence: Any, text: str, reading: Reading | None) -> ParsedSentence:
    """Return one of Stanza's sentences as a plain value; head and relations are the reading's where there is one."""
    tokens: list[SurfaceToken] = []
    words: list[ParsedWord] = []
    for token in sentence.tokens:
        start, end, forms = token.start_char, token.end_char, [word.text for word in token.words]
        surface, whole = text[start:end], len(forms) == 1
        tokens.append(SurfaceToken(surface, start, end, len(words), len(words) + len(forms)))
        for word, (left, right) in zip(token.words, word_places(surface, forms, start), strict=True):
            piece, lemma, n = surface if whole else word.text, word.lemma, len(words)
            if lemma is None or (whole and word.text != piece and " " not in piece):  # the models read something else
                lemma = piece
            if reading is None:
                upos, xpos, feats, head, relation = word.upos, word.xpos, word.feats, int(word.head), word.deprel
            else:
                upos, xpos, feats, head, relation = reading.tree.of_word(n)
            words.append(ParsedWord(piece, lemma, _or(upos, "X"), _or(xpos, ""), _or(feats, ""), head, relation, left, right))
    states = None if reading is None else reading.states
    return ParsedSentence(tokens[0].start, tokens[-1].end, tuple(tokens), tuple(words), states)
