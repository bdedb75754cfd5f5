"""Parsed sentences, written down by hand, and a handful of inflections: perturbations can be tested without a model."""

from __future__ import annotations

import re

import numpy as np

from rome.features.values import Analysis, Sentence, Word

SENTENCES = {
    "The president of France recommended a new church in Houston in 1979 because it was not safe.": """
        The the DET DT 1 det | president president NOUN NN 4 nsubj | of of ADP IN 3 case
        France France PROPN NNP 1 nmod | recommended recommend VERB VBD -1 root | a a DET DT 7 det
        new new ADJ JJ 7 amod | church church NOUN NN 4 obj | in in ADP IN 9 case | Houston Houston PROPN NNP 7 nmod
        in in ADP IN 11 case | 1979 1979 NUM CD 4 obl | because because SCONJ IN 16 mark | it it PRON PRP 16 nsubj
        was be AUX VBD 16 cop | not not PART RB 16 advmod | safe safe ADJ JJ 4 advcl | . . PUNCT . 4 punct""",
    "She quickly told him that three old dogs had found her brother near the river.": """
        She she PRON PRP 2 nsubj | quickly quickly ADV RB 2 advmod | told tell VERB VBD -1 root | him he PRON PRP 2 iobj
        that that SCONJ IN 9 mark | three three NUM CD 7 nummod | old old ADJ JJ 7 amod | dogs dog NOUN NNS 9 nsubj
        had have AUX VBD 9 aux | found find VERB VBN 2 ccomp | her she PRON PRP$ 11 nmod:poss
        brother brother NOUN NN 9 obj | near near ADP IN 14 case | the the DET DT 14 det | river river NOUN NN 9 obl
        . . PUNCT . 2 punct""",
    "John Smith has visited the large museum, but the workers will close it in July.": """
        John John PROPN NNP 3 nsubj | Smith Smith PROPN NNP 0 flat | has have AUX VBZ 3 aux
        visited visit VERB VBN -1 root | the the DET DT 6 det | large large ADJ JJ 6 amod | museum museum NOUN NN 3 obj
        , , PUNCT , 12 punct | but but CCONJ CC 12 cc | the the DET DT 10 det | workers worker NOUN NNS 12 nsubj
        will will AUX MD 12 aux | close close VERB VB 3 conj | it it PRON PRP 12 obj | in in ADP IN 15 case
        July July PROPN NNP 12 obl | . . PUNCT . 3 punct""",
    "The company released an important album.": """
        The the DET DT 1 det | company company NOUN NN 2 nsubj | released release VERB VBD -1 root | an a DET DT 5 det
        important important ADJ JJ 5 amod | album album NOUN NN 2 obj | . . PUNCT . 2 punct""",
    "This is the tenth time.": """
        This this PRON DT 4 nsubj | is be AUX VBZ 4 cop | the the DET DT 4 det | tenth tenth ADJ JJ 4 amod
        time time NOUN NN -1 root | . . PUNCT . 4 punct""",
    "They didn't go to Paris without any money.": """
        They they PRON PRP 3 nsubj | did do AUX VBD 3 aux | n't not PART RB 3 advmod | go go VERB VB -1 root
        to to ADP IN 5 case | Paris Paris PROPN NNP 3 obl | without without ADP IN 8 case | any any DET DT 8 det
        money money NOUN NN 3 obl | . . PUNCT . 3 punct""",
    "She bought a daily paper for 50 dollars from her father on 12 May at 9:30 pm.": """
        She she PRON PRP 1 nsubj | bought buy VERB VBD -1 root | a a DET DT 4 det | daily daily ADJ JJ 4 amod
        paper paper NOUN NN 1 obj | for for ADP IN 7 case | 50 50 NUM CD 7 nummod | dollars dollar NOUN NNS 1 obl
        from from ADP IN 10 case | her she PRON PRP$ 10 nmod:poss | father father NOUN NN 1 obl | on on ADP IN 13 case
        12 12 NUM CD 13 nummod | May May PROPN NNP 1 obl | at at ADP IN 15 case | 9:30 9:30 NUM CD 1 obl
        pm pm NOUN NN 15 nmod | . . PUNCT . 1 punct""",
    "John beat Maria in Oslo in 1990 because 5 players stayed in Rome until 1996.": """
        John John PROPN NNP 1 nsubj | beat beat VERB VBD -1 root | Maria Maria PROPN NNP 1 obj | in in ADP IN 4 case
        Oslo Oslo PROPN NNP 1 obl | in in ADP IN 6 case | 1990 1990 NUM CD 1 obl | because because SCONJ IN 10 mark
        5 5 NUM CD 9 nummod | players player NOUN NNS 10 nsubj | stayed stay VERB VBD 1 advcl | in in ADP IN 12 case
        Rome Rome PROPN NNP 10 obl | until until ADP IN 14 case | 1996 1996 NUM CD 10 obl | . . PUNCT . 1 punct""",
    "They will be able to leave all rooms, including offices, unless John refused to pay.": """
        They they PRON PRP 3 nsubj | will will AUX MD 3 aux | be be AUX VB 3 cop | able able ADJ JJ -1 root
        to to PART TO 5 mark | leave leave VERB VB 3 xcomp | all all DET DT 7 det | rooms room NOUN NNS 5 obj
        , , PUNCT , 10 punct | including include VERB VBG 10 case | offices office NOUN NNS 7 nmod
        , , PUNCT , 14 punct | unless unless SCONJ IN 14 mark | John John PROPN NNP 14 nsubj
        refused refuse VERB VBD 3 advcl | to to PART TO 16 mark | pay pay VERB VB 14 xcomp | . . PUNCT . 3 punct""",
    "Doctor Brown gave Mary a grey book, and she thanked him.": """
        Doctor Doctor PROPN NNP 2 nsubj | Brown Brown PROPN NNP 0 flat | gave give VERB VBD -1 root
        Mary Mary PROPN NNP 2 iobj | a a DET DT 6 det | grey grey ADJ JJ 6 amod | book book NOUN NN 2 obj
        , , PUNCT , 10 punct | and and CCONJ CC 10 cc | she she PRON PRP 10 nsubj | thanked thank VERB VBD 2 conj
        him he PRON PRP 10 obj | . . PUNCT . 2 punct""",
    "The dog found by John and Mary was saved by the nurse because it was ill.": """
        The the DET DT 1 det | dog dog NOUN NN 8 nsubj:pass | found find VERB VBN 1 acl | by by ADP IN 4 case
        John John PROPN NNP 2 obl:agent | and and CCONJ CC 6 cc | Mary Mary PROPN NNP 4 conj | was be AUX VBD 8 aux:pass
        saved save VERB VBN -1 root | by by ADP IN 11 case | the the DET DT 11 det | nurse nurse NOUN NN 8 obl:agent
        because because SCONJ IN 15 mark | it it PRON PRP 15 nsubj | was be AUX VBD 15 cop | ill ill ADJ JJ 8 advcl
        . . PUNCT . 8 punct""",
    "Ann said that the firm was closed.": """
        Ann Ann PROPN NNP 1 nsubj | said say VERB VBD -1 root | that that SCONJ IN 6 mark | the the DET DT 4 det
        firm firm NOUN NN 6 nsubj:pass | was be AUX VBD 6 aux:pass | closed close VERB VBN 1 ccomp | . . PUNCT . 1 punct""",
}
FRANCE, DOGS, MUSEUM, ALBUM, TENTH, PARIS, PAPER, CUP, ROOMS, BOOK, NURSE, ANN = SENTENCES

FORMS = {
    "save": "saves saved saved saving",
    "agree": "agrees agreed agreed agreeing",
    "buy": "buys bought bought buying",
    "sell": "sells sold sold selling",
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
    """The analysis of one sentence from its words, one a line or between bars: form, lemma, word class, Penn tag, head, relation."""
    words, place = [], 0
    for row in re.split(r"[|\n]", (SENTENCES[text] if rows is None else rows).strip()):
        form, lemma, upos, xpos, head, relation = row.split()
        place = text.index(form, place)
        words.append(Word(form, lemma, upos, xpos, "", int(head), relation, place, place + len(form), 0))
        place += len(form)
    count = len(words)
    sentences = (Sentence(words[0].start, words[-1].end, 0.9),) if words else ()
    vectors, probabilities = np.zeros((count, 2), np.float32), np.full(count, 0.9, np.float32)
    return Analysis(text, sentences, tuple(words), vectors, probabilities)
