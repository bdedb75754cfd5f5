"""Packages that are not there, too old, or damaged: which of these it is, and the line that mends it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from importlib.util import find_spec

from packaging.requirements import Requirement

from rome.exceptions import ModelMissingError


def check_versions() -> None:
    """Raise ModelMissingError, with the install line, when a package is older than the base install or the extra ``models`` asks for."""
    if old := _too_old():
        raise ModelMissingError(old)


def _too_old() -> str:
    """Return the first package that is too old, with a remedy; empty when there is none."""
    for needed in map(Requirement, requires("rome-metric") or ()):
        if needed.marker is None or needed.marker.evaluate({"extra": "models"}):
            try:
                found = version(needed.name)
            except PackageNotFoundError:
                continue  # who imports it says so
            if not needed.specifier.contains(found, prereleases=True):
                bound = f"{needed.name}{needed.specifier}"
                return (
                    f'{needed.name} {found} is too old: RoMe needs {bound}, run `pip install --upgrade "rome-metric[models]"`'
                )
    return ""


@contextmanager
def needed(what: str, install: str) -> Iterator[None]:
    """Raise ModelMissingError, see `import_failed`, where an import inside the block fails."""
    try:
        yield
    except ImportError as error:
        raise import_failed(error, what, install) from error


def import_failed(error: ImportError, what: str, install: str) -> ModelMissingError:
    """Return the error to raise where an import failed.

    Parameters
    ----------
    what
        What cannot be done without the package.
    install
        Argument of `pip install` where the package is missing.
    """
    package = (error.name or "").partition(".")[0]
    if package and find_spec(package) is None:
        return ModelMissingError(f"{what} needs the package {package}: run `pip install {install}`")
    distribution = packages_distributions().get(package, [package])[0]
    return ModelMissingError(
        _too_old()
        or f"{what} needs the package {package}, which is installed and cannot be loaded ({error}): install it anew, "
        f"`pip install --force-reinstall {distribution}`"
    )
