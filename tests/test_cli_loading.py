"""Processes of the command line load their models at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LOADED = """
import argparse, gc, json, sys
from rome import RoMe
from rome.cli.options import load_at_once

options = argparse.Namespace(**{"store": None, "workers": 1, **json.loads(sys.argv[1])})
metric = RoMe(models="small", store=options.store)
load_at_once(metric, options)
print(gc.isenabled(), gc.get_freeze_count() > 200_000, "stanza" in sys.modules)
"""


@pytest.mark.parametrize(
    ("options", "told"),
    (("{}", "True True True"), ('{"store": "here.sqlite"}', "True False False"), ('{"workers": 2}', "True False False")),
)
def test_models_are_loaded_at_once_where_they_are_needed(tmp_path: Path, options: str, told: str) -> None:
    """The collector leaves what is loaded alone and goes on; a store may know all texts, and workers load for themselves."""
    pytest.importorskip("stanza", reason="needs the extra models")
    done = subprocess.run([sys.executable, "-c", LOADED, options], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout.strip(), done.returncode) == (told, 0), done.stderr
