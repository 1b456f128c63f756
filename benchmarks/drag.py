"""Dragging in a page: CPU milliseconds a frame and the largest constraint residual, by the page's
own scripts in node.

Each body follows a pointer on a circle for sixty frames, while the motion is paused (positions)
and while it moves (a spring to the pointer). Prints the rows of benchmarks/drag.csv.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import Any

import dalembert as da
from dalembert import gallery
from dalembert.gallery import spatial_chain
from dalembert.interface.page.html_elements import asset
from dalembert.interface.page.scene import build_scene, sample_frames
from dalembert.interface.page.simulator_module import simulator_module

SCRIPTS = (
    "initial_conditions.js",
    "events.js",
    "simulator.js",
    "drag_solver.js",
    "push.js",
)
DRAG = """
const g = JSON.parse(require("fs").readFileSync(0));
const e = new Engine(
  new WebAssembly.Module(require("zlib").inflateSync(Buffer.from(g.code, "base64"))), g.data);
const end = (it) => { let r = it.next(); while (!r.done) r = it.next(); return r.value; };
const m = end(e.follow(g.setting)), y = m.at(0.3), body = e.data.outputs.centres.length - 1;
const q = Array.from(y.subarray(0, e.data.n_q)), grip = { body, local: [0, 0, 0] };
const measure = (mover, point) => {
  const times = [], centre = point();
  let worst = 0;
  for (let k = 0; k < 60; k++) {
    const a = 2 * Math.PI * k / 60, before = process.cpuUsage();
    const target = [centre[0] + 0.3 * g.size * Math.sin(a),
      centre[1] + 0.3 * g.size * (1 - Math.cos(a)), centre[2]];
    worst = Math.max(worst, mover(target).residual);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  times.sort((a, b) => a - b);
  return [times[30], times[57], worst];
};
const drag = new DragSolver(e, { values: g.setting.values, q, ...grip });
const held = measure((t) => drag.move(t), () => drag.point(drag.q));
const push = new Push(e, { setting: g.setting, t: 0.3, y, speed: 1, ...grip });
const moving = measure((t) => push.move(t, 1 / 60), () => push.point(push.q));
console.log(JSON.stringify([held, moving]));
"""


def systems() -> dict[str, tuple[Any, dict[str, float]]]:
    """{title: system and initial values}"""
    named = {"pendulum": "simple-pendulum", "rolling disk": "rolling-disk", "four-bar": "four-bar"}
    found = {t: (gallery.entry(n).build(), dict(gallery.entry(n).start)) for t, n in named.items()}
    arm = spatial_chain.build(7)
    return found | {"arm of 7 joints": (arm, {f"q_{k}": 0.3 for k in range(1, 8)})}


def measure(system: Any, start: dict[str, float]) -> list[list[float]]:
    """[median ms, 95 % ms, residual] while paused, and while it moves."""
    run = da.simulate(system, 1.0, start=start, progress=False)
    drawn = build_scene(sample_frames(run))
    module = simulator_module(run, start, drawn)
    data = module.data
    setting = {
        "values": data["values"],
        "starts": [f["value"] for f in data["starts"]],
        "asked": [f["given"] for f in data["starts"]],
        "duration": 1.0,
        "rtol": 1e-9,
    }
    given = {"code": module.compressed, "data": data, "setting": setting, "size": 1.0}
    node = shutil.which("node")
    if node is None:
        sys.exit("node is not installed: apt-get install nodejs")
    text = "\n".join(map(asset, SCRIPTS)) + DRAG
    done = subprocess.run(
        [node, "-e", text], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def main() -> None:
    """Print the table."""
    print("system,while,median ms,95 % ms,largest residual")
    for title, (system, start) in systems().items():
        for kind, row in zip(("paused", "moving"), measure(system, start), strict=True):
            print(f"{title},{kind},{row[0]:.2f},{row[1]:.2f},{row[2]:.1e}", flush=True)


if __name__ == "__main__":
    main()
