"""Map the four rooms of the checkout to one import name; everything else stands in setup.cfg."""

import shutil

import setuptools
from setuptools import find_packages, setup

if int(setuptools.__version__.split(".")[0]) < 64:
    raise SystemExit("RoMe needs setuptools >= 64 to build: run `pip install -U setuptools` and try again.")
shutil.rmtree("build/lib", ignore_errors=True)  # a stale one brings deleted modules back into the wheel

ROOMS = ("features", "train", "data")
packages, package_dir = ["rome"] + [f"rome.{name}" for name in find_packages("rome")], {"rome": "rome"}
for room in ROOMS:
    packages += [f"rome.{room}"] + [f"rome.{room}.{name}" for name in find_packages(room)]
    package_dir[f"rome.{room}"] = room

setup(packages=packages, package_dir=package_dir)
