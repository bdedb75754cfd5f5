"""Readers of released layouts: small files as their publishers lay them out are read, and files that do not belong together refused."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from rome.data.readers.bagel import read_bagel, read_meaning_representations, read_novikova
from rome.data.readers.demetr import KINDS, read_demetr
from rome.data.readers.direct_assessment import read_ad_scores, read_daseg, read_wmt15
from rome.data.readers.metrics_eval import read_metrics_eval
from rome.data.readers.mqm import PLAIN, MqmWeights, map_span, mqm_score, read_mqm, read_wmt23, split_marks
from rome.data.readers.own import read_own
from rome.data.readers.rated import ErrorMark, RatedSegment, RatedSet
from rome.data.readers.registry import DEVELOPMENT_SETS, READERS, read_rated
from rome.data.readers.texts import read_cola
from rome.data.readers.webnlg import read_webnlg17, read_webnlg17_third, read_webnlg20
from rome.exceptions import InputError

Files = Mapping[str, str]


def jsonl(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def scores(*values: float) -> dict[str, float]:
    return dict(zip(("informativeness", "naturalness", "quality"), values, strict=True))


BAGEL: Files = {
    "bagel.jsonl": jsonl(
        {"segment": 0, "reference": ["X is cheap .", "A cheap X ."], "hypothesis": "x cheap .", "scores": scores(5, 4, 3)},
        {"segment": 1, "reference": ["X is far ."], "hypothesis": "x far .", "scores": scores(6, 2, 3)},
    )
}
REPRESENTATIONS: Files = {
    "mr.jsonl": jsonl(
        {"dataset": "SFHOT", "system": "WEN", "reference": "inform(a=1)", "hypothesis": "one .", "scores": scores(5, 4, 3)},
        {"dataset": "SFHOT", "system": "WEN", "reference": "inform(a=1)", "hypothesis": "a one .", "scores": scores(5, 4, 4)},
        {"dataset": "SFHOT", "system": "LOLS", "reference": "inform(a=1)", "hypothesis": "one .", "scores": scores(1, 2, 3)},
        {"dataset": "BAGEL", "system": "LOLS", "reference": "inform(b=1)", "hypothesis": "bee .", "scores": scores(1, 2, 3)},
    )
}
MEDIANS: Files = {
    "medians.csv": '"dataset","system","mr_type","mr","sys_ref","TER","METEOR","informativeness","naturalness","quality"\n'
    '"BAGEL","Dusek","inform","inform(name=\'X\',near=none)","x, near none.",0.8,0.2,6,4,5\n'
    '"BAGEL","LOLS","inform","inform(name=\'X\',near=none)","x near none.",0.7,0.3,3,3,3\n'
    '"SFHOT","WEN","confirm","confirm(near=soma)","near soma?",0.1,0.9,1,2,3\n'
}
JUDGES: Files = {
    "judges.csv": '"judge","dataset","system","mr","orig_ref","sys_ref","informativeness","naturalness","quality"\n'
    + "".join(
        f'{judge},"BAGEL",{system},"inform(a=1)","It is one, two.","one.",{rating},{rating},4\n'
        for judge, rating in ((1, 2), (2, 6), (3, 5))
        for system in ("Dusek", "LOLS")
    )
}
THIRD: Files = {
    "third.jsonl": jsonl(
        *(
            {
                "system": system,
                "segment": segment,
                "mr": f"m{segment}",
                "reference": [f"r{segment} ."],
                "hypothesis": text,
                "scores": {"fluency": 2},
            }
            for system, segment, text in (("adapt", 1, ""), ("upf", 1, "b"), ("adapt", 2, "c"), ("upf", 2, "d"))
        )
    )
}
WEBNLG17: Files = {
    "MRs.txt": "A | b | C\nD | e | F<br>D | g | H\n",
    "gold-sample-reference0.lex": "C of A .\nD has F , H .\n",
    "gold-sample-reference1.lex": "A has C .\n\n",
    "all_data_final_averaged.csv": "id,mr,team,text,bleu,meteor,ter,fluency,grammar,semantics\n"
    '7,A | b | C,adapt,"A, b C.",0.1,0.2,0.3,1,2,3\n'
    "7,A | b | C,webnlg,C of A .,1,1,0,3,3,3\n"
    "7,A | b | C,upf,A C.,0.1,0.2,0.3,2.5,2,3\n"
    "9,D | e | F<br>D | g | H,adapt,D F.,0.1,0.2,0.3,1.5,2,3\n"
    "9,D | e | F<br>D | g | H,upf,D H.,0.1,0.2,0.3,1,2,3\n",
    "teams/adapt.txt": "A, b C.\nD F.\n",
    "teams/upf.txt": "A C.\nD H.\n",
}
DIMENSIONS = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")


def rating20(system: str, sample: int, category: str, size: int, value: float) -> dict[str, object]:
    names = {"submission_id": system, "size": str(size), "sample_id": str(sample), "domain": "type1", "category": category}
    return {**names, **dict.fromkeys(DIMENSIONS, value)}


RATED20 = [(s, *row) for s in ("alpha", "beta") for row in ((1, "Airport", 1, 0.5), (3, "City", 2, -0.25))]
WEBNLG20: Files = {
    "all.json": json.dumps([rating20(*row) for row in RATED20], indent=4),
    "en/alpha/primary.en": "a one\na two\na three\n",
    "en/beta/primary.en": "b one\nb two\nb three\n",
    "refs.xml": "<?xml version='1.0' encoding='utf-8'?>\n<benchmark><entries>"
    '<entry category="Airport" eid="Id1" size="1"><modifiedtripleset><mtriple>A | b | C</mtriple></modifiedtripleset>'
    "<lex>C of A.</lex><lex>A: C.</lex></entry>"
    '<entry category="Food" eid="Id2" size="1"><lex>Two.</lex></entry>'
    '<entry category="City" eid="Id3" size="2"><lex>Three.</lex></entry></entries></benchmark>\n',
    "refs.json": json.dumps(
        {
            "entries": [
                {str(n): {"category": category, "size": size, "lexicalisations": [{"lex": f"Text {n}."}]}}
                for n, (category, size) in enumerate((("Airport", "1"), ("Food", "1"), ("City", "2")), start=1)
            ]
        }
    ),
    "raw/alpha/primary.json": json.dumps({"1": {"w1": dict.fromkeys(DIMENSIONS, 80), "w2": dict.fromkeys(DIMENSIONS, 60)}}),
}
WMT15: Files = {
    "wmt15.jsonl": jsonl(
        *(
            {
                "lp": "de-en",
                "segment": n,
                "reference": f"r{n}",
                "hypothesis": f"h{n}",
                "scores": {"z": 0.1 * n},
                "published": {"chrF": n},
            }
            for n in (1, 2)
        )
    )
}
DASEG: Files = {
    f"DAseg.newstest2015.{kind}.{pair}": "".join(f"{text}\n" for text in texts)
    for pair in ("cs-en", "en-ru")
    for kind, texts in (
        ("human", (0.5, -1.25)),
        ("mt-system", ("One.", "Two\u2028.")),
        ("reference", ("1.", "2.")),
        ("source", ("Jeden.", "Dva.")),
    )
}
AD: Files = {
    "ad-seg-scores-de-en.csv": "SYS SID RAW.SCR Z.SCR\nonline-A.0 2 80 0.5\nuedin.7 1 20.5 -0.75\n",
    "out/newstest2017.online-A.0.de-en": "A1\nA2\n",
    "out/newstest2017.uedin.7.de-en": "U1\nU2\n",
    "ref.txt": "R1\nR2\n",
    "src.txt": "S1\nS2\n",
}
MTME: Files = {
    "sources/de-en.txt": "S1\nS2\n",
    "documents/de-en.docs": "news d1\nnews d1\n",
    "references/de-en.refA.txt": "R1\nR2\n",
    "references/de-en.refB.txt": "Q1\nQ2\n",
    "system-outputs/de-en/refA.txt": "R1\nR2\n",
    "system-outputs/de-en/refB.txt": "Q1\nQ2\n",
    "system-outputs/de-en/sys1.txt": "X1\nX2\n",
    "human-scores/de-en.mqm.seg.score": "sys1\t-1\nsys1\tNone\nrefB\t0\nrefB\t-5\nrefA 0\nrefA 0\n",
    "human-scores/de-en.wmt-z.seg.score": "sys1\t0.5\nsys1\t0.25\n",
    "metric-scores/de-en/BLEU-refA.seg.score": "sys1\t10\nsys1\t20\nrefB\t30\nrefB\t40\n",
    "metric-scores/de-en/BLEU-refB.seg.score": "sys1\t1\nsys1\t2\nrefA\t3\nrefA\t4\n",
}
MQM: Files = {
    "mqm.tsv": "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    "s1\td\t1\t1\tr1\tYi er\t<v>One</v> two  three.\tAccuracy/Mistranslation\tMajor\n"
    "s1\td\t1\t1\tr1\tYi <v>er</v>\tOne two three.\tAccuracy/Omission\tMinor\n"
    "s1\td\t1\t1\tr2\tYi er\tOne two three<v>.</v>\tFluency/Punctuation\tMinor\n"
    "s1\td\t1\t1\tr3\tYi er\tOne two three.\tNo-error\tNo-error\n"
    "s1\td\t1\t1\tr3\tYi er\tOne two <v>three</v>.\tFound\tHOTW-test\n"
    "ref\td\t1\t1\tr1\tYi er\tOne, two.\tNo-error\tNo-error\n"
    's1\td\t2\t2\tr1\tSan\t"Three.\tNon-translation!\tMajor\n',
    "refs.tsv": "doc\tseg_id\tsource\treference\nd\t1\tYi er\tOne, two.\nd\t2\tSan\tThree!\n",
    "refs.txt": "One, two.\nThree!\n",
    "src.txt": "Yi er\nSan\n",
}
ERROR = {"category": "Accuracy/Addition", "severity": "Major", "span": [4, 8], "text": "One  two."}
SPANS: Files = {
    "spans.jsonl": jsonl(
        *(
            {
                "lp": "zh-en",
                "system": system,
                "segment": 7,
                "reference": "1 2.",
                "hypothesis": "One two.",
                "ratings": [{"rater": "r1", "errors": [ERROR, {**ERROR, "span": None}]}, {"rater": "r2", "errors": []}],
            }
            for system in ("s1", "s2")
        )
    )
}


def pair_row(item: int, perturbed: str, check: bool = True, kind: str = "minor_id1_repeat2") -> dict[str, object]:
    texts = {"src_sent": f"Quelle {item} ist da.", "eng_sent": f"Reference {item}.", "mt_sent": f"Translation {item}."}
    return {"id": item, **texts, "pert_sent": perturbed, "lang_tag": "german", "pert_check": check, "pert_name": kind}


DEMETR: Files = {
    "minor_id1_repeat2.json": json.dumps([pair_row(1, "Translation 1 1."), pair_row(2, "x", check=False)], indent=1),
    "critical_id21_adj_adv_removed.json": json.dumps([pair_row(1, "Translation.", kind="critical_id21_adj_adv_removed")]),
    "critical_id20_shuffled.json": json.dumps([pair_row(2, "2 translation.", kind="critical_id20_shuffled")]),
    "base_id33_empty.json": json.dumps([pair_row(1, "", kind="base_id33_empty")]),
}
COLA: Files = {"cola.tsv": "gj04\t1\t\tShe left.\ngj04\t0\t*\tLeft she the.\n"}
OWN: Files = {
    "own.tsv": "item\tsystem\tlanguage_pair\treference\treference_2\thypothesis\trating:fluency\tscore:BLEU\n"
    "1\ts1\tde-en\tR one.\tR 1.\tH one.\t3\t0.5\n1\ts2\tde-en\tR one.\tR 1.\tH 1.\t1.5\t0.25\n2\ts1\tde-en\tR two.\t\tH two.\t2\t1\n"
}
ANNOTATED: Files = {
    "notes.jsonl": jsonl(
        {"item": "a", "system": "s", "reference": "R.", "hypothesis": "H h.", "annotator": "ann", "ratings": {"fluency": 9}},
        {
            "item": "a",
            "system": "s",
            "reference": "R.",
            "hypothesis": "H h.",
            "annotator": "bob",
            "ratings": {"fluency": 1},
            "errors": [],
        },
        {
            "item": "a",
            "system": "s",
            "reference": "R.",
            "hypothesis": "H h.",
            "annotator": "ann",
            "ratings": {"fluency": 2},
            "errors": [{"start": 2, "end": 3, "severity": "major", "category": "grammar"}],
        },
        {
            "item": "b",
            "system": "s",
            "reference": ["R.", "S."],
            "hypothesis": "H.",
            "annotator": "bob",
            "ratings": {"fluency": 3},
        },
    )
}


def write(folder: Path, files: Files) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@dataclass(frozen=True)
class Mispaired:
    """Files that are read, one change that makes them not belong together, and how the message names the place."""

    name: str
    files: Files
    read: Callable[[Path], object]
    file: str
    old: str
    new: str
    says: str


def single(reader: Callable[[Path], object], files: Files) -> Callable[[Path], object]:
    return lambda folder: reader(folder / next(iter(files)))


def webnlg17(folder: Path) -> RatedSet:
    return read_webnlg17(folder, folder / "teams")


def webnlg20(folder: Path) -> RatedSet:
    return read_webnlg20(folder / "all.json", folder / "en", folder / "refs.xml")


def ad(folder: Path) -> RatedSet:
    return read_ad_scores(folder / "ad-seg-scores-de-en.csv", folder / "out", folder / "ref.txt", folder / "src.txt")


def metrics_eval(folder: Path) -> RatedSet:
    return read_metrics_eval(folder, "de-en", "mqm", "refA")


def mqm(folder: Path) -> RatedSet:
    return read_mqm(folder / "mqm.tsv", folder / "refs.tsv", language_pair="zh-en")


def mqm_parallel(folder: Path) -> RatedSet:
    return read_mqm(folder / "mqm.tsv", folder / "refs.txt", folder / "src.txt")


def hotel(path: Path) -> RatedSet:
    return read_meaning_representations("SFHOT", path)


def cola(path: Path) -> object:
    return list(read_cola(path))


SYS1 = "system-outputs/de-en/sys1.txt"
MISPAIRED = [
    Mispaired("bagel", BAGEL, single(read_bagel, BAGEL), "bagel.jsonl", '"segment": 1', '"segment": 0', "bagel.jsonl:2"),
    Mispaired(
        "meaning representations", REPRESENTATIONS, single(hotel, REPRESENTATIONS), "mr.jsonl", "a one .", "one .", "mr.jsonl:2"
    ),
    Mispaired(
        "medians: columns of two lines",
        MEDIANS,
        single(read_novikova, MEDIANS),
        "medians.csv",
        '"confirm(near',
        '"inform(near',
        "medians.csv:4",
    ),
    Mispaired(
        "medians: an output twice",
        MEDIANS,
        single(read_novikova, MEDIANS),
        "medians.csv",
        '"LOLS","inform","inform(name=\'X\',near=none)","x near',
        '"Dusek","inform","inform(name=\'X\',near=none)","x, near',
        "medians.csv:3.*2 times",
    ),
    Mispaired(
        "judges: one output less",
        JUDGES,
        single(read_novikova, JUDGES),
        "judges.csv",
        '2,"BAGEL",LOLS',
        '2,"BAGEL",Dusek',
        "judges.csv:[2-7]: .*2 times",
    ),
    Mispaired(
        "judges: another text",
        JUDGES,
        single(read_novikova, JUDGES),
        "judges.csv",
        '"one.",6',
        '"two.",6',
        "judges.csv:[2-7]: .*2 0 times",
    ),
    Mispaired(
        "webnlg17 third",
        THIRD,
        single(read_webnlg17_third, THIRD),
        "third.jsonl",
        '"segment": 2',
        '"segment": 1',
        "third.jsonl:3",
    ),
    Mispaired(
        "webnlg17: a reference less",
        WEBNLG17,
        webnlg17,
        "gold-sample-reference1.lex",
        "A has C .\n",
        "",
        "reference1.lex|MRs.txt:2",
    ),
    Mispaired(
        "webnlg17: another input",
        WEBNLG17,
        webnlg17,
        "all_data_final_averaged.csv",
        "9,D | e | F<br>",
        "9,D | x | F<br>",
        "averaged.csv:5",
    ),
    Mispaired("webnlg17: teams swapped", WEBNLG17, webnlg17, "all_data_final_averaged.csv", "A C.", "D H.", "averaged.csv:4"),
    Mispaired(
        "webnlg17: an output not rated",
        WEBNLG17,
        webnlg17,
        "all_data_final_averaged.csv",
        "9,D | e | F<br>D | g | H,upf",
        "9,A | b | C,new",
        "averaged.csv:",
    ),
    Mispaired("webnlg20: another category", WEBNLG20, webnlg20, "all.json", '"3"', '"2"', "all.json:entry 2"),
    Mispaired(
        "webnlg20: one system's outputs under all names",
        WEBNLG20,
        webnlg20,
        "en/beta/primary.en",
        "b ",
        "a ",
        "all.json:entry 3",
    ),
    Mispaired(
        "webnlg20: outputs of another test set",
        WEBNLG20,
        webnlg20,
        "en/beta/primary.en",
        "b two\n",
        "",
        "beta/primary.en ends after 2 of 3",
    ),
    Mispaired("webnlg20: a system without outputs", WEBNLG20, webnlg20, "all.json", "beta", "gamma", "all.json:entry 3.*gamma"),
    Mispaired("wmt15", WMT15, single(read_wmt15, WMT15), "wmt15.jsonl", '"segment": 2', '"segment": 1', "wmt15.jsonl:2"),
    Mispaired("daseg", DASEG, read_daseg, "DAseg.newstest2015.reference.cs-en", "1.\n", "", "cs-en:2"),
    Mispaired("ad-scores: a line outside", AD, ad, "ad-seg-scores-de-en.csv", "online-A.0 2", "online-A.0 3", "de-en.csv:2"),
    Mispaired("ad-scores: no such system", AD, ad, "ad-seg-scores-de-en.csv", "uedin.7", "edin.7", "de-en.csv:3"),
    Mispaired("ad-scores: a line missing", AD, ad, "out/newstest2017.uedin.7.de-en", "U1\n", "", "ref.txt:2"),
    Mispaired(
        "metrics-eval: scores of another set",
        MTME,
        metrics_eval,
        "human-scores/de-en.mqm.seg.score",
        "sys1\tNone\n",
        "",
        "score:1",
    ),
    Mispaired(
        "metrics-eval: unknown system", MTME, metrics_eval, "human-scores/de-en.mqm.seg.score", "sys1", "sys2", "score:1.*sys2"
    ),
    Mispaired("metrics-eval: an output less", MTME, metrics_eval, SYS1, "X2\n", "", "refA.txt:2|sys1.txt:2"),
    Mispaired("metrics-eval: another reference", MTME, metrics_eval, "system-outputs/de-en/refA.txt", "R2", "Q2", "refA.txt:2"),
    Mispaired(
        "metrics-eval: metric of another set",
        MTME,
        metrics_eval,
        "metric-scores/de-en/BLEU-refA.seg.score",
        "sys1\t20\n",
        "",
        "refA.seg.score:1",
    ),
    Mispaired("mqm: another source", MQM, mqm, "mqm.tsv", "r2\tYi er", "r2\tYi san", "mqm.tsv:4"),
    Mispaired("mqm: another target", MQM, mqm, "mqm.tsv", "One two three<v>.", "One two four<v>.", "mqm.tsv:4"),
    Mispaired("mqm: marks that do not pair", MQM, mqm, "mqm.tsv", "<v>One</v>", "<v>One", "mqm.tsv:2"),
    Mispaired("mqm: a reference of another source", MQM, mqm, "refs.tsv", "2\tSan", "2\tSi", "mqm.tsv:8"),
    Mispaired("mqm: a reference of another document", MQM, mqm, "refs.tsv", "d\t2", "e\t2", "mqm.tsv:8"),
    Mispaired("mqm: a reference less", MQM, mqm, "refs.tsv", "d\t2\tSan\tThree!\n", "", "mqm.tsv:8"),
    Mispaired("mqm: parallel references shifted", MQM, mqm_parallel, "src.txt", "Yi er\nSan", "San\nYi er", "mqm.tsv:[28]"),
    Mispaired("mqm: parallel files of two lengths", MQM, mqm_parallel, "src.txt", "San\n", "", "refs.txt:2"),
    Mispaired(
        "wmt23: marks of another text",
        SPANS,
        single(read_wmt23, SPANS),
        "spans.jsonl",
        '"hypothesis": "One two."',
        '"hypothesis": "Two two."',
        "spans.jsonl:1",
    ),
    Mispaired("wmt23: a span outside", SPANS, single(read_wmt23, SPANS), "spans.jsonl", "[4, 8]", "[4, 18]", "spans.jsonl:1"),
    Mispaired(
        "demetr: another perturbation", DEMETR, read_demetr, "base_id33_empty.json", '_empty"', '_full"', "empty.json:entry 1"
    ),
    Mispaired(
        "demetr: another translation",
        DEMETR,
        read_demetr,
        "minor_id1_repeat2.json",
        "Translation 1.",
        "What else is here.",
        "repeat2.json:entry 1",
    ),
    Mispaired(
        "demetr: an item twice", DEMETR, read_demetr, "minor_id1_repeat2.json", '"id": 2', '"id": 1', "repeat2.json:entry 2"
    ),
    Mispaired(
        "demetr: nothing perturbed",
        DEMETR,
        read_demetr,
        "critical_id21_adj_adv_removed.json",
        "Translation.",
        "Translation 1.",
        "removed.json:entry 1",
    ),
    Mispaired("cola", COLA, single(cola, COLA), "cola.tsv", "\t0\t*\t", "\tLeft\t*\t", "cola.tsv:2"),
    Mispaired(
        "own: another reference", OWN, single(read_own, OWN), "own.tsv", "s2\tde-en\tR one.", "s2\tde-en\tR two.", "own.tsv:3"
    ),
    Mispaired("own: an output twice", OWN, single(read_own, OWN), "own.tsv", "1\ts2", "1\ts1", "own.tsv:3"),
    Mispaired("own: no number", OWN, single(read_own, OWN), "own.tsv", "\t1.5\t", "\tgood\t", "own.tsv:3"),
    Mispaired(
        "annotated: another text",
        ANNOTATED,
        single(read_own, ANNOTATED),
        "notes.jsonl",
        '"hypothesis": "H h.", "annotator": "bob"',
        '"hypothesis": "H i.", "annotator": "bob"',
        "notes.jsonl:2",
    ),
    Mispaired(
        "annotated: another reference",
        ANNOTATED,
        single(read_own, ANNOTATED),
        "notes.jsonl",
        '"reference": "R.", "hypothesis": "H h.", "annotator": "bob"',
        '"reference": "S.", "hypothesis": "H h.", "annotator": "bob"',
        "notes.jsonl:2",
    ),
    Mispaired(
        "annotated: a mark outside",
        ANNOTATED,
        single(read_own, ANNOTATED),
        "notes.jsonl",
        '"end": 3',
        '"end": 30',
        "notes.jsonl:3",
    ),
]


@pytest.mark.parametrize("case", MISPAIRED, ids=lambda case: case.name)
def test_what_does_not_belong_together_is_refused(case: Mispaired, tmp_path: Path) -> None:
    """Every reader reads its files as released; with one thing mispaired it refuses them and names file, line and remedy."""
    write(tmp_path, case.files)
    case.read(tmp_path)
    path = tmp_path / case.file
    text = path.read_text(encoding="utf-8")
    assert case.old in text
    path.write_text(text.replace(case.old, case.new), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        case.read(tmp_path)
    message = str(refused.value)
    assert re.search(case.says, message), message
    assert "\n" not in message
    assert re.search(r":(entry )?\d+", message)


def test_every_reader_meets_a_mispaired_file() -> None:
    """A reader that is added to the registry needs a row in the table above."""
    named = " ".join(case.name for case in MISPAIRED)
    words = {
        "own": "own",
        "novikova": "judges",
        "mqm-spans": "wmt23",
        **{name: name for name in READERS if "-spans" not in name},
    }
    words |= {"novikova": "medians"}
    assert [name for name in READERS if words[name] not in named] == []


def test_one_systems_outputs_never_meet_all_ratings(tmp_path: Path) -> None:
    """WebNLG 2020: a file of outputs where the folder belongs, and a folder of one system only, are refused."""
    folder = write(tmp_path, WEBNLG20)
    with pytest.raises(InputError, match="every system's ratings"):
        read_webnlg20(folder / "all.json", folder / "en" / "alpha" / "primary.en", folder / "refs.xml")
    (folder / "en" / "beta" / "primary.en").unlink()
    with pytest.raises(InputError, match="all.json:entry 3: rates beta"):
        webnlg20(folder)
    assert {
        s.system for s in read_webnlg20(folder / "all.json", folder / "en", folder / "refs.xml", leave_out=["beta"]).segments
    } == {"alpha"}


def test_webnlg20_pairs_each_rating_with_its_system_and_sample(tmp_path: Path) -> None:
    """Sample n is line n of the system's own file; XML and JSON references and raw ratings are read alike."""
    folder = write(tmp_path, WEBNLG20)
    found = {(s.system, s.item): s for s in webnlg20(folder).segments}
    assert {key: s.hypothesis for key, s in found.items()} == {
        ("alpha", "1"): "a one",
        ("alpha", "3"): "a three",
        ("beta", "1"): "b one",
        ("beta", "3"): "b three",
    }
    assert found["beta", "1"].references == ("C of A.", "A: C.")
    assert found["beta", "1"].source == "A | b | C"
    assert found["beta", "3"].ratings == dict.fromkeys(DIMENSIONS, -0.25)
    raw = read_webnlg20(folder / "raw", folder / "en", folder / "refs.json").segments
    assert [(s.system, s.item, s.references, s.ratings["Fluency"]) for s in raw] == [("alpha", "1", ("Text 1.",), 70.0)]


