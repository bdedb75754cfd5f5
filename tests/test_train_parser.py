"""`rome train parser`: from a treebank to three loadable models with their cards."""

from __future__ import annotations

import argparse
import json
import shutil

import pytest
import torch
from stanza.models import parser as stanza_parser
from stanza.models import tagger
from tiny_treebank import DOGS
from tiny_trees import write_trees

from rome.exceptions import InputError
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_encoder
from rome.features.analyser.parser import ParsedSentence, ParsedWord, SurfaceToken, embedded_parser, model_file, package_parser
from rome.features.analyser.weights import load_checkpoint, save_checkpoint
from rome.train.common.recipe import FIELDS, folder_size, read_card
from rome.train.parser import recipe
from rome.train.parser.recipe import STAGES, export_model, to_conllu

FIRST = f"# newpar\n{DOGS}"
SECOND = """# text = She can't see him!
1	She	she	PRON	PRP	Case=Nom	4	nsubj	_	_
2-3	can't	_	_	_	_	_	_	_	_
2	ca	can	AUX	MD	VerbForm=Fin	4	aux	_	_
3	n't	not	PART	RB	_	4	advmod	_	_
4	see	see	VERB	VB	VerbForm=Inf	0	root	_	_
5	him	he	PRON	PRP	Case=Acc	4	obj	_	SpaceAfter=No
6	!	!	PUNCT	.	_	4	punct	_	_

"""


def arguments(*options):
    """The parsed command line of the recipe."""
    parser = argparse.ArgumentParser()
    recipe.add_arguments(parser)
    return parser.parse_args([str(option) for option in options])


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The recipe run end to end on a handful of sentences, a few steps per stage."""
    folder = tmp_path_factory.mktemp("parser")
    (folder / "train.conllu").write_text((FIRST + SECOND) * 12, encoding="utf-8")
    (folder / "dev.conllu").write_text(FIRST + SECOND, encoding="utf-8")
    steps = [option for stage in STAGES for option in (STAGES[stage].length, 2)]
    write_trees(folder / "set" / "trees")
    (folder / "set" / "encoder").symlink_to(set_folder("small") / "encoder")
    where = ("--out", folder / "out", "--data", folder, "--work", folder / "work", "--models", folder / "set")
    chosen = arguments(*where, "--seed", 3, *steps)
    assert recipe.run(chosen) == 0
    return folder


def test_the_recipe_leaves_three_models_that_parse(trained):
    """What the recipe exports is loaded from local files and parses a text into one tree a sentence."""
    folder = trained
    parser = embedded_parser(folder / "out", load_encoder(folder / "set" / "encoder"), folder / "set" / "trees")
    (sentences,) = parser.parse(["Dogs don't see him."])
    assert sentences and all(sum(word.head == 0 for word in sentence.words) == 1 for sentence in sentences)


def test_every_model_has_a_complete_card(trained):
    """Steps, seed, licence, size and figures are the ones of this run; nothing names the training machine's folders."""
    folder = trained
    for stage in STAGES:
        card = read_card(folder / "out" / stage)
        assert tuple(card) == FIELDS and (card["seed"], card["steps"]) == (3, 2)
        assert card["size_bytes"] == folder_size(folder / "out" / stage) > 0
        assert card["figures"] and all(0 <= value <= 100 for value in card["figures"].values())
        assert str(folder) not in (folder / "out" / stage / "card.json").read_text()
        assert str(folder).encode() not in model_file(folder / "out", stage).read_bytes()


def test_one_stage_is_exported_alone(trained):
    """Its models stand beside those of the set, with which they are judged."""
    folder = trained
    where = ("--data", folder, "--out", folder / "one" / "out", "--work", folder / "one" / "work", "--stages", "lemmatizer")
    shutil.copytree(folder / "set", folder / "whole", symlinks=True)
    for stage in ("tokenizer", "mwt"):
        shutil.copytree(folder / "out" / stage, folder / "whole" / stage)
    assert recipe.run(arguments(*where, "--models", folder / "whole", "--lemmatizer-epochs", 1)) == 0
    assert read_card(folder / "one" / "out" / "lemmatizer")["steps"] == 1
    for stage in ("tokenizer", "mwt"):
        assert read_card(folder / "one" / "out" / stage) == read_card(folder / "out" / stage)


