"""A trunk of two tiny random layers with the packaged word pieces, and small corpora, written to a folder."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from transformers import BertConfig, BertModel

from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import COMMON_FILE, PIECES_FILE, TRUNK_FILE
from rome.features.analyser.weights import save_weights

NOUNS, VERBS = ("dog", "child", "farmer", "teacher", "river", "school"), ("sees", "likes", "follows", "finds", "knows")
PLACES = ("Paris", "London", "Rome")


def sentences(count: int, seed: int = 1) -> list[str]:
    """Made-up sentences, all different."""
    rng = random.Random(seed)
    return [
        f"The {rng.choice(NOUNS)} {rng.choice(VERBS)} a {rng.choice(NOUNS)} in {rng.choice(PLACES)} near room {n}."
        for n in range(count)
    ]


def write_encoder(folder: Path) -> Path:
    """An encoder's folder: 24 numbers a state."""
    torch.manual_seed(0)
    config = {"vocab_size": 30522, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    model = BertModel(BertConfig(**config), add_pooling_layer=False)
    tensors = {name: tensor for name, tensor in model.state_dict().items() if tensor.is_floating_point()}
    folder.mkdir()
    save_weights(folder / TRUNK_FILE, tensors, {"config": config})
    save_weights(folder / COMMON_FILE, {"common": torch.zeros(24)}, {})
    shutil.copyfile(set_folder("small") / "encoder" / PIECES_FILE, folder / PIECES_FILE)
    return folder


def write_lines(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Gzipped JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def write_texts(folder: Path, count: int = 20) -> Path:
    """The texts that trainings read: EWT, WikiSplit, WMT, each with ``count`` sentences of its own."""
    (folder / "ud_english_ewt").mkdir(parents=True)
    for seed, part in enumerate(("train", "dev")):
        blocks = []
        for text in sentences(count, seed):
            forms = text.replace(".", " .").split()
            tags = ["DT", "NN", "VBZ", "DT", "NN", "IN", "NNP", "RB", "NN", "CD", "."]
            tagged = enumerate(zip(forms, tags, strict=True), 1)
            rows = [f"{n}\t{form}\t{form.lower()}\t_\t{tag}\t_\t0\troot\t_\t_" for n, (form, tag) in tagged]
            blocks.append("\n".join([f"# text = {text}", *rows, "", ""]))
        (folder / "ud_english_ewt" / f"{part}.conllu").write_text("".join(blocks), encoding="utf-8")
    split = [{"text": f"{text[:-1]} and it rains.", "split": [text, "It rains."]} for text in sentences(count, 2)]
    write_lines(folder / "text" / "wikipedia_sentences.jsonl.gz", split)
    for seed, year in enumerate((22, 23), 3):
        rows = [
            {"lp": "de-en", "segment": n, "reference": [text], "outputs": {"a": text}}
            for n, text in enumerate(sentences(count, seed))
        ]
        write_lines(folder / "text" / f"wmt{year}_to_en_outputs.jsonl.gz", rows)
    return folder


def write_judged(folder: Path) -> None:
    """Write tiny files of CoLA: sentences, and the same with a wrong first word."""
    (folder / "cola").mkdir()
    for name in ("in_domain_train", "in_domain_dev", "out_of_domain_dev"):
        rows = [f"x\t1\t\t{text}\nx\t0\t*\t{text.replace('The', 'Is')}" for text in sentences(20, 7)]
        (folder / "cola" / f"{name}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
