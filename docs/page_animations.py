"""Write docs/pictures/live-page.gif and studio.gif: a page that is changed and dragged, and a
model that is typed.

Needs playwright and Chromium, as the tests of the page do.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image

import dalembert as da
from dalembert import gallery
from dalembert.exchange.modelfile.templates import TEMPLATES

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "page"))
from browsing import executable, flags

PICTURES = Path(__file__).parent / "pictures"
WINDOW, SIZE = {"width": 1160, "height": 640}, (725, 400)
COLOURS, PAUSE = 160, 90
# the last body on the screen
WHERE = """(() => { const p = stage.at(stage.bodies.at(-1).r), m = stage.eye.camera,
  k = m[3]*p[0]+m[7]*p[1]+m[11]*p[2]+m[15], b = stage.canvas.getBoundingClientRect();
  return [b.x + ((m[0]*p[0]+m[4]*p[1]+m[8]*p[2]+m[12])/k + 1)/2*b.width,
          b.y + (1 - (m[1]*p[0]+m[5]*p[1]+m[9]*p[2]+m[13])/k)/2*b.height]; })()"""
# the pointer, which screenshots do not show
POINTER = """(() => { const dot = document.createElement("div");
  Object.assign(dot.style, { position: "fixed", width: "16px", height: "16px", margin: "-8px",
    borderRadius: "50%", background: "rgb(217 45 32 / .75)", zIndex: 99, pointerEvents: "none" });
  document.body.append(dot);
  addEventListener("pointermove", (e) => { dot.style.left = `${e.clientX}px`;
    dot.style.top = `${e.clientY}px`; }, true); })()"""


class Film:
    """Screenshots of a page, one for each frame."""

    def __init__(self, page: Any) -> None:
        self.page, self.frames = page, []

    def take(self) -> None:
        """One frame, after the browser has painted."""
        self.page.evaluate(
            "new Promise(d => requestAnimationFrame(() => requestAnimationFrame(d)))"
        )
        shot = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        self.frames.append(shot.resize(SIZE, Image.Resampling.LANCZOS))

    def save(self, path: Path) -> None:
        """As GIF with one palette."""
        sheet = Image.new("RGB", (SIZE[0], SIZE[1] * 6))
        for row, frame in enumerate(self.frames[:: max(1, len(self.frames) // 6)][:6]):
            sheet.paste(frame, (0, row * SIZE[1]))
        palette = sheet.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, kmeans=3)
        small = [f.quantize(palette=palette, dither=Image.Dither.NONE) for f in self.frames]
        small[0].save(
            path, save_all=True, append_images=small[1:], duration=PAUSE, loop=0, optimize=True
        )


def play(film: Film, seconds: float, frames: int) -> None:
    """The motion that is shown, from its beginning."""
    for k in range(frames):
        film.page.evaluate(f"clock.set(clock.first + {seconds * k / frames})")
        film.take()


def live_page(page: Any, folder: Path) -> Film:
    """The double pendulum: it moves, a slider changes it, a body is dragged, it moves again."""
    entry = gallery.entry("double-pendulum")
    run = da.simulate(entry.build(), 4.0, start=entry.start, progress=False)
    page.goto(_first_screen(run, folder / "page.html").as_uri())
    page.wait_for_selector("#trial[data-ready=yes]")
    page.evaluate(POINTER)
    film = Film(page)
    play(film, 1.2, 12)
    slider = page.get_by_label("m_2, slider")
    box = slider.bounding_box()
    x, y = box["x"], box["y"] + box["height"] / 2
    page.mouse.move(x + 0.5 * box["width"], y)
    page.mouse.down()
    for k in range(8):
        page.mouse.move(x + (0.5 + 0.05 * k) * box["width"], y)
        page.evaluate(f"clock.play(false); clock.set({1.2 + 0.1 * k})")
        film.take()
    page.mouse.up()
    page.evaluate("clock.set(0)")
    film.take()
    left, top = page.evaluate(WHERE)
    page.mouse.move(left, top)
    page.mouse.down()
    for k in range(10):
        page.mouse.move(left + 7 * k, top - 15 * k)
        page.evaluate("new Promise(d => setTimeout(d, 60))")
        film.take()
    page.mouse.up()
    page.evaluate("clock.play(false)")
    page.wait_for_timeout(500)
    play(film, 2.4, 22)
    return film


def _first_screen(run: Any, path: Path) -> Path:
    """The page of a report, which begins with scene and sliders."""
    return da.write_report(run.system, path, duration=4.0, start={"alpha": 1.0, "beta": 0.5})


def studio(page: Any, address: str) -> Film:
    """A pendulum becomes a double pendulum while it is typed, with a fault on the way."""
    page.goto(address)
    page.wait_for_selector("html[data-studio=ready]")
    area, film = page.get_by_label("Model text"), Film(page)
    settled = "studio.count > 0 && studio.shown === studio.count && !studio.waiting"

    def answer() -> None:
        page.evaluate(
            f"new Promise(d => {{ const look = () => ({settled}) ? d() : "
            f"requestAnimationFrame(look); look(); }})"
        )

    answer()
    play(film, 1.0, 6)
    text = TEMPLATES["pendulum"]
    at = text.index("\n[run]") if "\n[run]" in text else len(text)
    for piece in _pieces('\npin.phi = "bar.tip"\nrod.lower = { at = "phi", mass = "m", length = '):
        text, at = text[:at] + piece + text[at:], at + len(piece)
        area.fill(text)
        film.take()
    answer()
    film.take()
    for piece in _pieces('"l" }\n'):
        text, at = text[:at] + piece + text[at:], at + len(piece)
        area.fill(text)
        film.take()
    answer()
    page.wait_for_timeout(400)
    play(film, 3.0, 26)
    return film


def _pieces(text: str) -> Iterator[str]:
    """A few letters at a time."""
    for k in range(0, len(text), 5):
        yield text[k : k + 5]


def main() -> None:
    """Both animations."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=executable(), args=flags())
        page = browser.new_page(viewport=WINDOW)
        live_page(page, Path(folder)).save(PICTURES / "live-page.gif")
        page.close()
        server = subprocess.Popen(
            [sys.executable, "-m", "dalembert", "studio", "--no-browser"],
            cwd=folder,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        try:
            assert server.stdout is not None
            page = browser.new_page(viewport=WINDOW)
            studio(page, server.stdout.readline().strip()).save(PICTURES / "studio.gif")
        finally:
            server.terminate()
            server.wait()
        browser.close()


if __name__ == "__main__":
    main()