def test_novikova_takes_medians_and_numbers_further_outputs(tmp_path: Path) -> None:
    """Ratings of three judges become their median; a second output of a system for one input is an item of its own."""
    folder = write(tmp_path, {**MEDIANS, **JUDGES, **REPRESENTATIONS})
    medians = read_novikova(folder / "medians.csv")
    assert [(s.system, s.hypothesis, s.published["METEOR"]) for s in medians.segments][0] == ("Dusek", "x, near none.", 0.2)
    assert medians.segments[0].group == medians.segments[1].group
    assert len(read_novikova(folder / "medians.csv", "SFHOT").segments) == 1
    judged = read_novikova(folder / "judges.csv").segments
    assert [(s.references, s.ratings) for s in judged] == [(("It is one, two.",), scores(5, 5, 4))] * 2
    items = [(s.item, s.system, s.references) for s in hotel(folder / "mr.jsonl").segments]
    one = ("inform(a=1)",)
    assert items == [("inform(a=1)", "WEN", one), ("inform(a=1)#2", "WEN", one), ("inform(a=1)", "LOLS", one)]


def test_webnlg17_leaves_the_human_texts_out(tmp_path: Path) -> None:
    """Ratings meet the references of their own input; an empty further reference is none; the rated references are no system."""
    found = webnlg17(write(tmp_path, WEBNLG17)).segments
    assert [(s.system, s.item, s.references) for s in found] == [
        ("adapt", "1", ("C of A .", "A has C .")),
        ("upf", "1", ("C of A .", "A has C .")),
        ("adapt", "2", ("D has F , H .",)),
        ("upf", "2", ("D has F , H .",)),
    ]
    assert found[0].ratings == {"fluency": 1, "grammar": 2, "semantics": 3}
    assert found[0].published == {"bleu": 0.1, "meteor": 0.2, "ter": 0.3}


