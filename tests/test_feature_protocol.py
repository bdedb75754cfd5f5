"""A fifth feature is one file and one row of a table: scored, stored, told and read back like the other four."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rome.features.protocol import compared, feature_class
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
        yield "side", "words"
        yield "reference", str(evidence.reference)
        yield "hypothesis", str(evidence.hypothesis)

    @staticmethod
    def evidence_from_dict(row):
        return LengthEvidence(number(row["reference"]), number(row["hypothesis"]))
'''
SCRIPT = """
import json, sys
from rome.features import values
values.CLASSES["length"] = "length_feature:Length"
values.FEATURES = tuple(values.CLASSES)
import numpy as np
from rome import Combiner, FeatureTable, RoMe
from rome.features.protocol import feature_class

net = Combiner(np.full((2, 5), 0.5), np.zeros(2), np.ones(2), np.array(0.0))
metric = RoMe(models="small", errors="edit-script", combiner=net, progress=False, threads=1)
texts = {"references": ["A cat sat on the mat."] * 2, "hypotheses": ["A cat sat on the mat.", "A dog sat."]}
found = metric.score(**texts)
table = metric.features(**texts)
table.save(sys.argv[1])
read = FeatureTable.load(sys.argv[1])
rows = json.loads(json.dumps(found.to_dict()))["segments"]
parts = [feature_class(name).evidence_from_dict(rows[1]["evidence"][name]) for name in values.FEATURES]
print(json.dumps({
    "scores": [segment.score for segment in found],
    "combined": net.score(read).tolist(),
    "same table": read == table,
    "length": [segment.components.length.value for segment in found],
    "sums": [sum(segment.contributions) - segment.score + 1 for segment in found],
    "losses": [loss.feature for loss in found[1].losses],
    "evidence": parts == [component.evidence for component in found[1].components],
    "signature": "|length:" in found.signature,
    "told": "length  0.571" in str(found[1]),
}, default=str))
"""


def test_a_fifth_feature(tmp_path: Path) -> None:
    """End to end with a net of five inputs: scores, contributions, evidence, signature, table file, text report."""
    (tmp_path / "length_feature.py").write_text(FILE)
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{SCRIPT}"
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, str(tmp_path / "table.parquet")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["scores"] == pytest.approx(found["combined"])
    assert found["scores"][0] == 1.0 > found["scores"][1] > 0.0
    assert found["length"] == pytest.approx([1.0, 4 / 7])
    assert found["sums"] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert "length" in found["losses"]
    assert found["same table"] and found["evidence"] and found["signature"] and found["told"]


@pytest.mark.parametrize("name", FEATURES)
def test_every_feature_keeps_the_protocol(name: str) -> None:
    """Its class bears its name, and its settings have defaults."""
    found = feature_class(name)
    assert found.name == name
    assert found.config_class() == found.config_class()


def test_texts_are_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of several pairs is prepared once, and what is said of a pair is what is said of it alone."""
    prepared: list[str] = []
    feature, own = Syntax(), Syntax.prepare
    monkeypatch.setattr(Syntax, "prepare", lambda self, text: prepared.append(text.analysis.text) or own(self, text))
    one, two, three = (analysis(text) for text in ("red house", "big red house", "dog"))
    found = [row[0] for row in compared([feature], [(one, two), (one, three), (one, one)])]
    assert sorted(prepared) == ["big red house", "dog", "red house"]
    monkeypatch.undo()
    assert found == [feature.measure(one, other) for other in (two, three, one)]
    assert np.isfinite([component.raw for component in found]).all()
