"""Public data outside the package: its files, their makers and licences, and the folder, beside the checkout or named by ROME_DATA."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rome.data.readers.lines import json_objects
from rome.exceptions import InputError


class Source(NamedTuple):
    """A set that has a name.

    Attributes
    ----------
    file
        Where it belongs in the folder.
    source
        Who made it, and its licence.
    released
        How the files that its makers published are read instead; "" where they are not.
    """

    file: str
    what: str
    source: str
    released: str = ""


_NOVIKOVA = "Novikova et al. 2017 (github.com/jeknov/EMNLP_17_submission), MIT"
_MEANINGS = "human/bagel_sfhotel.jsonl.gz"
_WEBNLG = "the WebNLG challenge 2017 (webnlg-challenge.loria.fr), CC BY-NC-SA 4.0: evaluation only"
_MQM = "Google (github.com/google/wmt-mqm-human-evaluation), Apache-2.0"
SETS: Mapping[str, Source] = {
    "bagel": Source(
        "human/bagel_references.jsonl.gz",
        "404 BAGEL outputs, human references, 3 ratings",
        _NOVIKOVA,
    ),
    "bagel-mr": Source(_MEANINGS, "BAGEL, the meaning representation as reference", _NOVIKOVA),
    "sfhotel": Source(_MEANINGS, "SFHOTEL, the meaning representation as reference", _NOVIKOVA),
    "sfrest": Source(_MEANINGS, "SFREST, the meaning representation as reference", _NOVIKOVA),
    "webnlg17": Source("human/webnlg17_third.jsonl.gz", "a third of the human evaluation of WebNLG 2017, 9 systems", _WEBNLG),
    "wmt15": Source(
        "human/wmt15_da_to-en.jsonl.gz",
        "direct assessment of translations, 4 language pairs",
        "WMT15 (statmt.org/wmt15), research use",
    ),
    "wmt23": Source(
        "human/wmt23_mqm_zh-en_spans.jsonl.gz", "MQM error spans, Chinese to English", _MQM, "mqm:TABLE,REFERENCES"
    ),
    "demetr": Source("demetr", "minimal pairs with one mistake each", "Karpinska et al. 2022, research use", "--demetr FOLDER"),
    "handmade": Source("meaning/handmade.jsonl.gz", "10 references with honest and wrong rewrites", "the makers of RoMe, CC0"),
    "webnlg_dev": Source("meaning/webnlg_dev.jsonl.gz", "600 such groups, made of WebNLG texts", _WEBNLG),
}
"""Name -> the set; those of `rome evaluate`, then those of `rome diagnose`."""


def data_folder() -> Path:
    """Return the folder that contains the public development data.

    Taken from the environment variable ROME_DATA; without it, ``../shared/data`` beside the working directory or beside the
    checkout that contains this file. Raises InputError, with the remedy, when neither exists.
    """
    named = os.environ.get("ROME_DATA")
    if named and Path(named).is_dir():
        return Path(named)
    beside = (Path.cwd().parent, Path(__file__).resolve().parents[2])
    for folder in () if named else (one / "shared" / "data" for one in beside):
        if folder.is_dir():
            return folder
    fault = f"names {named}, which does not exist" if named else "is not set"
    raise InputError(f"ROME_DATA {fault}: name in it the folder of public data, which does not come with the package")


def data_file(relative: str) -> Path:
    """Return the path of one file of the development data, such as ``cola/in_domain_train.tsv``; InputError when it is absent."""
    known = next((one for one in SETS.values() if one.file == relative), None)
    hint = f". {relative} holds {known.what}, from {known.source}" if known else f", with {relative}"
    if known and known.released:
        hint += f"; the files as released there are read with {known.released}"
    try:
        path = data_folder() / relative
    except InputError as error:
        raise InputError(f"{error}{hint}") from error
    if not path.exists():
        raise InputError(f"{path} does not exist: name in ROME_DATA the folder of public data that holds it{hint}")
    return path


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield one dictionary a line from a JSON-lines file, gzipped or plain. Raises InputError naming the line that holds none."""
    for _, row in json_objects(path):
        yield row
