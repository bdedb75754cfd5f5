"""Who may import whom, and what an import costs: the table of rooms, enforced on the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from importlib.util import find_spec
from inspect import Parameter, signature
from pathlib import Path

import pytest

import rome
from rome.config import MetricConfig

ROOMS = {room: Path(str(find_spec(f"rome.{room}").origin)).parent for room in ("features", "data", "train")}  # type: ignore[union-attr]
ROOT = Path(str(rome.__file__)).parent
ROOM_NAMES = tuple(f"rome.{room}" for room in ROOMS)
ALLOWED = {
    "rome.metric": {"torch"},
    "rome.results.scores": {"pandas"},
    "rome.evaluation.findings": {"pandas"},
    "rome.integrations.sklearn": {"sklearn"},
    "rome.integrations.torchmetrics": {"torch"},
    "rome.reports.figures": {"matplotlib"},
}
"""Where a heavy package may be imported all the same, inside the function that needs it."""
ORDER = (
    *("exceptions", "checks", "text_table", "progress", "storage", "combining", "config", "results", "metric", "self_check"),
    *("reports", "batch", "service", "integrations", "evaluation", "cli"),
)
"""What lies in rome/, from the ground up: each imports only what stands before it; docs/pages/design.md draws it."""
TRAINING = ("rome.cli.synthesize", "rome.cli.train")
"""The entries of `train`, which import it inside their functions."""
HEAVY = ("torch", "transformers", "stanza", "tokenizers", "sklearn", "textattack", "flair", "matplotlib", "pandas")


def sources() -> list[tuple[str, Path]]:
    """Every module of the package by its dotted name, wherever the install keeps it."""
    found = []
    for prefix, folder in (("rome", ROOT), *((f"rome.{room}", folder) for room, folder in ROOMS.items())):
        for path in sorted(folder.rglob("*.py")):
            inner = path.relative_to(folder)
            if prefix == "rome" and inner.parts[0] in ROOMS:
                continue
            dotted = [prefix, *inner.parent.parts, *([] if path.stem == "__init__" else [path.stem])]
            found.append((".".join(dotted), path))
    return found


def imports(name: str, path: Path) -> Iterator[str]:
    """Dotted names of every module that a source file imports, wherever in the file and whether or not relative."""
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            yield ".".join(part for part in (base, node.module) if part)


def allowed(name: str) -> tuple[str, ...]:
    """The modules of the project that a module may import."""
    if name == "rome.exceptions":
        return ()
    if name.startswith("rome.features"):
        return ("rome.exceptions", "rome.features")
    if name.startswith("rome.data"):
        return (
            "rome.exceptions",
            "rome.data",
            "rome.features.values",
            "rome.features.errors.typos",
            "rome.storage.files",
            "rome.storage.rows",
        )
    if name.startswith("rome.train"):
        return ("rome",)
    trains = ("rome.train",) if name in TRAINING else ()
    own = ("rome.exceptions", "rome.features", *trains, *(other for other, _ in sources() if not other.startswith(ROOM_NAMES)))
    return (*own, "rome.data") if name.startswith("rome.evaluation") else own


@pytest.mark.parametrize(("name", "path"), sources(), ids=lambda value: value if isinstance(value, str) else "")
def test_rooms_import_only_what_they_may(name: str, path: Path) -> None:
    """features know no caller, data knows no metric, nobody but its own commands knows train; no bare `features`, `data` or `train`."""
    of_project = [found for found in imports(name, path) if found.partition(".")[0] in ("rome", *ROOMS)]
    may = allowed(name)
    wrong = [found for found in of_project if not any(found == one or found.startswith(f"{one}.") for one in may)]
    assert wrong == []


def imported_at_once(path: Path) -> Iterator[str]:
    """Dotted names of the modules that a source file imports when it is itself imported, not in a function and not for types alone."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)


def test_folders_import_each_other_in_one_direction() -> None:
    """Everything in rome/ has its place in the order, and imports only from its own folder or from what stands before it."""
    inside = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert inside - {"__init__", *ROOMS} == set(ORDER)
    wrong = []
    for name, path in sources():
        if name == "rome" or name.startswith(ROOM_NAMES):
            continue
        own = ORDER.index(name.split(".")[1])
        parts = [found.split(".")[1] for found in imported_at_once(path) if found.startswith("rome.")]
        wrong += [f"{name} imports {part}" for part in parts if part in ORDER and ORDER.index(part) > own]
    assert wrong == []


@pytest.mark.parametrize("name", TRAINING)
def test_training_is_imported_by_its_entries_alone_and_lazily(name: str) -> None:
    """Both commands import train, neither when it is itself imported."""
    path = dict(sources())[name]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    first = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not [node for node in first if "rome.train" in ast.unparse(node)]
    assert any(found.startswith("rome.train.") for found in imports(name, path))


@pytest.mark.parametrize(("name", "path"), sources(), ids=lambda value: value if isinstance(value, str) else "")
def test_source_keeps_to_the_house_rules(name: str, path: Path) -> None:
    """Heavy packages only in the analyser and in training; no assert, bare except, pickle or eval; print only in commands."""
    if not name.startswith(("rome.features.analyser", "rome.train")):
        mentioned = {found.partition(".")[0] for found in imports(name, path)}
        assert mentioned & set(HEAVY) <= ALLOWED.get(name, set())
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    assert not [node.lineno for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.type is None]
    assert not {"pickle", "dill", "joblib"} & set(imports(name, path))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not called & {"eval", "exec", *([] if name.startswith(("rome.cli", "rome.train")) else ["print"])}


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
import rome.cli, rome.combining.table_file
rome.cli.main(["rescore", "--help"])
print([m for m in %r if m in sys.modules])
"""
    assert run(script % (HEAVY,)).splitlines()[-1] == "[]"


def test_a_metric_shows_its_models_and_signature_without_loading_them() -> None:
    """``repr`` names the set and the signature; a set that is not there is said to be so, not raised."""
    script = f"import sys, rome; print(rome.RoMe(models='small')); print([m for m in {HEAVY!r} if m in sys.modules])"
    shown, loaded = run(script).splitlines()
    assert shown.startswith("RoMe(models='small', signature='features:8|models:small.") and loaded == "[]"
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
