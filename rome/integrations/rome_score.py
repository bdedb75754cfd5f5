"""Use RoMe in Hugging Face's `evaluate`, which copies this one file: load it with `evaluate.load(module_path())`.

RoMe scores generated English text against references and says why: meaning (Earth Mover's Distance over word vectors), syntax (tree edit
distance), grammar (a classifier trained on CoLA) and errors (a severity-weighted count), each in [0, 1] where 1 is best, and a small
monotone net that turns the four into one score in [0, 1]. All models are in the package rome-metric: nothing is downloaded.
"""

from __future__ import annotations

from inspect import getdoc
from typing import Any

import datasets
import evaluate

from rome.checks import check_pairs
from rome.exceptions import InputError

# isort: off
# evaluate reads one name a line
from rome.integrations.columns import DEFAULT_COLUMNS
from rome.integrations.columns import default_metric
from rome.integrations.columns import score_columns
# isort: on

_CITATION = """\
@inproceedings{rony-etal-2022-rome, year = "2022", url = "https://aclanthology.org/2022.acl-long.387", booktitle = "ACL 2022",
    title = "{R}o{M}e: A Robust Metric for Evaluating Natural Language Generation", pages = "5645--5657",
    author = "Rony, Md Rashad Al Hasan and Kovriguina, Liubov and Chaudhuri, Debanjan and Usbeck, Ricardo and Lehmann, Jens"}
"""


class RomeScore(evaluate.Metric):
    """The metric module of `evaluate`, which stores the texts of batches, so that processes can share them.

    Args:
        predictions (list of str): the generated texts; one may be empty.
        references (list of str, or list of lists of str): one or several texts per prediction; the best-scoring one counts.
        metric (RoMe, optional): a loaded metric, instead of options.
        **options: of `rome.RoMe`, such as emd="aligned", scorer="supervised", store="analyses.sqlite", empty_reference="score".
    Returns:
        score (float): the mean over the predictions, in [0, 1].
        scores (list of float): the score of each prediction.
        semantic, syntax, grammar, errors (lists of float): the four features of each prediction.
        completeness, faithfulness (lists of float): the share of the reference, and of the prediction, without errors.
        signature (str): every choice that changes a number, as key:value|key:value.
    Examples:
        >>> import evaluate
        >>> from rome.integrations.huggingface import module_path
        >>> rome_score = evaluate.load(module_path())
        >>> result = rome_score.compute(predictions=["It costs little."], references=[["It is cheap.", "Prices are low."]])
        >>> sorted(result)
        ['completeness', 'errors', 'faithfulness', 'grammar', 'score', 'scores', 'semantic', 'signature', 'syntax']
    """

    def _info(self) -> evaluate.MetricInfo:
        """Accept both shapes of references. Lists of texts are stored, because evaluate would convert a mixture to strings."""
        text = datasets.Value("string")
        shapes = (datasets.Sequence(text), text)
        return evaluate.MetricInfo(
            description=__doc__,
            citation=_CITATION,
            inputs_description=getdoc(type(self)),
            features=[datasets.Features({"predictions": text, "references": shape}) for shape in shapes],
        )

    def add_batch(self, *, predictions: Any = None, references: Any = None) -> None:
        """Keep a batch. Raises InputError for anything but texts, which evaluate would convert to texts."""
        pairs = check_pairs(references, predictions, empty_reference="score")
        lists = [list(pair.references) for pair in pairs]
        super().add_batch(predictions=[pair.hypothesis for pair in pairs], references=lists)

    def add(self, *, prediction: Any = None, reference: Any = None) -> None:
        """Keep one pair; see `add_batch`."""
        self.add_batch(predictions=[prediction], references=[reference])

    def compute(
        self, *, predictions: Any = None, references: Any = None, metric: Any = None, **options: Any
    ) -> dict[str, Any] | None:
        """Score the added and the given texts; return None in every process but the first.

        Raises InputError for wrong texts or options, before anything is stored.
        """
        if metric is not None and options:
            raise InputError(f"metric= cannot be combined with options, got {', '.join(options)}. Give them to RoMe(...)")
        chosen = default_metric(**options) if metric is None else metric
        if predictions is not None or references is not None:
            check_pairs(references, predictions, empty_reference=getattr(chosen, "empty_reference", "error"))
        elif not len(self):
            raise InputError("compute needs predictions= and references=, or a call of add_batch before")
        result: dict[str, Any] | None = super().compute(predictions=predictions, references=references, metric=chosen)
        return result

    def _compute(self, *, predictions: list[str], references: list[list[str]], metric: Any) -> dict[str, Any]:
        """Score every pair; see ``Returns`` in the description of the module."""
        columns = score_columns(metric, references, predictions, columns=(*DEFAULT_COLUMNS, "signature"))
        scores, (signature, *_) = columns.pop("score"), columns.pop("signature")
        return {"score": sum(scores) / len(scores), "scores": scores, **columns, "signature": signature}
