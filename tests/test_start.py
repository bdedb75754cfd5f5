"""Files that are hashed ahead while packages are imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from rome.exceptions import ModelMissingError
from rome.features import model_files
from rome.features.analyser import model_set
from rome.features.analyser.config import ModelConfig

from model_sets import linked_set, manifest, rewritten


def test_hashing_ahead_never_hides_damage(tmp_path: Path) -> None:
    """A folder's digest follows its files; what the second thread finds wrong is said by whoever loads the file."""
    (tmp_path / "encoder").mkdir()
    file = tmp_path / "encoder" / "a.bin"
    file.write_bytes(b"one")
    first = model_set.file_digest(tmp_path / "encoder")
    file.write_bytes(b"three")
    assert first != model_set.file_digest(tmp_path / "encoder") == model_set.file_digest(tmp_path / "encoder")
    folder = linked_set(tmp_path / "set")
    rewritten(folder, files=manifest(folder)["files"] | {"mwt/mwt.pt": "0" * 64})
    with model_set.hashed_meanwhile(ModelConfig.of(folder)):
        pass
    with pytest.raises(ModelMissingError, match="damaged"):
        model_files.checked(folder / "mwt" / "mwt.pt")
