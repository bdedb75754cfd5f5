"""Hostile texts and files against the whole metric: a score in [0, 1] or one clear error, in bounded time, and nothing run or reached."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rome.cli import main
from rome.combining.combiner import Combiner
from rome.exceptions import ModelMissingError
from rome.features.analyser.config import set_folder
from rome.features.analyser.parser import MODELS, embedded_pipeline
from rome.features.errors.errors import Errors
from rome.features.errors.typos import tidy
from rome.features.flags import FLAGS, flags_of
from rome.features.grammar import Grammar, GrammarConfig
from rome.features.idf import IdfTable
from rome.features.semantic import Semantic
from rome.features.syntax import Syntax
from rome.features.text import visible
from rome.features.windows import MOST_CHARACTERS
from rome.metric import RoMe
from rome.text_table import display_width, shorten

from handmade import analysis, guessing
from whole_metric import whole_metric

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
HOSTILE = (
    *("\u202e", "\u202c", "\u2066", "\u2069", "\u200f", "\u061c"),  # direction
    *("\u0301", "\u0336", "\u20dd", "\ufe0f", "\U000e0100"),  # marks on the letter before
    *("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u180e"),  # no width
    *(FAMILY, "\U0001f3f3\ufe0f\u200d\U0001f308", "\U0001f1e6", "\U0001f44d\U0001f3fd"),
    *("\0", "\x01", "\x07", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\r", "\n\n", "\t"),
    *("\ue000", "\U0010ffff", "\ufffe", "\ufdd0", "\ufffd"),  # private, never assigned, replaced
    *("\u3000", "\u00a0", "\u1680", "\u2800", "\u3164", "\uffa0"),  # blanks, and letters that look like them
    *("ﷺ", "ß", "İ", "ı", "ﬁ", "ǅ", "Ω", "²", "½", "٣", "৩", "Ⅷ", "日本", "한", "ไ", "हिन्दी", "עב", "كتاب", "𝒳"),
    *("' \" ” - -- _ ( [[ <b> &amp; =1+1 @x \\ /../ %s {0} don't n't".split()),
    "can not",
    *("1e999", "9" * 400, "1,000.5", "0x10", "-0", "NaN", "three", "not", "a", "The", "cat", "sat", ".", "!", "?", "..."),
)
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEPARATORS = ("", "", " ", "  ")
WORDS = st.lists(
    st.tuples(st.one_of(st.sampled_from(HOSTILE), st.characters(exclude_categories=["Cs"])), st.sampled_from(SEPARATORS)),
    max_size=25,
)
TEXT = WORDS.map(lambda parts: "".join(part + blank for part, blank in parts))
REFERENCE = "The cat sat on the old mat, and it did not move for 3 hours."
CHOSEN = {
    "every hostile piece": " ".join(HOSTILE),
    "every hostile piece, no blanks": "".join(HOSTILE),
    "reversed by a control": f"\u202e{REFERENCE}\u202c",
    "ten thousand marks on one letter": "The ca" + "\u0301" * 10_000 + "t sat.",
    "ten thousand marks between words": "\u0301 " * 300,
    "a word of five thousand letters": "a" * 1_000,
    "letters and joints": "a-" * 200 + "b",
    "an address": "http://" + "a.b/" * 100,
    "private use only": "\ue000\uf8ff" * 50,
    "families": FAMILY * 40,
    "nothing but NUL": "\0" * 1_000,
    "NUL between letters": "\0".join(REFERENCE),
    "nothing but line ends": "\n" * 5_000,
    "a paragraph a letter": "a\n\n" * 40,
    "a sentence, over and over": f"{REFERENCE} " * 8,
    "brackets only": "(" * 100,
    "blanks around": " " * 9_000 + "cat" + "\t" * 9_000,
    "another script": "日本語の文章は長いです" * 20,
    "escapes of a terminal": "\x1b[2J\x1b]0;title\x07" * 20 + REFERENCE,
}


@pytest.fixture(scope="module")
def metric() -> RoMe:
    return RoMe(models="small", progress=False)


def unit(values: Any) -> bool:
    """Whether all numbers are finite and in [0, 1]."""
    found = np.asarray(values, dtype=float)
    return bool(np.all((found >= 0.0) & (found <= 1.0)))


# The whole metric, with the real models


def check_segment(segment: Any) -> None:
    """A score and four components in [0, 1], all its evidence as JSON, all its places in the text."""
    assert unit([segment.score, *(part.value for part in segment.components)])
    assert 1.0 + sum(segment.contributions) == pytest.approx(segment.score, abs=1e-6)
    json.dumps(segment.to_dict(evidence=True), allow_nan=False).encode("utf-8")
    for error in segment.evidence.errors.errors:
        for span, text in ((error.reference, segment.reference), (error.hypothesis, segment.hypothesis)):
            assert span is None or 0 <= span.start <= span.end <= len(text)


def test_chosen_texts_get_a_score(metric: RoMe) -> None:
    """Every chosen text as hypothesis, all but the longest as reference: a score; itself against itself is as near as it gets."""
    texts = list(CHOSEN.values())
    seen = [text for text in texts if text.strip() and len(text) < 400]
    forth = metric.score(references=[REFERENCE] * len(texts), hypotheses=texts)
    back = metric.score(references=seen, hypotheses=[REFERENCE] * len(seen))
    same = metric.score(references=seen, hypotheses=seen)
    for segment in (*forth, *back, *same):
        check_segment(segment)
    for other, itself in zip(back, same, strict=True):
        assert "identical" in itself.flags and itself.components.semantic.value >= other.components.semantic.value - 1e-6


@given(hypothesis=TEXT, reference=TEXT)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_gets_a_score(metric: RoMe, hypothesis: str, reference: str) -> None:
    """Random mixtures of hostile pieces through the models."""
    check_segment(metric.score(references=[REFERENCE], hypotheses=[hypothesis])[0])
    if visible(reference):
        check_segment(metric.score(references=[reference], hypotheses=[hypothesis])[0])


def test_hostile_neighbours_change_nothing() -> None:
    """An ordinary pair scores the same alone and among hostile texts, which get a score of the base set too."""
    hypothesis, metric = "The cat sat on a new mat and moved.", whole_metric()
    alone = metric.score(references=[REFERENCE], hypotheses=[hypothesis])[0]
    among = [CHOSEN[name] for name in ("every hostile piece", "NUL between letters", "a paragraph a letter")]
    metric._analyses._memory.clear()
    *hostile, found = metric.score(references=[REFERENCE] * 4, hypotheses=[*among, hypothesis])
    assert found.score == pytest.approx(alone.score, abs=1e-6)
    for segment in hostile:
        check_segment(segment)


# The measuring half, with hand-made analyses


@pytest.fixture(scope="module")
def parts() -> tuple[Any, ...]:
    """The four features as the metric builds them, and the net."""
    table = IdfTable.load(set_folder("base") / "idf" / "idf.tsv")
    return (Semantic(table), Syntax(), Grammar(GrammarConfig()), Errors(guessing(0))), Combiner.load()


def made(text: str, seed: int, scale: float) -> Any:
    """An analysis of the text with random heads, tags and vectors of a scale."""
    rng = np.random.default_rng(seed)
    plain = analysis(text)
    count = len(plain.words)
    heads = [-1 if n == 0 else int(rng.integers(0, n)) for n in range(count)]
    tags = [str(tag) for tag in rng.choice(["NOUN", "VERB", "PUNCT", "NUM", "X", "PART", "PROPN", "AUX"], count)]
    vectors = (scale * rng.normal(size=(count, 384))).astype(np.float32)
    return analysis(
        text, heads=heads, upos=tags, vectors=vectors, probability=float(rng.random()), acceptable=float(rng.random())
    )


@given(texts=st.tuples(TEXT, TEXT), seed=st.integers(0, 99), scale=st.sampled_from([0.0, 1e-30, 0.15, 1.0, 6e4]))
@example(texts=("9" * 400, "8" * 400), seed=0, scale=1.0)
@example(texts=("", ""), seed=0, scale=1.0)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_any_analysis_is_measured(parts: tuple[Any, ...], texts: tuple[str, str], seed: int, scale: float) -> None:
    """Whatever the words, tags, trees and vectors: four components and a score in [0, 1], finite raw values, known flags."""
    features, net = parts
    reference, hypothesis = made(texts[0], seed, scale), made(texts[1], seed + 1, scale)
    components = [feature.measure(reference, hypothesis) for feature in features]
    assert unit([part.value for part in components]) and np.isfinite([part.raw for part in components]).all()
    assert unit(net.score_rows(np.array([[part.value for part in components]])))
    assert set(flags_of(reference, hypothesis, english=features[0].idf, syntax=features[1].config)) <= set(FLAGS)


# The door


@pytest.mark.parametrize(
    "unit_of",
    ["a ", "a, ", '"', "a\"b' ", "\t ", "the the ", "a_ ", ". ", "!' ", "( x ", "a-b.c'd", "\u0301", "! a", "<a ==", "👍"],
)
def test_tidying_takes_a_time_that_grows_with_the_text(unit_of: str) -> None:
    """The longest text that passes the door, made of what its expressions look for, is tidied in a moment."""
    text = (unit_of * MOST_CHARACTERS)[:MOST_CHARACTERS]
    begin = time.process_time()
    tidy(text + " x")
    assert time.process_time() - begin < 3.0


@given(text=TEXT, width=st.integers(1, 40))
@PATIENT
def test_a_shortened_text_fits_one_line(text: str, width: int) -> None:
    """Tables of the terminal: no control characters, no line ends, never wider than asked."""
    found = shorten(text, width)
    assert display_width(found) <= width and found.isprintable()


def test_a_long_text_is_shortened_soon() -> None:
    """The longest text, of wide characters, takes no time that grows with its square."""
    begin = time.process_time()
    assert shorten("日" * MOST_CHARACTERS, 20) == "日" * 9 + "…"
    assert time.process_time() - begin < 1.0


# Model files


class Touch:
    """Unpickling this makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_pickle_in_a_models_place_is_not_run(tmp_path: Path) -> None:
    """Models are read as safetensors: what a pickle would do when it is read does not happen."""
    for name in MODELS.values():
        (tmp_path / name).mkdir()
        torch.save(
            {"config": Touch(tmp_path / "ran"), "model": Touch(tmp_path / "ran")}, tmp_path / name / f"{name}.safetensors"
        )
    with pytest.raises(ModelMissingError, match="tokenizer.safetensors is damaged"):
        embedded_pipeline(tmp_path)
    assert not (tmp_path / "ran").exists()


