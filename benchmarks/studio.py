"""End of a keystroke → new equations, verdict and motion in the studio: CPU time of server, worker
and page together.

Each system is edited ten times in Chromium: a number of its text is changed (the usual edit), and
an expression (new equations, which are compiled). The worker reports its CPU time with each part;
the page's includes layout, painting and the sliders.
"""

from __future__ import annotations

import re
import signal
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "page"))

from browsing import executable, flags  # noqa: E402 - a helper of the tests

SYSTEMS = ("simple-pendulum", "double-pendulum", "rolling-disk", "whipple-bicycle")
EDITS = 10
PARTS = ("equations", "motion", "verdict", "sliders")


def edited(text: str, k: int, kind: str) -> str:
    """The text with another number, or with another expression."""
    if kind == "number":
        head, sep, rest = text.partition("[constants]\n")
        name, value = re.match(r"([\w\"']+) = ([\d.]+)", rest).groups()
        other = f"{name} = {float(value) * (1 + 0.01 * (k + 1)):.6g}"
        return f"{head}{sep}{rest.replace(f'{name} = {value}', other, 1)}"
    return re.sub(
        r'^mass = "(\w+)"', rf'mass = "\1 + {k + 1}*\1/1000"', text, count=1, flags=re.MULTILINE
    )


def measure(page, session, text: str) -> dict[str, float]:
    """CPU milliseconds of the worker until each part is sent, and of the page for all parts."""

    def page_time() -> float:
        metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
        return 1000 * metrics["ProcessTime"]

    page.evaluate(
        "text => { document.querySelector('textarea').value = text; studio.editor.paint(); }", text
    )
    before = page_time()
    page.evaluate("studio.derive()")
    page.wait_for_function("studio.shown === studio.count", timeout=60_000, polling=50)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    found = page.evaluate("Object.fromEntries(studio.parts)")
    # nan: a part that the worker did not reach within its limit
    times = {part: 1000 * found.get(part, float("nan")) for part in PARTS}
    return times | {"page": page_time() - before}


def main() -> None:
    """Print a table."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "dalembert", "studio", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8")
    address = server.stdout.readline().strip()
    print("| system | edit | equations [ms CPU] | motion | verdict | sliders | page, all parts |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=flags())
        context = browser.new_context(
            viewport={"width": 1280, "height": 900}, bypass_csp=True, reduced_motion="reduce"
        )
        page = context.new_page()
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(address)
        page.wait_for_function(
            "window.studio && studio.count > 0 && studio.shown === studio.count", timeout=60_000
        )
        session = context.new_cdp_session(page)
        session.send("Performance.enable")
        for name in SYSTEMS:
            page.evaluate(f"studio.replace('new', {{ kind: '{name}' }})")
            page.wait_for_function(
                f"studio.document.path === '{name}.toml' && studio.shown === studio.count",
                timeout=60_000,
            )
            text = page.evaluate("studio.document.text")
            for kind in ("number", "expression"):
                rows = [measure(page, session, edited(text, k, kind)) for k in range(EDITS)]
                middle = [statistics.median(row[part] for row in rows) for part in (*PARTS, "page")]
                print(f"| {name} | {kind} | {' | '.join(f'{x:.0f}' for x in middle)} |", flush=True)
        browser.close()
    server.send_signal(signal.SIGTERM)
    server.communicate()


if __name__ == "__main__":
    main()
