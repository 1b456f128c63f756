"""A real browser for the tests of the page: Chromium where it is installed, without a network."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

PICTURES = Path(__file__).resolve().parents[2] / "build" / "screenshots"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# drawn by the processor, so that it works on machines without a screen
FLAGS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"]


def executable() -> str | None:
    """Where Chromium is; CHROMIUM names it where it is somewhere else."""
    return os.environ.get("CHROMIUM") or next(
        (found for name in NAMES if (found := shutil.which(name))), None
    )


def flags() -> list[str]:
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*FLAGS, *(["--no-sandbox"] if root else [])]


class Visit:
    """A page that was opened, and everything its console said."""

    def __init__(self, context, file: Path) -> None:
        self.page = context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda problem: self.said.append(str(problem)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.file = file
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("html[data-ready=yes]", timeout=60_000)

    def do(self, script: str):
        return self.page.evaluate(script)

    def painted(self) -> None:
        """Wait until the browser has painted whatever was asked for: two frames, however long
        they take.
        """
        self.do("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def until(self, condition: str) -> None:
        """Wait for a condition, looked at before every frame; the page's own policy lets no text
        be evaluated inside it.
        """
        self.do(
            f"new Promise(done => {{ const look = () => ({condition}) ? done() : "
            f"requestAnimationFrame(look); look(); }})"
        )

    def picture(self, name: str, *, whole: bool = False) -> Path:
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{name}.png"
        self.page.screenshot(path=path, full_page=whole)
        return path
