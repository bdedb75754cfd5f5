"""Parsed sentences, written down by hand, and a handful of inflections: perturbations can be tested without a model."""

from __future__ import annotations

import numpy as np

from rome.features.values import Analysis, Sentence, Word

SENTENCES = {
    "The president of France recommended a new church in Houston in 1979 because it was not safe.": """
        The the DET DT 1 det
        president president NOUN NN 4 nsubj
        of of ADP IN 3 case
        France France PROPN NNP 1 nmod
        recommended recommend VERB VBD -1 root
        a a DET DT 7 det
        new new ADJ JJ 7 amod
        church church NOUN NN 4 obj
        in in ADP IN 9 case
        Houston Houston PROPN NNP 7 nmod
        in in ADP IN 11 case
        1979 1979 NUM CD 4 obl
        because because SCONJ IN 16 mark
        it it PRON PRP 16 nsubj
        was be AUX VBD 16 cop
        not not PART RB 16 advmod
        safe safe ADJ JJ 4 advcl
        . . PUNCT . 4 punct""",
    "She quickly told him that three old dogs had found her brother near the river.": """
        She she PRON PRP 2 nsubj
        quickly quickly ADV RB 2 advmod
        told tell VERB VBD -1 root
        him he PRON PRP 2 iobj
        that that SCONJ IN 9 mark
        three three NUM CD 7 nummod
        old old ADJ JJ 7 amod
        dogs dog NOUN NNS 9 nsubj
        had have AUX VBD 9 aux
        found find VERB VBN 2 ccomp
        her she PRON PRP$ 11 nmod:poss
        brother brother NOUN NN 9 obj
        near near ADP IN 14 case
        the the DET DT 14 det
        river river NOUN NN 9 obl
        . . PUNCT . 2 punct""",
    "John Smith has visited the large museum, but the workers will close it in July.": """
        John John PROPN NNP 3 nsubj
        Smith Smith PROPN NNP 0 flat
        has have AUX VBZ 3 aux
        visited visit VERB VBN -1 root
        the the DET DT 6 det
        large large ADJ JJ 6 amod
        museum museum NOUN NN 3 obj
        , , PUNCT , 12 punct
        but but CCONJ CC 12 cc
        the the DET DT 10 det
        workers worker NOUN NNS 12 nsubj
        will will AUX MD 12 aux
        close close VERB VB 3 conj
        it it PRON PRP 12 obj
        in in ADP IN 15 case
        July July PROPN NNP 12 obl
        . . PUNCT . 3 punct""",
    "The company released an important album.": """
        The the DET DT 1 det
        company company NOUN NN 2 nsubj
        released release VERB VBD -1 root
        an a DET DT 5 det
        important important ADJ JJ 5 amod
        album album NOUN NN 2 obj
        . . PUNCT . 2 punct""",
    "This is the tenth time.": """
        This this PRON DT 4 nsubj
        is be AUX VBZ 4 cop
        the the DET DT 4 det
        tenth tenth ADJ JJ 4 amod
        time time NOUN NN -1 root
        . . PUNCT . 4 punct""",
    "They didn't go to Paris without any money.": """
        They they PRON PRP 3 nsubj
        did do AUX VBD 3 aux
        n't not PART RB 3 advmod
        go go VERB VB -1 root
        to to ADP IN 5 case
        Paris Paris PROPN NNP 3 obl
        without without ADP IN 8 case
        any any DET DT 8 det
        money money NOUN NN 3 obl
        . . PUNCT . 3 punct""",
}
FRANCE, DOGS, MUSEUM, ALBUM, TENTH, PARIS = SENTENCES

FORMS = {
    "recommend": "recommends recommended recommended recommending",
    "tell": "tells told told telling",
    "find": "finds found found finding",
    "visit": "visits visited visited visiting",
    "close": "closes closed closed closing",
    "release": "releases released released releasing",
    "go": "goes went gone going",
    "be": "is was been being",
    "have": "has had had having",
    "do": "does did done doing",
}
VERB_TAGS = ("VBZ", "VBD", "VBN", "VBG")


def inflect(lemma: str, tag: str) -> str | None:
    """The few forms that the sentences need."""
    if tag == "NNS":
        return f"{lemma}s"
    return FORMS[lemma].split()[VERB_TAGS.index(tag)] if lemma in FORMS and tag in VERB_TAGS else None


def parsed(text: str, rows: str | None = None) -> Analysis:
    """The analysis of one sentence from rows of form, lemma, word class, Penn tag, head and relation."""
    words, place = [], 0
    for row in (SENTENCES[text] if rows is None else rows).strip().splitlines():
        form, lemma, upos, xpos, head, relation = row.split()
        place = text.index(form, place)
        words.append(Word(form, lemma, upos, xpos, "", int(head), relation, place, place + len(form), 0))
        place += len(form)
    count = len(words)
    sentences = (Sentence(words[0].start, words[-1].end, 0.9),) if words else ()
    vectors, probabilities = np.zeros((count, 2), np.float32), np.full(count, 0.9, np.float32)
    return Analysis(text, sentences, tuple(words), vectors, probabilities)