def test_direct_assessment(tmp_path: Path) -> None:
    """Parallel files are read into English only, a line separator inside a text ends no line; later years name the line."""
    found = read_daseg(write(tmp_path, DASEG)).segments
    assert [(s.language_pair, s.hypothesis, s.references, s.source, s.ratings["z"]) for s in found] == [
        ("cs-en", "One.", ("1.",), "Jeden.", 0.5),
        ("cs-en", "Two\u2028.", ("2.",), "Dva.", -1.25),
    ]
    later = ad(write(tmp_path, AD)).segments
    assert [(s.system, s.item, s.hypothesis, s.references, s.source, dict(s.ratings)) for s in later] == [
        ("online-A.0", "2", "A2", ("R2",), "S2", {"raw": 80, "z": 0.5}),
        ("uedin.7", "1", "U1", ("R1",), "S1", {"raw": 20.5, "z": -0.75}),
    ]
    assert later[0].language_pair == "de-en"


def test_metrics_eval(tmp_path: Path) -> None:
    """Missing human scores leave a segment out, the reference itself is no system, metric scores are those of that reference."""
    folder = write(tmp_path, MTME)
    found = metrics_eval(folder)
    assert [(s.system, s.item, s.ratings["mqm"], dict(s.published)) for s in found.segments] == [
        ("refB", "1", 0, {"BLEU": 30}),
        ("refB", "2", -5, {"BLEU": 40}),
        ("sys1", "1", -1, {"BLEU": 10}),
    ]
    assert [s.place.rsplit(":")[-1] for s in found.segments] == ["3", "4", "1"]
    both = read_metrics_eval(folder, "de-en", ["mqm", "wmt-z"], "refA", metrics=[])
    assert [(s.system, s.item, dict(s.ratings), s.published) for s in both.segments] == [
        ("sys1", "1", {"mqm": -1, "wmt-z": 0.5}, {})
    ]
    with pytest.raises(InputError, match="refA, refB"):
        read_metrics_eval(folder, "de-en")
    (folder / "metric-scores" / "de-en" / "BLEU-refA.seg.score").write_text("sys1 1\nsys1 2\n")
    assert metrics_eval(folder).published == ()
    with pytest.raises(InputError, match="no score of refB"):
        read_metrics_eval(folder, "de-en", "mqm", "refA", metrics=["BLEU"])
    with pytest.raises(InputError, match="choose one of de-en.mqm"):
        read_metrics_eval(folder, "de-en", "da", "refA")


