"""End of a keystroke → new equations, verdict and motion in the studio: CPU time of server, worker
and page together.

Each system is edited ten times in Chromium: a number of its text is changed (the usual edit), and
an expression (new equations, which are compiled; each run of this file draws other ones, so that
nothing comes from a cache). The worker reports its CPU time with each part; the page's is that of
its process until two frames after the verdict, layout, painting and plots included. The sliders
come later, after a pause in the typing, and stand in their own columns.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "page"))

from browsing import executable, flags  # noqa: E402 - a helper of the tests

SYSTEMS = ("simple-pendulum", "double-pendulum", "rolling-disk", "whipple-bicycle")
EDITS = 10
PARTS = ("equations", "motion", "verdict", "sliders")
# resolved two frames after a part is shown; nothing is polled meanwhile
UNTIL = """part => new Promise((done) => {
  const frames = () => requestAnimationFrame(() => requestAnimationFrame(done));
  if (studio.parts.has(part)) { frames(); return; }
  studio.take = function (one) {
    Studio.prototype.take.call(this, one);
    if (one.part === part || one.part === "done" || one.part === "failed") frames();
  };
})"""


def edited(text: str, k: int, kind: str) -> str:
    """The text with another number, or with another expression."""
    if kind == "number":
        head, sep, rest = text.partition("[constants]\n")
        name, value = re.match(r"([\w\"']+) = ([\d.]+)", rest).groups()
        other = f"{name} = {float(value) * (1 + 0.01 * (k + 1)):.6g}"
        return f"{head}{sep}{rest.replace(f'{name} = {value}', other, 1)}"
    other = rf'mass = "\1 + {random.randrange(10**6)}*\1/10000000"'
    return re.sub(r'^mass = "(\w+)"', other, text, count=1, flags=re.MULTILINE)


class Measured:
    """A page of the studio, and CPU milliseconds of everything that answers it."""

    def __init__(self, page, session, server: subprocess.Popen) -> None:
        self.page, self.session, self.server = page, session, server

    def cpu(self) -> dict[str, float]:
        """CPU milliseconds so far of page and server."""
        found = self.session.send("Performance.getMetrics")["metrics"]
        page = 1000 * next(m["value"] for m in found if m["name"] == "ProcessTime")
        # user and system time of all threads, in ticks
        stat = Path(f"/proc/{self.server.pid}/stat").read_text(encoding="ascii")
        ticks = sum(map(int, stat.rpartition(")")[2].split()[11:13]))
        return {"page": page, "server": 1000 * ticks / os.sysconf("SC_CLK_TCK")}

    def edit(self, text: str) -> dict[str, float]:
        """CPU milliseconds of one edit: of the worker until each part, of page and server until
        the verdict and until the sliders are shown.
        """
        self.page.evaluate(
            "text => { document.querySelector('textarea').value = text; studio.editor.paint(); }",
            text,
        )
        first = self.cpu()
        self.page.evaluate("() => { studio.derive(); }")
        self.page.evaluate(UNTIL, "equations")
        read = self.cpu()
        self.page.evaluate(UNTIL, "verdict")
        shown = self.cpu()
        self.page.evaluate(UNTIL, "sliders")
        # the module is loaded in a worker of the page
        time.sleep(0.3)
        last = self.cpu()
        spent = self.page.evaluate("Object.fromEntries(studio.parts)")
        # nan: a part that the worker did not reach within its limit
        times = {part: 1000 * spent.get(part, float("nan")) for part in PARTS}
        until_verdict = {name: shown[name] - first[name] for name in shown}
        early = {"first": times["equations"] + sum(read.values()) - sum(first.values())}
        return times | until_verdict | early | {"later": last["page"] - shown["page"]}


COLUMNS = {
    "edit": "edit",
    "first": "**equations, all**",
    "equations": "worker: equations",
    "motion": "motion",
    "verdict": "verdict",
    "server": "server",
    "page": "page",
    "sum": "**verdict + server + page**",
    "sliders": "worker: sliders",
    "later": "page: sliders",
}


def table(measured: Measured, name: str) -> None:
    """The two rows of a system: means over the edits."""
    page = measured.page
    page.evaluate(f"studio.replace('new', {{ kind: '{name}' }})")
    page.wait_for_function(
        f"studio.document.path === '{name}.toml' && studio.shown === studio.count", timeout=60_000
    )
    text = page.evaluate("studio.document.text")
    for kind in ("number", "expression"):
        measured.edit(edited(text, EDITS, kind))
        rows = [measured.edit(edited(text, k, kind)) for k in range(EDITS)]
        mean = {key: sum(row[key] for row in rows) / EDITS for key in rows[0]}
        mean["sum"] = mean["verdict"] + mean["server"] + mean["page"]
        numbers = " | ".join(f"{mean[key]:.0f}" for key in COLUMNS if key != "edit")
        print(f"| {name} | {kind} | {numbers} |", flush=True)


def main() -> None:
    """Print a table."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "dalembert", "studio", "--no-browser"]
    # unsaved texts are kept in the folder of the studio
    folder = tempfile.TemporaryDirectory()
    server = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", cwd=folder.name)
    address = server.stdout.readline().strip()
    print(f"| system [ms CPU] | {' | '.join(COLUMNS.values())} |")
    print(f"|{' --- |' * (len(COLUMNS) + 1)}")
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
        for name in sys.argv[1:] or SYSTEMS:
            table(Measured(page, session, server), name)
        browser.close()
    server.send_signal(signal.SIGTERM)
    server.communicate()
    folder.cleanup()


if __name__ == "__main__":
    main()
