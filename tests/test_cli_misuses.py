"""What the command line says to every mistake of a user: one line that names the input, the place and what to do."""

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
    "f.parquet": b"PAR1\x15\x04",
    "picture.txt": b"\x89PNG\r\n\x1a\n",
    "torn.txt.gz": gzip.compress(b"A cat.\n" * 99)[:-9],
    "pairs.tsv": b"reference\thypothesis\nA cat.\tA dog.\n",
    "header.tsv": b"reference\thypothesis\n",
    "other.tsv": b"source\ttarget\nA cat.\tA dog.\n",
    "tab.tsv": b"reference\thypothesis\nA cat.\tA dog.\tyes\n",
    "comma.csv": b"reference,hypothesis\nA cat, black,A dog.\n",
    "quote.csv": b'reference,hypothesis\n"A cat.,A dog.\n',
    "bad.jsonl": b'{"reference": "A cat.", "hypothesis": "A dog."}\n{"reference": \n',
    "half.jsonl": b'{"reference": "A cat."}\n',
    "null.jsonl": b'{"reference": "A cat.", "prediction": null}\n',
    "list.jsonl": b'{"references": [["A cat."]], "prediction": "A dog."}\n',
    "bad.json": b'[{"reference": "A cat.",\n "hypothesis"}]\n',
    "entry.json": b'[{"reference": "A cat.", "hypothesis": "A dog."}, {"reference": "A cat."}]\n',
    "uneven.json": b'{"references": ["A cat."], "predictions": ["A dog.", "A bird."]}\n',
    "no_rating.tsv": b"item\treference\thypothesis\n1\tA cat.\tA cat.\n",
    "no_item.tsv": b"reference\thypothesis\trating\nA cat.\tA cat.\t3\n",
    "groups.jsonl": b'{"reference": "It is late.", "acceptable": ["Late it is."]}\n',
    "both.jsonl": b'{"reference": "It is late.", "acceptable": ["So it is."], "critical": ["So it is."]}\n',
    "blank.tsv": b"reference\thypothesis\nPrices are low.\tPrices are high.\n\tIt is late.\n",
    "two.jsonl": b'{"reference": ["It is late.", ""], "hypothesis": "It is late."}\n',
    "good.tsv": RATED + b"1\tPrices are low.\tPrices are high.\t2\n2\tIt is late.\tIt is late.\t5\n",
    "word.tsv": RATED + b"1\tA cat.\tA cat.\tgood\n",
    "short.tsv": RATED + b"1\tA cat.\tA cat.\n",
    "twice.tsv": RATED + b"1\tA cat.\tA cat.\t1\n1\tA cat.\tA dog.\t1\n",
    "no_reference.tsv": RATED + b"1\t\tA cat.\t3\n",
    "texts.txt": b"It is late.\n" + b"word " * 3000 + b"\n",
}
MISUSES = [
    # no command, or none that there is
    ("rome", "rome: error: the following arguments are required: COMMAND (see `rome --help`)"),
    ("rome scroe ref.txt hyp.txt", "rome: error: there is no command scroe: did you mean score?"),
    ("rome frobnicate", "rome: error: there is no command frobnicate: the commands are in `rome --help`"),
    ("rome ref.txt hyp.txt", "rome: error: there is no command ref.txt: the commands are in `rome --help`"),
    ("rome ref.txt score hyp.txt", "rome: error: there is no command ref.txt: the command comes first, `rome score ref.txt`"),
    ("rome -q score ref.txt hyp.txt", "rome: error: there is no command -q: the command comes first, `rome score -q`"),
    ("rome --versoin", "rome: error: the following arguments are required: COMMAND (see `rome --help`)"),
    ("rome --print-completion fish", "rome: error: argument --print-completion: invalid choice: 'fish'"),
    # options that there are not
    (
        "rome score --refs ref.txt -i hyp.txt",
        "rome score: error: there is no option --refs: did you mean --references? (see `rome score --help`)",
    ),
    ("rome score ref.txt --hyp hyp.txt", "there is no option --hyp: did you mean --hypotheses?"),
    ("rome score ref.txt --hypothesis=hyp.txt", "there is no option --hypothesis: did you mean --hypotheses?"),
    ("rome score ref.txt hyp.txt --verbose", "rome score: error: there is no option --verbose"),
    ("rome score ref.txt hyp.txt -x", "rome score: error: there is no option -x"),
    ("rome score ref.txt hyp.txt --modles small", "there is no option --modles: did you mean --models?"),
    (
        "rome check ref.txt hyp.txt --max-criticals 0",
        "rome check: error: there is no option --max-criticals: did you mean --max-critical?",
    ),
    ("rome explain ref.txt hyp.txt", "rome explain: error: ref.txt is one too many"),
    ("rome score ref.txt -q hyp.txt", "hyp.txt is one too many: name files side by side, before the options or after them"),
    # values that options do not take
    ("rome score ref.txt hyp.txt -f xml", "argument --format/-f: invalid choice: 'xml' (choose from"),
    ("rome score ref.txt hyp.txt -w 0", "'0' is not a whole number of at least 1"),
    ("rome score ref.txt hyp.txt --workers two", "'two' is not a whole number of at least 1"),
    ("rome score ref.txt hyp.txt --rho half", "argument --rho: invalid float value: 'half'"),
    ("rome score ref.txt hyp.txt -i", "argument --hypotheses/-i: expected one argument"),
    (
        "rome score ref.txt hyp.txt --workers 2 --idf references",
        "--idf references weighs words by all references together: take --workers 1",
    ),
    # texts that are named in no way, in half of one, in two
    ("rome score", "rome: error: name the texts: give REF HYP, REF REF2 -i HYP, a TABLE of both sides, or --examples"),
    ("rome score -i hyp.txt", "there are hypotheses and no references: `rome score REF -i hyp.txt`"),
    (
        "rome score --references ref.txt",
        "--references and --hypotheses belong together: give both (`--hypotheses -` reads standard input)",
    ),
    ("rome score ref.txt", "ref.txt holds one side only, the references: give the hypotheses too, `rome score ref.txt HYP`"),
    ("rome check ref.txt", "`rome check ref.txt HYP`, or a table of both (standard input is empty)"),
    ("rome score ref.txt ref.txt hyp.txt", "3 files: say which holds the hypotheses, `rome score REF REF2 -i HYP`"),
    (
        "rome score ref.txt -i hyp.txt -i short.txt",
        "-i was given 2 times: take one system a run, or compare several with `rome report`",
    ),
    ("rome score ref.txt -i hyp.txt short.txt", "short.txt is one too many"),
    ("rome score ref.txt --references ref.txt -i hyp.txt", "the texts were named in several ways: give REF HYP"),
    ("rome score --examples ref.txt hyp.txt", "the texts were named in several ways"),
    ("rome score --examples -i hyp.txt", "the texts were named in several ways"),
    ("rome score pairs.tsv hyp.txt", "pairs.tsv is a table, which holds both sides: give it alone"),
    ("rome score ref.txt pairs.tsv", "pairs.tsv is a table, which holds both sides: give it alone"),
    ("rome score - -", "standard input was named twice: give `-` for one file only"),
    ("rome score - -i -", "standard input was named twice"),
    ("rome score -", "standard input is empty: give a table with a header, or two files with a text a line"),
    ("echo A cat. | rome score -", "standard input holds one side only: give the references too, `rome score REF -i -`"),
    ("rome check pairs.tsv --scores pairs.tsv", "--scores holds the texts already: name either texts or --scores"),
    # files that are not there, or no texts
    ("rome score none.txt hyp.txt", "none.txt does not exist: check the name and the working directory"),
    ("rome score ref.txt none.txt", "none.txt does not exist"),
    ("rome score . hyp.txt", ". is a directory: name a file in it"),
    ("rome score ref.txt hyp.txt -o none/out.txt", "none/out.txt.partial cannot be made"),
    ("rome score ref.txt hyp.txt -o .", ". is a directory: name a file in it to write to"),
    ("rome features ref.txt hyp.txt", "the following arguments are required: --output/-o"),
    ("rome score texts.xlsx", "texts.xlsx is an Excel, Word or ZIP file, not text: save it as CSV, or as one text a line"),
    ("rome score f.parquet", "f.parquet is a Parquet file, not text"),
    ("rome score ref.txt picture.txt", "picture.txt is a picture, not text"),
    (
        "rome score latin.txt hyp.txt",
        "latin.txt:2: byte 0xe9 at byte 7 of the line is not UTF-8: convert the file, for instance `iconv",
    ),
    ("rome score utf16.txt hyp.txt", "utf16.txt is UTF-16, not UTF-8: convert it, `iconv -f utf-16 -t utf-8`"),
    ("rome score torn.txt.gz hyp.txt", "torn.txt.gz"),
    # texts that do not fit together, or cannot be scored
    (
        "rome score ref.txt short.txt",
        "ref.txt has 2 lines and short.txt has 1: give one segment a line, the same number in every file",
    ),
    ("rome score ref.txt short.txt -i hyp.txt", "short.txt has 1 lines and hyp.txt has 2"),
    ("echo A cat. | rome score ref.txt", "ref.txt has 2 lines and standard input has 1"),
    ("rome score empty.txt hyp.txt", "empty.txt has 0 lines and hyp.txt has 2"),
    ("rome score empty.txt empty.txt", "empty.txt and empty.txt hold no segment: give at least one"),
    ("rome score empty.txt", "empty.txt is empty: give a table with a header, or two files with a text a line"),
    ("rome score empty.tsv", "empty.tsv is empty: give a table with a header"),
    (
        "rome score gap.txt hyp.txt",
        "gap.txt+hyp.txt:2:  …  is empty: leave the segment out, or  …  --empty-reference score",
    ),
    ("rome score --references empty.txt -i empty.txt", "empty.txt and empty.txt hold no segment"),
    # tables that are not what they should be
    ("rome score header.tsv", "header.tsv holds no segment: give at least one"),
    (
        "rome score other.tsv",
        "other.tsv:1: the header has the columns source, target: it needs `reference` and `hypothesis`, separated by tabs",
    ),
    ("rome score tab.tsv", "tab.tsv:2: 3 columns, the header has 2: write no tab in a text"),
    ("rome score comma.csv", "comma.csv:2: 3 columns, the header has 2: put a text with a ',' in quotation marks"),
    (
        "rome score quote.csv",
        "quote.csv:2: not CSV (unexpected end of data): put a text with a quotation mark in quotation marks",
    ),
    ("rome score bad.jsonl", "bad.jsonl:2: not JSON ("),
    ("rome score half.jsonl", 'half.jsonl:1: not an object with "reference" and "hypothesis": give both'),
    ("rome score null.jsonl", 'null.jsonl:1: "prediction" is not a text: give one, "" for an empty one'),
    ("rome score list.jsonl", 'list.jsonl:1: "references" is neither a text nor a list of texts: give one or the other'),
    ("rome score bad.json", "bad.json:2: not JSON ("),
    ("rome score entry.json", 'entry.json, entry 2: not an object with "reference" and "hypothesis": give both'),
    (
        "rome score uneven.json",
        'uneven.json: "references" has 1 entries, "predictions" has 2 entries: give one entry a segment in each',
    ),
    # other commands
    (
        "rome explain --reference A",
        "name one pair: --reference TEXT with --hypothesis TEXT, --example N, or --from FILE with --row ID",
    ),
    ("rome explain --example 99", "there is no example 99: choose 0 to"),
    (
        "rome explain --reference '' --hypothesis A",
        " is empty: leave the segment out, or  …  --empty-reference score",
    ),
    (
        "rome annotate ref.txt hyp.txt",
        "name the pairs to rate and --output FILE for the ratings (or --agreement FILE to read some)",
    ),
    ("rome annotate pairs.tsv -o out.jsonl --scale bad", "bad"),
    ("echo A cat. | rome annotate short.txt -o out.jsonl", "standard input cannot be annotated: write the texts to a file"),
    (
        "rome report --references ref.txt --hypotheses hyp.txt -o out.html",
        "--hypotheses must be SYSTEM=FILE, such as baseline=hyp.txt, got 'hyp.txt'",
    ),
    ("rome compare pairs.tsv pairs.tsv", "pairs.tsv was given twice: name two results"),
    ("rome compare ref.txt hyp.txt", "ref.txt:1: not JSON"),
    ("rome annotate header.tsv -o out.jsonl", "header.tsv holds no segment: give at least one"),
    ("rome compare none.jsonl pairs.tsv", "none.jsonl does not exist: check the name and the working directory"),
    ("rome rescore none.parquet", "none.parquet does not exist"),
    ("rome train cooking", "invalid choice: 'cooking'"),
    # rated sets and experiments, without any public data; models
    (
        "rome evaluate nowhere.tsv",
        "nowhere.tsv does not exist and is no rated set: name a file of your own, one of the sets bagel, ",
    ),
    (
        "rome evaluate webnlg",
        "webnlg does not exist and is no rated set: name a file of your own, one of the sets bagel, bagel-mr, ",
    ),
    ("rome evaluate own:nowhere.tsv", "nowhere.tsv does not exist"),
    ("rome evaluate mqm:one", "mqm: 1 arguments where mqm:path,references,[sources],[language_pair] is wanted"),
    ("rome evaluate no_rating.tsv", "no_rating.tsv:2: needs an item and a column rating or rating:NAME with a number"),
    ("rome evaluate no_item.tsv", "no_item.tsv:1: no column item among reference, hypothesis, rating"),
    ("rome evaluate word.tsv", "word.tsv:2: rating:quality must be a finite number, got 'good'"),
    ("rome evaluate short.tsv", "short.tsv:2: 3 columns, the header has 4"),
    ("rome evaluate twice.tsv", "twice.tsv:3: this system has item 1 already in twice.tsv:2"),
    ("rome evaluate empty.tsv", "empty.tsv is empty: it needs a header with item, reference, hypothesis"),
    ("rome evaluate no_reference.tsv", "no_reference.tsv:2: the reference is missing or empty"),
    ("rome evaluate good.tsv --metric chrff", "the metric 'chrff' is unknown: choose one of rome, rome-supervised"),
    ("rome evaluate good.tsv --metric my:metric", "my:metric cannot be imported"),
    ("rome evaluate good.tsv --metric mine=nowhere.txt", "nowhere.txt does not exist"),
    ("rome evaluate good.tsv --metric chrf chrf", "two metrics are called chrF2: give each once"),
    ("rome evaluate good.tsv --figure kendal", "the figure 'kendal' is unknown: write STATISTIC or STATISTIC/AVERAGE"),
    ("rome evaluate good.tsv --samples 0", "--samples 0 gives no interval: take 1 or more, 1000 is usual"),
    (
        "rome evaluate good.tsv --models best",
        "the models 'best' are unknown: give base, small, paper, or the folder of a model set",
    ),
    ("rome evaluate good.tsv --rho 2", "rho must be in [0, 1], where 0 is the paper's cost, got 2.0"),
    (
        "rome diagnose",
        "name an experiment (texts, robustness, demetr, meaning, ablation, drift), or your texts",
    ),
    ("rome diagnose --texts nowhere.txt", "nowhere.txt does not exist"),
    ("rome diagnose meaning nowhere.jsonl --metric length", "nowhere.jsonl does not exist"),
    ("rome diagnose meaning groups.jsonl --metric length", "groups.jsonl:1: critical is missing: give `reference` with"),
    ("rome diagnose meaning both.jsonl --metric length", "both.jsonl:1: 'So it is.' is both acceptable and critical"),
    ("rome diagnose ablation", "ablation needs a rated SET, see `rome evaluate --help`"),
    ("rome perturb texts.txt", "texts.txt:2: the text has "),
    (
        "rome score blank.tsv --models small",
        "blank.tsv:3: reference 1 is empty: leave the segment out, or take --empty-reference score",
    ),
    ("rome score two.jsonl --models small", "two.jsonl:1: reference 2 is empty: leave the segment out"),
    ("rome selfcheck --models nowhere/", "nowhere does not exist: name a model set or its folder"),
]
DEVELOPERS = re.compile(
    r"Traceback|\w\[\d|\b(True|False|None)\b|\w=['\"(\[]|Error\b|argparse|positional|RoMe\(|ModelConfig|Combiner|--record|decode\(|"
    r"\bargument\b(?! -| name:| \(see)"
)
"""What no such line may hold."""


@pytest.mark.parametrize(("line", "message"), MISUSES, ids=[line for line, _ in MISUSES])
def test_every_misuse_gets_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    line: str,
    message: str,
) -> None:
    """Exit code 2, nothing on standard output or on the disk, one line on standard error in the user's own words; "…" stands for some."""
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
    assert all(part in err for part in message.split("  …  ")) and err.startswith("rome"), err
    assert DEVELOPERS.search(err) is None, err
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)


def test_the_table_is_long() -> None:
    """At least a hundred lines, no two alike."""
    assert len({line for line, _ in MISUSES}) == len(MISUSES) >= 100


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
