"""Train the reader of both texts: every word judged, what says the same above what does not, however near.

Every step holds groups of all kinds (see groups.py). DEMETR, the rated sets and the groups of data/meaning only judge.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from rome.exceptions import InputError
from rome.features.analyser.config import DEFAULT_SET, set_folder
from rome.features.analyser.encoder import load_trunk
from rome.features.analyser.weights import save_weights
from rome.features.errors.evidence import READER_FILE, SEVERITIES, TYPES
from rome.train.common.recipe import TrainingOptions, add_training_arguments, read_card, read_options, write_training_card
from rome.train.common.training import PROGRESS, Checkpoint, Log, train
from rome.train.errors.groups import Groups, Mixture
from rome.train.errors.losses import Weights, losses
from rome.train.errors.net import PairNet, Sides, load_reader, meaning_figures
from rome.train.errors.signals import learn_signals
from rome.train.errors.teacher import Teacher
from rome.train.errors.texts import Pool, paraphrases, prepare, write_agreements
from rome.train.synthesis.pairs import read_synthetic

FIRST = Mixture()
TAUGHT = Mixture(meaning=2, mistakes=6, outputs=4, ladders=2)
"""Above all real outputs, which a teacher knows best, and the same with one mistake more."""
LATER_RATE, TAUGHT_RATE = 0.7, 0.5
WARMING = 100
"""Steps at the beginning of a stage in which the rate rises, at most an eighth of it."""
BITS = 6
"""Of the adapters' numbers."""
HELD = 40
"""Steps' worth of groups, drawn by another seed, that show how it goes."""


@dataclass(frozen=True)
class ErrorsOptions(TrainingOptions):
    """The sizes of one training run.

    Attributes
    ----------
    below
        Layers of the trunk that read each text alone.
    above
        Of its last layers, that read both.
    rank
        Of the adapters.
    wikipedia, systems
        Pairs of these kinds that are drawn beside all others.
    pairs
        Of all those, so many are used.
    segments
        Of which outputs are ranked.
    steps, later, taught
        Of the three stages; in the third the reader of ``teacher`` teaches too.
    drawn
        So many of the third stage's steps draw groups, the others take those again, which the teacher has read already; 0: all draw.
    teacher
        A model set.
    begin
        A model set whose reader training goes on from, with its sizes; without one it starts from the trunk.
    kept
        The share of the reader that training began from in the one that is written, weight by weight: between the two lies one that is
        steadier than both (Wortsman et al. 2022, WiSE-FT).
    meaning, mistakes, outputs, rated, ladders
        Groups of these kinds in a step of the second.
    signals
        Steps before both that learn BLEURT's signals of the pairs that --synthesized gives.
    """

    steps: int = 900
    later: int = 1500
    taught: int = 0
    drawn: int = 0
    teacher: str = DEFAULT_SET
    begin: str = ""
    kept: float = 0.0
    rate: float = 5e-4
    below: int = 4
    above: int = 3
    rank: int = 32
    wikipedia: int = 4000
    systems: int = 4500
    pairs: int = 8000
    segments: int = 3000
    meaning: int = 3
    mistakes: int = 4
    outputs: int = 4
    rated: int = 1
    ladders: int = 1
    signals: int = 0

    @property
    def second(self) -> Mixture:
        """The groups of a step of the second stage."""
        return Mixture(self.meaning, self.mistakes, self.outputs, self.rated, ladders=self.ladders)

    def stage(self, step: int) -> tuple[Mixture, float]:
        """The groups of a step, counted from 1, and its share of the rate: meaning first, then more of what real and bad outputs are like.

        The third stage is the teacher's. In each stage the rate rises, and falls to next to nothing.
        """
        if step <= self.steps:
            return FIRST, _slope(step, self.steps)
        if step <= self.steps + self.later:
            return self.second, LATER_RATE * _slope(step - self.steps, self.later)
        return TAUGHT, TAUGHT_RATE * _slope(step - self.steps - self.later, self.taught)

    def draw(self, step: int) -> int:
        """The step whose groups a step takes: its own, but in the third stage one of the first ``drawn``."""
        first = self.steps + self.later + 1
        return step if step < first or not self.drawn else first + (step - first) % self.drawn

    @property
    def all_steps(self) -> int:
        """Of all stages."""
        return self.steps + self.later + self.taught