def test_stanzas_own_package_loads_from_its_directory(trained):
    """Models laid out as Stanza lays out its English package parse texts, without the encoder."""
    folder = trained
    package = folder / "package"
    common = ["--cpu", "--no_pretrain", "--no_char", "--hidden_dim", "8", "--shorthand", "en_tiny", "--lang", "en"]
    files_ = ["--train_file", str(folder / "train.conllu"), "--eval_file", str(folder / "dev.conllu")]
    for main, name in ((tagger.main, "pos"), (stanza_parser.main, "depparse")):
        save = ["--save_dir", str(package / "en" / name), "--save_name", "tiny.pt", "--eval_interval", "2", "--max_steps", "2"]
        main([*common, *files_, *save])
    for name, stage in (("tokenize", "tokenizer"), ("mwt", "mwt"), ("lemma", "lemmatizer")):
        (package / "en" / name).mkdir()
        shutil.copy(folder / "work" / stage / f"{stage}.pt", package / "en" / name / "tiny.pt")
    processors = dict.fromkeys(("tokenize", "mwt", "pos", "lemma", "depparse"), "tiny")
    described = {name: {"tiny": {"md5": "0", "dependencies": []}} for name in processors}
    entry = {"lang_name": "English", "packages": {"default": processors}, "default_dependencies": {}, **described}
    (package / "resources.json").write_text(json.dumps({"en": {**entry, "default_processors": processors}}))
    (sentences,) = package_parser(package).parse(["Dogs don't see him."])
    assert sentences[0].tokens[0].start == 0 and all(word.relation for sentence in sentences for word in sentence.words)


def test_a_missing_treebank_is_an_input_error(tmp_path):
    """The message names the file and the option."""
    with pytest.raises(InputError, match="--data"):
        recipe.run(arguments("--out", tmp_path / "out", "--data", tmp_path))


def test_an_exported_model_is_smaller_and_safe(tmp_path):
    """Training state and folders are gone, floats are halved, other values stay, bytes too, and it is no pickle."""
    source, target = tmp_path / "a.pt", tmp_path / "b" / "b.safetensors"
    model = {"w": torch.ones(100, 3), "n": torch.tensor([1])}
    config = {"f": "/home/me/x.txt", "d": 0.5}
    checkpoint = {"model": model, "config": config, "dicts": b"\x00\xff", "vocab": {"a": [1, None, "é"]}}
    torch.save({**checkpoint, "optimizer_state_dict": {"m": torch.ones(999)}}, source)
    assert export_model(source, target) == target.stat().st_size < source.stat().st_size
    loaded = load_checkpoint(target)
    assert loaded["config"] == {"f": "x.txt", "d": 0.5} and set(loaded) == set(checkpoint)
    assert (loaded["dicts"], loaded["vocab"]) == (checkpoint["dicts"], checkpoint["vocab"])
    assert loaded["model"]["w"].dtype == torch.float16 and loaded["model"]["n"].dtype == torch.int64


def test_what_json_would_change_is_not_exported(tmp_path):
    """Keys that are no texts, tuples and sets would come back as something else."""
    for value in ({1: "a"}, (1, 2), float("nan")):
        with pytest.raises(ValueError, match="other values than texts, numbers, lists and dictionaries"):
            save_checkpoint(tmp_path / "a.safetensors", {"model": {}, "vocab": value})


def test_conllu_has_a_line_a_word_and_one_for_each_multi_word_token():
    """A parsed sentence is written in the ten columns of CoNLL-U."""
    words = (
        ParsedWord("do", "do", "AUX", "VBP", "Mood=Ind", 0, "root", 0, 2),
        ParsedWord("n't", "not", "PART", "RB", "", 1, "advmod", 2, 5),
    )
    text = to_conllu([ParsedSentence(0, 5, (SurfaceToken("don't", 0, 5, 0, 2),), words)])
    assert text.splitlines() == [
        "1-2\tdon't" + "\t_" * 8,
        "1\tdo\tdo\tAUX\tVBP\tMood=Ind\t0\troot\t_\t_",
        "2\tn't\tnot\tPART\tRB\t_\t1\tadvmod\t_\t_",
        "",
    ]
