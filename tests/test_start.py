"""What a start loads: nothing that scoring a pair does not use, and nothing that others then miss."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rome.exceptions import ModelMissingError
from rome.features import model_files, tree_distance
from rome.features.analyser import identity
from rome.features.analyser.config import ModelConfig
from rome.features.kernels import Kernels
from rome.features.lean_imports import deferred, part_of

from model_sets import linked_set, manifest, rewritten

UNUSED = ("sklearn", "numba", "pandas", "ot.bregman", "matplotlib", "scipy.stats", "numpy.f2py")


def run(script: str) -> str:
    """The last line that a script prints in a fresh interpreter."""
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


def test_scoring_a_pair_loads_what_it_uses() -> None:
    """One pair through the embedded models: beside what Stanza imports, no compiler, plots, tables or statistics."""
    script = f"""
import sys
from rome import RoMe
score = RoMe(threads=1).score(references=["A cat sat on the mat."], hypotheses=["A dog sat on a mat."]).score
print([name for name in {UNUSED!r} if name in sys.modules], 0 < score < 1)
"""
    assert run(script) == "[] True"


def test_the_transport_leaves_the_whole_of_pot_to_others() -> None:
    """After RoMe took POT's exact solver, `import ot` gives all of POT, with that very solver, and its switch is as it was."""
    script = """
import json, os, sys
import rome.features.transport as own
alone = "ot" not in sys.modules and "ot.bregman" not in sys.modules
import ot
print(json.dumps([alone, ot.emd is own._emd, callable(ot.sinkhorn), ot.lp.emd is ot.emd, os.environ.get("POT_BACKEND_DISABLE_PYTORCH")]))
"""
    assert json.loads(run(f"import os; os.environ.pop('POT_BACKEND_DISABLE_PYTORCH', None)\n{script}")) == [True] * 4 + [None]


def test_the_assignment_leaves_the_whole_of_scipy_to_others() -> None:
    """After RoMe took SciPy's assignment, the whole package can be imported, and its function is that very one."""
    script = """
import sys
from rome.features.assignment import linear_sum_assignment as own
alone = "scipy.optimize" not in sys.modules
import scipy.optimize
print([alone, scipy.optimize.linear_sum_assignment is own, callable(scipy.optimize.minimize), own([[4, 1], [2, 0]])[1].tolist()])
"""
    assert run(script) == "[True, True, True, [1, 0]]"


def test_a_part_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package or part that does not exist is an ImportError, and leaves nothing behind."""
    (tmp_path / "heavy_three").mkdir()
    (tmp_path / "heavy_three" / "__init__.py").write_text("VALUE = 9\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for package in ("heavy_three", "heavy_four"):
        with pytest.raises(ImportError):
            part_of(package, "missing")
        assert package not in sys.modules


def test_a_deferred_package_comes_when_it_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the block an import costs nothing; its first use loads the package; afterwards imports are what they were."""
    (tmp_path / "heavy_one.py").write_text("VALUE = 7\n")
    (tmp_path / "heavy_two.py").write_text("VALUE = 8\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with deferred("heavy_one", hidden=("heavy_two",)):
        import heavy_one  # type: ignore[import-not-found]

        with pytest.raises(ImportError):
            import heavy_two  # type: ignore[import-not-found]
    assert not {"heavy_one", "heavy_two"} & set(sys.modules)
    assert heavy_one.VALUE == 7
    assert "heavy_one" in sys.modules
    with deferred("heavy_one"):  # loaded by now, so it is itself
        assert sys.modules["heavy_one"].VALUE == 7
    with deferred("heavy_two"):
        import heavy_two

        assert heavy_two.VALUE == 8  # used within the block
    assert sys.modules["heavy_two"].VALUE == 8
    for name in ("heavy_one", "heavy_two"):
        monkeypatch.delitem(sys.modules, name)


def test_deferred_parts_and_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of a loaded package can be deferred, and functions that are taken from it by name, until they are called."""
    folder = tmp_path / "heavy_five"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "part.py").write_text("def double(x):\n    return 2 * x\n")
    (folder / "other.py").write_text("VALUE = 9\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    heavy_five = importlib.import_module("heavy_five")
    with deferred("heavy_five.other", functions={"heavy_five.part": ("double",)}):
        from heavy_five.part import double  # type: ignore[import-not-found]

        other = heavy_five.other
    assert not {"heavy_five.part", "heavy_five.other"} & set(sys.modules) and not hasattr(heavy_five, "other")
    assert double(4) == 8 and "heavy_five.part" in sys.modules and other.VALUE == 9
    assert heavy_five.other is sys.modules["heavy_five.other"]
    for name in ("heavy_five", "heavy_five.part", "heavy_five.other"):
        monkeypatch.delitem(sys.modules, name)


def test_hashing_ahead_never_hides_damage(tmp_path: Path) -> None:
    """A folder's digest follows its files; what the second thread finds wrong is said by whoever loads the file."""
    (tmp_path / "encoder").mkdir()
    file = tmp_path / "encoder" / "a.bin"
    file.write_bytes(b"one")
    first = identity.file_digest(tmp_path / "encoder")
    file.write_bytes(b"three")
    assert first != identity.file_digest(tmp_path / "encoder") == identity.file_digest(tmp_path / "encoder")
    folder = linked_set(tmp_path / "set")
    rewritten(folder, files=manifest(folder)["files"] | {"mwt/mwt.pt": "0" * 64})
    with identity.hashed_meanwhile(ModelConfig.of(folder)):
        pass
    with pytest.raises(ModelMissingError, match="damaged"):
        model_files.checked(folder / "mwt" / "mwt.pt")


def test_a_deferred_package_that_is_missing_says_so_when_it_is_used() -> None:
    """A stand-in for a package that is not installed raises the usual error."""
    with deferred("no_such_package_here"):
        import no_such_package_here  # type: ignore[import-not-found]
    with pytest.raises(ModuleNotFoundError, match="no_such_package_here"):
        no_such_package_here.anything  # noqa: B018 - the access is what is tested


def test_loops_are_compiled_once_that_pays() -> None:
    """The first work is done by the plain function, then numba takes over; without numba the plain one stays."""
    names: dict[str, object] = {}
    kernels = Kernels(names, worth=10)

    @kernels.add
    def double(x):  # type: ignore[no-untyped-def]
        return 2 * x

    names["double"] = double
    assert not kernels.prepare(6)
    assert names["double"] is double
    assert kernels.prepare(6)
    assert names["double"] is not double
    assert names["double"](21) == 42  # type: ignore[operator]


def test_plain_and_compiled_trees_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distance and mapping of random trees are the same in both forms, to the last bit."""
    spec = importlib.util.spec_from_file_location("rome.features.tree_distance_again", str(tree_distance.__file__))
    assert spec is not None and spec.loader is not None
    plain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain)
    tree_distance._kernels.prepare(1e9)
    monkeypatch.setattr(plain._kernels, "prepare", lambda work: False)
    rng = np.random.default_rng(1)
    for n, m in rng.integers(1, 14, (20, 2)).tolist():
        a, b = ([-1, *(int(rng.integers(0, k)) for k in range(1, size))] for size in (n, m))
        equal = rng.random((n, m)) < 0.3
        assert plain.tree_edit_distance(a, b, equal) == tree_distance.tree_edit_distance(a, b, equal)
        assert plain.tree_mapping(a, b, equal) == tree_distance.tree_mapping(a, b, equal)
