"""A headless browser that turns HTML, and a terminal's text, into small PNG files for the documentation."""

from __future__ import annotations

import html
import io
import re
import shutil
from pathlib import Path
from typing import Any

from PIL import Image

__all__ = ["PAGE", "TERMINAL", "Camera", "ansi_html"]

SCALE, COLOURS = 1.5, 96
PAGE = '<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><body style="margin:1rem">{body}</body>'
TERMINAL = """<!doctype html><meta charset="utf-8"><style>body {{ margin: 0; background: #1c1f24; }} pre {{ margin: 0; padding: 1rem 1.2rem;
color: #d7dae0; font: 12.5px/1.35 "DejaVu Sans Mono", monospace; white-space: pre; }}</style><pre>{text}</pre>"""
CODES = {
    "1": "font-weight:bold",
    "2": "opacity:.62",
    "4": "text-decoration:underline",
    "31": "color:#ff7b72",
    "32": "color:#7ee787",
    "33": "color:#f2cc60",
    "34": "color:#79c0ff",
    "35": "color:#d2a8ff",
}
"""The escape sequences that the terminal's display uses, as styles."""


class Camera:
    """A headless browser that turns HTML into small PNG files. dark : the colour scheme."""

    def __init__(self, folder: Path, dark: bool) -> None:
        from playwright.sync_api import sync_playwright

        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        self.folder, self.dark = folder, dark
        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])

    def open(self, width: int, height: int = 600) -> Any:
        """A fresh page of so many CSS pixels."""
        scheme: Any = "dark" if self.dark else "light"
        context = self._browser.new_context(
            viewport={"width": width, "height": height}, device_scale_factor=SCALE, color_scheme=scheme, reduced_motion="reduce"
        )
        return context.new_page()

    def shoot(self, name: str, content: str, width: int) -> None:
        """The whole of one HTML text."""
        page = self.open(width, 100)
        page.set_content(content)
        self.save(name, page.screenshot(full_page=True))
        page.context.close()

    def save(self, name: str, png: bytes) -> None:
        """Write the picture with a palette, which halves its size and is not seen."""
        image = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        image.save(self.folder / f"{name}.png", optimize=True)

    def close(self) -> None:
        """End the browser."""
        self._browser.close()
        self._playwright.stop()


def ansi_html(text: str) -> str:
    """Escaped HTML of a text with escape sequences for colours; one sequence replaces the one before it."""
    parts, styled = [], False
    for piece in re.split(r"(\x1b\[[\d;]*m)", text):
        found = re.fullmatch(r"\x1b\[([\d;]*)m", piece)
        if found is None:
            parts.append(html.escape(piece))
            continue
        parts.append("</span>" if styled else "")
        styles = ";".join(CODES[code] for code in found[1].split(";") if code in CODES)
        styled = bool(styles)
        parts.append(f'<span style="{styles}">' if styled else "")
    return "".join(parts) + ("</span>" if styled else "")
