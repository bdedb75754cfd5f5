"""Take pictures of HTML and terminal text for the documentation, with a headless browser."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

from PIL import Image
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

SCALE, COLOURS = 1.5, 48
PAGE = '<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><body style="margin:1rem">{body}</body>'
TERMINAL = """<!doctype html><meta charset="utf-8"><style>body {{ margin: 0; background: #1c1f24; }} pre {{ margin: 0; padding: 1rem 1.2rem;
color: #d7dae0; font: 12.5px/1.35 "DejaVu Sans Mono", monospace; white-space: pre; }}</style><pre>{code}</pre>"""


class Camera:
    """Write small PNG files of HTML, in the dark or the light colour scheme."""

    def __init__(self, folder: Path, dark: bool) -> None:
        from playwright.sync_api import sync_playwright

        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        self.folder, self.dark = folder, dark
        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])

    def open(self, width: int, height: int = 600) -> Any:
        """Open a page with a size in CSS pixels."""
        scheme: Any = "dark" if self.dark else "light"
        context = self._browser.new_context(
            viewport={"width": width, "height": height}, device_scale_factor=SCALE, color_scheme=scheme, reduced_motion="reduce"
        )
        return context.new_page()

    def shoot(self, name: str, content: str, width: int) -> None:
        """Take a picture of a whole HTML text."""
        page = self.open(width, 100)
        page.set_content(content)
        self.save(name, page.screenshot(full_page=True))
        page.context.close()

    def save(self, name: str, png: bytes) -> None:
        """Write the picture with a palette, which halves its size."""
        image = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        image.save(self.folder / f"{name}.png", optimize=True)

    def close(self) -> None:
        """Close the browser."""
        self._browser.close()
        self._playwright.stop()


def terminal_page(text: str) -> str:
    """Return an HTML page of a text with escape sequences."""
    console = Console(file=io.StringIO(), record=True, width=200)
    console.print(Text.from_ansi(text), soft_wrap=True)
    return console.export_html(theme=SVG_EXPORT_THEME, code_format=TERMINAL, inline_styles=True)
