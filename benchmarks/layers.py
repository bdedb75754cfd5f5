"""Which layers of a transformer carry meaning? `semantic` alone on the development sets, by each layer and by mixtures of layers.

    python benchmarks/layers.py FOLDER --store runs/layers --output benchmarks/results/layers.tsv [--mixtures 7+12 6+8+10]

FOLDER is a local checkpoint. A model set cuts and weighs the words; the transformer reads each sentence once, and the states of all its
layers stay in the store. A word's vector is the mean of its pieces' states, without (and with) the mean over all words that were read; that
of a mixture is the layers' unit vectors side by side, so its cosines are the means of theirs. Of several references the nearest counts.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from people import JUDGED
from result_rows import conditions, write_rows
from torch.nn.utils.rnn import pad_sequence
from tqdm import tqdm

from rome.data.readers.rated import RatedSegment
from rome.features.analyser.config import set_folder
from rome.features.analyser.model_set import encoder_identity
from rome.features.analyser.pieces import batches_of, merge_windows, pooled, touched
from rome.features.analyser.transformer import TransformerEncoder
from rome.features.idf import IdfTable
from rome.features.semantic import Semantic, SemanticConfig
from rome.features.values import Analysis
from rome.metric import RoMe
from rome.storage.files import atomic_path

COLUMNS = ("layers", "mean_off", "delta", "rho", *(judged.title for judged in JUDGED))
PIECES = 2048
"""Of a batch."""
KEPT = 256
"""Texts whose vectors are kept; those of one input stand together."""
States = NDArray[np.float16]
Spans = list[tuple[int, int]]


@dataclass(frozen=True)
class Trial:
    """Some layers, numbered from 1 (0 is the embeddings), and whether the mean is taken off."""

    layers: tuple[int, ...]
    mean_off: bool


def sentences_of(analyses: Mapping[str, Analysis]) -> Iterator[tuple[str, Spans]]:
    """Every sentence, text after text, with the places of its words in it."""
    for text, analysis in analyses.items():
        for number, sentence in enumerate(analysis.sentences):
            own = [word for word in analysis.words if word.sentence == number]
            yield text[sentence.start : sentence.end], [(w.start - sentence.start, w.end - sentence.start) for w in own]


@torch.no_grad()
def read_states(encoder: TransformerEncoder, sentences: Sequence[tuple[str, Spans]], path: Path) -> None:
    """Write the (words, layers + 1, width) float16 states of all words, sentence after sentence, as one .npy file."""
    encoded = encoder.encode([text for text, _ in sentences])
    starts = np.cumsum([0, *(len(spans) for _, spans in sentences)])
    config = encoder.model.config
    shape = (int(starts[-1]), config.num_hidden_layers + 1, config.hidden_size)
    with atomic_path(path) as name, tqdm(total=len(sentences), desc="sentences", disable=None) as bar:
        found = np.lib.format.open_memmap(name, "w+", np.float16, shape)
        for batch in batches_of([sum(map(len, each.rows)) for each in encoded], PIECES):
            rows = iter(_row_states(encoder, [row for n in batch for row in encoded[n].rows]))
            for n in batch:
                pieces = merge_windows(encoded[n], [next(rows) for _ in encoded[n].rows])
                found[starts[n] : starts[n + 1]] = pooled(pieces, touched(encoded[n].spans, sentences[n][1]))
            bar.update(len(batch))
        found.flush()


def _row_states(encoder: TransformerEncoder, rows: list[tuple[int, ...]]) -> NDArray[np.float32]:
    """(b, L, layers + 1, width) states of rows of pieces."""
    pieces = [torch.tensor(row) for row in rows]
    ids = pad_sequence(pieces, batch_first=True, padding_value=encoder.tokenizer.pad_token_id or 0)
    mask = pad_sequence([torch.ones_like(row) for row in pieces], batch_first=True)
    layers = encoder.model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
    return torch.stack([layer.float() for layer in layers], dim=2).numpy()


def states_of(folder: str, analyses: Mapping[str, Analysis], store: Path) -> States:
    """The states of all words, read from the store where the same words of the same transformer lie there."""
    sentences = list(sentences_of(analyses))
    about = hashlib.blake2b(f"{encoder_identity(folder)}|float32|{sentences}".encode(), digest_size=8).hexdigest()
    path = store / f"states-{about}.npy"
    if not path.exists():
        read_states(TransformerEncoder(folder), sentences, path)
    states: States = np.load(path, mmap_mode="r")
    return states


def analysis_by(trial: Trial, states: States, common: Any, analyses: Mapping[str, Analysis]) -> Callable[[str], Analysis]:
    """From a text to its analysis with the trial's vectors. common : (layers + 1, width) what is taken off."""
    ends = np.cumsum([len(analysis.words) for analysis in analyses.values()])
    rows = {text: slice(end - len(analyses[text].words), end) for text, end in zip(analyses, ends.tolist(), strict=True)}

    @lru_cache(KEPT)
    def analysis(text: str) -> Analysis:
        own = np.asarray(states[rows[text]], np.float32)
        parts = [unit(own[:, layer] - trial.mean_off * common[layer]) for layer in trial.layers]
        return replace(analyses[text], vectors=np.concatenate(parts, axis=1))

    return analysis


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """(n, width) rows brought to length 1; a zero row stays."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0.0] = 1.0
    found: NDArray[np.float32] = rows / lengths
    return found


def values(
    segments: Sequence[RatedSegment], analysis: Callable[[str], Analysis], measures: Sequence[Semantic]
) -> NDArray[np.float64]:
    """(n, measures) the value of each measure for each segment, against the reference that is nearest by it."""

    def of(segment: RatedSegment) -> NDArray[np.float64]:
        pairs = [(analysis(reference), analysis(segment.hypothesis)) for reference in segment.references]
        return np.max([[measure.measure(*pair).value for measure in measures] for pair in pairs], axis=0)

    return np.array([of(segment) for segment in segments])


def trials(layers: Sequence[int], mixtures: Sequence[str], most: int) -> list[Trial]:
    """Each layer alone and each mixture ("7+12"), with and without the mean. Raises ValueError for a layer that is not there."""
    chosen = [*((layer,) for layer in layers or range(1, most + 1)), *(tuple(map(int, given.split("+"))) for given in mixtures)]
    if any(not 0 <= layer <= most for each in chosen for layer in each):
        raise ValueError(f"layers go from 0 (the embeddings) to {most}")
    return [Trial(each, off) for each in chosen for off in (True, False)]


def main(given: Sequence[str] | None = None) -> int:
    """Print and write one row a trial, delta and rho."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="of a checkpoint that transformers loads")
    parser.add_argument("--layers", type=int, nargs="+", default=[], help="each alone (default: all)")
    parser.add_argument("--mixtures", nargs="+", default=[], metavar="L+L", help="layers mixed in equal shares")
    parser.add_argument("--delta", type=float, nargs="+", default=[0.3, 0.5])
    parser.add_argument("--rho", type=float, nargs="+", default=[0.0, 0.95])
    parser.add_argument("--words", default="small", help="model set that cuts and weighs the words")
    parser.add_argument("--store", type=Path, required=True, help="folder for analyses and states (2 bytes a layer and number)")
    parser.add_argument("--limit", type=int, help="segments of a set, to try the script")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(given)
    options.store.mkdir(parents=True, exist_ok=True)
    told = conditions(torch.get_num_threads())
    sets = [judged.segments(options.limit) for judged in JUDGED]
    texts = dict.fromkeys(text for segments in sets for s in segments for text in (*s.references, s.hypothesis))
    found = RoMe(models=options.words, store=options.store / "analyses.sqlite").analyse(list(texts))
    analyses = {text: found[text] for text in sorted(texts, key=len, reverse=True)}  # in one order, whatever the store held
    states = states_of(options.folder, analyses, options.store)
    common = states.mean(axis=0, dtype=np.float64).astype(np.float32)
    idf = IdfTable.load(set_folder(options.words) / "idf" / "idf.tsv")
    settings = list(product(options.delta, options.rho))
    measures = [Semantic(idf, SemanticConfig(delta=delta, rho=rho)) for delta, rho in settings]
    rows: list[list[object]] = []
    for trial in tqdm(trials(options.layers, options.mixtures, states.shape[1] - 1), desc="trials", disable=None):
        analysis = analysis_by(trial, states, common, analyses)
        measured = [values(segments, analysis, measures) for segments in sets]
        for n, setting in enumerate(settings):
            figures = [judged.follows(segments, v[:, n]) for judged, segments, v in zip(JUDGED, sets, measured, strict=True)]
            name = "+".join(map(str, trial.layers))
            rows.append([name, "yes" if trial.mean_off else "no", *setting, *(f"{figure:.3f}" for figure in figures)])
    notes = [
        f"layers of {Path(options.folder).name}, states in float32; words and their weights: {options.words}; {told}",
        f"{', '.join(f'{len(s)} segments of {j.name}' for j, s in zip(JUDGED, sets, strict=True))}; {len(states)} words",
    ]
    write_rows(options.output, notes, COLUMNS, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
