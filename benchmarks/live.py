"""Runs inside a page: the loop in a JavaScript engine against this machine, the size of the
module, from a slider to the new picture.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from results import Report, seconds

import dalembert as da
from dalembert import gallery
from dalembert.gallery import spatial_chain
from dalembert.interface.page.html_elements import asset
from dalembert.interface.page.run_viewer import RunView
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.simulator_module import SimulatorModule, simulator_module
from dalembert.runtime.simulation import simulate as running

NOTE = (
    "rtol 1e-9. The loop alone, dense output and projection included, here and in node's engine, "
    "the least of many runs; the module as it "
    "travels, compressed and as text. From the release of a slider until scene and plots hold the "
    "new numbers, and until two frames are "
    "painted after that: Chromium without a graphics card, which paints by the processor (in "
    "brackets: two frames in which "
    "a word alone is painted); medians of nine. Goals: loop at most twice as "
    "long for the double pendulum and the disk, three times for the bicycle and 7 joints; 60 ms "
    "for disk and pendulum, 300 ms for bicycle "
    "and Andrews' mechanism, 400 ms for 20 joints."
)
_ROUNDS = 30
# the engine without the worker that talks to a page
_ENGINE = ("initial_conditions.js", "events.js", "contacts.js", "simulator.js")
_LOOP = """
const g = JSON.parse(require("fs").readFileSync(0));
const e = new Engine(
  new WebAssembly.Module(require("zlib").inflateSync(Buffer.from(g.code, "base64"))), g.data);
const follow = () => { const it = e.follow(g.setting, 1e9); let r; while (!(r = it.next()).done);
  return r.value; };
const begin = () => { const t = performance.now(); e.begin(g.setting);
  return performance.now() - t; };
const run = () => { const t = performance.now(); follow(); return performance.now() - t; };
for (let k = 0; k < 20; k++) { run(); begin(); }
const least = (f) => Math.min(...Array.from({ length: 40 }, f));
console.log(JSON.stringify([(least(run) - least(begin)) / 1e3, follow().count - 1]));
"""
_SLIDE = """async () => {
  const knob = trial.knobs[0],
    tried = () => new Promise((done) => document.addEventListener("tried", done, { once: true }));
  const frame = () => new Promise(requestAnimationFrame), found = [];
  for (let k = 0; k < 10; k++) {
    const heard = tried(), begin = performance.now();
    knob.slider.value = +knob.slider.min + (0.35 + 0.02 * k) * (knob.slider.max - knob.slider.min);
    knob.slider.dispatchEvent(new Event("input"));
    await heard;
    const handed = performance.now() - begin;
    await frame(); await frame();
    const painted = performance.now() - begin, again = performance.now();
    // what two frames take here in which nothing but a word is painted
    document.querySelector(".status-line").textContent = `${k}`;
    await frame(); await frame();
    found.push([handed / 1e3, painted / 1e3, (performance.now() - again) / 1e3]);
  }
  return found.slice(1);
}"""


def run(report: Report, *, quick: bool) -> None:
    """A row for each system."""
    report.section("In a page", NOTE)
    rows = []
    for name, build, start, duration in _tasks(quick):
        report.progress(name)
        system = build()
        run_, native = _native(system, duration, start)
        module = simulator_module(run_, start, build_scene(sample_frames(run_)))
        loop, steps = _by_node(module, duration)
        ratio = f"{loop / native:.2f}" if loop else "–"
        rows.append(
            [
                name,
                str(steps),
                seconds(native),
                seconds(loop) if loop else "no node here",
                ratio,
                f"{len(module.compressed) / 1e3:.0f} kB",
                _slide(run_),
            ]
        )
    report.table(
        [
            "system",
            "steps",
            "loop here",
            "loop in the page",
            "ratio",
            "module",
            "slider to numbers, to picture (a word)",
        ],
        rows,
    )


def _tasks(quick: bool) -> list[tuple[str, Callable[[], da.System], dict[str, float], float]]:
    names = ["double-pendulum", "rolling-disk", "whipple-bicycle", "andrews-squeezer"]
    found = [
        (n, gallery.entry(n).build, dict(gallery.entry(n).start), gallery.entry(n).duration)
        for n in names
    ]
    for joints in (7,) if quick else (7, 20):
        start = {f"q_{i}": 0.3 for i in range(1, joints + 1)}
        found.append(
            (
                f"chain of {joints} joints, 10 s",
                lambda joints=joints: spatial_chain.build(joints),
                start,
                10.0,
            )
        )  # type: ignore[misc]
    return found


def _native(system: da.System, duration: float, start: dict[str, float]) -> tuple[Any, float]:
    """The run, and the least time of its loop."""
    times: list[float] = []
    original = running.complete

    def timed(*arguments: Any) -> Any:
        begin = time.perf_counter()
        found = original(*arguments)
        times.append(time.perf_counter() - begin)
        return found

    running.complete = timed  # type: ignore[assignment]
    try:
        found = [
            da.simulate(system, duration, start=start, progress=False) for _ in range(_ROUNDS)
        ][-1]
    finally:
        running.complete = original
    return found, min(times)


def _by_node(module: SimulatorModule, duration: float) -> tuple[float, int]:
    node = shutil.which("node")
    if node is None:
        return 0.0, 0
    data = module.data
    asked = [f["given"] for f in data["starts"]]
    setting = {
        "values": data["values"],
        "starts": [f["value"] for f in data["starts"]],
        "asked": asked,
        "duration": duration,
        "rtol": 1e-9,
    }
    given = json.dumps({"code": module.compressed, "data": data, "setting": setting})
    text = "\n".join(asset(name) for name in _ENGINE) + _LOOP
    done = subprocess.run(
        [node, "-e", text], input=given, capture_output=True, text=True, check=True
    )
    loop, steps = json.loads(done.stdout)
    return loop, steps


def _slide(run_: Any) -> str:
    """The median times from a slider to numbers in scene and plots, and to two frames after
    that, in Chromium.
    """
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "page"))
    try:
        from browsing import executable, flags  # type: ignore[import-not-found]
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "no playwright here"
    if executable() is None:
        return "no Chromium here"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = RunView(run_).save(Path(folder) / "run.html")
        browser = playwright.chromium.launch(executable_path=executable(), args=flags())
        visit = browser.new_page(viewport={"width": 1280, "height": 900})
        visit.goto(page.as_uri())
        visit.wait_for_selector("#trial[data-ready=yes]")
        handed, painted, word = (
            statistics.median(each) for each in zip(*visit.evaluate(_SLIDE), strict=True)
        )
        browser.close()
    return f"{seconds(handed)}, {seconds(painted)} ({seconds(word)})"
