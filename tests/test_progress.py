"""Bars: where they show, and that they are silent elsewhere."""

from __future__ import annotations

import sys

import pytest
import tqdm
import tqdm.auto

from rome.progress import progress_bar


@pytest.mark.parametrize(
    ("progress", "terminal", "shown"), [(None, False, False), (None, True, True), (True, False, True), (False, True, False)]
)
def test_where_a_bar_shows(
    progress: bool | None, terminal: bool, shown: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By default on a terminal alone; True and False decide everywhere. One that shows is the kind that a notebook draws as a widget."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with progress_bar(progress, 3, done=1, unit="text", desc="reading") as bar:
        bar.update(2)
        assert isinstance(bar, tqdm.auto.tqdm) is shown
    error = capsys.readouterr().err
    assert ("reading" in error) is shown and capsys.readouterr().out == ""


def test_no_advice_about_widgets(recwarn: pytest.WarningsRecorder) -> None:
    """A notebook without ipywidgets is not told so at every import; other warnings pass."""
    import warnings

    from rome.progress import without_widget_advice

    with without_widget_advice():
        warnings.warn("IProgress not found. Please update jupyter and ipywidgets.", tqdm.TqdmWarning, stacklevel=1)
        warnings.warn("another", UserWarning, stacklevel=1)
    assert [str(found.message) for found in recwarn] == ["another"]