DOORS = """
import sys
from pathlib import Path
from rome.exceptions import RomeError
from rome.features.analyser.transformer import Classifier, TransformerEncoder
from rome.train.common import training
from rome.train.encoder import build_trunk
from rome.train.errors.texts import _SentenceVectors
from rome.train.synthesis.fillers import load_filler

for name in ("common.training", "encoder"):  # those two know where their checkpoint lies
    sys.modules[f"rome.train.{name}"].source_folder = lambda: Path(folder)
doors = {
    "encoder": lambda: TransformerEncoder(folder),
    "classifier": lambda: Classifier(folder),
    "filler": lambda: load_filler(folder, "cpu", 3),
    "layers": lambda: training.start_from_encoder([training.nn.TransformerEncoderLayer(training.HIDDEN, 1, 8)], 0),
    "trunk": lambda: build_trunk(Path(folder, "out")),
    "vectors": lambda: _SentenceVectors(Path(folder)),
}
for folder in sys.argv[1:]:
    for name, door in doors.items():
        try:
            door()
            print(name, "loaded")
        except (RomeError, ValueError, OSError) as error:
            print(name, str(error).splitlines()[0])
print("left", sys.stdin.read().count("yes"))
"""
CRAFTED: dict[str, dict[str, dict[str, object]]] = {
    "an unknown kind": {"config.json": {"model_type": "evil", "auto_map": {"AutoConfig": "evil.C", "AutoModel": "evil.M"}}},
    "a known kind": {
        "config.json": {"model_type": "bert", "auto_map": {"AutoConfig": "evil.C", "AutoModel": "evil.M"}},
        "tokenizer_config.json": {"auto_map": {"AutoTokenizer": ["evil.T", "evil.T"]}, "tokenizer_class": "T"},
    },
}


