"""Map the four rooms of the checkout to one import name and write the package page; everything else stands in setup.cfg."""

import re
import shutil
from pathlib import Path

import setuptools
from setuptools import find_packages, setup

ROOMS = ("features", "train", "data")
TOP = Path(__file__).resolve().parent


def package_page():
    """Return the README for a page without the files of the checkout: no pictures, and plain words instead of links to files."""
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    readme = re.sub(r"!\[[^]]*\]\((?!https:)[^)]*\)\s*", "", readme)
    return re.sub(r"\[([^]]*)\]\((?!https:|#)[^)]*\)", r"\1", readme)


def main():
    """Build with the rooms as packages of `rome`."""
    if int(setuptools.__version__.split(".")[0]) < 64:
        raise SystemExit("RoMe needs setuptools >= 64 to build: run `pip install -U setuptools` and try again.")
    shutil.rmtree("build/lib", ignore_errors=True)  # a stale one brings deleted modules back into the wheel
    packages, package_dir = ["rome"] + [f"rome.{name}" for name in find_packages("rome")], {"rome": "rome"}
    for room in ROOMS:
        packages += [f"rome.{room}"] + [f"rome.{room}.{name}" for name in find_packages(room)]
        package_dir[f"rome.{room}"] = room
    setup(packages=packages, package_dir=package_dir, long_description=package_page())


if __name__ == "__main__":
    main()
