"""How pairs are named on the command line, as sacrebleu's users expect it, what is printed of the mean, and how wide a table is."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rome.cli import COMMANDS, SHELLS, main
from rome.text_table import display_width, terminal_width

Run = Callable[..., tuple[int, str, str]]
REFERENCES, HYPOTHESES = ["A cat, a dog.", 'She said "no".'], ["A cat, a dog.", "He left."]
SCORES = ["1.000000", "0.500000"]


@pytest.fixture
def rome(fake_metric: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in a folder with texts, with a metric without models; exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    for name, texts in (("ref.txt", REFERENCES), ("ref2.txt", ["x", "y"]), ("hyp.txt", HYPOTHESES)):
        (tmp_path / name).write_text("\n".join([*texts, ""]))

    def run(*words: str, given: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        code = main(list(words), metric=lambda _: fake_metric)
        return code, *capsys.readouterr()

    return run


def scores(answer: tuple[int, str, str]) -> list[str]:
    """The scores of tab-separated output that came without any complaint."""
    code, out, err = answer
    assert (code, err) == (0, "")
    rows = [line.split("\t") for line in out.splitlines()]
    column = rows[0].index("score")
    return [row[column] for row in rows[1:]]


PIPED = "\n".join([*HYPOTHESES, ""])


def table(path: Path, rows: list[dict[str, str]]) -> str:
    """Write rows in the format of the path's ending; texts with a quotation mark not in a TSV."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix.startswith(".json"):
        path.write_text("\n".join(map(json.dumps, rows)) if path.suffix == ".jsonl" else json.dumps(rows))
    else:
        with open(path, "w", newline="") as stream:
            writer = csv.DictWriter(stream, rows[0], delimiter="," if path.suffix == ".csv" else "\t")
            writer.writeheader()
            writer.writerows(rows)
    return path.name


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.json", "a.jsonl", "a.parquet"])
def test_columns_of_other_names(rome: Run, tmp_path: Path, name: str) -> None:
    """The message lists those that are there and the options; with these every reader of pairs takes the file."""
    texts = zip(REFERENCES, HYPOTHESES, ("x", "y"), strict=True)
    rows = [{"system": "s", "target": ref, "mt": hyp, "target_url": url} for ref, hyp, url in texts]
    given, options = table(tmp_path / name, rows), ("--reference-column", "target", "--hypothesis-column", "mt")
    code, out, err = rome("score", given)
    assert (code, out) == (2, "") and "got system, target, mt, target_url" in err and " ".join(options) in err
    assert scores(rome("score", given, *options, "-f", "tsv")) == SCORES
    assert rome("check", given, *options, "--min-score", "0.4")[0] == 0
    assert "\ns\t1\t0.75\t" in rome("report", "--pairs", given, *options, "-f", "tsv")[1]
    usual = table(tmp_path / f"b{name}", [{"reference": row["target"], "hypothesis": row["mt"]} for row in rows])
    assert scores(rome("score", usual, "-f", "tsv")) == SCORES