def test_mqm_table(tmp_path: Path) -> None:
    """Weights of the published scores, raters averaged, marks on the hypothesis, omissions without place, tests and references left out."""
    folder = write(tmp_path, MQM)
    first, second = mqm(folder).segments
    assert (first.system, first.item, first.hypothesis, first.references) == ("s1", "1", "One two  three.", ("One, two.",))
    assert first.ratings["mqm"] == pytest.approx(-(6 + 0.1 + 0) / 3)
    assert first.marks == {
        "r1": (ErrorMark(0, 3, "major", "Accuracy/Mistranslation"), ErrorMark(None, None, "minor", "Accuracy/Omission")),
        "r2": (ErrorMark(14, 15, "minor", "Fluency/Punctuation"),),
        "r3": (),
    }
    assert second.ratings["mqm"] == -25
    assert second.hypothesis == '"Three.'
    assert mqm_parallel(folder).digest != mqm(folder).digest
    assert [s.ratings for s in mqm_parallel(folder).segments] == [s.ratings for s in mqm(folder).segments]
    with pytest.raises(InputError, match="sources"):
        read_mqm(folder / "mqm.tsv", folder / "refs.txt")


def test_mqm_weights() -> None:
    """Hand-computed: punctuation is cheap by Freitag et al., a rater's total is capped by the plain weights, nobody is refused."""
    punctuation, major, garbage = ("Minor", "Fluency/Punctuation"), ("major", "Style"), ("major", "Non-translation!")
    assert mqm_score({"a": [punctuation, ("Major", "Fluency/Punctuation")]}) == -5.1
    assert mqm_score({"a": [punctuation], "b": []}, PLAIN) == -0.5
    assert mqm_score({"a": [major] * 7}) == -35
    assert mqm_score({"a": [major] * 7}, PLAIN) == -25
    assert mqm_score({"a": [garbage, major]}) == -30
    assert mqm_score({"a": [("neutral", ""), ("No-error", "")]}, MqmWeights(major=10)) == 0
    with pytest.raises(InputError, match="rater"):
        mqm_score({})


