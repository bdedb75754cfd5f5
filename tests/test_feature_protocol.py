"""A fifth feature is one file and one row of a table: scored, stored, told and read back like the other four."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import zlib
from typing import Any

import numpy as np
import pytest

from rome.features.protocol import compare_pairs, feature_class
from rome.features.syntax import Syntax
from rome.features.values import FEATURES

from handmade import analysis

FILE = '''
from dataclasses import dataclass
from rome.features.protocol import Feature, number
from rome.features.values import Component

@dataclass(frozen=True)
class LengthConfig:
    power: float = 1.0

@dataclass(frozen=True)
class LengthEvidence:
    reference: float
    hypothesis: float

class Length(Feature):
    """The shorter text as a share of the longer one, in words."""

    name, config_class = "length", LengthConfig
    about = "is it as long? The shorter text as a share of the longer one."

    def __init__(self, config):
        self.config = config

    @classmethod
    def make(cls, config, resources):
        return cls(config)

    def prepare(self, text):
        return len(text.analysis.words)

    def compare(self, reference, hypothesis):
        value = (min(reference, hypothesis) / max(reference, hypothesis, 1)) ** self.config.power
        return Component(self.name, value, abs(reference - hypothesis), "words", LengthEvidence(reference, hypothesis))

    @staticmethod
    def describe(evidence):
        return [("side", "count"), ("reference", evidence.reference), ("hypothesis", evidence.hypothesis)]

    @staticmethod
    def evidence_from_dict(row):
        return LengthEvidence(number(row["reference"]), number(row["hypothesis"]))
'''
SCRIPT = """
import json, sys
from pathlib import Path
from rome.features import values
values.CLASSES["length"] = "length_feature:Length"
values.FEATURES = tuple(values.CLASSES)
import numpy as np
from rome import Combiner, FeatureTable, RoMe
from rome.cli.formats import Means
from rome.results.stored import iter_scores
from rome.reports.page import write_page

net = Combiner(np.full((2, 5), 0.5), np.zeros(2), np.ones(2), np.array(0.0))
metric = RoMe(models="small", combiner=net, progress=False, threads=1)
texts = {"references": ["A cat sat on the mat."] * 2, "hypotheses": ["A cat sat on the mat.", "A dog sat."]}
found = metric.score(**texts)
table = metric.features(**texts)
folder = Path(sys.argv[1])
table.save(folder / "table.parquet")
read = FeatureTable.load(folder / "table.parquet")
(folder / "stored.jsonl").write_text("".join(json.dumps(segment.to_dict()) + "\\n" for segment in found))
stored = [segment for _, segment in iter_scores(str(folder / "stored.jsonl"))]
with open(folder / "page.html", "w", encoding="utf-8") as stream:
    write_page(stream, ["one", "other"], ((str(n), (one, one)) for n, one in enumerate(found)))
means = Means()
means.add([found[1].score, *(component.value for component in found[1].components)])
print(json.dumps({
    "scores": [segment.score for segment in found],
    "combined": net.score(read).tolist(),
    "same table": read == table,
    "length": [segment.components.length.value for segment in found],
    "sums": [sum(segment.contributions) - segment.score + 1 for segment in found],
    "losses": [loss.feature for loss in found[1].losses],
    "stored": stored == list(found),
    "means": means.values[-1],
    "signature": "|length:" in found.signature,
    "text": str(found[1]),
    "html": found[1]._repr_html_(),
    "corpus text": str(found),
    "corpus html": found._repr_html_(),
}))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script found with the toy feature, and the page that it wrote."""
    folder = tmp_path_factory.mktemp("fifth")
    (folder / "length_feature.py").write_text(FILE)
    script = f"import sys; sys.path.insert(0, {str(folder)!r})\n{SCRIPT}"
    done = subprocess.run([sys.executable, "-I", "-c", script, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout.splitlines()[-1]), "page": (folder / "page.html").read_text()}


def test_a_fifth_feature_is_scored(found: dict[str, Any]) -> None:
    """With a net of five inputs: scores, contributions, evidence, signature, table file, stored scores."""
    assert found["scores"] == pytest.approx(found["combined"])
    assert found["scores"][0] == 1.0 > found["scores"][1] > 0.0
    assert found["length"] == pytest.approx([1.0, 4 / 7])
    assert found["means"] == pytest.approx(4 / 7)
    assert found["sums"] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert "length" in found["losses"]
    assert found["same table"] and found["stored"] and found["signature"]


def test_a_fifth_feature_is_reported(found: dict[str, Any]) -> None:
    """As text and as HTML, a segment shows its value and its evidence, a corpus its column, and the page of `rome report` both."""
    text = found["text"]
    assert re.search(r"^  length +-+ +0\.571 .* 3 words$", text, re.M)
    assert re.search(r"^Length\n +side +count\n +-+\n +reference +7\n +hypothesis +4$", text, re.M)
    header, _, first, second, _, mean, *_ = found["corpus text"].splitlines()
    end = header.index("length") + len("length")
    assert [line[:end].split()[-1] for line in (first, second, mean)] == ["1.000", "0.571", "0.786"]
    html = found["html"]
    assert "<bdi>Length</bdi>" in html and re.search(r"<th[^>]*>hypothesis</th>\s*<td[^>]*>4</td>", html)
    assert "Lowest length" in found["corpus html"]
    assert "<dt>Length</dt><dd>is it as long? The shorter text as a share of the longer one.</dd>" in found["page"]
    assert '"length"' in zlib.decompress(base64.b64decode(re.findall(r'id="table">([^<]+)<', found["page"])[0])).decode()


@pytest.mark.parametrize("name", FEATURES)
def test_every_feature_keeps_the_protocol(name: str) -> None:
    """Its class bears its name, and its settings have defaults."""
    found = feature_class(name)
    assert found.name == name and found.about.endswith(".")
    assert found.config_class() == found.config_class()


def test_texts_are_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of several pairs is prepared once, and what is said of a pair is what is said of it alone."""
    prepared: list[str] = []
    feature, own = Syntax(), Syntax.prepare
    monkeypatch.setattr(Syntax, "prepare", lambda self, text: prepared.append(text.analysis.text) or own(self, text))
    one, two, three = (analysis(text) for text in ("red house", "big red house", "dog"))
    found = [row[0] for row in compare_pairs([feature], [(one, two), (one, three), (one, one)])]
    assert sorted(prepared) == ["big red house", "dog", "red house"]
    monkeypatch.undo()
    assert found == [feature.measure(one, other) for other in (two, three, one)]
    assert np.isfinite([component.raw for component in found]).all()