def test_the_code_of_a_models_folder_is_never_run(tmp_path: Path) -> None:
    """By no way that a checkpoint of transformers comes in, whoever says yes on standard input, which is not even read."""
    ran = tmp_path / "ran"
    for folder, files in CRAFTED.items():
        (tmp_path / folder).mkdir()
        for name, content in files.items():
            (tmp_path / folder / name).write_text(json.dumps(content))
        code = f"open({str(ran)!r}, 'w').close()\nclass C: pass\nclass M: pass\nclass T: pass\n"
        (tmp_path / folder / "evil.py").write_text(code)
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", DOORS, *(tmp_path / folder for folder in CRAFTED)]
    told = {"input": "yes\n" * 99, "env": environment, "cwd": tmp_path}
    done: Any = subprocess.run(command, capture_output=True, text=True, check=False, **told)
    lines = done.stdout.splitlines()
    assert not ran.exists() and lines[-1:] == ["left 99"], done
    assert len(lines) == 13 and not [line for line in lines if line.endswith(" loaded")]
    assert "cannot be loaded (" in lines[0] and "needs no code of its own" in lines[0]


def test_stanza_reads_weights_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every torch.load on the way to the embedded pipeline says weights_only."""
    asked: list[object] = []
    load = torch.load

    def noted(*args: Any, **options: Any) -> Any:
        asked.append(options.get("weights_only"))
        return load(*args, **options)

    monkeypatch.setattr(torch, "load", noted)
    RoMe(progress=False).analyse(["A cat."])
    assert len(asked) >= len(MODELS) and set(asked) == {True}


# The command line

REFUSED = {
    "deep": (b'{"reference": ' + b"[" * 100_000, ":1"),
    "half a character": (b'{"reference": "a", "hypothesis": "\\ud800"}\n', ":1"),
    "no text": (b"\xff\xfe\x00\x01", "UTF-16"),
    "not UTF-8": (b"reference\thypothesis\na\t\xed\xa0\x80\n", ":2"),
    "escapes in a header": (b"\x1b[31mred\x07\tx\n", "one side only"),
    "a truncated archive": (b"\x1f\x8b\x08\x00", "gzip"),
    "an archive of noise": (b"\x1f\x8b" + bytes(range(256)), "gzip"),
    "NUL": (b"\0" * 1000, "one side only"),
}


@pytest.mark.parametrize(("content", "place"), REFUSED.values(), ids=list(REFUSED))
def test_a_hostile_file_is_one_line_on_standard_error(
    fake_metric: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    place: str,
) -> None:
    """Exit code 2, nothing on standard output, one printable line that names the file and the place, and no file left behind."""
    path, output = tmp_path / "pairs", tmp_path / "out.tsv"
    path.write_bytes(content)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))  # what is no table is a reference, as sacrebleu has it
    assert main(["score", str(path), "--output", str(output)], metric=lambda _: fake_metric) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and err.strip().isprintable()
    assert "pairs" in err and place in err and list(tmp_path.iterdir()) == [path]