def _slope(step: int, steps: int) -> float:
    """The share of the rate at a step of a stage."""
    return min(1.0, step / min(WARMING, max(1, steps // 8))) * max(0.02, 1.0 - step / steps)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train errors`."""
    add_training_arguments(parser, ErrorsOptions, models=True, resumed=True)
    parser.add_argument("--texts", type=Path, nargs="+", help="texts with their changes, made before (JSON lines)")
    parser.add_argument("--agreement", type=Path, help="outputs with their agreement, made before (JSON lines)")
    parser.add_argument(
        "--synthesized", type=Path, nargs="+", default=[], help="more pairs, made by `rome synthesize` (JSON lines)"
    )
    parser.add_argument("--every", type=int, default=100, help="steps between checkpoints")


def run(arguments: argparse.Namespace) -> int:
    """Carry out `rome train errors`: make the texts' changes, train, write weights and card. Raises InputError when data is missing."""
    options = read_options(arguments, ErrorsOptions)
    if not 0.0 <= options.kept <= 1.0 or (options.kept and not options.begin):
        raise InputError(f"--kept is {options.kept:g}: give a share from 0 to 1 of the reader that --begin names")
    seed, work = options.seed, options.work
    pairs = paraphrases(seed, options.wikipedia, options.systems)[: options.pairs]
    surfaces = [text for pair in pairs for text in (pair.one, pair.other)]
    made = work / "texts.jsonl", work / "analyses.sqlite"
    texts = arguments.texts or [prepare(surfaces, options.models, seed, *made, options.threads)]
    agreement = arguments.agreement or write_agreements(work / "agreement.jsonl", seed, options.segments)
    files = enumerate(arguments.synthesized)
    generated = [replace(pair, id=f"{number}-{pair.id}") for number, path in files for pair in read_synthetic(path)]
    groups = Groups(Pool(texts), pairs, agreement, seed, generated)
    torch.manual_seed(seed)
    net, sides = _begun(options)
    if options.signals and not options.resume:
        sys.stderr.write(f"signals: {learn_signals(net, sides, generated, options.signals, options.rate, seed)}\n")
    first = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    seconds = fit(net, sides, groups, options)
    keep(net, first, options.kept)
    export(net, options.out)
    figures = {"held_out": held_out(net, sides, groups, options), "development": meaning_figures(net, sides)}
    before = "Texts and changes made before; their making is not in the seconds. " if arguments.texts else ""
    before += f"It went on from the reader that {_origin(options.begin)} gave. " if options.begin else ""
    before += f"Its weights are by a share of {options.kept:g} those of that reader. " if options.kept else ""
    before += f"The reader of {options.teacher} taught it in the last {options.taught} steps. " if options.taught else ""
    sizes = {"pairs": len(groups.pairs), "texts": len(groups.texts), "outputs": len(groups.outputs)}
    write_training_card("errors", options, options.all_steps, seconds, figures, before=before, **sizes)
    sys.stderr.write(json.dumps(figures) + "\n")
    return 0


def _begun(options: ErrorsOptions) -> tuple[PairNet, Sides]:
    """A net to train."""
    if options.begin:
        return load_reader(options.begin)
    folder = set_folder(options.models) / "encoder"
    sides = Sides(folder, options.below)
    net = PairNet(load_trunk(folder), options.below, options.rank, options.above)
    net.start_marks(sides.marks())
    return net, sides


def _origin(models: str) -> str:
    """Where the reader of a set comes from, as its card says."""
    card = read_card(set_folder(models) / "errors")
    return f"`{card['recipe']}` ({card['steps']} steps, {card['seconds']} seconds)"


def fit(net: PairNet, sides: Sides, groups: Groups, options: ErrorsOptions) -> int:
    """Train; returns the seconds spent, those before an interruption included."""
    parameters = [parameter for parameter in net.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(parameters, options.rate, weight_decay=0.01, betas=(0.9, 0.98))
    checkpoint = Checkpoint(options, net, optimizer)
    log = Log(options.work / PROGRESS, checkpoint.seconds, append=options.resume)
    teacher = Teacher(options.teacher) if options.taught else None

    def loss(step: int) -> torch.Tensor:
        drawn = groups.step(options.stage(step)[0], random.Random(f"{options.seed}|{options.draw(step)}"))
        taught = step > options.steps + options.later
        total, figures = losses(net, sides, list(drawn), Weights(), teacher if taught else None)
        log.add(figures)
        return total

    train(
        net, optimizer, {"loss": loss}, options.all_steps, log, first=checkpoint.step, logged=options.every,
        schedule=lambda step, _: options.stage(step)[1], every=options.every, keep=checkpoint.save,
    )  # fmt: skip
    return log.seconds()


@torch.no_grad()
def keep(net: PairNet, first: Mapping[str, torch.Tensor], share: float) -> None:
    """Move every weight of a net back towards its first value, by a share of the way."""
    for name, tensor in net.state_dict().items():
        tensor.lerp_(first[name], share)


@torch.no_grad()
def held_out(net: PairNet, sides: Sides, groups: Groups, options: ErrorsOptions) -> dict[str, float]:
    """The losses and the shares of comparisons in order on groups that no step drew; their texts may have been seen in others."""
    net.eval()
    found = Log(None)
    for step in range(HELD):
        drawn = groups.step(options.second, random.Random(f"held out|{options.seed}|{step}"))
        found.add(losses(net, sides, list(drawn), Weights())[1])
    return found.means()


def export(net: PairNet, out: Path) -> None:
    """Write what the reader has besides the trunk: adapters, norms, marks and the maps to what it says.

    Matrices as int8, those of the adapters with fewer different values, which archives store in less space.
    """
    about = {"below": net.below, "severities": list(SEVERITIES), "types": list(TYPES)}
    tensors = {name: parameter.detach().float() for name, parameter in net.named_parameters()}
    save_weights(out / READER_FILE, tensors, about, bits={name: BITS for name in tensors if ".maps." in name})