def test_marks_and_spans() -> None:
    """Marks come out of the text with their characters; a span moves with white space, and with nothing else."""
    assert split_marks("a <v>bc</v> d<v></v>", "f:1") == ("a bc d", [(2, 4), (6, 6)])
    assert split_marks("plain", "f:1") == ("plain", [])
    for wrong in ("</v>a", "<v>a<v>b</v>", "a<v>"):
        with pytest.raises(InputError, match="f:1"):
            split_marks(wrong, "f:1")
    assert map_span("One  two. ", "One two.", (5, 10), "f:1") == (4, 8)
    assert map_span("One  two. ", "One two.", (0, 10), "f:1") == (0, 8)
    assert map_span("One  two. ", "One two.", (10, 10), "f:1") == (8, 8)
    assert map_span("same", "same", (1, 3), "f:1") == (1, 3)
    with pytest.raises(InputError, match="f:1"):
        map_span("One two.", "One too.", (0, 3), "f:1")


def test_spans_are_mapped_to_the_hypothesis(tmp_path: Path) -> None:
    """WMT23: marks by rater, a rater who found nothing, an omission, and the text that was marked with more white space."""
    found = read_wmt23(write(tmp_path, SPANS) / "spans.jsonl").segments[0]
    assert found.marks == {
        "r1": (ErrorMark(4, 7, "major", "Accuracy/Addition"), ErrorMark(None, None, "major", "Accuracy/Addition")),
        "r2": (),
    }
    assert found.ratings == {"mqm": -5}


