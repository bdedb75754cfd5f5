"""Other people's models: the real loading code, on tiny checkpoints with random weights in a temporary folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AlbertConfig, AlbertModel, BertConfig, BertForSequenceClassification, BertTokenizerFast

from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.analyser import Analyser
from rome.features.analyser.config import ModelConfig
from rome.features.analyser.model_set import models_identity
from rome.features.analyser.parser import package_parser
from rome.features.analyser.transformer import Classifier, TransformerEncoder

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "on", "mat", ".", "a", "dog", "##s"]


def tokenizer(folder: Path, length: int = 24) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY))
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=length).save_pretrained(folder)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A tiny ALBERT (loaded with a BERT tokenizer) and a tiny BERT classifier."""
    torch.manual_seed(0)
    small = {
        "vocab_size": len(VOCABULARY),
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    albert, bert = tmp_path_factory.mktemp("albert"), tmp_path_factory.mktemp("bert")
    AlbertModel(AlbertConfig(**small, embedding_size=8, max_position_embeddings=24)).save_pretrained(albert)
    BertForSequenceClassification(BertConfig(**small, max_position_embeddings=24, num_labels=2)).save_pretrained(bert)
    for folder in (albert, bert):
        tokenizer(folder)
    config = json.loads((albert / "tokenizer_config.json").read_text())
    (albert / "tokenizer_config.json").write_text(json.dumps(config | {"tokenizer_class": "PreTrainedTokenizerFast"}))
    return {"encoder": str(albert), "acceptability": str(bert)}


def test_an_encoder_gives_the_states_of_the_chosen_layer(checkpoints: dict[str, str]) -> None:
    """One state a piece, from the layer asked for, the same as the model's own."""
    encoder = TransformerEncoder(checkpoints["encoder"], layer=1)
    encoded = encoder.encode(["the cat sat", "a dog"])
    states = encoder.states(encoded)
    assert [s.shape for s in states] == [(3, 16), (2, 16)]
    own = encoder.model(torch.tensor([encoded[0].rows[0]]), output_hidden_states=True).hidden_states[1][0, 1:-1]
    assert states[0] == pytest.approx(own.detach().numpy(), abs=1e-5)


def test_texts_beyond_the_window_are_read_whole(checkpoints: dict[str, str]) -> None:
    """A window of 24 positions and 100 words: 100 states, none of them missing; and one probability."""
    encoder, classifier = TransformerEncoder(checkpoints["encoder"]), Classifier(checkpoints["acceptability"])
    text = "the cat sat on a mat " * 17
    states = encoder.states(encoder.encode([text]))[0]
    assert states.shape == (102, 16)
    assert np.isfinite(states).all()
    assert 0.0 < classifier.probabilities([text])[0] < 1.0


def test_a_classifier_gives_the_probability_of_the_acceptable_class(checkpoints: dict[str, str]) -> None:
    """Both labels together are certain, and a sentence's probability does not depend on its neighbours."""
    texts = ["the cat sat .", "dog", "the cat sat on the mat ."]
    yes, no = (Classifier(checkpoints["acceptability"], label).probabilities(texts) for label in (1, 0))
    assert np.add(yes, no) == pytest.approx(1.0, abs=1e-5)
    assert Classifier(checkpoints["acceptability"]).probabilities(texts[1:2]) == pytest.approx(yes[1:2], abs=1e-5)


def test_a_mix_of_own_and_other_models_analyses_text(checkpoints: dict[str, str]) -> None:
    """Vectors from one checkpoint, acceptability from another, the embedded parser: every word has a vector of that width."""
    config = ModelConfig(**checkpoints)
    found = list(Analyser(config).analyse(["The cat sat. A dog sat.", ""]))
    assert found[0].vectors.shape == (len(found[0].words), 16)
    assert len(found[0].sentences) == 2
    assert found[1].words == ()
    assert models_identity(config) != models_identity(ModelConfig())


def test_what_is_missing_names_the_command_that_gets_it(tmp_path: Path) -> None:
    """Nothing is downloaded: a hub name that is not on this machine, and a Stanza folder that is empty, say how to get them."""
    with pytest.raises(ModelMissingError, match="hf download albert-large-v2"):
        TransformerEncoder("albert-large-v2")
    with pytest.raises(ModelMissingError, match="stanza.download"):
        package_parser(tmp_path)


def test_the_papers_models() -> None:
    """RoMe(models="paper") is ALBERT-large, Stanza's package and a BERT classifier for CoLA, without downloads; other words are refused."""
    paper = ModelConfig.of("paper")
    assert paper.encoder == "albert-large-v2"
    assert "bert" in paper.acceptability
    assert not paper.download
    assert paper.foreign
    with pytest.raises(InputError, match="give base, small, paper"):
        ModelConfig.of("best")