def test_other_metrics_and_the_reference(rome: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence scores of sacrebleu for the best reference, their means and signatures; without it, how to install it."""
    sacrebleu = pytest.importorskip("sacrebleu")
    words = ("score", "ref.txt", "ref2.txt", "-i", "hyp.txt", "--metrics", "chrf", "bleu", "--show", "reference")
    rows = zip(REFERENCES, ["x", "y"], HYPOTHESES, strict=True)
    expected = [max(sacrebleu.sentence_chrf(hyp, [ref]).score for ref in refs) for *refs, hyp in rows]
    header, *rows = (line.split("\t") for line in rome(*words, "-f", "tsv")[1].splitlines())
    assert header.index("bleu") == header.index("chrf") + 1 == header.index("faithfulness") + 2
    assert [float(row[header.index("chrf")]) for row in rows] == pytest.approx(expected, abs=1e-6)
    assert [row[header.index("reference_text")] for row in rows] == REFERENCES
    whole = json.loads(rome(*words, "-f", "json")[1])
    assert [row["metrics"]["chrf"] for row in whole["segments"]] == pytest.approx(expected)
    assert whole["metrics"]["chrf"]["score"] == pytest.approx(sum(expected) / 2)
    assert "nc:6" in whole["metrics"]["chrf"]["signature"]
    lines = rome(*words)[1].splitlines()
    assert lines[0].split()[5:12] == ["errors", "complete", "faithful", "chrf", "bleu", "reference", "hypothesis"]
    assert lines[-1].startswith("bleu: bleu:sentence|")
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    code, out, err = rome(*words)
    assert (code, out) == (2, "") and "pip install" in err and "sacrebleu" in err


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("ref.txt hyp.txt", ""),
        ("ref.txt -i hyp.txt", ""),
        ("-i hyp.txt ref.txt", ""),
        ("ref.txt ref2.txt -i hyp.txt", ""),
        ("-i hyp.txt ref.txt ref2.txt", ""),
        ("ref.txt", PIPED),
        ("ref.txt -", PIPED),
        ("ref.txt -i -", PIPED),
        ("--references ref.txt --references ref2.txt --hypotheses hyp.txt", ""),
        ("--references ref.txt ref2.txt -i -", PIPED),
    ],
)
def test_every_way_to_name_texts(rome: Run, words: str, given: str) -> None:
    """The same scores, whichever way references and hypotheses are named."""
    assert scores(rome("score", *words.split(), "-f", "tsv", given=given)) == SCORES


ROWS = [{"reference": one, "hypothesis": two} for one, two in zip(REFERENCES, HYPOTHESES, strict=True)]
FACE = [{"references": [row["reference"]], "prediction": row["hypothesis"]} for row in ROWS]
CSV = 'reference,hypothesis\n"A cat, a dog.","A cat, a dog."\n"She said ""no"".",He left.\n'
TABLES = {
    "a.tsv": 'reference\thypothesis\nA cat, a dog.\tA cat, a dog.\nShe said "no".\tHe left.\n',
    "a.csv": CSV,
    "excel.csv": CSV.replace("reference,", "reference;").replace('dog.","', 'dog.";"').replace(",He", ";He"),
    "header": CSV,
    "a.jsonl": "".join(f"{json.dumps(row)}\n" for row in FACE),
    "lines.json": "".join(f"{json.dumps(row)}\n" for row in ROWS),
    "array.json": json.dumps(FACE, indent=2),
    "array": json.dumps(ROWS),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_kind_of_table(rome: Run, name: str) -> None:
    """The same scores from a file and from standard input, by ending or by header."""
    Path(name).write_text(TABLES[name])
    assert scores(rome("score", name, "-f", "tsv")) == SCORES
    assert scores(rome("score", "-", "-f", "tsv", given=TABLES[name])) == SCORES


def test_a_text_in_a_csv_file_may_have_several_lines(rome: Run) -> None:
    """Faults are placed at the line where the row begins."""
    Path("a.csv").write_text('id,reference,hypothesis\nx,"two\nlines","two\nlines"\ny,,b\n')
    assert re.search("a.csv:5: .*reference.* is empty", rome("score", "a.csv")[2])
    Path("a.csv").write_text('id,reference,hypothesis\nx,"two\nlines","two\nlines"\n')
    assert scores(rome("score", "a.csv", "-f", "tsv")) == ["1.000000"]


def test_the_mean_alone(rome: Run) -> None:
    """-q prints one number, whatever the format; with -o the file is written and holds what it would."""
    assert rome("score", "ref.txt", "hyp.txt", "-q") == (0, "0.750\n", "")
    assert rome("score", "ref.txt", "-i", "hyp.txt", "-qw", "2") == (0, "0.75\n", "")
    for form in ("table", "tsv", "json", "jsonl"):
        assert rome("score", "ref.txt", "hyp.txt", "-q", "-f", form) == (0, "0.750\n", "")
        expected = rome("score", "ref.txt", "hyp.txt", "-f", form)[1]
        assert rome("score", "ref.txt", "hyp.txt", "-q", "-f", form, "-o", "out") == (0, "0.750\n", "")
        assert Path("out").read_text() == expected
        said = rome("score", "ref.txt", "hyp.txt", "-f", form, "-o", "out")
        assert said == (0, "", "rome: mean 0.750 of 2 segments: out\n")


def test_short_options_and_the_gate(rome: Run) -> None:
    """`rome check`, `rome features` and `rome explain` know the same names."""
    assert rome("check", "ref.txt", "hyp.txt", "-q", "--max-major", "0") == (1, "", "")
    assert rome("features", "ref.txt", "-i", "hyp.txt", "-o", "f.parquet")[0] == 0
    assert json.loads(rome("explain", "--example", "0", "-f", "json")[1])
    assert rome("-V")[1] == rome("score", "-V")[1] == rome("--version")[1]


@pytest.mark.parametrize("columns", [72, 80, 120, 200])
def test_a_table_fits_the_terminal(rome: Run, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is wider; a wider terminal shows more; elsewhere texts are whole."""
    whole = rome("score", "--examples")[1].splitlines()
    monkeypatch.setattr("rome.cli.formats.terminal_width", lambda _: columns)
    lines = rome("score", "--examples")[1].splitlines()[:-2]
    assert max(map(display_width, lines)) <= columns and len(lines) == len(whole) - 2
    assert max(map(display_width, whole[:-2])) > columns or lines == whole[:-2]
    assert "…" not in "".join(whole)


def test_people_rate_what_was_named_in_the_same_ways(rome: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """`rome annotate` takes text files and tables, and hands them to the page."""
    from rome.exceptions import InputError

    pytest.importorskip("starlette")
    Path("a.csv").write_text(CSV)

    def seen(study: Any, **_: object) -> None:
        raise InputError(" / ".join(item.hypothesis for item in study.items.values()))

    monkeypatch.setattr("rome.evaluation.annotate.server.AnnotationServer", seen)
    for words in (("ref.txt", "hyp.txt"), ("ref.txt", "-i", "hyp.txt"), ("a.csv",)):
        assert rome("annotate", *words, "-o", "out.jsonl")[2] == f"rome: error: {' / '.join(HYPOTHESES)}\n"


def test_no_option_can_be_shortened(rome: Run) -> None:
    """Nor in any command: what is no option is named, with the one that was meant."""
    for name in COMMANDS:
        code, out, err = rome(name, *(["errors"] if name == "train" else []), "--hel")
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert err.startswith(f"rome {name}"), err


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes(rome: Run, shell: str) -> None:
    """The script names every command; bash can read it."""
    code, out, err = rome("--print-completion", shell)
    assert (code, err) == (0, "") and all(name in out for name in COMMANDS)
    if shell == "bash":
        asked = 'COMP_WORDS=(rome score --hypothese); COMP_CWORD=2; _shtab_rome rome --hypothese score; echo "${COMPREPLY[*]}"'
        answer = subprocess.run(["bash", "-c", f"{out}\n{asked}"], capture_output=True, text=True, check=True)
        assert answer.stdout.split() == ["--hypotheses"]


def test_the_terminal_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its width counts where the table goes there, and nowhere else."""
    monkeypatch.setattr(sys, "stdout", type("Terminal", (io.StringIO,), {"isatty": lambda _: True})())
    monkeypatch.setenv("COLUMNS", "90")
    assert (terminal_width(None), terminal_width("-"), terminal_width("out.txt")) == (90, 90, None)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert terminal_width(None) is None
