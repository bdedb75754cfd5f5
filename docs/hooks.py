"""Add sources for the API pages, generated pages, tables and formulas when MkDocs builds the site."""

from __future__ import annotations

import shutil
from typing import Any

from figures import TOP, filled
from formulas import FENCE, Formulas
from generated import card_page, command_page
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pygments.formatters import HtmlFormatter

SOURCES = TOP / "build" / "docs-sources"
ROOMS = ("features", "train", "data")
GENERATED = {"use/cli.md": command_page, "models.md": card_page}
CODE = {"light": "default", "dark": "github-dark"}


def on_startup(**_: Any) -> None:
    """Copy the sources into the layout of the installed package, for the API pages."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    modules = shutil.ignore_patterns("__pycache__", "models", "*.parquet", "examples", "lexicons", "published")
    shutil.copytree(TOP / "rome", SOURCES / "rome", ignore=modules)
    for room in ROOMS:
        shutil.copytree(TOP / room, SOURCES / "rome" / room, ignore=modules)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add formulas to the Markdown extensions."""
    config.markdown_extensions += [Formulas()]
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": [FENCE]}
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the colours of code in light and dark."""
    for name, write in GENERATED.items():
        files.append(File.generated(config, name, content=write()))
    for scheme, style in CODE.items():
        colours = HtmlFormatter(style=style).get_style_defs(".highlight")
        files.append(File.generated(config, f"styles/code-{scheme}.css", content=f"{colours}\n"))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Insert the tables of figures."""
    return filled(markdown)
