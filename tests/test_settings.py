"""Settings of features: a configuration, a mapping, `--set`, the paper's preset, and where they are carried."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from rome import ErrorsConfig, GrammarConfig, InputError, RoMe, SemanticConfig, SyntaxConfig
from rome.cli import main
from rome.config import MetricConfig
from rome.features.values import FEATURES
from rome.integrations.columns import default_metric, own_metric
from rome.service.limits import Limits
from rome.service.scorer import Scorer

REPEATED = {
    "references": ["Elon musk has founded tesla motors."],
    "hypotheses": ["Elon elon elon elon elon founded tesla tesla tesla."],
}
"""The example of repeated words in table 2 of the RoMe paper."""


def small(**options: Any) -> RoMe:
    """Return a metric of the set `small`."""
    return RoMe(models="small", progress=False, **options)


def test_a_configuration_replaces_all_settings_and_a_mapping_some() -> None:
    """What a mapping does not name is the set's; so are the reader's layers and digest in any case."""
    own = small().configs
    given = SemanticConfig(delta=0.2), SyntaxConfig(distance="zss"), GrammarConfig(own=0.3), ErrorsConfig(threshold=0.4)
    whole = small(**dict(zip(FEATURES, given, strict=True))).configs
    assert whole[:3] == given[:3] and whole[3] == replace(given[3], head=own[3].head, below=own[3].below)
    some = small(semantic={"delta": np.float64(0.2)}, errors={"surface.sure": 1, "surface": {"slip": 0.3}}).configs
    assert some[0] == replace(own[0], delta=0.2) and type(some[0].delta) is float and some[1:3] == own[1:3]
    assert some[3] == replace(own[3], surface=replace(own[3].surface, sure=1.0, slip=0.3))
    short = small(emd="aligned", rho=0.5, semantic={"rho": 0.1, "coverage": 0.2}).configs[0]
    assert short == replace(own[0], emd="aligned", rho=0.5, coverage=0.2)


def test_the_papers_preset() -> None:
    """Section 4.2's delta and theta, and no setting of ours; other settings are added to it."""
    semantic, syntax, grammar, errors = small(preset="paper").configs
    assert semantic == SemanticConfig("soft", delta=0.6, rho=0.0, penalty=1.0, coverage=0.0, position="difference")
    assert (syntax.theta, grammar.fluency, grammar.relative) == (0.65, 0.0, False) and errors == small().configs[3]
    cited = small(preset="paper", semantic={"position": "complement"}).configs[0]
    assert cited == replace(semantic, position="complement")


def test_the_papers_example_of_repeated_words_is_low() -> None:
    """The paper has .11 with its models and net; its features are one minus the distance and CoLA's probability."""
    segment = small(preset="paper").score(**REPEATED)[0]
    semantic, _, grammar, _ = segment.components
    assert segment.score < 0.3 and semantic.value < 0.3
    assert grammar.value == pytest.approx(grammar.evidence.acceptability_probability) == pytest.approx(np.exp(grammar.raw))


def test_every_setting_is_in_the_signature_and_travels() -> None:
    """Two settings, two signatures; a pickle, a copy, a worker's maker and the service have the same."""
    changes = [
        {},
        {"preset": "paper"},
        {"semantic": {"delta": 0.4000001}},
        {"syntax": {"max_nodes": 9}},
        {"errors": {"nearness": 0.2}},
    ]
    changes += [{"semantic": {name: value}} for name, value in (("position", "difference"), ("delta", 0.3), ("coverage", 0.1))]
    changes += [{"syntax": {"distance": "zss"}}, {"grammar": {"fluency": 1}}, {"semantic": SemanticConfig(rho=0.1)}]
    signatures = [small(**change).signature for change in changes]
    assert len(set(signatures)) == len(changes)
    for change, signature in zip(changes, signatures, strict=True):
        metric = small(**change)
        copies = pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric), own_metric(models="small", **change)()  # noqa: S301
        assert {one.signature for one in copies} == {signature}
        assert default_metric(models="small", **change) is default_metric(models="small", **change)
    service = Scorer(lambda: small(semantic={"delta": 0.3}), Limits())
    asyncio.run(service.load())
    assert service.signature == small(semantic={"delta": 0.3}).signature


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"semantic": {"delt": 0.4}},
            "semantic must be a SemanticConfig or a mapping of its settings.*no field delt among .*delta",
        ),
        ({"semantic": {"delta": "much"}}, "semantic must be .* got .*delta is 'much'"),
        ({"semantic": SyntaxConfig()}, "semantic must be a SemanticConfig"),
        ({"syntax": 3}, "syntax must be a SyntaxConfig.*got 3"),
        ({"errors": {"surface": 1}}, "errors must be an? ErrorsConfig"),
        ({"semantic": {"delta": 2}}, r"delta must be in \[-1, 1\], got 2"),
        ({"semantic": {"emd": "hard"}}, "emd must be standard or aligned or soft, got 'hard'"),
        ({"syntax": {"distance": "fast"}}, "distance must be compiled or zss, got 'fast'"),
        ({"grammar": {"smallest": 0.0}}, "smallest must be in .* got 0.0"),
        ({"errors": {"threshold": float("nan")}}, r"threshold must be in \[0, 1\], got nan"),
        ({"preset": "papers"}, "preset must be default or paper, got 'papers'"),
    ],
)
def test_wrong_settings_are_refused_at_once(options: dict[str, Any], message: str) -> None:
    """The message names the option, what it must be and what was given; no file is read."""
    with pytest.raises(InputError, match=message):
        MetricConfig(**options)


def test_the_command_line_sets_what_the_arguments_do(capsys: pytest.CaptureFixture[str]) -> None:
    """`--preset` and `--set` give the components and the signature of the same metric, with two processes, too."""
    texts = ["--reference", REPEATED["references"][0], "--hypothesis", REPEATED["hypotheses"][0]]
    chosen = "--models small --preset paper --set semantic.position=complement --set syntax.punctuation=true --set errors.surface.sure=.8"
    assert main(["explain", *texts, *chosen.split(), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    settings: dict[str, Any] = {
        "semantic": {"position": "complement"},
        "syntax": {"punctuation": True},
        "errors": {"surface.sure": 0.8},
    }
    metric = small(preset="paper", **settings)
    assert metric.configs[1].punctuation and asdict(metric.configs[3])["surface"]["sure"] == 0.8
    assert (found["signature"], found["score"]) == (metric.signature, pytest.approx(metric.score(**REPEATED).score))
    assert main(["score", "--examples", "--workers", "2", "--format", "json", *chosen.split()]) == 0
    assert json.loads(capsys.readouterr().out)["signature"] == metric.signature
