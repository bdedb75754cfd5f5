"""How bad is an edit? SEScore2's rules (§4.2), made continuous: every edit has a probability of being none, minor or major.

A deletion is major when the TF-IDF weight of what was lost reaches lambda = 1, that is, the average weight of the reference's words;
an insertion or replacement is major when it is unlikely in its context (gamma = 0.1). Logistic curves take the place of the two steps.
Numbers, names, negations and antonyms are decided by closed rules first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..idf import IdfTable
from ..values import Word
from .edits import WordEdit
from .evidence import CRITICAL, MAJOR, MINOR, Severity
from .lexicon import AntonymLexicon, is_negation, number_value
from .prepared import PreparedText

CONTENT = frozenset(("NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM", "X", "INTJ"))


@dataclass(frozen=True, slots=True)
class SeverityConfig:
    """Found on development data; the benchmarks show what they give. What ends in ``major`` is the probability that such a mistake is major.

    Attributes
    ----------
    salience
        Lambda, the TF-IDF weight (1 = the average word of the text) at which a loss is as likely major as minor.
    salience_width, likelihood, likelihood_width
        The slopes, and gamma, the probability in context, likewise.
    likelihood_share
        How much the second of the two says of a word that was added or replaced; the first says the rest.
    function_word, inflection
        The probability that such an edit is a mistake at all.
    unnecessary
        A factor of it for words that the hypothesis adds, because readers forgive an addition sooner than a loss.
    function_major
        How much less often an edit of a function word is major.
    same_meaning, other_meaning
        Cosines at which a replacement is surely no mistake, and surely one.
    floor
        What is left of the probability of a mistake when the meaning is the same.
    order, order_function, order_distance
        A moved content word, a moved function word, and what a move across the whole text adds.
    order_major
        Of a move across the whole text.
    repetition_major
        Of a repeated word of average weight.
    negation_major, negation_replaced_major
        Of a negation that is missing or too much, and of one in another word's place.
    number_major
        Of another number.
    equal_number
        The probability that the same number in other clothes is a mistake.
    antonym_major, inflection_major
        Of an antonym, and of another form of the same word.
    spelled_alike
        The Jaro-Winkler similarity from which an unknown word is a slip of spelling.
    spelling
        The probability that it is a mistake; spelling_major.
    name_alike
        The similarity up to which two names have nothing in common.
    name_forgiven
        The probability that a name spelled in almost the same way is no mistake.
    name_major
        Of a wrong name; it falls with the square of the similarity above name_alike.
    """

    salience: float = 1.0
    salience_width: float = 0.25
    likelihood: float = 0.1
    likelihood_width: float = 0.1
    likelihood_share: float = 0.5
    function_word: float = 0.7
    unnecessary: float = 0.6
    function_major: float = 0.25
    inflection: float = 0.6
    same_meaning: float = 0.9
    other_meaning: float = 0.2
    floor: float = 0.15
    order: float = 0.25
    order_function: float = 0.2
    order_distance: float = 0.15
    order_major: float = 0.1
    repetition_major: float = 0.25
    negation_major: float = 0.95
    negation_replaced_major: float = 0.9
    number_major: float = 0.95
    equal_number: float = 0.05
    antonym_major: float = 0.85
    inflection_major: float = 0.05
    spelled_alike: float = 0.88
    spelling: float = 0.95
    spelling_major: float = 0.1
    name_alike: float = 0.6
    name_forgiven: float = 0.3
    name_major: float = 0.95


@dataclass(frozen=True, slots=True)
class EditSeverity:
    """The type of an edit, the probability that it is a mistake, and the probability that such a mistake is severe.

    Attributes
    ----------
    critical
        Whether a severe one turns the meaning; else it is major.
    """

    type: str
    mistake_probability: float
    major_probability: float
    critical: bool = False

    @property
    def weight(self) -> float:
        """The expected severity in [0, 10]."""
        severe = CRITICAL if self.critical else MAJOR
        return self.mistake_probability * (MINOR + (severe - MINOR) * self.major_probability)

    @property
    def severity(self) -> Severity:
        """The likelier severity of what is more likely a mistake than not."""
        if self.mistake_probability < 0.5:
            return "none"
        if self.major_probability < 0.5:
            return "minor"
        return "critical" if self.critical else "major"


def logistic(value: float) -> float:
    """1 / (1 + exp(-value)), safe for large values."""
    return 0.5 * (1.0 + math.tanh(0.5 * value))


class SeverityRules:
    """Rules on the edits of one pair; made anew for each pair, because weights depend on both texts."""

    def __init__(
        self, reference: PreparedText, hypothesis: PreparedText, idf: IdfTable, lexicon: AntonymLexicon, config: SeverityConfig
    ) -> None:
        self.reference, self.hypothesis = reference, hypothesis
        self.idf, self.lexicon, self.config = idf, lexicon, config

    def severity_of(self, edit: WordEdit) -> EditSeverity:
        """How bad one edit is."""
        if edit.kind == "missing":
            return self._missing(edit)
        if edit.kind == "unnecessary":
            return self._unnecessary(edit)
        return self._replacement(edit) if edit.kind == "replacement" else self._order(edit)

    def _major_by_salience(self, salience: float) -> float:
        return logistic((salience - self.config.salience) / self.config.salience_width)

    def _major_by_likelihood(self, index: int) -> float:
        unlikely = self.config.likelihood - float(self.hypothesis.analysis.word_probabilities[index])
        return logistic(unlikely / self.config.likelihood_width)

    def _major_in_context(self, index: int, salience: float) -> float:
        share = self.config.likelihood_share
        return share * self._major_by_likelihood(index) + (1.0 - share) * self._major_by_salience(salience)

    def _present(self, word: Word) -> float:
        """The probability that losing or adding this word matters, by its class."""
        return 1.0 if word.upos in CONTENT or is_negation(word.text) else self.config.function_word

    def _major(self, word: Word, probability: float) -> float:
        """The probability that its mistake is major, lower for a function word."""
        return probability if word.upos in CONTENT else self.config.function_major * probability

    def _missing(self, edit: WordEdit) -> EditSeverity:
        word = self.reference.words[edit.reference[0]]
        if is_negation(word.text):
            return EditSeverity("negation", 1.0, self.config.negation_major, True)
        major = self._major_by_salience(float(self.reference.salience[edit.reference[0]]))
        return EditSeverity(word_type(word), self._present(word), self._major(word, major))

    def _unnecessary(self, edit: WordEdit) -> EditSeverity:
        index = edit.hypothesis[0]
        word, salience = self.hypothesis.words[index], float(self.hypothesis.salience[index])
        if is_negation(word.text):
            return EditSeverity("negation", 1.0, self.config.negation_major, True)
        if edit.repeated:
            return EditSeverity("repetition", 1.0, self.config.repetition_major * 2 * self._major_by_salience(salience))
        major = self._major(word, self._major_in_context(index, salience))
        return EditSeverity(word_type(word), self.config.unnecessary * self._present(word), major)

    def _order(self, edit: WordEdit) -> EditSeverity:
        content = any(self.hypothesis.words[j].upos in CONTENT for j in edit.hypothesis)
        config = self.config
        moved = (config.order if content else config.order_function) + config.order_distance * edit.distance
        return EditSeverity("order", min(1.0, moved), config.order_major * edit.distance)

    def _replacement(self, edit: WordEdit) -> EditSeverity:
        i, j = edit.reference[0], edit.hypothesis[0]
        old, new = self.reference.words[i], self.hypothesis.words[j]
        closed = self._closed_rules(old, new, edit)
        if closed is not None:
            return closed
        cosine = edit.match.cosine if edit.match else 0.0
        config = self.config
        differs = min(1.0, max(0.0, (config.same_meaning - cosine) / (config.same_meaning - config.other_meaning)))
        salience = max(float(self.reference.salience[i]), float(self.hypothesis.salience[j]))
        severe = self._major_in_context(j, salience)
        content = old.upos in CONTENT or new.upos in CONTENT
        mistake = config.floor + (1.0 - config.floor) * differs
        if not content:
            return EditSeverity(word_type(old), config.function_word * mistake, config.function_major * severe * differs)
        return EditSeverity(word_type(old), mistake, severe * differs)

    def _closed_rules(self, old: Word, new: Word, edit: WordEdit) -> EditSeverity | None:
        """What needs no likelihood: numbers, negations, antonyms, inflections, slips of spelling, names."""
        config = self.config
        numbers = number_value(old.text), number_value(new.text)
        if numbers[0] is not None or numbers[1] is not None:
            if numbers[0] == numbers[1]:
                return EditSeverity("number", config.equal_number, 0.0)
            return EditSeverity("number", 1.0, config.number_major, True)
        if is_negation(old.text) != is_negation(new.text):
            return EditSeverity("negation", 1.0, config.negation_replaced_major, True)
        if self.lexicon.antonyms(old.lemma, new.lemma):
            return EditSeverity("gender" if genders(old, new) else "antonym", 1.0, config.antonym_major, True)
        spelled = edit.match.spelling_similarity if edit.match else 0.0
        if old.lemma.lower() == new.lemma.lower():
            return EditSeverity("inflection", config.inflection, config.inflection_major)
        unseen = new.text.lower() not in self.idf.counts and old.text.lower() in self.idf.counts
        if spelled >= config.spelled_alike and unseen:
            return EditSeverity("spelling", config.spelling, config.spelling_major)
        if "PROPN" in (old.upos, new.upos):
            alike = max(0.0, spelled - config.name_alike) / (1.0 - config.name_alike)
            return EditSeverity("name", 1.0 - config.name_forgiven * alike, config.name_major * (1.0 - alike**2), True)
        return None


def genders(old: Word, new: Word) -> bool:
    """Whether two words are pronouns of different gender, which lists of antonyms hold too."""
    one, other = ({part for part in word.feats.split("|") if part.startswith("Gender=")} for word in (old, new))
    return bool(one and other) and one != other


WORD_TYPES = {
    "PROPN": "name", "NOUN": "noun", "VERB": "verb", "AUX": "auxiliary", "ADJ": "adjective", "ADV": "adverb", "NUM": "number",
    "PRON": "pronoun", "DET": "determiner", "ADP": "preposition", "CCONJ": "conjunction", "SCONJ": "conjunction",
    "PART": "particle", "PUNCT": "punctuation", "SYM": "symbol", "INTJ": "interjection",
}  # fmt: skip


def word_type(word: Word) -> str:
    """The name of a word's class as error types use it."""
    return WORD_TYPES.get(word.upos, "other")
