"""Mistakes of users of the command line: one line that names the input, the place and the remedy."""

from __future__ import annotations

import gzip
import io
import re
import shlex
from pathlib import Path

import pytest

from rome.cli import main

RATED = b"item\treference\thypothesis\trating:quality\n"
FILES: dict[str, bytes] = {
    "ref.txt": b"A cat.\nA dog.\n",
    "hyp.txt": b"A cat.\nA bird.\n",
    "short.txt": b"A cat.\n",
    "gap.txt": b"A cat.\n\n",
    "empty.txt": b"",
    "empty.tsv": b"",
    "latin.txt": "A cat.\nUn café.\n".encode("latin1"),
    "utf16.txt": "A cat.\n".encode("utf-16"),
    "texts.xlsx": b"PK\x03\x04\x14\x00\xff",
    "torn.txt.gz": gzip.compress(b"A cat.\n" * 99)[:-9],
    "pairs.tsv": b"reference\thypothesis\nA cat.\tA dog.\n",
    "header.tsv": b"reference\thypothesis\n",
    "torn.parquet": b"PAR1 and no more",
    "other.tsv": b"source\ttarget\nA cat.\tA dog.\n",
    "comma.csv": b"reference,hypothesis\nA cat, black,A dog.\n",
    "quote.csv": b'reference,hypothesis\n"A cat.,A dog.\n',
    "bad.jsonl": b'{"reference": "A cat.", "hypothesis": "A dog."}\n{"reference": \n',
    "half.jsonl": b'{"reference": "A cat."}\n',
    "columns.tsv": b"reference\thypothesis\thypothesis\nA cat.\tA cat.\tA dog.\n",
    "columns.csv": b"id,reference,id,hypothesis\n1,A cat.,2,A cat.\n",
    "names.jsonl": b'{"reference": "A cat.", "hypothesis": "A dog.", "hypothesis": "A cat."}\n',
    "scores.jsonl": b'{"score": 1.0, "id": "x", "score": 0.5}\n',
    "blank.txt": b"\n",
    "null.jsonl": b'{"reference": "A cat.", "prediction": null}\n',
    "entry.json": b'[{"reference": "A cat.", "hypothesis": "A dog."}, {"reference": "A cat."}]\n',
    "no_rating.tsv": b"item\treference\thypothesis\n1\tA cat.\tA cat.\n",
    "no_item.tsv": b"reference\thypothesis\trating\nA cat.\tA cat.\t3\n",
    "groups.jsonl": b'{"reference": "It is late.", "acceptable": ["Late it is."]}\n',
    "both.jsonl": b'{"reference": "It is late.", "acceptable": ["So it is."], "critical": ["So it is."]}\n',
    "two.jsonl": b'{"reference": ["It is late.", ""], "hypothesis": "It is late."}\n',
    "good.tsv": RATED + b"1\tPrices are low.\tPrices are high.\t2\n2\tIt is late.\tIt is late.\t5\n",
    "word.tsv": RATED + b"1\tA cat.\tA cat.\tgood\n",
    "twice.tsv": RATED + b"1\tA cat.\tA cat.\t1\n1\tA cat.\tA dog.\t1\n",
    "no_reference.tsv": RATED + b"1\t\tA cat.\t3\n",
    "texts.txt": b"It is late.\n" + b"word " * 3000 + b"\n",
}
MISUSES = [
    # commands and options that there are not
    ("rome", "COMMAND … `rome --help`"),
    ("rome scroe ref.txt hyp.txt", "scroe … score?"),
    ("rome frobnicate", "frobnicate … `rome --help`"),
    ("rome --print-completion fish", "--print-completion … 'fish'"),
    ("rome score --refs ref.txt -i hyp.txt", "rome score … --refs"),
    ("rome check ref.txt hyp.txt --max-criticals 0", "rome check … --max-criticals … --max-critical?"),
    ("rome score ref.txt -q hyp.txt", "hyp.txt … side by side"),
    ("rome score --reference A", "--reference: … --references or `rome explain`?"),
    ("rome score ref.txt hyp.txt --min-score .5", "--min-score: … `rome check`?"),
    ("rome score ref.txt --predictions hyp.txt", "--predictions … --hypotheses?"),
    ("rome explain A B", "A is one too many … --reference TEXT with --hypothesis TEXT"),
    ("rome score ref.txt hyp.txt --metrics blue", "one of bleu, chrf … got blue"),
    # values that options do not take
    ("rome score ref.txt hyp.txt -f xml", "--format … 'xml' … choose from"),
    ("rome score ref.txt hyp.txt --workers two", "--workers … 'two' … at least 1"),
    ("rome score ref.txt hyp.txt -o none/out.txt", "none/out.txt … cannot be created"),
    ("rome score ref.txt hyp.txt -o .", ". is a directory … name a file"),
    # texts that are named in no way, in half of one, in two
    ("rome score", "name the texts … REF HYP … --examples"),
    ("rome score -i hyp.txt", "name the texts … REF HYP"),
    ("rome check ref.txt", "ref.txt … one side … `rome check REF HYP`"),
    ("echo A cat. | rome score -", "standard input … one side"),
    ("rome score ref.txt ref.txt hyp.txt", "in one way … -i HYP"),
    ("rome score ref.txt -i hyp.txt -i short.txt", "-i … 2 times … `rome report`"),
    ("rome score ref.txt pairs.tsv", "pairs.tsv is a table … give it alone"),
    ("rome score -", "standard input holds one side only … a table"),
    ("rome check pairs.tsv --scores pairs.tsv", "--scores … either"),
    # files that are not there, or no texts
    ("rome score ref.txt none.txt", "none.txt does not exist"),
    ("rome score . hyp.txt", ". is a directory … name a file"),
    ("rome score texts.xlsx", "texts.xlsx is an Excel … save it as CSV"),
    ("rome score latin.txt hyp.txt", "latin.txt:2: … 0xe9 at byte 7 … iconv"),
    ("rome score utf16.txt hyp.txt", "utf16.txt is UTF-16 … in UTF-8"),
    ("rome score torn.txt.gz hyp.txt", "torn.txt.gz"),
    # texts that do not fit together, or cannot be scored
    ("rome score ref.txt short.txt -i hyp.txt", "short.txt has 1 lines and hyp.txt has 2"),
    ("echo A cat. | rome score ref.txt", "ref.txt has 2 lines and standard input has 1"),
    ("rome score empty.txt empty.txt", "no segment … at least one"),
    ("rome score empty.tsv", "empty.tsv holds one side only … a table"),
    ("rome score gap.txt hyp.txt", "gap.txt+hyp.txt:2: … empty … --empty-reference score"),
    ("rome score two.jsonl --models small", "two.jsonl:1: reference 2 is empty"),
    # tables that are not what they should be
    ("rome score header.tsv", "no segment … at least one"),
    ("rome score other.tsv", "other.tsv:1: … source, target … --hypothesis-column"),
    ("rome score comma.csv", "comma.csv:2: 3 columns … quotation marks"),
    ("rome score quote.csv", "quote.csv:2: not CSV … quotation marks"),
    ("rome score bad.jsonl", "bad.jsonl:2: not JSON"),
    ("rome score half.jsonl", "half.jsonl:1: … reference and hypothesis, got reference. … --hypothesis-column NAME"),
    ("rome score other.tsv --reference-column target --hypothesis-column mt", "target and mt … source, target … -column"),
    ("rome score ref.txt hyp.txt --hypothesis-column mt", "one table"),
    ("rome score torn.parquet", "torn.parquet is a damaged Parquet file"),
    ("rome score null.jsonl", 'null.jsonl:1: "prediction"'),
    ("rome score columns.tsv", "columns.tsv:1: the header has the column hypothesis twice"),
    ("rome score columns.csv", "columns.csv:1: the header has the column id twice"),
    ("rome score names.jsonl", "names.jsonl:1: not JSON (the name 'hypothesis' occurs twice in one object)"),
    ("rome check --scores scores.jsonl", "scores.jsonl:1: … the name 'score' occurs twice"),
    ("rome score entry.json", "entry.json:1, entry 2:"),
    # other commands
    ("rome explain --example 99", "99 … 0 to"),
    ("rome explain --reference '' --hypothesis A", "empty … --empty-reference score"),
    ("rome annotate ref.txt hyp.txt", "--output FILE"),
    ("echo A cat. | rome annotate short.txt -o out.jsonl", "standard input … to a file"),
    ("rome report --references ref.txt --hypotheses hyp.txt -o out.html", "--hypotheses … SYSTEM=FILE … 'hyp.txt'"),
    ("rome compare ref.txt hyp.txt", "ref.txt:1: not JSON"),
    ("rome check --scores none.jsonl", "none.jsonl does not exist"),
    ("rome check --scores null.jsonl --max-critical -1", "critical must be 0 or more errors, got -1"),
    ("rome explain --row 3", "--from FILE needs"),
    ("rome explain --from null.jsonl", "--row ID or --worst N"),
    ("rome annotate pairs.tsv", "name the"),
    ("rome annotate pairs.tsv --agreement ref.txt", "name the"),
    ("rome report --references ref.txt --hypotheses A=short.txt -o p.html", "ref.txt has 2 lines and short.txt has 1"),
    ("rome report --references ref.txt --hypotheses A=hyp.txt A=hyp.txt -o p.html", "A was given twice"),
    ("rome report --references ref.txt -o p.html", "belong together"),
    ("rome report --pairs ref.txt --scores A=hyp.txt -o p.html", "in one way"),
    ("rome report --references gap.txt --hypotheses A=hyp.txt -o p.html", "gap.txt+hyp.txt:2:"),
    ("rome perturb", "name the texts"),
    ("rome perturb ref.txt --perturbation typo", "no perturbation 'typo'"),
    ("rome perturb ref.txt --antonyms none.tsv", "none.tsv does not exist"),
    ("rome perturb ref.txt --limit 0", "--limit … whole number"),
    ("rome rescore none.parquet", "none.parquet does not exist"),
    ("rome train cooking", "'cooking'"),
    ("rome perturb texts.txt", "texts.txt:2:"),
    ("rome selfcheck --models nowhere/", "nowhere does not exist … model set"),
    # rated sets and experiments, without any public data
    ("rome evaluate webnlg", "webnlg … bagel, bagel-mr"),
    ("rome evaluate mqm:one", "mqm"),
    ("rome evaluate no_rating.tsv", "no_rating.tsv:2: … rating"),
    ("rome evaluate no_item.tsv", "no_item.tsv:1: … item"),
    ("rome evaluate good.tsv good.tsv", "two sets are called"),
    ("rome evaluate good.tsv --dimension colour", "colour"),
    ("rome evaluate word.tsv", "word.tsv:2: … 'good'"),
    ("rome evaluate twice.tsv", "twice.tsv:3: … twice.tsv:2"),
    ("rome evaluate no_reference.tsv", "no_reference.tsv:2: … reference"),
    ("rome evaluate good.tsv --metric chrff", "'chrff' … rome-supervised"),
    ("rome evaluate good.tsv --metric mine=nowhere.txt", "nowhere.txt does not exist"),
    ("rome evaluate good.tsv --metric chrf chrf", "chrF2 … once"),
    ("rome evaluate good.tsv --figure kendal", "'kendal' … STATISTIC"),
    ("rome evaluate good.tsv --models best", "'best' … base, small"),
    ("rome evaluate good.tsv --rho 2", "rho must be in [0, 1] … got 2.0"),
    ("rome score good.tsv --set delta=0.4", "--set must be FEATURE.SETTING=VALUE … semantic … 'delta=0.4'"),
    ("rome score good.tsv --set semantic.delt=0.4", "semantic must be … no field delt among … delta"),
    ("rome diagnose", "texts, robustness … --texts FILE"),
    ("rome diagnose meaning groups.jsonl --metric length", "groups.jsonl:1: critical"),
    ("rome diagnose meaning both.jsonl --metric length", "both.jsonl:1: 'So it is.'"),
    ("rome diagnose ablation", "ablation … SET"),
    ("rome diagnose texts", "needs --texts"),
    ("rome diagnose demetr --texts texts.txt", "does not take --texts"),
    ("rome diagnose demetr --demetr . --metric length", "entry.json:1: no perturbation of DEMETR"),
    ("rome diagnose --texts blank.txt --metric length", "has no text"),
    ("rome evaluate nowhere.tsv", "not a rated set"),
    ("rome evaluate good.tsv --samples 0", "--samples … '0'"),
    ("rome evaluate good.tsv --metric length --store good.tsv", "is a file: name a folder"),
]
"""A command, and what its message must name in this order: the input, the place, the remedy."""
DEVELOPERS = re.compile(
    r"Traceback|\w\[\d|\b(True|False|None)\b|\w=['\"(\[]|Error\b|argparse|\bpositional|RoMe\(|ModelConfig|Combiner|--record|decode\(|"
    r"\bargument\b(?! -| name:| \(see)"
)
"""What no such line may hold."""


