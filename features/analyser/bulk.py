"""Parsing with the embedded models in bulk: every stage works on the words of all sentences in one list.

The same models as Stanza's processors run, and the same results; but nothing is turned into documents, data sets and padded batches
and back between the stages, and what depends on a word alone is found once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .lemmas import Lemmas, looks_at_words_alone
from .memo import MemoisedTrunk
from .parsed import ParsedSentence, parsed_sentence
from .stanza_library import EXCLAM_RE, QUESTION_RE
from .tags import Tags, reads_words
from .tokens import TokenizedSentence, Tokens, cuts_characters
from .trees import Trees, reads_tags
from .word_states import WordStates

__all__ = ["Bulk", "Stages", "can_feed"]


def can_feed(processors: Any) -> bool:
    """Whether every loaded processor is of the kind that the stages here can feed; the embedded ones are."""
    return (
        cuts_characters(processors["tokenize"])
        and reads_words(processors["pos"])
        and looks_at_words_alone(processors["lemma"])
        and reads_tags(processors["depparse"])
    )


class Stages:
    """What several threads may share: the stages that keep nothing but what depends on a word alone."""

    def __init__(self, processors: Any) -> None:
        self.tokens = Tokens(processors["tokenize"], processors["mwt"])
        self.tags, self.lemmas = Tags(processors["pos"]), Lemmas(processors["lemma"])
        self.trees = Trees(processors["depparse"])


class Bulk:
    """The stages, one after another. trunk, tokenizer : the encoder that they read, of one thread alone."""

    def __init__(self, stages: Stages, trunk: MemoisedTrunk, tokenizer: Any) -> None:
        self.stages, self._states = stages, WordStates(trunk, tokenizer)

    def tokenize(self, texts: Sequence[str]) -> list[TokenizedSentence]:
        """The sentences, tokens and words of all texts."""
        return self.stages.tokens.sentences(texts)

    def parse(self, texts: Sequence[str], sentences: Sequence[TokenizedSentence]) -> list[list[ParsedSentence]]:
        """Tag, lemmatise and parse the sentences of these texts: a list of sentences for each text."""
        result: list[list[ParsedSentence]] = [[] for _ in texts]
        if not sentences:
            return result
        forms = [[word for group in sentence.forms for word in group] for sentence in sentences]
        read = [[_simple(word) for word in words] for words in forms]
        states = self._states.of(read)
        tags = self.stages.tags.of(read, states)
        flat = [tag for sentence in tags for tag in sentence]
        lemmas = iter(
            self.stages.lemmas.of(zip((word for words in forms for word in words), (tag[0] for tag in flat), strict=True))
        )
        trees = self.stages.trees.of([[tag[:2] for tag in sentence] for sentence in tags], states)
        for sentence, tagged, tree in zip(sentences, tags, trees, strict=True):
            columns = [(next(lemmas), *tag, *arc) for tag, arc in zip(tagged, tree, strict=True)]
            result[sentence.text].append(parsed_sentence(texts[sentence.text], sentence.spans, sentence.forms, columns))
        return result


def _simple(word: str) -> str:
    """A run of question and exclamation marks as its first one, as tagger and parser were taught to read it."""
    if len(word) < 2 or word[0].isalnum():
        return word
    return EXCLAM_RE.sub("!", QUESTION_RE.sub("?", word))
