"""What import-linter cannot say of imports: how much they load, and what the package's public names are."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import fields
from importlib.util import find_spec
from inspect import Parameter, signature
from pathlib import Path

import pytest

import rome
from rome.config import MetricConfig

HEAVY = ("torch", "transformers", "stanza", "tokenizers", "sklearn", "textattack", "flair", "matplotlib", "pandas")


@pytest.mark.parametrize("name", ["rome.cli.synthesize", "rome.cli.train"])
def test_the_commands_that_train_import_it_lazily(name: str) -> None:
    """Neither imports train when it is itself imported: the other commands and `--help` need no training package."""
    source = Path(str(find_spec(name).origin)).read_text(encoding="utf-8")  # type: ignore[union-attr]
    first = [node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not [node for node in first if "rome.train" in ast.unparse(node)]


def run(script: str) -> str:
    """Standard output of a script in a fresh interpreter."""
    return subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def test_import_rome_is_light() -> None:
    """`import rome`, its `dir` and its version load no NumPy, and nothing heavier."""
    script = "import sys, rome; dir(rome); rome.__version__; print([m for m in sys.argv[1:] or %r if m in sys.modules])"
    assert run(script % (["numpy", "scipy", "ot", *HEAVY],)) == "[]"


def test_cached_path_is_light() -> None:
    """Loading a net and a table needs no model library, and neither does the command line's help."""
    script = """
import sys
import rome
rome.Combiner, rome.FeatureTable, rome.AnalysisStore, rome.CorpusScore, rome.InputError
import rome.cli, rome.combining.table
rome.cli.main(["rescore", "--help"])
print([m for m in %r if m in sys.modules])
"""
    assert run(script % (HEAVY,)).splitlines()[-1] == "[]"


def test_a_metric_shows_its_models_and_signature_without_loading_them() -> None:
    """``repr`` names the set and the signature; a set that is not there is said to be so, not raised."""
    script = f"import sys, rome; print(rome.RoMe(models='small')); print([m for m in {HEAVY!r} if m in sys.modules])"
    shown, loaded = run(script).splitlines()
    assert shown.startswith("RoMe(models='small', signature='features:10|models:small.") and loaded == "[]"
    assert "is not there" in repr(rome.RoMe(models="/nowhere/at/all"))


def test_the_keywords_of_the_metric_are_the_fields_of_its_config() -> None:
    """Each has the same name, type and default in `RoMe` and in `MetricConfig`."""
    config = {field.name: (field.type, field.default, Parameter.KEYWORD_ONLY) for field in fields(MetricConfig)}
    assert {p.name: (p.annotation, p.default, p.kind) for p in signature(rome.RoMe).parameters.values()} == config


def test_public_names_resolve() -> None:
    """Every name of `__all__` is there, listed by `dir`, and stays what it is after its module was imported."""
    for name in rome.__all__:
        assert getattr(rome, name) == getattr(rome, name)
    assert set(rome.__all__) <= set(dir(rome))
    assert callable(rome.selfcheck)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        rome.nonsense  # noqa: B018 - the access is what is tested