@pytest.mark.parametrize(("line", "message"), MISUSES, ids=[line for line, _ in MISUSES])
def test_every_misuse_gets_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str, message: str
) -> None:
    """Exit code 2, nothing on standard output or on the disk, and one line that names input, place and remedy."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROME_DATA", str(tmp_path / "nowhere"))
    *piped, words = line.split(" | ")
    given = "".join(f"{text.removeprefix('echo ')}\n" for text in piped)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
    code = main(shlex.split(words)[1:])
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith("rome") and re.search(".*".join(map(re.escape, message.split(" … "))), err), err
    assert DEVELOPERS.search(err) is None, err
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)


PUBLIC = {
    "bagel": "human/bagel_references.jsonl.gz",
    "webnlg17": "human/webnlg17_third.jsonl.gz",
    "wmt15": "human/wmt15_da_to-en.jsonl.gz",
    "wmt23": "human/wmt23_mqm_zh-en_spans.jsonl.gz",
}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_set_that_is_not_there(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether ROME_DATA is unset, names nothing or a folder without the file: the variable, the file, and where the set comes from."""
    monkeypatch.chdir(tmp_path)
    for place, said in (
        (None, "ROME_DATA is not set"),
        ("nowhere", "ROME_DATA names nowhere, which does not exist"),
        (str(tmp_path), "does not exist: name in ROME_DATA the folder"),
    ):
        if place is None:
            monkeypatch.delenv("ROME_DATA", raising=False)
            monkeypatch.setattr("rome.data.sources.__file__", str(tmp_path / "a" / "b" / "c.py"))
        else:
            monkeypatch.setenv("ROME_DATA", place)
        assert main(["evaluate", name, "--metric", "length"]) == 2
        error = capsys.readouterr().err
        assert said in error and PUBLIC[name] in error and "from " in error and error.count("\n") == 1, error
        assert not DEVELOPERS.search(error)


@pytest.mark.parametrize(("command", "names"), [("evaluate", (*PUBLIC, "sfhotel")), ("diagnose", ("demetr", "handmade"))])
def test_the_help_says_which_sets_exist(command: str, names: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Each set with its source and the file that it belongs in."""
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "ROME_DATA" in shown
    for name in names:
        assert re.search(rf"^  {name} +\w.*\n +from .*\n +file \$ROME_DATA/\w", shown, re.M), name
    assert all(len(line) <= 120 for line in shown.splitlines())