def test_demetr_knows_table_1(tmp_path: Path) -> None:
    """Severity, number and category come from the paper's table 1, whatever the file is called; unchecked items are left out."""
    found = {p.kind: p for p in read_demetr(write(tmp_path, DEMETR))}
    repeated, shuffled = found["minor_id1_repeat2"], found["critical_id20_shuffled"]
    assert (repeated.item, repeated.language, repeated.source, repeated.type) == (
        "1",
        "german",
        "Quelle 1 ist da.",
        "repetition",
    )
    assert (shuffled.identifier, shuffled.severity, shuffled.released_severity, shuffled.category) == (
        34,
        "base",
        "critical",
        "baseline",
    )
    omitted = found["critical_id21_adj_adv_removed"]
    assert (omitted.identifier, omitted.severity, omitted.category) == (20, "major", "mixed")
    assert found["base_id33_empty"].perturbed == "."
    assert len(found) == 4
    (tmp_path / "minor_id99_new.json").write_text("[]")
    with pytest.raises(InputError, match="minor_id99_new"):
        read_demetr(tmp_path)


def test_table_1_is_whole() -> None:
    """35 kinds, numbered once; the released severities count as the paper's table 4 does (13 critical, 5 major, 14 minor, 3 base)."""
    assert sorted(kind.identifier for kind in KINDS.values()) == list(range(1, 36))
    by_table = [sum(kind.severity == s for kind in KINDS.values()) for s in ("critical", "major", "minor", "base")]
    released = [sum(kind.released == s for kind in KINDS.values()) for s in ("critical", "major", "minor", "base")]
    assert (by_table, released) == ([10, 7, 14, 4], [13, 5, 14, 3])
    assert KINDS["minor_id16_function_word"].severity == "minor"
    assert KINDS["critical_id4_codemix"].severity == "major"


