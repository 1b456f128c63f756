"""A body that moves and is pulled by the pointer: the page's spring against the same spring and
damper in Python.
"""

from __future__ import annotations

import json
import subprocess

import pytest
from live_runs import NODE, Live

import dalembert as da
from dalembert import gallery
from dalembert.interface.page.html_elements import asset

pytestmark = pytest.mark.skipif(NODE is None, reason="no node here")

# from `given.from` on the last body is pulled to `given.target` for `given.frames` frames
PULL = """
const given = JSON.parse(require("fs").readFileSync(0)),
  code = require("zlib").inflateSync(Buffer.from(given.code, "base64"));
const engine = new Engine(new WebAssembly.Module(code), given.data), [setting] = given.settings;
const end = (slices) => {
  let s = slices.next();
  while (!s.done) s = slices.next();
  return s.value;
};
const first = end(engine.follow(setting)), body = engine.data.outputs.centres.length - 1;
const push = new Push(engine, { setting, t: given.from, y: first.at(given.from), body,
  local: [0, 0, 0], speed: 1 });
let worst = 0, took = Infinity;
for (let k = 0; k < given.frames; k++) {
  const before = process.cpuUsage();
  worst = Math.max(worst, push.move(given.target, given.seconds).residual);
  const { user, system } = process.cpuUsage(before);
  took = Math.min(took, (user + system) / 1000);
}
const { mass, omega, t, y, work } = push, q = push.q, u = push.u, motion = end(push.release());
const seen = motion.steps(1e9), out = engine.parts.outputs.out, wide = engine.n + engine.riding,
  at = engine.data.outputs.energies, Z = engine.data.audit ? engine.data.audit.Z : -1;
const E = Array.from(seen.t, (_, k) => seen.outputs[k * out + at] + seen.outputs[k * out + at + 3]
  + (Z < 0 ? 0 : seen.states[k * wide + engine.n + Z]) - seen.hand[k]);
console.log(JSON.stringify({ mass, omega, t, q, u, worst, work, E, took, last: motion.last,
  stopped: motion.stopped }));
"""
SCRIPTS = (
    "initial_conditions.js",
    "events.js",
    "simulator.js",
    "drag_solver.js",
    "push.js",
)


def pull(live, target, *, frames, seconds=1 / 60, since=0.5):
    given = live.given([live.setting()]) | {
        "target": target,
        "frames": frames,
        "seconds": seconds,
        "from": since,
    }
    text = "\n".join(map(asset, SCRIPTS)) + PULL
    done = subprocess.run(
        [NODE, "-e", text],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert not done.returncode, done.stderr[-2000:]
    return json.loads(done.stdout)


def pulled_pendulum(stiffness, damping, target):
    """The pendulum of the gallery with a spring and a damper to a fixed point."""
    s = gallery.entry("simple-pendulum").build()
    P = s.bodies[0].G
    H = s.O.offset(target[0] * s.N.x + target[1] * s.N.y)
    s.force((H - P) * stiffness - P.v * damping, at=P)
    return s


def test_the_pointer_pulls_as_a_spring_and_damper_do():
    live, target = Live("simple-pendulum"), [1.0, -0.2, 0.0]
    errors = []
    for seconds in (1 / 60, 1 / 960):
        done = pull(live, target, frames=round(0.5 / seconds), seconds=seconds)
        mass, omega = done["mass"], done["omega"]
        assert 1.0 == pytest.approx(mass, rel=1e-8)
        s = pulled_pendulum(mass * omega**2, mass * omega, target)
        before = da.simulate(live.system, 0.5, start={"phi": 1.0}, progress=False)
        start = {"phi": before["phi"][-1], "phi.dot": before["phi.dot"][-1]}
        run = da.simulate(s, done["t"] - 0.5, start=start, progress=False)
        errors.append(abs(run["phi"][-1] - done["q"][0]))
    # the splitting is of second order
    assert errors[0] < 1e-4
    assert errors[1] < errors[0] / 8, errors


@pytest.mark.each_time(1)
@pytest.mark.parametrize("name", ["four-bar", "rolling-disk", "double-pendulum"])
def test_the_work_of_the_pointer_is_in_the_energy(name):
    done = pull(Live(name), [0.5, 0.5, 0.5], frames=20)
    assert "" == done["stopped"]
    assert done["worst"] <= 1e-10
    assert abs(done["work"]) > 1e-6
    E, size = done["E"], max(1.0, abs(done["work"]))
    assert max(abs(x - E[0]) for x in E) < 1e-6 * size
