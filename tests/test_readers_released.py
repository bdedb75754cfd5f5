"""Readers of released layouts: small files as their publishers lay them out are read, and files that do not belong together refused."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from rome.data.readers.demetr import read_demetr
from rome.data.readers.mqm import PLAIN, MqmWeights, map_span, mqm_score, read_mqm, read_wmt23, split_marks
from rome.data.readers.own import read_own
from rome.data.readers.rated import ErrorMark, RatedSegment, RatedSet
from rome.data.readers.registry import DEVELOPMENT_SETS, read_rated, read_scores
from rome.data.readers.texts import read_cola
from rome.exceptions import InputError

Files = Mapping[str, str]


@dataclass(frozen=True)
class Released:
    """Small files as their publisher lays them out, and their reader."""

    name: str
    files: Files
    read: Callable[[Path], object]


def single(reader: Callable[[Path], object], files: Files) -> Callable[[Path], object]:
    return lambda folder: reader(folder / next(iter(files)))


def jsonl(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def rated(reference: str | list[str], hypothesis: str, *values: float, **others: object) -> dict[str, object]:
    scores = dict(zip(("informativeness", "naturalness", "quality"), values, strict=True))
    return {**others, "reference": reference, "hypothesis": hypothesis, "scores": scores}


BAGEL: Files = {
    "bagel.jsonl": jsonl(
        rated(["X is cheap .", "A cheap X ."], "x cheap .", 5, 4, 3, segment=0),
        rated(["X is far ."], "x far .", 6, 2, 3, segment=1),
    )
}
REPRESENTATIONS: Files = {
    "mr.jsonl": jsonl(
        rated("inform(a=1)", "one .", 5, 4, 3, dataset="SFHOT", system="WEN"),
        rated("inform(a=1)", "a one .", 5, 4, 4, dataset="SFHOT", system="WEN"),
        rated("inform(a=1)", "one .", 1, 2, 3, dataset="SFHOT", system="LOLS"),
        rated("inform(b=1)", "bee .", 1, 2, 3, dataset="BAGEL", system="LOLS"),
    )
}
OUTPUTS = (("adapt", 1, ""), ("upf", 1, "b"), ("adapt", 2, "c"), ("upf", 2, "d"))
THIRD: Files = {
    "third.jsonl": jsonl(
        *(
            {
                "system": system,
                "segment": n,
                "mr": f"m{n}",
                "reference": [f"r{n}"],
                "hypothesis": text,
                "scores": {"fluency": 2},
            }
            for system, n, text in OUTPUTS
        )
    )
}
WMT15: Files = {
    "wmt15.jsonl": jsonl(
        *(
            {"lp": "de-en", "segment": n, "reference": f"r{n}", "hypothesis": "h", "scores": {"z": n}, "published": {"chrF": n}}
            for n in (1, 2)
        )
    )
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
                **{"lp": "zh-en", "system": system, "segment": 7, "reference": "1 2.", "hypothesis": "One two."},
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


def judged(annotator: str, **judgement: object) -> dict[str, object]:
    return {"item": "a", "system": "s", "reference": "R.", "hypothesis": "H h.", "annotator": annotator, **judgement}


ANNOTATED: Files = {
    "notes.jsonl": jsonl(
        judged("ann", ratings={"fluency": 9}),
        judged("bob", ratings={"fluency": 1}, errors=[]),
        judged("ann", ratings={"fluency": 2}, errors=[{"start": 2, "end": 3, "severity": "major", "category": "grammar"}]),
        judged("bob", ratings={"fluency": 3}) | {"item": "b", "reference": ["R.", "S."], "hypothesis": "H."},
    )
}


def write(folder: Path, files: Files) -> Path:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def mqm(folder: Path) -> RatedSet:
    return read_mqm(folder / "mqm.tsv", folder / "refs.tsv", language_pair="zh-en")


def mqm_parallel(folder: Path) -> RatedSet:
    return read_mqm(folder / "mqm.tsv", folder / "refs.txt", folder / "src.txt")


def hotel(path: Path) -> RatedSet:
    return read_scores("sfhotel", path)


READ_BAGEL = Released("bagel", BAGEL, single(partial(read_scores, "bagel"), BAGEL))
READ_HOTEL = Released("sfhotel", REPRESENTATIONS, single(hotel, REPRESENTATIONS))
READ_THIRD = Released("webnlg17", THIRD, single(partial(read_scores, "webnlg17"), THIRD))
READ_WMT15 = Released("wmt15", WMT15, single(partial(read_scores, "wmt15"), WMT15))
READ_MQM = Released("mqm", MQM, mqm)
READ_PARALLEL = Released("mqm and parallel texts", MQM, mqm_parallel)
READ_SPANS = Released("wmt23", SPANS, single(read_wmt23, SPANS))
READ_DEMETR = Released("demetr", DEMETR, read_demetr)
READ_COLA = Released("cola", COLA, single(lambda path: list(read_cola(path)), COLA))
READ_OWN = Released("own", OWN, single(read_own, OWN))
READ_ANNOTATED = Released("annotated", ANNOTATED, single(read_own, ANNOTATED))
RELEASED = (READ_BAGEL, READ_HOTEL, READ_THIRD, READ_WMT15, READ_MQM, READ_PARALLEL, READ_SPANS, READ_DEMETR, READ_COLA)
RELEASED += (READ_OWN, READ_ANNOTATED)

# a set, what is changed in its files so that they do not belong together, and the place that the message names
MISPAIRED = {
    "a segment twice": (READ_BAGEL, '"segment": 1', '"segment": 0', "bagel.jsonl:2"),
    "an output twice": (READ_HOTEL, "a one .", "one .", "mr.jsonl:2"),
    "another reference of a segment": (READ_THIRD, '"segment": 2', '"segment": 1', "third.jsonl:3"),
    "a segment of a pair twice": (READ_WMT15, '"segment": 2', '"segment": 1', "wmt15.jsonl:2"),
    "mqm: another source": (READ_MQM, "r2\tYi er", "r2\tYi san", "mqm.tsv:4"),
    "mqm: another target": (READ_MQM, "One two three<v>.", "One two four<v>.", "mqm.tsv:4"),
    "mqm: marks that do not pair": (READ_MQM, "<v>One</v>", "<v>One", "mqm.tsv:2"),
    "mqm: a reference of another source": (READ_MQM, "d\t2\tSan", "d\t2\tSi", "mqm.tsv:8"),
    "mqm: a reference of another document": (READ_MQM, "d\t2\tSan", "e\t2\tSan", "mqm.tsv:8"),
    "mqm: a reference less": (READ_MQM, "d\t2\tSan\tThree!\n", "", "mqm.tsv:8"),
    "mqm: parallel references shifted": (READ_PARALLEL, "Yi er\nSan", "San\nYi er", "mqm.tsv:[28]"),
    "mqm: parallel files of two lengths": (READ_PARALLEL, "San\n", "", "refs.txt:2"),
    "wmt23: marks of another text": (READ_SPANS, '"hypothesis": "One two."', '"hypothesis": "Two two."', "spans.jsonl:1"),
    "wmt23: a span outside": (READ_SPANS, "[4, 8]", "[4, 18]", "spans.jsonl:1"),
    "demetr: another perturbation": (READ_DEMETR, '_empty"', '_full"', "empty.json:entry 1"),
    "demetr: another translation": (READ_DEMETR, '"Translation 1.",\n', '"What else is here.",\n', "repeat2.json:entry 1"),
    "demetr: an item twice": (READ_DEMETR, '"id": 2,\n', '"id": 1,\n', "repeat2.json:entry 2"),
    "demetr: nothing perturbed": (READ_DEMETR, '"Translation."', '"Translation 1."', "removed.json:entry 1"),
    "cola: no label": (READ_COLA, "\t0\t*\t", "\tLeft\t*\t", "cola.tsv:2"),
    "own: another reference": (READ_OWN, "s2\tde-en\tR one.", "s2\tde-en\tR two.", "own.tsv:3"),
    "own: an output twice": (READ_OWN, "1\ts2", "1\ts1", "own.tsv:3"),
    "own: no number": (READ_OWN, "\t1.5\t", "\tgood\t", "own.tsv:3"),
    "annotated: another text": (READ_ANNOTATED, '"H h.", "annotator": "bob"', '"H i.", "annotator": "bob"', "notes.jsonl:2"),
    "annotated: another reference": (
        READ_ANNOTATED,
        '"R.", "hypothesis": "H h.", "annotator": "bob"',
        '"S.", "hypothesis": "H h.", "annotator": "bob"',
        "notes.jsonl:2",
    ),
    "annotated: a mark outside": (READ_ANNOTATED, '"end": 3', '"end": 30', "notes.jsonl:3"),
}


@pytest.mark.parametrize(("released", "old", "new", "place"), MISPAIRED.values(), ids=list(MISPAIRED))
def test_what_does_not_belong_together_is_refused(tmp_path: Path, released: Released, old: str, new: str, place: str) -> None:
    """Every reader reads its files as released; with one thing mispaired it refuses them and names file and line."""
    released.read(write(tmp_path, released.files))
    changed = {name: text.replace(old, new) for name, text in released.files.items()}
    assert changed != released.files
    with pytest.raises(InputError) as refused:
        released.read(write(tmp_path, changed))
    assert re.search(rf"{place}\b", str(refused.value)) and "\n" not in str(refused.value)


def test_one_reference_or_several(tmp_path: Path) -> None:
    """A single reference becomes a tuple of one; outputs for one segment share a group; ratings and published scores stay."""
    row = {"system": "a", "segment": 1, "mr": "M", "reference": "A b.", "hypothesis": "A c.", "scores": {"z": 0.5}}
    other = {**row, "segment": 2, "mr": "N", "reference": ["A b.", "B a."], "lp": "de-en", "published": {"chrF": 2}}
    rows = jsonl(row, {**row, "system": "b", "hypothesis": ""}, other)
    one, two, three = read_scores("webnlg17", write(tmp_path, {"third.jsonl": rows}) / "third.jsonl").segments
    assert [one.references, three.references] == [("A b.",), ("A b.", "B a.")]
    assert one.group == two.group == ("", "1") != three.group == ("de-en", "2")
    assert (one.ratings, one.source, three.published) == ({"z": 0.5}, "M", {"chrF": 2})
    assert one.place.endswith("third.jsonl:1")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("reference", []),
        ("reference", ""),
        ("reference", 3),
        ("hypothesis", None),
        ("scores", {}),
        ("scores", {"quality": "good"}),
        ("scores", {"informativeness": 7, "naturalness": 3, "quality": 3}),
    ],
)
def test_an_item_without_texts_or_ratings_is_named_by_its_line(tmp_path: Path, field: str, value: object) -> None:
    """The message names the line of a missing text, a missing rating or one off the scale from 1 to 6."""
    good = rated("A.", "B.", 3, 3, 3, segment=1)
    folder = write(tmp_path, {"bagel.jsonl": jsonl(good, {**good, "segment": 2, field: value})})
    with pytest.raises(InputError, match="bagel.jsonl:2"):
        read_scores("bagel", folder / "bagel.jsonl")


def test_further_outputs_are_items_of_their_own(tmp_path: Path) -> None:
    """A second output of a system for one meaning representation is numbered."""
    items = [(s.item, s.system, s.references) for s in hotel(write(tmp_path, REPRESENTATIONS) / "mr.jsonl").segments]
    one = ("inform(a=1)",)
    assert items == [("inform(a=1)", "WEN", one), ("inform(a=1)#2", "WEN", one), ("inform(a=1)", "LOLS", one)]


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
    about = (repeated.item, repeated.language, repeated.source, repeated.type)
    assert about == ("1", "german", "Quelle 1 ist da.", "repetition")
    severities = (shuffled.severity, shuffled.released_severity)
    assert (shuffled.identifier, severities, shuffled.category) == (34, ("base", "critical"), "baseline")
    omitted = found["critical_id21_adj_adv_removed"]
    assert (omitted.identifier, omitted.severity, omitted.category) == (20, "major", "mixed")
    assert found["base_id33_empty"].perturbed == "."
    assert len(found) == 4
    (tmp_path / "minor_id99_new.json").write_text("[]")
    with pytest.raises(InputError, match="minor_id99_new"):
        read_demetr(tmp_path)


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
    with pytest.raises(InputError, match="only.jsonl:2: this output is already"):
        read_own(write(tmp_path, {"only.jsonl": jsonl(*({**row, "annotator": ""} for row in rows))}) / "only.jsonl")


def test_specs(tmp_path: Path) -> None:
    """A format with its paths, or the path of one's own file; whatever else lists the choices or the arguments."""
    folder = write(tmp_path, {**OWN, **MQM})
    assert read_rated(str(folder / "own.tsv")).digest == read_rated(f"own:{folder / 'own.tsv'}").digest
    spec = f"mqm:{folder / 'mqm.tsv'},{folder / 'refs.txt'},{folder / 'src.txt'},zh-en"
    assert read_rated(spec).segments[0].language_pair == "zh-en"
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