def test_own_table(tmp_path: Path) -> None:
    """Ratings, published scores and several references from a plain table, plain or gzipped."""
    path = write(tmp_path, OWN) / "own.tsv"
    found = read_own(path)
    assert found.name == "own"
    assert [(s.group, s.system, s.references, dict(s.ratings), dict(s.published)) for s in found.segments] == [
        (("de-en", "1"), "s1", ("R one.", "R 1."), {"fluency": 3}, {"BLEU": 0.5}),
        (("de-en", "1"), "s2", ("R one.", "R 1."), {"fluency": 1.5}, {"BLEU": 0.25}),
        (("de-en", "2"), "s1", ("R two.",), {"fluency": 2}, {"BLEU": 1}),
    ]
    zipped = tmp_path / "own.tsv.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    assert read_own(zipped).digest == found.digest


def test_annotators_are_averaged_and_their_marks_kept(tmp_path: Path) -> None:
    """The last line of an annotator counts, ratings are means, marks stay by annotator; errors alone give minus their cost."""
    first, second = read_own(write(tmp_path, ANNOTATED) / "notes.jsonl").segments
    assert (first.ratings, second.ratings) == ({"fluency": 1.5}, {"fluency": 3})
    assert first.marks == {"bob": (), "ann": (ErrorMark(2, 3, "major", "grammar"),)}
    assert second.marks == {}
    rows = [
        {"item": 1, "reference": "R", "hypothesis": "Hh", "annotator": a, "errors": e}
        for a, e in (("x", []), ("y", [{"severity": "Major"}]))
    ]
    only = read_own(write(tmp_path, {"only.jsonl": jsonl(*rows)}) / "only.jsonl").segments[0]
    assert only.ratings == {"mqm": -2.5}
    assert only.marks["y"] == (ErrorMark(None, None, "major"),)
    with pytest.raises(InputError, match="only.jsonl:2: this output stands already"):
        read_own(write(tmp_path, {"only.jsonl": jsonl(*({**row, "annotator": ""} for row in rows))}) / "only.jsonl")


def test_specs(tmp_path: Path) -> None:
    """A format with its paths, or the path of one's own file; whatever else lists the choices or the arguments."""
    folder = write(tmp_path, {**OWN, **MQM, **MTME})
    assert read_rated(str(folder / "own.tsv")).digest == read_rated(f"own:{folder / 'own.tsv'}").digest
    spec = f"mqm:{folder / 'mqm.tsv'},{folder / 'refs.txt'},{folder / 'src.txt'},zh-en"
    assert read_rated(spec).segments[0].language_pair == "zh-en"
    assert len(read_rated(f"metrics-eval:{folder},de-en,mqm,refA").segments) == 3
    with pytest.raises(InputError, match="bagel.*wmt23.*own.*mqm"):
        read_rated("wmt99")
    with pytest.raises(InputError, match=r"mqm:path,references,\[sources\],\[language_pair\] is wanted"):
        read_rated("mqm:one.tsv")
    with pytest.raises(InputError, match="nowhere.tsv does not exist"):
        read_rated("own:nowhere.tsv")
    assert set(DEVELOPMENT_SETS) == {"bagel", "bagel-mr", "sfhotel", "sfrest", "webnlg17", "wmt15", "wmt23"}


def test_a_set_is_checked_when_made() -> None:
    """No segment, no rating, other dimensions, an output twice: refused with the place; the digest follows texts, not places."""
    one = RatedSegment("1", ("R",), "H", {"q": 1.0}, "s", place="f:1")
    with pytest.raises(InputError, match="no rated segment"):
        RatedSet("x", ())
    for wrong in (
        RatedSegment("1", ("R",), "G", {"q": 2.0}, "s", place="f:2"),
        RatedSegment("2", ("R",), "H", {"p": 1.0}, place="f:2"),
    ):
        with pytest.raises(InputError, match="f:2"):
            RatedSet("x", (one, wrong))
    moved = RatedSegment("1", ("R",), "H", {"q": 1.0}, "s", place="g:9")
    other = RatedSegment("1", ("R",), "H.", {"q": 1.0}, "s", place="f:1")
    assert RatedSet("x", (one,)).digest == RatedSet("y", (moved,)).digest != RatedSet("x", (other,)).digest
